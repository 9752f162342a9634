"""Text and queries are cut into the same words, whatever is written in them."""

from __future__ import annotations

import sqlite3
import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.recall.words import (
    PHRASES_MAX,
    QUERY_CHARS_MAX,
    bare,
    looser,
    match_of,
    pattern_of,
    read_query,
    split,
    words_of,
)
from tests.linear import slowness

LETTERS = st.characters(categories=["L", "N"])
"""Letters and digits of every script."""


def indexed(*texts: str) -> sqlite3.Connection:
    """An index as the real one."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize='unicode61 remove_diacritics 2')"
    )
    rows = [(number, split(text)) for number, text in enumerate(texts)]
    connection.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", rows)
    return connection


def finds(connection: sqlite3.Connection, query: str) -> list[int]:
    """Which texts hold every phrase of a query."""
    phrases = read_query(query).phrases
    sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid"
    return [number for (number,) in connection.execute(sql, (match_of(phrases),))] if phrases else []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我们用数据库连接池", "数据库"),
        ("我们用数据库连接池", "连接"),
        ("版本是v2数据", "v2数据"),
        ("データベースに接続", "接続"),
        ("데이터베이스에 연결", "연결"),
        ("데이터베이스에 연결", "데이터베이스"),
        ("สวัสดีครับ", "ครับ"),
        ("max_pool_size=20", "pool_size"),
        ("src/foldline/recall.py", "foldline/recall"),
        ("Crème brûlée", "creme"),
        ("cafe\u0301", "café"),
        ("हिन्दी भाषा", "भाषा"),
        ("ＡＢＣ１２３", "abc123"),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8.txt", "한국"),
        ('{"name": "\\u6570\\u636e"}', "数据"),
        ("all done 🎉", "🎉"),
        ("𝒳 marks 𐐷", "𐐷"),
    ],
)
def test_a_text_is_found_by_its_words_in_any_script(text: str, query: str) -> None:
    """Words of two Chinese characters, Korean with its particles, Thai, identifiers, accents in both spellings, full width,
    JSON escapes, emoji."""
    connection = indexed("something else", text)
    assert finds(connection, query) == [1]


def test_characters_that_stand_apart_are_no_word() -> None:
    """Adjacency is kept: the two characters of a word stand beside each other."""
    connection = indexed("数据", "数 和 据", "据数")
    assert finds(connection, "数据") == [0]


@given(st.lists(st.text(LETTERS, min_size=1, max_size=8), min_size=1, max_size=6), st.data())
def test_any_text_is_found_by_any_of_its_words(words: list[str], data: st.DataObject) -> None:
    """Every letter of Unicode is part of some word that the index knows."""
    text = data.draw(st.sampled_from([" ", "\n", ", ", " — ", "/", "\u3000", "\0"])).join(words)
    connection = indexed(text)
    for word in words:
        assert finds(connection, word) == [0], word


@pytest.mark.nightly
def test_every_letter_that_python_knows_is_found() -> None:
    """The index's SQLite may be of an older Unicode than Python; 134,000 letters, alone and inside a word."""
    letters = [chr(code) for code in range(33, sys.maxunicode) if unicodedata.category(chr(code))[0] in "LN"]
    connection = indexed(*(f"ab {letter} cd{letter}ef" for letter in letters))
    sql = "SELECT count(*) FROM words WHERE words MATCH ? AND rowid = ?"
    for number, letter in enumerate(letters):
        for query in (letter, f"cd{letter}ef"):
            [(found,)] = connection.execute(sql, (match_of(read_query(query).phrases), number))
            assert found, (hex(ord(letter)), query)


