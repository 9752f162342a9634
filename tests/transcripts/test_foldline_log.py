"""The foldline log as a session format: the live view, and a history of which nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from msgspec.structs import replace

from foldline import files
from foldline.core.address import part_address
from foldline.core.edit import Drop, Edit, Fold, Replace
from foldline.core.errors import InvalidTranscript, SessionCorrupt, UnknownFormat
from foldline.core.message import Message, Meta, Text, ToolResult, Usage, result_text
from foldline.core.view import Span
from foldline.log.lines import parse_log, segment_line, write_log
from foldline.lookup import show
from foldline.testing.builders import assistant, call, result, system, user
from foldline.testing.strategies import sessions
from foldline.transcripts import detect
from foldline.transcripts.foldline_log import READER, WRITER, LogSource
from foldline.transcripts.source import open_source
from foldline.transcripts.transcript import NewHistory, Transcript
from foldline.wire.formats import codec
from tests.transcripts.data import DATA

HISTORY = (
    user("read it"),
    assistant("yes", call("read", "c1", path="a.py")),
    result("c1", "long " * 50),
    assistant("it says long"),
    user("and now?"),
)


def transcript(*messages: Message) -> Transcript:
    return Transcript(format="pi", wire="anthropic", messages=messages)


def logged(*messages: Message, edits: tuple[Edit, ...] = ()) -> bytes:
    told = [message.meta.usage for message in messages if message.meta is not None]
    given = replace(transcript(*messages), usage=told[-1] if told else None)
    return WRITER.write(given, NewHistory(messages=messages, edits=edits))


def read(data: bytes) -> Transcript:
    (found,) = READER.read(open_source(data))
    return found


def fold(*spans: tuple[int, int], text: str = "folded") -> Fold:
    message = Message(role="user", parts=(Text(text=text),), synthetic="fold")
    return Fold(spans=tuple(Span(start=a, end=b) for a, b in spans), message=message, address="m1-2@00000000")


def cleared(seq: int) -> Replace:
    part = ToolResult(
        call_id="c1", content=(Text(text="[cleared]", slot=0, edited=True),), slot=0, edited=True
    )
    return Replace(seq=seq, slot=0, part=part, address=f"m{seq}.0@00000000")


def test_a_later_segment_alone_is_refused_with_how_to_put_the_log_together() -> None:
    """What it folds and names stands before it; read alone it would be another conversation."""
    whole = logged(*HISTORY)
    log = parse_log(whole)
    assert log.header is not None
    third = log.entries[2]
    segment = segment_line(log.header, at=third.offset, seq=third.seq) + whole[third.offset :]
    with pytest.raises(InvalidTranscript, match=r"later segment.*zcat archive"):
        read(segment)


def test_a_log_is_recognised_by_its_first_line() -> None:
    """Formats are recognised by content."""
    data = logged(*HISTORY)
    assert READER.recognise(data) == 100
    assert detect.recognise(data) == "foldline"
    assert READER.recognise(b'{"type":"user"}') == 0


def test_a_history_without_compactions_comes_back_whole() -> None:
    """Law LOSSLESS: messages, system prompt, tools and what is known of the session."""
    prompt = codec("anthropic").system_of({"system": "be kind"})
    known = replace(
        transcript(*HISTORY),
        system=prompt,
        tools=b'[{"name": "f"}]',
        id="s1",
        model="m",
        tokens_window=200_000,
    )
    back = read(WRITER.write(known, NewHistory(messages=HISTORY)))
    assert back.messages == HISTORY
    assert back.system is not None
    assert back.system.text == "be kind"
    assert (back.tools, back.id, back.model, back.tokens_window) == (b'[{"name": "f"}]', "s1", "m", 200_000)
    assert (back.wire, back.notes, back.skipped) == ("anthropic", (), ())


def test_a_compaction_shows_in_the_view_and_the_history_keeps_what_it_covers() -> None:
    """Laws LOG and REPLAY: nobody edits messages, the edits are an entry."""
    back = read(logged(*HISTORY, edits=(cleared(2), fold((3, 4)))))
    assert [m.text for m in back.messages] == ["read it", "yes", "", "folded", "and now?"]
    assert isinstance(back.messages[2].parts[0], ToolResult)
    assert result_text(back.messages[2].parts[0]) == "[cleared]"
    assert isinstance(back.source, LogSource)
    assert back.history == HISTORY
    assert [number.ordinal for number in back.numbers] == [0, 1, 2, 3, 4]


def test_edits_of_one_compaction_are_made_in_their_order() -> None:
    """Law REPLAY: a ladder's later tier may fold what an earlier one folded, naming its one ordinal."""
    back = read(logged(*HISTORY, edits=(fold((1, 3), text="one"), fold((1, 2), (3, 4), text="two"))))
    assert [m.text for m in back.messages] == ["read it", "two", "and now?"]


