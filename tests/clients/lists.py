"""Lists as callers keep them, and a client's conversations without a client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foldline.clients.calls import Call, call_of
from foldline.clients.following import Conversations
from foldline.clients.sessions import Terms
from foldline.clients.tickets import Outgoing
from foldline.core.errors import InvalidOption
from foldline.core.ports import Store
from foldline.engine.policy import Policy
from foldline.presets import policy_of
from foldline.session.opening import open_in
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.settings import Planned, in_window, plan_for
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryStore
from foldline.wire import strict

MODEL = "gpt-4o"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def answer(text: str) -> dict[str, Any]:
    """A whole response of chat."""
    choice = {"index": 0, "message": assistant(text), "finish_reason": "stop"}
    return {"id": "r", "model": MODEL, "choices": [choice]}


def long(word: str, tokens: int) -> str:
    """A text of about so many tokens."""
    return " ".join(f"{word}{n}" for n in range(tokens // 3))


def conversations(
    home: Path | None = None,
    *,
    policy: str = "balanced",
    name: str = "main",
    recalls: bool = False,
    store: Store | None = None,
    window: int | None = None,
    is_proxy: bool = False,
) -> Conversations:
    """Of one client, with sessions in a store, on disk below `home`, or in memory. `is_proxy`: on the terms of a proxy."""
    store = store or (MemoryStore() if home is None else DiskStore(home))
    chosen: Policy = policy_of(policy, window or 128_000)

    def opened(name: str, call: Call) -> Session:
        asked = SessionOptions(model=call.model, policy=policy, format=call.format, window=window)
        return open_in(store if name else MemoryStore(), name or "memory", asked=asked)

    def planned(model: str | None) -> Planned:
        return plan_for(model) if window is None else in_window(plan_for(model), window)

    terms = Terms(
        open=opened,
        policy=chosen,
        is_known=(lambda name: name in store.names()) if is_proxy else None,
        names=store.names,
        numbers=is_proxy,
        recalls=recalls,
        plan=planned,
    )
    return Conversations(terms, name=name)


def call(messages: list[Any], *, system: str | None = None, **more: Any) -> Call:
    """A request of chat."""
    first = [] if system is None else [{"role": "system", "content": system}]
    made = call_of({"model": MODEL, "messages": [*first, *messages], **more}, format="openai-chat")
    if made is None:
        raise InvalidOption("messages", messages, why="no request of chat")
    return made


def sent(going: Outgoing | None, asked: Call) -> list[Any]:
    """The messages that went out."""
    assert going is not None
    return [strict.parse(wire) for wire in (going.messages or asked.messages)]
