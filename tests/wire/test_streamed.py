"""A stream of events comes to the response that would have come whole, in each provider's dialect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from foldline.core.message import ToolCall
from foldline.wire.formats import CODECS
from foldline.wire.response import read_response
from foldline.wire.streamed import NOTHING, Streamed, streamed

ANTHROPIC: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-5",
            "content": [],
            "stop_reason": None,
            "usage": {"input_tokens": 9, "cache_read_input_tokens": 4, "output_tokens": 1},
        },
    },
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "thinking", "thinking": "", "signature": ""},
    },
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "let me "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "see"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Look"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "ing"}},
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "citations_delta", "citation": {"cited_text": "a"}},
    },
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": '{"path"'},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": ': "a.py"}'},
    },
    {"type": "content_block_delta", "index": 2, "delta": {"type": "a_new_delta", "x": 1}},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 30},
    },
    {"type": "message_stop"},
]
CHAT: list[dict[str, Any]] = [
    {"id": "c1", "model": "gpt-5", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
    {"id": "c1", "choices": [{"index": 0, "delta": {"reasoning_content": "let me see"}}]},
    {"id": "c1", "choices": [{"index": 1, "delta": {"content": "another answer"}}]},
    {"id": "c1", "choices": [{"index": 0, "delta": {"reasoning_details": [{"type": "x"}]}}]},
    {"id": "c1", "choices": [{"index": 0, "delta": {"content": "Look"}}]},
    {"id": "c1", "choices": [{"index": 0, "delta": {"content": "ing"}}]},
    {
        "id": "c1",
        "choices": [
            {
                "index": 0,
                "delta": {
                    "tool_calls": [
                        {"index": 0, "id": "call_1", "function": {"name": "read", "arguments": ""}}
                    ]
                },
            }
        ],
    },
    {
        "id": "c1",
        "choices": [
            {
                "index": 0,
                "delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"path": "a.py"}'}}]},
            }
        ],
    },
    {"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    {"id": "c1", "choices": [], "usage": {"prompt_tokens": 13, "completion_tokens": 30, "total_tokens": 43}},
]
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "read",
    "arguments": '{"path": "a.py"}',
}
THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "let me see"}],
    "encrypted_content": "e",
}
SAID = {
    "type": "message",
    "id": "m_1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Looking", "annotations": []}],
}
RESPONSES: list[dict[str, Any]] = [
    {
        "type": "response.created",
        "response": {"id": "r1", "model": "gpt-5", "status": "in_progress", "output": []},
    },
    {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}},
    {"type": "response.reasoning_summary_text.delta", "delta": "let me see"},
    {"type": "response.output_item.done", "output_index": 0, "item": THOUGHT},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "Looking"},
    {"type": "response.output_item.done", "output_index": 1, "item": SAID},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{}"},
    {"type": "response.output_item.done", "output_index": 2, "item": CALL},
    {
        "type": "response.completed",
        "response": {
            "id": "r1",
            "model": "gpt-5",
            "status": "completed",
            "output": [THOUGHT, SAID, CALL],
            "usage": {"input_tokens": 13, "output_tokens": 30, "total_tokens": 43},
        },
    },
]
GEMINI: list[dict[str, Any]] = [
    {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": "let me ", "thought": True}]}, "index": 0}
        ]
    },
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "see", "thought": True}]}}]},
    {"candidates": [{"content": {"parts": [{"text": "Look"}]}}], "responseId": "g1"},
    {"candidates": [{"content": {"parts": [{"text": "ing", "thoughtSignature": "c2ln"}, {}]}}]},
    {
        "candidates": [
            {
                "content": {"parts": [{"functionCall": {"name": "read", "args": {"path": "a.py"}}}]},
                "finishReason": "STOP",
            }
        ]
    },
    {
        "usageMetadata": {"promptTokenCount": 13, "candidatesTokenCount": 30, "totalTokenCount": 43},
        "modelVersion": "gemini-3",
    },
]
STRANGE: list[dict[str, Any]] = [{"type": 5}, {"type": "a.new.event"}, {"choices": 4}, {"choices": [7]}]
STREAMS = {"anthropic": ANTHROPIC, "openai-chat": CHAT, "openai-responses": RESPONSES, "gemini": GEMINI}


def taken(format: str, events: list[dict[str, Any]]) -> tuple[Streamed, str, str]:
    reader = streamed(format)
    deltas = [reader.take(event) for event in events]
    return reader, "".join(d.text for d in deltas), "".join(d.reasoning for d in deltas)


@pytest.mark.parametrize("format", CODECS)
def test_a_stream_comes_to_the_response_that_would_have_come_whole(format: str) -> None:
    """CMP-20: text and reasoning as they come; text, call, usage and why it ended at the end."""
    reader, text, reasoning = taken(format, STREAMS[format])
    assert (text, reasoning) == ("Looking", "let me see")
    told = read_response(reader.response(), format=format)
    parts = [part for message in told.messages for part in message.parts]
    [call] = [part for part in parts if isinstance(part, ToolCall)]
    assert (call.name, call.arguments.replace(" ", "")) == ("read", '{"path":"a.py"}')
    assert "".join(message.text for message in told.messages) == "Looking"
    meta = told.messages[-1].meta
    assert meta is not None
    assert meta.usage is not None
    assert (meta.usage.tokens_input, meta.usage.tokens_output) == (13, 30)
    assert meta.stop_reason in ("tool_use", "tool_calls", "completed", "STOP")


@pytest.mark.parametrize("format", CODECS)
def test_a_stream_that_breaks_off_still_says_what_came(format: str) -> None:
    """REA-2: what was delivered decides whether a request may be sent again, at every event."""
    reader = streamed(format)
    assert reader.response() == {}
    begun = [reader.begun]
    for event in STREAMS[format]:
        delta = reader.take(event)
        begun.append(reader.begun)
        assert reader.response()
        if delta.text or delta.reasoning:
            assert reader.begun
    assert begun == sorted(begun), "what was delivered stays delivered"
    assert (begun[0], begun[-1]) == (False, True)


@pytest.mark.parametrize("format", CODECS)
def test_what_is_not_known_changes_nothing(format: str) -> None:
    """LOSSLESS: unknown events are passed over, of whatever kind their values are."""
    reader, text, reasoning = taken(format, STREAMS[format])
    before = reader.response()
    strange: list[dict[str, Any]] = [{"candidates": []}, {"candidates": 4}]
    for event in strange if format == "gemini" else STRANGE:
        assert reader.take(event) == NOTHING
    assert reader.response() == before
    assert text
    assert reasoning


ODD: list[Any] = [None, "x", "", -1, 1.5, True, [], {}, [None], ["x"], {"a": 1}, 10**30]


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield before
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*before, key))


def put(value: Any, place: tuple[Any, ...], odd: Any) -> Any:
    if not place:
        return odd
    made = value.copy()
    made[place[0]] = put(value[place[0]], place[1:], odd)
    return made


@pytest.mark.parametrize("format", CODECS)
def test_an_odd_value_anywhere_in_a_stream_is_taken_for_nothing(format: str) -> None:
    """LOSSLESS: the stream goes to its caller whatever it holds, and what listens never stumbles."""
    events = STREAMS[format]
    for number, event in enumerate(events):
        for place in places(event):
            for odd in ODD if place else ():
                strange = [*events[:number], put(event, place, odd), event, *events[number + 1 :]]
                assert isinstance(taken(format, strange)[0].response(), dict)


def test_the_events_themselves_are_not_changed() -> None:
    """They are the caller's."""
    given = {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 3}}}
    taken(
        "anthropic",
        [given, {"type": "message_delta", "delta": {"stop_reason": "x"}, "usage": {"output_tokens": 5}}],
    )
    assert given == {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 3}}}