def test_a_second_compaction_is_appended_and_names_the_ordinals_of_the_log() -> None:
    """Law LOG: the earlier bytes stay, and edits name messages as the log counts them."""
    first = logged(*HISTORY, edits=(fold((1, 3), text="one"),))
    once = read(first)
    assert [(number.ordinal, len(number.covers)) for number in once.numbers] == [
        (0, 0),
        (1, 1),
        (3, 0),
        (4, 0),
    ]
    again = NewHistory(messages=(), edits=(fold((1, 4), text="two"),))
    second = WRITER.write(once, again)
    assert second.startswith(first)
    twice = read(second)
    assert [m.text for m in twice.messages] == ["read it", "two", "and now?"]
    assert isinstance(twice.source, LogSource)
    assert twice.history == HISTORY


def test_an_address_opens_on_the_log_that_a_compaction_wrote() -> None:
    """Law TRACE: what left the view is in the same file; the address names an ordinal of the log."""
    address = part_address(2, HISTORY[2].parts[0])
    back = read(logged(*HISTORY, edits=(fold((1, 4)),)))
    assert len(back.messages) == 3
    assert show([back], address).text == "long " * 50


def test_writing_a_log_back_without_edits_changes_no_byte_and_keeps_unknown_entries() -> None:
    """Law LOG: records of a later version survive a round trip (their loss is a fault of other products)."""
    log = parse_log(logged(*HISTORY))
    assert log.header is not None
    entries = [(e.kind, e.body) for e in log.entries] + [("star_chart", b'{"x": [1, 2]}')]
    data = write_log(format=log.header.format, body=b'{"id":"s","later":true}', entries=entries)
    back = read(data)
    assert back.skipped == (("star_chart", 1),)
    assert WRITER.write(back, NewHistory(messages=back.messages)) == data


def test_a_torn_end_is_left_out_and_said() -> None:
    """A power cut loses the last append and nothing else; in silence it would look like a wrong memory
    (anthropics/claude-code#53821)."""
    whole = logged(*HISTORY)
    back = read(whole[:-10])
    assert back.messages == HISTORY[:-1]
    assert len(back.notes) == 1
    assert "interrupted" in back.notes[0]


def test_damage_in_the_middle_is_refused_with_its_byte() -> None:
    """A damaged middle is not a torn end: guessing on would alter the history."""
    whole = logged(*HISTORY)
    at = whole.index(b"it says long")
    with pytest.raises(SessionCorrupt) as caught:
        read(whole[:at] + b"IT" + whole[at + 2 :])
    assert caught.value.offset == whole.rindex(b"\n", 0, at) + 1


def test_a_log_of_a_later_version_is_refused_by_the_name_of_its_file() -> None:
    """S12: which file, and what to do next."""
    later = logged(*HISTORY).replace(b'{"foldline":1', b'{"foldline":9', 1)
    with pytest.raises(UnknownFormat, match=r"^old\.jsonl: the log is of version 9.*; upgrade foldline"):
        detect.read(later, name="old.jsonl")


