"""A transcript as the engine takes it: what is still open, what it weighs, whose shape it has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foldline.core.message import results_of
from foldline.reading import read
from foldline.tokens.choose import counter_for
from foldline.transcript_history import (
    history_for,
    is_gone_on_with,
    request_of,
    source_format,
    tokens_of,
)
from foldline.transcripts import detect
from foldline.transcripts.transcript import Transcript

DATA = Path(__file__).parent / "data"
WAITING = {
    "messages": [
        {"role": "user", "content": "list it"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
        },
    ]
}


def waiting() -> Transcript:
    (transcript,) = detect.read(json.dumps(WAITING).encode(), format="openai-chat")
    return transcript


@pytest.mark.parametrize(("stays_open", "results"), [(None, 0), (True, 0), (False, 1)])
def test_a_call_at_the_end_of_a_request_body_waits_unless_it_is_said_to_be_over(
    stays_open: bool | None, results: int
) -> None:
    """Law PAIR: what will never get its result is given one that says so."""
    transcript = waiting()
    assert is_gone_on_with(transcript)
    history = history_for(
        transcript, counter_for(counter="length/4"), wire="openai-chat", tail_stays_open=stays_open
    )
    assert sum(len(list(results_of(item.message))) for item in history.view) == results


def test_the_session_of_another_tool_is_over() -> None:
    """Nobody will give its last call a result."""
    (transcript,) = read(str(DATA / "claude-code" / "cc-viewer-1af7fc5e.jsonl"))
    assert not is_gone_on_with(transcript)


def test_a_request_weighs_what_its_history_does() -> None:
    """TOK-4: system prompt, tools and messages."""
    counter = counter_for(counter="length/4")
    (transcript,) = read(str(DATA / "langgraph" / "deerflow-5aa47db1-cjk.json"))
    wire = source_format(transcript) or transcript.wire
    history = history_for(transcript, counter, wire=wire)
    messages = tuple(item.message for item in history.view)
    assert tokens_of(request_of(transcript, messages, format=wire), counter) == history.tokens
