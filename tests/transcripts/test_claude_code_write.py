"""Session files written back: what the client needs to resume, and what reading them again gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foldline.core.errors import InvalidTranscript
from foldline.core.message import Message, Meta, Reasoning, Text, ToolCall, ToolResult, result_text
from foldline.transcripts.claude_code import READER
from foldline.transcripts.claude_code_write import WRITER
from foldline.transcripts.source import open_source
from foldline.transcripts.transcript import NewHistory, Transcript
from foldline.wire.anthropic import CODEC
from tests.transcripts.claude_session import (
    answer,
    assistant,
    boundary,
    call,
    jsonl,
    read,
    read_bytes,
    said,
    summary,
    user,
    uuid,
)

DATA = Path(__file__).parent.parent / "data" / "claude-code"
FOLD = Message(role="user", parts=(Text(text="what went before"),), synthetic="fold")


def write(
    transcript: Transcript,
    messages: Sequence[Message],
    *,
    before: int | None = None,
    after: int | None = None,
) -> bytes:
    result = NewHistory(messages=tuple(messages), tokens_before=before, tokens_after=after)
    return WRITER.write(transcript, result)


def rows(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def essence(messages: Sequence[Message]) -> list[object]:
    return [(m.role, m.parts, m.origin, m.meta, m.synthetic) for m in messages]


def session() -> Transcript:
    return read(
        user("u1", None, "go"),
        assistant("a1", "u1", "thinking", id="m"),
        assistant("a2", "a1", call("t1"), id="m"),
        answer("r1", "a2", "t1", "long output"),
        assistant("a3", "r1", "done"),
        user("u2", "a3", "more"),
        assistant("a4", "u2", "fine"),
    )


@pytest.mark.parametrize("name", ["cc-viewer-1af7fc5e", "cc-viewer-5c0375b4-cjk"])
def test_a_session_written_unchanged_reads_the_same(name: str) -> None:
    """P05: every record survives a round trip."""
    (transcript,) = READER.read(open_source(DATA / f"{name}.jsonl"))
    assert essence(read_bytes(write(transcript, transcript.messages)).messages) == essence(
        transcript.messages
    )


def test_an_unchanged_linear_session_is_the_same_file_to_the_byte() -> None:
    """LOSSLESS, for records that the client wrote compactly."""
    data = (DATA / "cc-viewer-1af7fc5e.jsonl").read_bytes()
    (transcript,) = READER.read(open_source(data))
    assert write(transcript, transcript.messages) == data


def test_a_fold_is_written_as_a_boundary_and_a_summary() -> None:
    """transcript-formats.md, compaction: boundary (no parent), then the summary, then the kept records."""
    transcript = session()
    out = rows(write(transcript, (FOLD, *transcript.messages[3:]), before=900, after=90))
    mark, fold, kept = out[0], out[1], out[2]
    assert (mark["type"], mark["subtype"], mark["parentUuid"]) == ("system", "compact_boundary", None)
    assert mark["logicalParentUuid"] == uuid("a4")
    assert mark["compactMetadata"] == {"trigger": "manual", "preTokens": 900, "postTokens": 90}
    assert fold["isCompactSummary"] is fold["isVisibleInTranscriptOnly"] is True
    assert fold["parentUuid"] == mark["uuid"]
    assert fold["message"] == {"role": "user", "content": "what went before"}
    assert (kept["uuid"], kept["parentUuid"]) == (uuid("a3"), fold["uuid"])
    assert mark["timestamp"] == fold["timestamp"] == "2026-01-01T00:00:00.000Z"
    assert mark["sessionId"] == fold["sessionId"] == "s"


def test_a_fold_in_the_middle_keeps_its_place() -> None:
    """The first user message may stay verbatim before the fold."""
    transcript = session()
    messages = (transcript.messages[0], FOLD, *transcript.messages[3:])
    again = read_bytes(write(transcript, messages))
    assert said(again) == ["go", "what went before", "done", "more", "fine"]
    assert [message.synthetic for message in again.messages] == [None, "summary", None, None, None]


def test_the_records_form_one_line_of_descent() -> None:
    """A resumed client walks from the last record to the root."""
    transcript = read(
        user("u1", None, "go"),
        assistant("a1", "u1", call("t1"), id="m"),
        assistant("a2", "a1", call("t2"), id="m"),
        answer("r1", "a1", "t1"),
        answer("r2", "a2", "t2"),
        assistant("a3", "r2", "done"),
    )
    out = rows(write(transcript, transcript.messages))
    assert [row["parentUuid"] for row in out] == [None, *(row["uuid"] for row in out[:-1])]
    assert [row["type"] for row in out] == ["user", "assistant", "assistant", "user", "user", "assistant"]


def test_an_edited_result_changes_nothing_but_its_content() -> None:
    """A cleared result keeps its record, its id and the keys beside its content."""
    transcript = session()
    (result,) = transcript.messages[2].parts
    assert isinstance(result, ToolResult)
    cleared = replace(result, content=(Text(text="[cleared]"),), edited=True)
    edited = replace(transcript.messages[2], parts=(cleared,), edited=True)
    data = write(transcript, (*transcript.messages[:2], edited, *transcript.messages[3:]))
    before, after = rows(jsonl([answer("r1", "a2", "t1", "long output")]))[0], rows(data)[3]
    before["message"]["content"][0]["content"] = after["message"]["content"][0]["content"]
    assert after == before
    (again,) = read_bytes(data).messages[2].parts
    assert isinstance(again, ToolResult)
    assert result_text(again) == "[cleared]"


def test_a_message_that_was_joined_with_the_next_loses_nothing() -> None:
    """Repairs join neighbours under the first one's name."""
    transcript = read(user("u1", None, "one"), user("u2", "u1", "two"), assistant("a1", "u2", "ok"))
    first, second, third = transcript.messages
    joined = replace(CODEC.join(first, second), meta=first.meta)
    assert said(read_bytes(write(transcript, (joined, third)))) == ["one + two", "ok"]