def test_arguments_that_were_cut_off_stay_as_text() -> None:
    """A call cut by the output cap is no JSON; it is kept as it came."""
    reader, _, _ = taken("anthropic", [*ANTHROPIC[:13]])
    assert reader.response()["content"][2]["input"] == {"input": '{"path"'}


def test_a_delta_without_its_block_and_a_compaction_block_are_read() -> None:
    """`compaction_delta` of anthropic 2.14; a delta whose block's start was lost still shows its text."""
    reader, text, _ = taken(
        "anthropic",
        [
            ANTHROPIC[0],
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
            {"type": "content_block_start", "index": 1, "content_block": {"type": "compaction"}},
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "compaction_delta", "content": "c", "encrypted_content": "e"},
            },
        ],
    )
    assert text == "a"
    assert reader.response()["content"] == [
        {"type": "text", "text": "a"},
        {"type": "compaction", "content": "c", "encrypted_content": "e"},
    ]


def test_an_answer_of_responses_without_its_last_event_is_made_of_its_items() -> None:
    """A stream cut before `response.completed`."""
    reader, _, _ = taken("openai-responses", RESPONSES[:-1])
    assert reader.response()["output"] == [THOUGHT, SAID, CALL]


def test_a_gemini_answer_without_content_keeps_its_reason() -> None:
    """A blocked prompt: no candidate, or one without content."""
    reader, _, _ = taken("gemini", [{"promptFeedback": {"blockReason": "SAFETY"}}])
    assert reader.response() == {"promptFeedback": {"blockReason": "SAFETY"}, "candidates": []}
