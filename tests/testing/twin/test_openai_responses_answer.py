"""Answers of the Responses dialect: items, and the same items out of a stream's events."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.testing.twin import Answer, Call, Delivery, Fault, Twin
from foldline.testing.twin.script import Stop
from tests.testing.twin.client import respond

FULL = Answer(
    thinking="Let me see what there is.", text="Listing. " * 9, calls=(Call(name="ls", arguments='{"p": 1}'),)
)


def without_ids(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in item.items() if key not in ("id", "call_id")} for item in items]


@pytest.mark.parametrize(
    "answer",
    [
        FULL,
        Answer(text="x"),
        Answer(),
        Answer(thinking="x", redacted=True),
        Answer(text="no", stop="refusal"),
    ],
)
def test_a_stream_comes_to_the_same_items(answer: Answer) -> None:
    with Twin(replies=[answer, answer]) as twin:
        whole = respond(twin, "hi").body
        events = respond(twin, "hi", stream=True).events
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert without_ids(done) == without_ids(whole["output"])
    assert without_ids(events[-1]["response"]["output"]) == without_ids(whole["output"])
    deltas = "".join(
        event["delta"] for event in events if event["type"].endswith(("text.delta", "refusal.delta"))
    )
    assert answer.text in deltas


def test_every_event_has_its_number() -> None:
    with Twin(replies=[FULL]) as twin:
        events = respond(twin, "hi", stream=True).events
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    assert events[-1]["type"] == "response.completed"


def test_a_compaction_is_announced_in_a_stream() -> None:
    """SDK types/responses/response_compaction_compacting_event.py."""
    items = [{"role": "user", "content": "hi"}, {"type": "compaction_trigger"}]
    with Twin() as twin:
        kinds = [event["type"] for event in respond(twin, items, stream=True).events]
    assert "response.compaction.compacting" in kinds


@pytest.mark.parametrize(
    ("stop", "status", "reason"),
    [
        ("end", "completed", None),
        ("length", "incomplete", "max_output_tokens"),
        ("filter", "incomplete", "content_filter"),
        ("refusal", "completed", None),
    ],
)
def test_every_reason_to_stop_is_spelt_as_the_provider_does(
    stop: Stop, status: str, reason: str | None
) -> None:
    with Twin(replies=[Answer(text="x", stop=stop)] * 2) as twin:
        answer = respond(twin, "hi").body
        last = respond(twin, "hi", stream=True).events[-1]
    assert answer["status"] == status
    assert (answer["incomplete_details"] or {}).get("reason") == reason
    assert last["type"] == f"response.{status}"


def test_an_overflow_in_a_stream_is_an_event() -> None:
    """E007 of the recorded errors: status 200, and the refusal inside."""
    with Twin(window=100) as twin:
        back = respond(twin, "word " * 500, stream=True)
    assert back.status == 200
    assert [event["type"] for event in back.events] == ["response.created", "response.in_progress", "error"]
    assert back.events[-1]["error"] == {
        "type": "invalid_request_error",
        "code": "context_length_exceeded",
        "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "param": "input",
    }


def test_a_stream_may_end_in_an_error_of_the_script() -> None:
    fault = Delivery(end="error", end_after=2, error=Fault(status=503))
    with Twin(replies=[Answer(text="x", delivery=fault)]) as twin:
        last = respond(twin, "hi", stream=True).events[-1]
    assert last["error"]["message"].startswith("The server is currently overloaded")
