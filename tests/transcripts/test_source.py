"""What makes an input readable or not, whatever its format."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.errors import InvalidTranscript
from foldline.transcripts import source as module
from foldline.transcripts.source import BadLines, Mark, keys, open_source, records


def lines_of(data: bytes) -> list[tuple[int, bytes]]:
    return list(open_source(data).lines())


def test_lines_are_split_at_line_feeds_only() -> None:
    """`str.splitlines` breaks one JSON line into three (threat model, hostile input)."""
    text = '{"a":"\u2028\u2029\x0b\x0c\x85"}\n{"b":1}\r\n'.encode()
    assert [line.strip() for _, line in lines_of(text)] == [text.split(b"\n")[0], b'{"b":1}']


def test_a_block_of_nul_bytes_is_passed_over_and_what_stands_beside_it_is_kept() -> None:
    """anthropics/claude-code#49876."""
    data = b'{"a":1}\n' + b"\0" * 5000 + b'\n{"b":2}\0\0\0{"c":3}\n\0\0\n'
    assert [(number, line.strip()) for number, line in lines_of(data)] == [
        (1, b'{"a":1}'),
        (3, b'{"b":2}'),
        (3, b'{"c":3}'),
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    """anthropics/claude-code#53821."""
    assert lines_of(b'\xef\xbb\xbf{"a":1}\n') == [(1, b'{"a":1}\n')]
    assert open_source(b'\xef\xbb\xbf{"a":1}').document() == b'{"a":1}'


def test_a_line_beyond_the_bound_is_named_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded by the longest line accepted."""
    monkeypatch.setattr(module, "LINE_MAX", 100)
    source = open_source(b'{"a":1}\n{"b":"' + b"x" * 200 + b'"}\n')
    with pytest.raises(InvalidTranscript) as error:
        list(source.lines())
    assert error.value.line == 2
    assert "100 bytes" in error.value.why
    monkeypatch.setattr(module, "CHUNK", 50)
    with pytest.raises(InvalidTranscript) as error:
        list(source.marks_back(b"zzz"))
    assert error.value.line == 2


def test_a_document_beyond_the_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a document costs a multiple of its size, so its size is bounded."""
    monkeypatch.setattr(module, "DOCUMENT_MAX", 10)
    with pytest.raises(InvalidTranscript, match="one document"):
        open_source(b'{"a": 1234567}').document()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"\0" * 300, "empty"),
        ('{"a":1}'.encode("utf-16"), "UTF-16"),
        ('{"type":"user"}'.encode("utf-16-le"), "UTF-16"),
        ('{"type":"user"}'.encode("utf-16-be"), "UTF-16"),
        (b"\x1f\x8b\x08\x00rest", "gzip"),
        (b"PK\x03\x04rest", "zip"),
        (b"SQLite format 3\x00rest", "SQLite"),
        (bytes(range(256)) * 20, "binary"),
    ],
)
def test_what_no_reader_could_take_is_refused_with_its_kind(data: bytes, words: str) -> None:
    """Every refusal names the input, says what it is and what to do."""
    with pytest.raises(InvalidTranscript, match=words) as error:
        open_source(data, name="given.jsonl")
    assert error.value.path == "given.jsonl"


def test_a_missing_file_and_a_folder_are_refused_with_the_next_step(tmp_path: Path) -> None:
    """interface.md: exit 1 says what, where and what to do."""
    with pytest.raises(InvalidTranscript, match="check the name"):
        open_source(tmp_path / "missing.jsonl")
    with pytest.raises(InvalidTranscript, match="name one session file"):
        open_source(tmp_path)
    with pytest.raises(InvalidTranscript):
        open_source("nul\0in name")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    """A world error is told as such."""
    path = tmp_path / "secret.jsonl"
    path.write_bytes(b"{}")
    path.chmod(0)
    with pytest.raises(InvalidTranscript, match="permission"):
        open_source(path)


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    """`foldline compact <(command)` gives a pipe."""
    reading, writing = os.pipe()
    os.write(writing, b'{"a":1}\n')
    os.close(writing)
    try:
        assert list(open_source(f"/dev/fd/{reading}").lines()) == [(1, b'{"a":1}\n')]
    finally:
        os.close(reading)


def test_progress_is_told_and_ends_at_the_total(tmp_path: Path) -> None:
    """interface.md: long work shows a progress bar."""
    path = tmp_path / "long.jsonl"
    path.write_bytes(b'{"a":"%s"}\n' % (b"x" * 1000) * 4000)
    told: list[tuple[int, int]] = []
    source = open_source(path, progress=lambda done, total: told.append((done, total)))
    assert sum(1 for _ in source.lines()) == 4000
    assert told == sorted(told)
    assert len(told) >= 3
    assert told[-1] == (source.size, source.size) == (path.stat().st_size,) * 2