def test_a_sound_line_whose_body_makes_no_sense_is_refused_with_its_byte() -> None:
    """A checksum says that bytes are the written ones, not that they were right."""
    data = write_log(
        format="neutral", body=b"{}", entries=[("message", b'{"format":"neutral","role":"x","parts":[]}')]
    )
    with pytest.raises(SessionCorrupt) as caught:
        read(data)
    assert caught.value.offset == data.index(b"\n") + 1


def test_usage_from_before_a_compaction_is_not_trusted() -> None:
    """Requirement TOK-3 counts from the last usage; one that measured the uncut history would trigger at once."""
    told = Message(
        role="assistant",
        parts=(Text(text="a", slot=0),),
        meta=Meta(usage=Usage(tokens_input=90, tokens_output=5)),
    )
    before = read(logged(user("q"), told))
    assert (before.usage_at, before.usage) == (1, Usage(tokens_input=90, tokens_output=5))
    after = read(logged(user("q"), told, user("q2"), edits=(Drop(span=Span(start=2, end=3)),)))
    assert (after.usage_at, after.usage) == (None, None)


def test_a_usage_that_came_later_and_an_undone_compaction_count() -> None:
    """`usage` and `undo` entries, as `docs/reference/log-format.md` says."""
    log = parse_log(logged(*HISTORY, edits=(fold((1, 3)),)))
    more = [
        ("undo", b'{"entry":5}'),
        ("message", b'{"format":"neutral","role":"assistant","parts":[{"part":"text","text":"done"}]}'),
        ("usage", b'{"message":5,"usage":{"tokens_input":7}}'),
    ]
    entries = [(e.kind, e.body) for e in log.entries] + more
    back = read(write_log(format="neutral", body=b"{}", entries=entries))
    assert len(back.messages) == len(HISTORY) + 1
    assert (back.usage_at, back.usage) == (5, Usage(tokens_input=7))


def test_a_report_is_kept_without_how_long_it_took() -> None:
    """Law SAME: the same history and settings give the same bytes."""
    made = NewHistory(
        messages=HISTORY,
        edits=(fold((1, 3)),),
        report={"seconds": 0.1, "passes": [{"name": "fold", "seconds": 1}]},
    )
    data = WRITER.write(transcript(*HISTORY), made)
    assert b"seconds" not in data
    assert b'"passes":[{"name":"fold"}]' in data


def test_messages_that_no_edits_explain_become_a_log_of_their_own() -> None:
    """A conversion repairs a history; what is written is the repaired one."""
    data = WRITER.write(transcript(*HISTORY), NewHistory(messages=HISTORY[:1]))
    assert read(data).messages == HISTORY[:1]


def test_system_messages_in_the_middle_stay_where_they_are() -> None:
    """Law LOSSLESS: only a system prompt that was apart is an entry of its own."""
    messages = (user("a"), system("be brief"), assistant("b"))
    assert read(logged(*messages)).messages == messages


@given(sessions())
def test_any_session_and_its_halving_come_back(messages: list[Message]) -> None:
    """Laws LOG and REPLAY: the view a log projects to is the one the edits made."""
    half = max(len(messages) // 2, 1)
    edits = (fold((0, half)),)
    back = read(logged(*messages, edits=edits))
    assert isinstance(back.source, LogSource)
    assert back.history == tuple(messages)
    assert back.messages == (edits[0].message, *messages[half:])


@pytest.mark.parametrize(
    "name", ["langgraph/deerflow-5aa47db1-cjk.json", "trae/sonnet45-vllm-93e5f3c5-cut.json"]
)
@pytest.mark.parametrize("share", [0.5, 0.2])
def test_a_compaction_read_from_its_log_is_the_compaction_itself(name: str, share: float) -> None:
    """Law REPLAY on recorded sessions: the log projects to the very request that a direct compaction gives."""
    found = detect.read(DATA / name)
    wire = found[0].wire
    direct = files.compact(found, files.CompactOptions(to=share, as_format=wire))
    kept = files.compact(found, files.CompactOptions(to=share, as_format="foldline"))
    back = detect.read(kept.data)
    assert back[0].history == found[0].messages
    assert files.convert(back, as_format=wire).data == direct.data
