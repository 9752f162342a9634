"""Responses of the four formats: SDK objects, whole dicts and bare messages give the same message and usage."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.errors import InvalidOption
from foldline.core.message import Text, calls_of
from foldline.wire.formats import codec
from foldline.wire.response import SHAPES, plain_value, read_response
from tests.session.making import FORMATS, answer


class Spoken:
    """What an official SDK returns, as far as anybody looks."""

    def __init__(self, told: Any) -> None:
        self._told = told

    def model_dump(self, **_: Any) -> Any:
        return self._told


@pytest.mark.parametrize("format", FORMATS)
def test_a_response_gives_its_message_and_its_usage(format: str) -> None:
    """TOK-3 and TOK-4: whole, as an SDK's object or as a dict; the message alone has no usage."""
    told = answer("yes", ("c1", "read"), format=format, tokens=70)
    for given in (told, Spoken(told)):
        response = read_response(given, format=format)
        last = response.messages[-1]
        assert [call.id for message in response.messages for call in calls_of(message)] == ["c1"]
        assert last.meta is not None
        assert last.meta.usage is not None
        assert (last.meta.usage.tokens_input, last.meta.usage.tokens_output) == (70, 10)
        assert all(isinstance(message.origin, bytes) for message in response.messages)
    bare = [codec(format).encode(message) for message in response.messages]
    again = read_response(bare if format == "openai-responses" else bare[0], format=format)
    assert [message.parts for message in again.messages] == [message.parts for message in response.messages]
    assert again.messages[-1].meta is not None
    assert again.messages[-1].meta.usage is None
    assert set(SHAPES) == set(FORMATS)


def test_nulls_that_a_response_is_filled_with_do_not_go_into_a_request() -> None:
    """openai-chat: `refusal`, `audio` and others; an empty content stays."""
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None, "tool_calls": []}
    told = {"choices": [{"message": message}]}
    [read] = read_response(told, format="openai-chat").messages
    assert codec("openai-chat").encode(read) == {"role": "assistant", "content": None, "tool_calls": []}


def test_of_several_answers_the_first_is_the_one_that_goes_on() -> None:
    """openai-chat and gemini: `n` and `candidateCount`."""
    choices = [{"message": {"role": "assistant", "content": text}} for text in ("one", "two")]
    [read] = read_response({"choices": choices}, format="openai-chat").messages
    assert [part.text for part in read.parts if isinstance(part, Text)] == ["one"]


@pytest.mark.parametrize(
    "wrong", ["text", 3, {}, {"choices": []}, {"output": []}, {"role": "user", "content": "x"}]
)
def test_what_holds_no_answer_is_refused(wrong: object) -> None:
    """The log takes nothing that it could not give back."""
    for format in FORMATS:
        with pytest.raises(InvalidOption):
            read_response(wrong, format=format)


def test_a_response_of_another_format_says_so() -> None:
    """A session speaks one format."""
    for format in FORMATS:
        for other in FORMATS:
            if other != format:
                with pytest.raises(InvalidOption, match=f"response of {other}"):
                    read_response(answer("x", format=other), format=format)


def test_objects_of_sdks_are_opened_within_lists_too() -> None:
    """Content parts may be an SDK's own."""
    assert plain_value([Spoken({"a": 1}), "x"]) == [{"a": 1}, "x"]


@pytest.mark.parametrize("wire", [{"choices": [{"message": 5}]}, {"choices": [{"message": "x"}]}])
def test_an_answer_whose_message_is_no_object_is_refused(wire: object) -> None:
    """Bad input gets an error of ours."""
    with pytest.raises(InvalidOption):
        read_response(wire, format="openai-chat")


def test_a_response_nested_too_deep_is_refused() -> None:
    """S12: no error but ours, whatever is recorded."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidOption, match="nested too deep"):
        plain_value(deep)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}, "MAX_TOKENS"),
        ({"candidates": [{"finishReason": "SAFETY", "index": 0}]}, "SAFETY"),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "PROHIBITED_CONTENT"),
    ],
)
def test_an_answer_of_gemini_that_says_nothing_is_an_answer(told: dict[str, Any], reason: str) -> None:
    """As Anthropic's `content: []`: it cost tokens, and says why it ended. Its content is in no request, as no blank one is."""
    usage = {"promptTokenCount": 5, "totalTokenCount": 50, "thoughtsTokenCount": 45}
    response = read_response({**told, "usageMetadata": usage}, format="gemini")
    (message,) = response.messages
    assert (message.role, message.parts, response.is_open) == ("assistant", (), False)
    assert message.meta is not None
    assert message.meta.stop_reason == reason
    assert message.meta.usage is not None
    assert message.meta.usage.tokens_input == 5
    alone = read_response({"role": "model"}, format="gemini")
    assert alone.messages[0].parts == ()


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "overloaded", "sequence_number": 3},
        {"type": "response.failed", "response": {"status": "failed"}},
        {"type": "response.output_text.delta", "delta": "x", "item_id": "a"},
    ],
)
def test_an_event_of_a_stream_is_no_answer(event: dict[str, Any]) -> None:
    """It has a type, as an item has: it would go out with every later request."""
    with pytest.raises(InvalidOption, match="event of a stream") as caught:
        read_response(event, format="openai-responses")
    assert "overloaded" not in str(caught.value)
