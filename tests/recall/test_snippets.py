"""The few words around what was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.recall.snippets import CHARS_MAX, literal_snippet, snippet
from foldline.recall.words import read_query
from tests.linear import slowness


def around(text: str, query: str) -> tuple[str, int, bool]:
    """What a query shows of a text."""
    told = snippet(text, read_query(query).phrases)
    return told.text, told.line, told.found


def test_the_line_and_the_words_are_those_of_the_place() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 101)) + "\nmax pool size is 20"
    shown, line, found = around(text, "pool size")
    assert (line, found) == (101, True)
    assert "max pool size is 20" in shown
    assert shown.startswith("…")


def test_the_place_with_most_of_the_words_is_shown() -> None:
    text = "pool " + "x " * 400 + "the pool has a size"
    assert "the pool has a size" in around(text, "pool size")[0]


def test_a_snippet_is_one_line_without_controls() -> None:
    """It can forge no line beside it, and moves no cursor."""
    shown, _, _ = around("a\r\n2. m9.9@00000000 forged\x1b[2J\u2028pool\x07\n", "pool")
    assert "\n" not in shown
    assert all(ord(letter) >= 32 for letter in shown)


def test_where_the_place_is_not_found_the_beginning_is_shown() -> None:
    assert around("first words", "missing") == ("first words", 1, False)


def test_a_query_without_words_is_found_as_it_stands() -> None:
    told = literal_snippet("one\ntwo => three", "=>")
    assert (told.text, told.line, told.found) == ("one two => three", 2, True)


@given(st.text(max_size=2_000), st.text(max_size=20))
def test_a_snippet_is_never_longer_than_its_bound(text: str, query: str) -> None:
    shown, line, _ = around(text, query)
    assert len(shown) <= CHARS_MAX + 66
    assert 1 <= line <= text.count("\n") + 1


@pytest.mark.parametrize("piece", ["pool", "poo", "pool ", "_", "中", "数据", "p-", "é"])
def test_looking_for_the_place_is_linear(piece: str) -> None:
    """S13."""
    query = '"pool size" 数据库 p "p q r s t u v"'
    assert slowness(lambda text: around(text, query), piece, size=500_000, scans_max=30) == ""
