"""Large documents read in slices: nothing is built that nobody asks for, and nothing slips through unread."""

from __future__ import annotations

import tracemalloc

import msgspec
import pytest

from foldline.core.errors import InvalidTranscript
from foldline.transcripts import document
from foldline.transcripts.source import open_source
from tests.transcripts.data import bytes_of

SPACED = b'{ "a" : [ {"x":1} , 2 ], "b\\u0061" : {"deep":[1,2]} }\n'


def test_pieces_are_slices_and_values_are_read_one_by_one() -> None:
    """The bytes of a piece are the very bytes of the document."""
    root = document.open_document(open_source(SPACED))
    members = document.fields(root)
    assert list(members) == ["a", "ba"]
    assert document.raw_bytes(members["ba"]) == b'{"deep":[1,2]}'
    assert [document.value(item) for item in document.items(members["a"])] == [{"x": 1}, 2]
    assert document.copies(members["a"]) == [b'{"x":1}', b"2"]


def test_a_piece_of_another_kind_has_no_members() -> None:
    """Readers ask for what a format should hold; a file need not hold it."""
    root = document.open_document(open_source(SPACED))
    assert document.items(root) == []
    assert document.fields(document.fields(root)["a"]) == {}
    assert document.fields(None) == {}
    assert document.items(None) == []


def test_a_document_with_lone_surrogates_is_read_all_the_same() -> None:
    """JavaScript cuts strings inside an emoji (anthropics/claude-code#69927), and the slicer refuses such bytes."""
    root = document.open_document(open_source(b'{"a":[{"t":"\\ud83d"}]}'))
    (item,) = document.items(document.fields(root)["a"])
    assert document.value(item) == {"t": "\ud83d"}
    assert document.raw_bytes(item) == b'{"t":"\\ud83d"}'


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"a":1,"a":2}', "key 'a' is given twice"),
        (b'{ "a" : 1 , "b":2, "a" : 2 }', "key 'a' is given twice"),
        (b'{"a":12,"b":3,"a":1}', "key 'a' is given twice"),
        (b'{"\\u0061":1,"a":1}', "key 'a' is given twice"),
        (b'{"a":{"b":1},"a":[]}', "key 'a' is given twice"),
        (b'{"a":[1,2', "cut off"),
        (b'{"a":NaN}', "is not valid JSON: (?!not valid)"),
        (b'{"a":1} {"b":2}', "trailing"),
        (b'{"a":"\xff"}', "UTF-8"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested deeper"),
    ],
)
def test_what_parsers_disagree_about_is_refused_with_a_reason(data: bytes, why: str) -> None:
    """A parser keeps the last of two keys: `messages` given twice would hide the first list."""
    with pytest.raises(InvalidTranscript, match=why):
        document.open_document(open_source(data))


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b'{"a":"b\\",c"}',
        b'{"a":{"a":1},"b":[{"a":1}]}',
        b'\n{\n"a"\t:1 ,\r\n"\xc3\xa9":2}\n',
        b"[1]",
        b"7",
    ],
)
def test_a_document_without_such_keys_is_accepted_however_it_is_spelt(data: bytes) -> None:
    """The check walks white space, escapes and nested keys of the same name."""
    document.open_document(open_source(data))


def test_an_error_in_a_piece_names_its_place_in_the_document() -> None:
    """What, where, what to do."""
    source = open_source(b'{"list":[{"ok":1},{"k":1,"k":2}]}')
    piece = document.fields(document.open_document(source))["list"]
    with pytest.raises(InvalidTranscript, match=r"at list\[1\]: key 'k' is given twice.*repair or remove it"):
        list(document.objects(source, piece, at="list"))


def test_objects_leave_out_what_is_none_and_keep_the_index() -> None:
    """A stray number in a list of messages is no message."""
    source = open_source(b'[1,{"a":1},null,{"b":2}]')
    found = list(document.objects(source, document.open_document(source), at="list"))
    assert found == [(1, {"a": 1}), (3, {"b": 2})]


def test_reading_one_piece_of_a_large_document_costs_little_beside_the_document() -> None:
    """Single-document formats may take three times the file; slices alone take a few bytes each."""
    data = bytes_of({"skip": ["word " * 100] * 20_000, "take": ["one", "two"]})
    tracemalloc.start()
    root = document.open_document(open_source(data))
    taken = [document.value(item) for item in document.items(document.fields(root)["take"])]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken == ["one", "two"]
    assert isinstance(root, msgspec.Raw)
    assert peak < 1.2 * len(data)
