"""Conversations that Anthropic holds: a request that continues one carries its new turn alone.

The SDK's tool runner works so by default, which is why a client in front of it sees little of the history. Each response can be
continued once; system prompt and tools stay as they were. Sources: SDK types/beta/beta_message_thread_param.py, lib/threads,
types/thread_*_error_details.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from foldline.testing.twin.desk import Arrival, Desk
from foldline.testing.twin.refused import Refused

BETA: Final = "message-threads-2026-08-12"
FIXED: Final = ("system", "tools")
"""Fields that a thread keeps and a continuation may leave out."""


def resolved(desk: Desk, arrival: Arrival) -> Arrival:
    """The request with what the server holds of its conversation. Raises `Refused`."""
    body = arrival.parsed
    previous = _previous(body)
    if previous is None:
        return arrival
    with desk.changed:
        held, continued = desk.threads.get(previous), previous in desk.continued
    if held is None:
        raise Refused(
            404,
            f"thread: no usable Thread state was found for `previous_message_id` {previous}.",
            code="thread_not_found",
        )
    if continued:
        raise Refused(
            400,
            f"thread: the response {previous} has already been continued, and each response can be continued only once.",
            code="thread_already_continued",
        )
    changed = [key for key in FIXED if key in body and body[key] != held.get(key)]
    if changed:
        raise Refused(
            400,
            f"thread: {', '.join(f'`{key}`' for key in changed)} differs from the value stored with the Thread.",
            code="thread_fingerprint_mismatch",
        )
    whole = {**held, **body, "messages": [*held["messages"], *(body.get("messages") or [])]}
    return msgspec.structs.replace(arrival, parsed=whole)


def hold(desk: Desk, body: Mapping[str, Any], *, reply: Mapping[str, Any]) -> None:
    """Keeps the conversation under the id of its newest response, where the request asks for it."""
    if not body.get("thread"):
        return
    said = {"role": "assistant", "content": reply["content"]}
    before = [] if reply["stop_reason"] == "compaction" else body["messages"]
    with desk.changed:
        desk.threads[reply["id"]] = {
            **{key: body[key] for key in FIXED if key in body},
            "messages": [*before, said],
        }
        previous = _previous(body)
        if previous is not None:
            desk.continued.add(previous)


def _previous(body: Mapping[str, Any]) -> str | None:
    thread = body.get("thread") or {}
    return str(thread.get("previous_message_id")) if thread.get("type") == "continue" else None
