"""Several answers that came whole and reach their caller as one: the same as of streams."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

import pytest

from foldline.clients.joining import joined
from tests.clients.agents import FORMATS
from tests.clients.test_splicing import ENDS, KINDS, frames_of, spliced, whole


def answer(format: str, name: str) -> Any:
    return whole(format, b"".join(frames_of(format, name)))


def said(format: str, response: Any) -> Any:
    match format:
        case "anthropic":
            return response["content"]
        case "openai-chat":
            message = response["choices"][0]["message"]
            return {key: value for key, value in message.items() if value}
        case "openai-responses":
            return response["output"]
        case _:
            parts = response["candidates"][0]["content"]["parts"]
            runs = groupby(parts, key=lambda part: (part.get("thought"), "text" in part))
            return [
                "".join(one["text"] for one in run) if is_text else list(run) for (_, is_text), run in runs
            ]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_what_comes_whole_says_what_is_streamed(format: str, kind: str, end: str) -> None:
    """Calls of recall are invisible, and nothing that was said beside them is lost; all else is the last answer's."""
    first, last = answer(format, kind), answer(format, end)
    told = json.loads(joined([first, first], json.dumps(last).encode(), format=format))
    streamed = spliced(format, [KINDS[kind], KINDS[kind], ENDS[end]])
    assert said(format, told) == said(format, whole(format, streamed))
    own = {"anthropic": "content", "openai-responses": "output", "gemini": "candidates"}.get(
        format, "choices"
    )
    assert {key: value for key, value in told.items() if key != own} == {
        key: value for key, value in last.items() if key != own
    }


@pytest.mark.parametrize("format", FORMATS)
def test_where_nothing_was_said_the_last_answer_stays_in_its_bytes(format: str) -> None:
    """LOSSLESS. So does what is none: a refusal, an array of events, an answer that was blocked."""
    last = json.dumps(answer(format, "calls"), indent=1).encode()
    assert joined([answer(format, "at once")], last, format=format) == last
    for other in (
        b"",
        b"not found",
        b"[{}]",
        b"{}",
        b'{"error": {"message": "no"}}',
        b'{"candidates": [{}]}',
    ):
        assert joined([answer(format, "after both")], other, format=format) == other


@pytest.mark.parametrize("format", FORMATS)
def test_keys_of_the_last_answer_keep_their_bytes(format: str) -> None:
    """LOSSLESS: numbers are not written anew, nor what is unknown."""
    last = {**answer(format, "a text"), "of another year": 0}
    data = json.dumps(last).replace('"of another year": 0', '"of another year": 1.50e+02').encode()
    assert b'"of another year":1.50e+02' in joined([answer(format, "after both")], data, format=format)


def test_an_answer_in_parts_stays_as_it_came() -> None:
    """Some servers of chat say a list of parts where a text is expected: nothing is put over it."""
    first = json.loads(answer_of_chat("Let me look."))
    last = answer_of_chat([{"type": "text", "text": "It is port 8080."}])
    assert joined([first], last, format="openai-chat") == last


def answer_of_chat(content: object) -> bytes:
    """A whole answer."""
    message = {"role": "assistant", "content": content}
    return json.dumps(
        {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    ).encode()