def test_an_edited_response_keeps_one_line_a_block() -> None:
    """As the client writes them; an edited call does not touch the line of the text beside it."""
    transcript = session()
    text, tool = transcript.messages[1].parts
    assert isinstance(tool, ToolCall)
    edited = replace(
        transcript.messages[1],
        parts=(text, replace(tool, arguments='{"path":"short"}', edited=True)),
        edited=True,
    )
    out = rows(write(transcript, (transcript.messages[0], edited, *transcript.messages[2:])))
    assert [row["uuid"] for row in out[1:3]] == [uuid("a1"), uuid("a2")]
    assert out[1]["message"]["content"] == [{"type": "text", "text": "thinking"}]
    assert out[2]["message"]["content"][0]["input"] == {"path": "short"}
    assert out[2]["message"]["id"] == "m"


def test_the_boundary_a_session_begins_with_stays_and_forgets_what_it_preserved() -> None:
    """Preserved messages stand behind it now; naming them again would be wrong."""
    segment = {"headUuid": uuid("u1"), "anchorUuid": uuid("s1"), "tailUuid": uuid("u1")}
    transcript = read(
        user("u1", None, "kept"),
        boundary("b1", preservedSegment=segment),
        summary("s1", "b1"),
        user("u2", "u1", "new"),
    )
    data = write(transcript, transcript.messages)
    assert rows(data)[0]["uuid"] == uuid("b1")
    assert rows(data)[0]["compactMetadata"] == {"trigger": "auto", "preTokens": 100}
    assert said(read_bytes(data)) == said(transcript) == ["the summary", "kept", "new"]


def test_new_records_of_a_side_chain_stay_in_it() -> None:
    """A sub-agent's file read as the conversation is written as one, or its own records would vanish."""
    transcript = read(
        *(
            row | {"agentId": "x", "isSidechain": True}
            for row in (user("s1", None, "task"), assistant("s2", "s1", "a"), user("s3", "s2", "b"))
        )
    )
    data = write(transcript, (FOLD, *transcript.messages[1:]))
    assert all(row["isSidechain"] is True for row in rows(data))
    assert said(read_bytes(data)) == ["what went before", "a", "b"]


def test_a_file_that_changed_since_is_not_mixed_up(tmp_path: Path) -> None:
    """Records are taken from the file again; it must still be that file."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl([user("u1", None, "one"), user("u2", "u1", "two")]))
    (transcript,) = READER.read(open_source(path))
    path.write_bytes(b"\n" * 500)
    with pytest.raises(InvalidTranscript, match="changed"):
        write(transcript, transcript.messages)


def test_records_the_client_appends_meanwhile_do_no_harm(tmp_path: Path) -> None:
    """A live session grows."""
    path = tmp_path / "s.jsonl"
    data = jsonl([user("u1", None, "one"), user("u2", "u1", "two")])
    path.write_bytes(data)
    (transcript,) = READER.read(open_source(path))
    path.write_bytes(data + jsonl([user("u3", "u2", "three")]))
    assert said(read_bytes(write(transcript, transcript.messages))) == ["one", "two"]


def test_a_lone_surrogate_in_a_record_survives() -> None:
    """anthropics/claude-code#69927."""
    data = jsonl([user("u1", None, "CUT"), user("u2", "u1", "x")]).replace(b"CUT", b"\\ud83d")
    transcript = read_bytes(data)
    assert b"\\ud83d" in write(transcript, (FOLD, *transcript.messages))


