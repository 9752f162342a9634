"""How a conversation begins in the proxy: under which name, by which policy, for whose window.

A durable session under the name of its root, begun once a reduction may be due; short conversations, titles and probes leave
nothing on disk. The budget is that of the model which each request names.
"""

from __future__ import annotations

import os
from functools import lru_cache

from msgspec import Struct

from foldline.clients.calls import Call
from foldline.clients.following import Conversations
from foldline.clients.opening import opening, planning
from foldline.clients.sessions import Terms
from foldline.engine.policy import Policy
from foldline.home import disk_store
from foldline.presets import policy_of
from foldline.proxy.completing import Upstream
from foldline.proxy.desk import Begin
from foldline.proxy.routes import UPSTREAMS, Provider
from foldline.session.hosting import Host
from foldline.session.setup import SessionOptions
from foldline.settings import Planned, in_window, plan_for

MODELS_MAX = 256
"""Models whose numbers are remembered."""


class Keeping(Struct, frozen=True, kw_only=True):
    """How conversations are kept."""

    policy: str | Policy = "balanced"
    home: str | os.PathLike[str] | None = None
    upstream: str | None = None
    """For which a provider's limits are kept; `None`: each provider's own."""
    window: int | None = None
    """Tokens of the window, whatever the model."""
    asks_upstream: bool = False
    """Whether summaries are asked of the conversation's own model."""
    recalls: bool = False
    """Whether the model may look up what was taken out."""
    is_durable: bool = True
    """False keeps what it knows in memory alone, to be looked at."""


def beginning(keeping: Keeping) -> Begin:
    """What makes the conversations of a root."""
    store = disk_store(keeping.home)
    planned = lru_cache(MODELS_MAX)(lambda model: _planned(model, keeping.window))

    def begin(name: str, call: Call) -> Conversations:
        endpoint = keeping.upstream or UPSTREAMS[_provider(call.format)]
        asked = SessionOptions(
            policy=keeping.policy,
            window=keeping.window,
            endpoint=endpoint,
            host=Host(completer=Upstream() if keeping.asks_upstream else None),
        )
        terms = Terms(
            open=opening(asked, home=keeping.home),
            policy=policy_of(keeping.policy, planned(call.model).window),
            is_known=store.has,
            names=store.names,
            plan=planning(planned, home=keeping.home, endpoint=endpoint),
            numbers=True,
            recalls=keeping.recalls,
        )
        return Conversations(terms, name=name if keeping.is_durable else "")

    return begin


def _planned(model: str | None, window: int | None) -> Planned:
    planned = plan_for(model)
    return planned if window is None else in_window(planned, window)


def _provider(format: str) -> Provider:
    match format:
        case "anthropic":
            return "anthropic"
        case "gemini":
            return "gemini"
        case _:
            return "openai"