texts = st.lists(st.sampled_from([b"", b"word", b"x" * 30, b"aword b", b"w", b"or"]), max_size=12)


@given(lines=texts, chunk=st.integers(1, 40), end=st.booleans())
def test_lines_with_a_word_are_found_from_the_end_backwards(
    lines: list[bytes], chunk: int, end: bool
) -> None:
    """Reading from the last compaction backwards (openai/codex#28866) finds what reading forwards finds."""
    data = b"{\n" + b"\n".join(lines) + (b"\n" if end else b"")
    source = open_source(data)
    patch = pytest.MonkeyPatch()
    patch.setattr(module, "CHUNK", chunk)
    try:
        found = list(source.marks_back(b"word"))
    finally:
        patch.undo()
    offset, wanted = 0, []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if b"word" in line:
            wanted.append(Mark(offset, number))
        offset += len(line) + 1
    assert [source.number_of(mark) for mark in found] == wanted[::-1]
    for mark, want in zip(found, wanted[::-1], strict=True):
        assert source.line_at(mark.offset).rstrip(b"\n") == data[want.offset :].split(b"\n")[0]


def test_an_empty_word_is_found_nowhere() -> None:
    """Hostile input: a link to the empty id must not search for ever."""
    assert list(open_source(b"{}\n{}\n").marks_back(b"")) == []


def test_reading_backwards_touches_only_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """openai/codex#28866: resuming a large session reads from its last compaction."""
    path = tmp_path / "large.jsonl"
    path.write_bytes(b'{"a":"%s"}\n' % (b"x" * 1000) * 4000 + b'{"b":"word"}\n')
    source = open_source(path)
    asked: list[int] = []
    opened = source._open

    class Counted:
        def __init__(self) -> None:
            self.file = opened()

        def __enter__(self) -> Counted:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def seek(self, place: int) -> int:
            return self.file.seek(place)

        def read(self, size: int) -> bytes:
            asked.append(size)
            return self.file.read(size)

    monkeypatch.setattr(source, "_open", Counted)
    next(source.marks_back(b"word"))
    assert sum(asked) <= module.CHUNK


def test_skipped_lines_are_counted_and_named() -> None:
    """anthropics/claude-code#50347."""
    source = open_source(b'{"a":1}\n{"b":\n[1]\n{"c":3}\n{"d"')
    bad = BadLines()
    assert [record for _, record in records(source, bad)] == [{"a": 1}, {"c": 3}]
    (note,) = bad.notes(source)
    assert note.startswith("3 lines")
    assert all(f" {line} (" in note for line in (2, 3, 5))


def test_a_torn_last_line_is_said_to_be_torn() -> None:
    """letta-ai/letta-code#3590."""
    source = open_source('{"a":1}\n{"b":"漢'.encode()[:-1])
    bad = BadLines()
    assert [record for _, record in records(source, bad)] == [{"a": 1}]
    assert bad.notes(source) == ("line 2 is torn (the file ends inside it) and was left out",)


def test_long_lists_of_bad_lines_are_cut_short() -> None:
    """A note is for people."""
    source = open_source(b"{}\n" + b"{\n" * 50)
    bad = BadLines()
    list(records(source, bad))
    assert bad.notes(source)[0].endswith("and 40 more")


@pytest.mark.parametrize(
    ("head", "depth", "found"),
    [
        (b'{"a":1,"b":{"c":"x"},"d":["e",{"f":1}]}', 1, {"a": "1", "b": None, "d": None}),
        (b'{"a":{"b":"x"},"c":"y"}', 2, {"a": None, "a.b": "x", "c": "y"}),
        (b'[{"a":"x"},{"b":1}]', 1, {"a": "x"}),
        (b'{"a":1}\n{"b":2}', 1, {"a": "1"}),
        (b'{"a":"cut off here', 1, {"a": None}),
        (b'{"a', 1, {}),
        (b'{"a":"{\\"b\\":1}","c":true}', 1, {"a": '{\\"b\\":1}', "c": "true"}),
        (b"[]", 1, {}),
        (b"plain words", 1, {}),
        (b"]]{", 1, {}),
    ],
)
def test_keys_of_a_head_are_found_even_where_it_is_cut(
    head: bytes, depth: int, found: dict[str, str | None]
) -> None:
    """Formats are recognised by the first 64 kB, which may end anywhere."""
    assert keys(head, depth=depth) == found


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3)
        ),
        max_leaves=12,
    ),
    cut=st.integers(0, 80),
)
def test_keys_never_fail_and_are_keys_of_the_object(value: object, cut: int) -> None:
    """Any bytes may come in."""
    data = json.dumps({"k": value}).encode()
    assert keys(data).keys() == {"k"}
    assert keys(data[:cut]).keys() <= {"k"}