texts = st.text(min_size=1, max_size=8).filter(str.strip)
other_format = st.lists(
    st.one_of(
        texts.map(lambda text: Message(role="user", parts=(Text(text=text),))),
        st.tuples(texts, st.integers(0, 9)).map(
            lambda pair: Message(
                role="assistant",
                parts=(Text(text=pair[0]), ToolCall(id=f"c{pair[1]}", name="run", arguments='{"a":1}')),
                meta=Meta(time_s=1_700_000_000.0, model="gpt-5"),
            )
        ),
        st.integers(0, 9).map(
            lambda n: Message(role="tool", parts=(ToolResult(call_id=f"c{n}", content=(Text(text="out"),)),))
        ),
        st.just(FOLD),
    ),
    min_size=1,
    max_size=8,
)


@given(messages=other_format)
def test_messages_of_another_format_come_back_the_same(messages: list[Message]) -> None:
    """Conversion to this format loses no message; ids are made of content, so the bytes are the same each time."""
    source = Transcript(format="pi", wire="anthropic", messages=tuple(messages), id="p")
    data = write(source, messages)
    assert data == write(source, messages)
    again = read_bytes(data)
    assert said(again) == said(source)
    ids = [row["uuid"] for row in rows(data)]
    assert len(set(ids)) == len(ids)
    assert [row["parentUuid"] for row in rows(data)] == [None, *ids[:-1]]
    assert (rows(data)[0].get("subtype") == "compact_boundary") == (FOLD in messages)


@given(kept=st.sets(st.integers(0, 4)), edited=st.sets(st.integers(0, 4)))
def test_whatever_is_kept_edited_or_left_out_reads_back_as_given(kept: set[int], edited: set[int]) -> None:
    """The property behind the cases above."""
    transcript = session()
    messages: list[Message] = [FOLD]
    for index, message in enumerate(transcript.messages):
        if index in kept:
            messages.append(_edited(message) if index in edited else message)
    again = read_bytes(write(transcript, messages))
    assert said(again) == said(Transcript(format="", wire="", messages=tuple(messages)))
    for mine, theirs in zip(messages[1:], again.messages[1:], strict=True):
        assert mine.meta is not None
        assert theirs.meta is not None
        assert mine.meta.id == theirs.meta.id
        assert mine.edited or mine.origin == theirs.origin


def _edited(message: Message) -> Message:
    part = message.parts[0]
    if isinstance(part, Text):
        return replace(
            message, parts=(replace(part, text="new", edited=True), *message.parts[1:]), edited=True
        )
    assert isinstance(part, ToolResult)
    return replace(message, parts=(replace(part, content=(Text(text="new"),), edited=True),), edited=True)


def test_signed_reasoning_of_a_kept_response_is_untouched() -> None:
    """Thinking must stay byte-identical and in front of its call."""
    thinking = {"type": "thinking", "thinking": "hm\u00e9", "signature": "c2ln"}
    transcript = read(
        user("u1", None, "go"), assistant("a1", "u1", thinking, call("t1")), answer("r1", "a1", "t1")
    )
    again = read_bytes(write(transcript, (FOLD, *transcript.messages[1:])))
    assert isinstance(again.messages[1].parts[0], Reasoning)
    assert again.messages[1].origin == transcript.messages[1].origin


def test_messages_whose_ids_are_all_the_same_lose_nothing() -> None:
    """A file in which ids were blanked out: what is said survives, under new ids."""
    transcript = read(
        user("x", "x", "one"),
        assistant("x", "x", "two", id="m"),
        user("x", "x", "three"),
        assistant("x", "x", "four", id="m"),
    )
    assert said(read_bytes(write(transcript, transcript.messages))) == ["one", "two", "three", "four"]


def test_nothing_to_write_is_an_empty_file() -> None:
    """A writer never fails for want of messages."""
    assert write(Transcript(format="pi", wire="anthropic", messages=()), ()) == b""


def test_an_id_with_half_a_surrogate_pair_is_written_back() -> None:
    """Clients cut strings inside an emoji, and a record's id is a string like any other."""
    half = "a\ud83d"
    records = (
        user("u1", None, "go") | {"uuid": half},
        assistant("a1", None, "done") | {"parentUuid": half, "uuid": half + "b"},
    )
    transcript = read_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in records))
    marks = [row for row in rows(write(transcript, [FOLD])) if row.get("subtype") == "compact_boundary"]
    assert [row["logicalParentUuid"] for row in marks] == [half + "b"]
