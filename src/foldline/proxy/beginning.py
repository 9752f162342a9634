"""How a conversation begins in the proxy: under which name, by which policy, for whose window.

A durable session under the name of its root, begun once a reduction may be due; short conversations, titles and probes leave
nothing on disk. The budget is that of the model which each request names.
"""

from __future__ import annotations

import os
from functools import lru_cache

from foldline.clients.calls import Call
from foldline.clients.following import Conversations, Terms
from foldline.clients.opening import opening
from foldline.engine.policy import Policy
from foldline.home import disk_store
from foldline.presets import policy_of
from foldline.proxy.desk import Begin
from foldline.session.hosting import Host
from foldline.settings import Planned, plan_for

MODELS_MAX = 256
"""Models whose numbers are remembered."""


def beginning(
    policy: str | Policy, *, home: str | os.PathLike[str] | None = None, is_durable: bool = True
) -> Begin:
    """What makes the conversations of a root. `is_durable`: false keeps what it knows in memory alone, to be looked at."""
    store = disk_store(home)
    begun = opening(policy, home=home, model=None, host=Host())
    planned = lru_cache(MODELS_MAX)(_planned)

    def begin(name: str, call: Call) -> Conversations:
        terms = Terms(
            open=begun,
            policy=policy_of(policy, planned(call.model).window),
            is_known=lambda known: known in store.names(),
            plan=planned,
        )
        return Conversations(terms, name=name if is_durable else "")

    return begin


def _planned(model: str | None) -> Planned:
    return plan_for(model)
