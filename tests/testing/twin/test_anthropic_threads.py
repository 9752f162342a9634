"""Conversations that the server holds: created, continued once, refused by code where they cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.testing.twin import Answer, Call, Twin
from foldline.testing.twin.anthropic_threads import BETA
from tests.testing.twin.client import Back, ask

CREATE: dict[str, Any] = {"thread": {"type": "create"}}


def goes_on(twin: Twin, previous: str, messages: Any, **more: Any) -> Back:
    thread = {"type": "continue", "previous_message_id": previous}
    return ask(twin, messages, beta=BETA, thread=thread, **more)


def test_a_thread_is_continued_by_its_new_turn_alone() -> None:
    """SDK types/beta/beta_thread_continue_params.py; the model sees all of it."""
    tools = [{"name": "ls", "input_schema": {}}]
    with Twin(replies=[Answer(calls=(Call(name="ls"),)), "Two files."]) as twin:
        first = ask(twin, "word " * 300, beta=BETA, system="Be brief.", tools=tools, **CREATE).body
        result = {"type": "tool_result", "tool_use_id": first["content"][0]["id"], "content": "a b"}
        second = goes_on(twin, first["id"], [{"role": "user", "content": [result]}])
        assert second.body["content"][0]["text"] == "Two files."
        assert twin.requests[1].tokens > twin.requests[0].tokens
        assert twin.requests[1].extends == 0
        assert len(twin.requests[1].parsed["messages"]) == 1


def test_a_response_is_continued_only_once() -> None:
    with Twin() as twin:
        first = ask(twin, "hi", beta=BETA, **CREATE).body
        assert goes_on(twin, first["id"], "more").status == 200
        again = goes_on(twin, first["id"], "more")
    assert (again.status, again.body["error"]["details"]["error_code"]) == (400, "thread_already_continued")


def test_a_thread_that_nobody_holds_is_not_found() -> None:
    with Twin() as twin:
        unheld = ask(twin, "hi").body
        back = goes_on(twin, unheld["id"], "more")
    assert (back.status, back.body["error"]["details"]["error_code"]) == (404, "thread_not_found")


@pytest.mark.parametrize(("system", "status"), [("Be brief.", 200), ("Be long.", 400)])
def test_what_a_thread_keeps_cannot_change(system: str, status: int) -> None:
    with Twin() as twin:
        first = ask(twin, "hi", beta=BETA, system="Be brief.", **CREATE).body
        back = goes_on(twin, first["id"], "more", system=system)
    assert back.status == status
    if status == 400:
        assert back.body["error"]["details"]["error_code"] == "thread_fingerprint_mismatch"


def test_threads_need_their_beta() -> None:
    with Twin() as twin:
        assert ask(twin, "hi", **CREATE).message == "thread: Extra inputs are not permitted"
