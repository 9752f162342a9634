"""Answers of the Messages dialect: the whole message, and the same message out of a stream's events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.testing.twin import Answer, Call, Delivery, Twin
from foldline.testing.twin.script import Stop
from tests.testing.twin.client import ask

FULL = Answer(
    thinking="Let me see what there is in the folder.",
    text="Listing. " * 9,
    calls=(Call(name="ls", arguments={"p": "é"}),),
)


def assembled(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that a client puts together from a stream."""
    message: dict[str, Any] = {}
    partial: dict[int, str] = {}
    for event in events:
        match event["type"]:
            case "message_start":
                message = event["message"]
            case "content_block_start":
                message["content"].append(dict(event["content_block"]))
            case "content_block_delta":
                block, delta = message["content"][event["index"]], event["delta"]
                if delta["type"] == "input_json_delta":
                    partial[event["index"]] = partial.get(event["index"], "") + delta["partial_json"]
                    continue
                for key in delta.keys() - {"type"}:
                    block[key] = (block[key] or "") + delta[key] if key != "signature" else delta[key]
            case "message_delta":
                message |= event["delta"]
                message["usage"] |= event["usage"]
            case _:
                pass
    for index, text in partial.items():
        message["content"][index]["input"] = json.loads(text)
    return message


@pytest.mark.parametrize("answer", [FULL, Answer(text="x"), Answer(thinking="x", redacted=True, text="y")])
def test_a_stream_comes_to_the_same_message(answer: Answer) -> None:
    with Twin(replies=[answer, answer]) as twin:
        whole = ask(twin, "hi").body
        streamed = assembled(ask(twin, "hi", stream=True).events)
    for message in (whole, streamed):
        message.pop("id")
        for block in message["content"]:
            block.pop("id", None)
    assert streamed == whole


def test_a_stream_has_the_providers_events_in_order() -> None:
    with Twin(replies=[FULL]) as twin:
        kinds = [event["type"] for event in ask(twin, "hi", stream=True).events]
    assert kinds[:2] == ["message_start", "content_block_start"]
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 3


def test_split_frames_and_pings_change_nothing() -> None:
    rough = Answer(text="Listing. " * 9, delivery=Delivery(bytes_per_write=5, pings=(1, 3)))
    with Twin(replies=[rough]) as twin:
        events = ask(twin, "hi", stream=True).events
    assert events.count({"type": "ping"}) == 2
    assert assembled(events)["content"] == [{"type": "text", "text": "Listing. " * 9}]


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        ("end", "end_turn"),
        ("length", "max_tokens"),
        ("refusal", "refusal"),
        ("pause", "pause_turn"),
        ("stop_sequence", "stop_sequence"),
        ("window", "model_context_window_exceeded"),
    ],
)
def test_every_reason_to_stop_is_spelt_as_the_provider_does(stop: Stop, said: str) -> None:
    with Twin(replies=[Answer(text="x", stop=stop)]) as twin:
        answer = ask(twin, "hi").body
    assert answer["stop_reason"] == said
    assert (answer["stop_details"] is not None) is (said == "refusal")


def test_a_script_may_say_another_usage() -> None:
    """A gateway that reports nothing, or twice the truth (anthropics/claude-code#82863)."""
    with Twin(replies=[Answer(text="x", usage={"input_tokens": 0, "cache_creation": None})]) as twin:
        usage = ask(twin, "hi").body["usage"]
    assert usage["input_tokens"] == 0
    assert "cache_creation" not in usage
