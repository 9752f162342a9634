"""Lines of a Claude Code session as records."""

from __future__ import annotations

import json

from foldline.transcripts.claude_record import Record, decode, decode_line, last_boundary
from foldline.transcripts.source import BadLines, open_source
from tests.transcripts.claude_session import answer, assistant, boundary, jsonl, summary, user


def test_a_message_keeps_its_bytes_and_the_rest_is_let_go() -> None:
    """`toolUseResult` repeats the result and must not be kept or counted."""
    line = jsonl([answer("r1", "a1", "t1", "é")]).replace(b"\xc3\xa9", b"\\u00e9")
    (record,) = decode(open_source(line), None, bad=BadLines())
    assert record.body == json.dumps(answer("r1", "a1", "t1", "é")["message"]).encode()
    assert bytes(record.message) == b""


def test_places_are_counted_and_cannot_be_given() -> None:
    """The writer finds records again by their offset."""
    data = jsonl([user("u1", None, "a", offset=99, number=99), user("u2", "u1", "b")])
    records = decode(open_source(data), None, bad=BadLines())
    assert [(r.number, r.offset) for r in records] == [(1, 0), (2, data.index(b"\n") + 1)]


def test_the_last_boundary_of_the_main_conversation_is_found() -> None:
    """A sub-agent's boundary is not the conversation's, and neither are words about one."""
    lines = [
        boundary("b1"),
        summary("s1", "b1"),
        boundary("b2") | {"isSidechain": True},
        user("u1", "s1", '{"type":"system","subtype":"compact_boundary"}'),
        assistant("a1", "u1", "compact_boundary"),
    ]
    mark = last_boundary(open_source(jsonl([user("u0", None, "old"), *lines])))
    assert mark is not None
    assert mark.offset == len(jsonl([user("u0", None, "old")]))
    assert last_boundary(open_source(jsonl(lines[2:]))) is None


def test_text_of_side_chains_is_let_go_once_the_main_conversation_is_seen() -> None:
    """anthropics/claude-code#23373: a 102 MB file of sub-agent records around 14 messages."""
    data = jsonl(
        [
            user("s1", None, "side", isSidechain=True),
            user("u1", None, "main"),
            user("s2", "s1", "side", isSidechain=True),
        ]
    )
    bodies = [bool(record.body) for record in decode(open_source(data), None, bad=BadLines())]
    assert bodies == [True, True, False]


def test_keys_of_another_type_make_a_bad_line_not_a_crash() -> None:
    """Hostile input."""
    for line in (b'{"uuid":1}', b'{"isSidechain":"x"}', b"[]", b'"x"', b"{", b'{"type":null}'):
        assert isinstance(decode_line(line), str)
    assert isinstance(decode_line(b'{"type":"user","isMeta":null}'), Record)
