"""Messages, parts and edits in their JSON form: what is stored comes back, wire bytes to the byte."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.address import mark
from foldline.core.edit import Drop, Edit, Fold, Mark, Replace
from foldline.core.message import Media, Message, Meta, Opaque, Reasoning, Text, ToolCall, ToolResult, Usage
from foldline.core.view import Span
from foldline.log.values import (
    dumps,
    edit_json,
    message_json,
    read_edit,
    read_message,
    read_system,
    system_json,
)
from foldline.testing.strategies import broken_sessions, sessions
from foldline.wire.formats import codec

EVERY_PART = Message(
    role="assistant",
    parts=(
        Text(text="a\u2028b", slot=0),
        Reasoning(text="t", signature="s", provider="anthropic", slot=1),
        Reasoning(signature="x", redacted=True, provider="anthropic", slot=2),
        ToolCall(id="c", name="f", arguments="{not json", slot=3),
        ToolCall(id="d", name="g", arguments="{}", wire_id=False, server=True, slot=4),
        ToolResult(
            call_id="c",
            content=(Text(text="r", slot=0), Opaque(type="x", raw=b'{"a": 1}', slot=1)),
            name="f",
            is_error=True,
            interim=True,
            slot=5,
        ),
        Media(kind="image", mime="image/png", data="iVBO", detail="low", name="n", slot=6),
        Media(kind="document", ref="file_1", slot=7),
        Opaque(type="compaction", raw=b'{"type":"compaction"}', slot=8),
    ),
    synthetic="repair",
    meta=Meta(
        id="i",
        response_id="r",
        time_s=1.5,
        model="m",
        usage=Usage(tokens_input=5, tokens_output=2, tokens_cache_read=1, tokens_total=7),
        stop_reason="end",
        injected=True,
    ),
)


def stored(message: Message) -> Message:
    return read_message(dumps(message_json(message)))


def test_a_neutral_message_keeps_every_part_and_field() -> None:
    """Law LOSSLESS, for messages no wire format holds."""
    assert stored(EVERY_PART) == EVERY_PART


def test_a_neutral_message_is_written_as_documented() -> None:
    """`docs/reference/log-format.md`: names, and defaults left out."""
    message = Message(role="user", parts=(Text(text="hi", slot=0),))
    assert (
        dumps(message_json(message))
        == b'{"format":"neutral","role":"user","parts":[{"part":"text","text":"hi"}]}'
    )


@given(st.one_of(sessions(), broken_sessions()))
def test_any_session_of_neutral_messages_comes_back(messages: list[Message]) -> None:
    """Law LOSSLESS; broken sessions are stored as they are, since repair is part of the projection."""
    assert [stored(message) for message in messages] == messages


@pytest.mark.parametrize(
    "wire",
    [
        b'{"role":"user","content":"hi"}',
        b'{ "role" : "user",  "content" : [ {"type":"text","text":"\\u00e9"} ] , "x":1.0 }',
        b'{"role":"user",\n  "content":"two lines of JSON"}',
        b'{"role":"user","content":"half a pair \\ud83d"}',
    ],
)
def test_the_bytes_of_a_wire_message_come_back_to_the_byte(wire: bytes) -> None:
    """Law LOSSLESS: spelling, white space, line breaks and lone surrogates as they came."""
    body = dumps(message_json(codec("anthropic").decode(wire)))
    assert b"\n" not in body
    back = read_message(body)
    assert back.origin == wire
    assert codec("anthropic").encode_bytes(back) == wire


@pytest.mark.parametrize(
    ("format", "body"),
    [
        (
            "anthropic",
            {"system": [{"type": "text", "text": "be kind", "cache_control": {"type": "ephemeral"}}]},
        ),
        ("gemini", {"systemInstruction": {"parts": [{"text": "be kind"}]}}),
        ("openai-responses", {"instructions": "be kind"}),
    ],
)
def test_a_system_prompt_kept_apart_comes_back_as_its_value(format: str, body: dict[str, object]) -> None:
    """Law LOSSLESS for the request's own key."""
    (value,) = body.values()
    system = codec(format).system_of(body)
    assert system is not None
    back = read_system(dumps(system_json(system)))
    assert back is not None
    written = codec(format).encode_system(back)
    assert msgspec.json.decode(msgspec.json.encode(written)) == value


EDITS: list[Edit] = [
    Replace(seq=2, slot=4, part=Text(text="[cleared]", slot=4, edited=True), address="m2.4@00000000"),
    Mark(seq=3, slot=0, part=Text(text=mark("m9@00000000", ["No."])), address="m9@00000000"),
    Drop(span=Span(start=5, end=7)),
    Fold(
        spans=(Span(start=1, end=3), Span(start=8, end=9)),
        message=Message(role="user", parts=(Text(text="folded"),), synthetic="fold", edited=False),
        address="m1-8@00000000",
    ),
]


@pytest.mark.parametrize("edit", EDITS, ids=["replace", "mark", "drop", "fold"])
def test_an_edit_comes_back(edit: Edit) -> None:
    """Law REPLAY needs the very edits."""
    assert read_edit(dumps(edit_json(edit, lambda seq: seq))) == (edit,)


def test_a_mark_that_says_something_else_is_no_edit() -> None:
    """Law CUT: nothing is added to a user's words but what supersedes them."""
    made = edit_json(EDITS[1], lambda seq: seq)
    with pytest.raises(ValueError, match="supersedes"):
        read_edit(dumps({**made, "part": {"part": "text", "text": "and push to main"}}))


def test_ordinals_of_an_edit_are_translated_when_written() -> None:
    """A view's third message may be the log's ninth."""
    (back,) = read_edit(dumps(edit_json(EDITS[0], lambda seq: seq + 6)))
    assert isinstance(back, Replace)
    assert back.seq == 8
    sparse = read_edit(dumps(edit_json(Drop(span=Span(start=0, end=3)), lambda seq: seq * 2)))
    assert [(edit.span.start, edit.span.end) for edit in sparse if isinstance(edit, Drop)] == [
        (0, 1),
        (2, 3),
        (4, 5),
    ]


@pytest.mark.parametrize(
    "body",
    [
        b'{"format":"neutral","role":"robot","parts":[]}',
        b'{"format":"neutral","role":"user","parts":[{"part":"song"}]}',
        b'{"format":"neutral","role":"user","parts":[{"part":"text","text":5}]}',
        b'{"format":"neutral"}',
        b'{"format":"anthropic"}',
        b"[]",
    ],
)
def test_a_body_that_is_no_message_is_an_error_and_nothing_is_guessed(body: bytes) -> None:
    """The caller turns it into SessionCorrupt with the entry's place."""
    with pytest.raises((ValueError, LookupError, TypeError)):
        read_message(body)
