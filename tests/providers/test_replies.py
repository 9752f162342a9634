"""A reply is read once, gives its deltas as they come and the whole afterwards, and lets go of its connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest

from foldline.providers.replies import AsyncStreamedReply, StreamedReply, whole
from foldline.wire.completion import Delta
from foldline.wire.endings import ending
from tests.wire.test_streamed import ANTHROPIC, STREAMS

CLOSED: list[str] = []


def events() -> Generator[dict[str, Any]]:
    try:
        yield from ANTHROPIC
    finally:
        CLOSED.append("sync")


async def aevents() -> AsyncGenerator[dict[str, Any]]:
    try:
        for event in ANTHROPIC:
            yield event
    finally:
        CLOSED.append("async")


def test_a_reply_may_be_read_in_part_and_then_whole() -> None:
    """CMP-20: whoever shows the deltas needs the rest too."""
    reply = StreamedReply(events(), format="anthropic", notes=("converted",))
    assert next(reply) == Delta(reasoning="let me ")
    assert (reply.text, reply.reasoning, reply.stop_reason) == ("Looking", "let me see", "tool_use")
    assert [call.name for call in reply.tool_calls] == ["read"]
    assert reply.usage is not None
    assert reply.notes == ("converted",)
    assert reply.reply() is reply.reply()
    assert reply.reply().messages == (), "they would not be in the conversation's format"


def test_closing_a_reply_closes_its_connection() -> None:
    """CMP-21: an abort reaches the request."""
    CLOSED.clear()
    reply = StreamedReply(events(), format="anthropic")
    next(reply)
    reply.close()
    assert CLOSED == ["sync"]
    assert reply.text == ""

    async def run() -> None:
        asked = AsyncStreamedReply(aevents(), format="anthropic")
        assert await anext(asked) == Delta(reasoning="let me ")
        await asked.aclose()
        assert CLOSED == ["sync", "async"]
        assert (await AsyncStreamedReply(aevents(), format="anthropic").reply()).text == "Looking"

    asyncio.run(run())


def test_an_answer_without_a_message_is_an_empty_reply_with_its_reason() -> None:
    """A prompt that Gemini blocked, and a stream that ended before it began."""
    assert whole({"promptFeedback": {"blockReason": "SAFETY"}}, format="gemini").stop_reason == "SAFETY"
    assert (
        whole({"candidates": [{"finishReason": "RECITATION"}]}, format="gemini").stop_reason == "RECITATION"
    )
    assert whole({}, format="anthropic").text == ""


def _of(given: list[dict[str, Any]]) -> Generator[dict[str, Any]]:
    yield from given


@pytest.mark.parametrize("format", sorted(STREAMS))
def test_a_stream_that_stops_before_its_ending_is_open_wherever_it_stops(format: str) -> None:
    """CMP-21: a server, or a gateway before it, may end a stream in the middle without an error."""
    ends = ("message_delta", "response.completed")
    told = STREAMS[format]
    end = next(
        at
        for at, event in enumerate(told)
        if event.get("type") in ends
        or 'finish_reason": "' in str(event).replace("'", '"')
        or "finishReason" in str(event)
    )
    assert end >= 2
    for length in range(end):
        reply = StreamedReply(_of(told[:length]), format=format).reply()
        assert reply.is_open or ending(reply.stop_reason or "") == "cut"
    assert not StreamedReply(_of(told), format=format).reply().is_open