HOSTILE = [
    '"', '""', '"""', "'", "a\" OR text : \"b", "NEAR(a b, 5)", "a AND", "AND", "NOT a", "a NOT", "a*", "*", "^a",
    "{text} : a", "marks : roleuser", "-a", "(a", "a)", "a + b", "a\0b", "\0", "\ud800", "a\udc00b", "--", ";DROP TABLE words",
    "\u202ea", "\x1b[31ma", "a" * 5000, "a " * 5000, '"' + "a " * 5000, "(" * 3000, "\u0300" * 3000, "\\u0022 OR b", "\\u0000",
    "\\ud800", "𝕏" * 400, "€", " ", "\n",
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE)
def test_a_query_is_data_and_has_no_syntax_but_quotes(query: str) -> None:
    """Whatever is asked, the index answers; nothing of it is read as its language."""
    connection = indexed("a b", "c d", "text near roleuser")
    for joined in ("AND", "OR"):
        phrases = read_query(query).phrases
        if phrases:
            match = match_of(phrases, joined=joined)
            connection.execute(
                "SELECT count(*) FROM words WHERE words MATCH ?", (f"text : ({match})",)
            ).fetchall()


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_no_query_breaks_the_index(query: str) -> None:
    """Half surrogates, NUL and controls too."""
    connection = indexed("a b")
    for told in (read_query(query), looser(read_query(query))):
        for prefix in (False, True):
            if told.phrases:
                match = match_of(told.phrases, joined="OR", prefix=prefix)
                sql = "SELECT count(*) FROM words WHERE words MATCH ?"
                connection.execute(sql, (f"text : ({match})",)).fetchall()


def test_the_operators_of_the_index_are_words() -> None:
    """`NOT` is looked for, not obeyed."""
    connection = indexed("a b", "do not a")
    assert finds(connection, "a NOT") == [1]


def test_a_query_is_read_up_to_a_bound_and_says_so() -> None:
    """Every loop has a bound."""
    assert not read_query("a b").cut
    assert read_query("a" * (QUERY_CHARS_MAX + 1)).cut
    many = read_query(" ".join(f"w{number}" for number in range(PHRASES_MAX + 1)))
    assert len(many.phrases) == PHRASES_MAX
    assert many.cut


def test_quotes_keep_words_side_by_side() -> None:
    """The one thing a query can say."""
    connection = indexed("pool size", "size of the pool")
    assert finds(connection, '"pool size"') == [0]
    assert finds(connection, "pool size") == [0, 1]


def test_a_looser_query_takes_words_one_by_one_and_neighbours_two_by_two() -> None:
    """A Chinese query that is no phrase of the text still finds its pieces."""
    loose = looser(read_query("数据库的 pool.size 池"))
    assert loose.phrases == (("数", "据"), ("据", "库"), ("库", "的"), ("pool",), ("size",), ("池",))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The Pool-Size is 20", "pool size"),
        ("看数据库吧", "数据库"),
        ("Crème", "creme"),
        ("done 🎉!", "🎉"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_a_phrase_is_found_in_the_text_itself_at_its_place(text: str, query: str) -> None:
    """A place in the bare text is a place in the text."""
    looked = bare(text)
    assert len(looked) == len(text)
    [phrase] = read_query(f'"{query}"').phrases
    assert pattern_of(phrase).search(looked)


def test_a_part_of_a_word_is_not_the_word() -> None:
    assert pattern_of(("pool",)).search("spools") is None
    assert pattern_of(("pool",)).search("a_pool_b")


@given(st.text(max_size=200))
def test_bare_text_has_the_same_length(text: str) -> None:
    """Even where small letters are longer than large ones."""
    assert len(bare(text)) == len(text)


SLOW = {
    "escapes": "\\u4e2d", "almost escapes": "\\u4e2", "backslashes": "\\", "Chinese": "中", "jamo": "\u1112\u1161\u11ab",
    "marks": "\u0300\u0316", "full width": "Ａ", "emoji": "🎉", "quotes": '"', "spaces": " ", "spaced": "a ", "dots": "a.",
    "underscores": "_",
}  # fmt: skip


WORKS: dict[str, Callable[[str], object]] = {
    "split": split,
    "read a query": read_query,
    "words": lambda text: words_of(text[:100_000]),
    "find a phrase": lambda text: pattern_of(("aa", "aa", "中", "中")).search(bare(text)),
}


@pytest.mark.parametrize("piece", SLOW.values(), ids=SLOW)
@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_cutting_is_linear(work: Callable[[str], object], piece: str) -> None:
    """S13: 500 kB of an expression's own prefixes, and of what may stand between two words of a phrase."""
    assert slowness(work, piece, size=500_000, scans_max=30) == ""
