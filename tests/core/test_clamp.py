"""Shortening one text: clean borders, bounded time, what a terminal would have shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.address import escape_tags, has_notice, is_notice, parse_address, read_block
from foldline.core.clamp import (
    GRAPHEME_MAX,
    SEQUENCE_MAX,
    fit_head,
    fit_tail,
    head_and_tail,
    head_end,
    plain,
    tail_start,
)
from foldline.core.clamp_json import clamp_json
from foldline.core.errors import UnknownAddress
from tests.linear import slowness

MEGABYTE = 1 << 20
SCANS_MAX = 30
"""Plain looks at each character that all of it together may take."""


@pytest.mark.parametrize("chars", [-1, 0, 1, 5, 6, 7, 100])
def test_head_and_tail_of_plain_text_are_exactly_as_long_as_asked(chars: int) -> None:
    """BUD-6 asks for exact numbers of characters."""
    text = "abcdef"
    assert text[: head_end(text, chars)] == text[: max(0, chars)]
    assert text[tail_start(text, chars) :] == (text[-chars:] if chars > 0 else "")


@pytest.mark.parametrize(
    "unit",
    [
        "\ud83d\ude00",
        "e\u0301",
        "👩\u200d👧",
        "👍🏽",
        "🇩🇪",
        "❤\ufe0f",
        "1\ufe0f\u20e3",
        "กั",
        "கி",
        "🏴\U000e0067\U000e007f",
    ],
)
def test_no_cut_falls_inside_what_is_read_as_one(unit: str) -> None:
    """Surrogate pairs, combining marks, joined emoji, skin tones, flags, keycaps: moved out of, on either side."""
    text = f"ab{unit}cd"
    inside = range(2, 2 + len(unit))
    assert {text[: head_end(text, at)] for at in inside} == {"ab"}
    assert {text[tail_start(text, len(text) - at) :] for at in range(3, 2 + len(unit))} == {"cd"}


def test_cjk_text_is_cut_between_any_two_characters() -> None:
    """Nothing joins them."""
    text = "漢字かな" * 10
    assert [head_end(text, n) for n in range(40)] == list(range(40))


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[31m",
        "\x1b[38;2;10;20;30m",
        "\x1b]0;title\x07",
        "\x1b]8;;file:///" + "d/" * 150 + "\x1b\\",
        "\x1bP1$q\x1b\\",
        "\x1b(B",
    ],
)
def test_no_cut_falls_inside_a_terminal_sequence(sequence: str) -> None:
    """Half a sequence swallows what follows it: colours, titles, links, device strings, character sets."""
    text = f"ab{sequence}cd"
    for at in range(3, 2 + len(sequence)):
        assert text[: head_end(text, at)] == "ab"
        assert text[tail_start(text, len(text) - at) :] == "cd"


def test_half_a_pair_alone_is_a_character_like_any_other() -> None:
    """It is mended elsewhere (`foldline.core.repair`)."""
    assert head_end("a\ud83db", 2) == 2
    assert tail_start("a\ude00b", 2) == 1


@pytest.mark.parametrize("mark", ["\u0301", "\u200d", "\U0001f1e6", "\ud83d\ude00"])
def test_a_cut_gives_up_where_nothing_ends(mark: str) -> None:
    """A megabyte of combining marks is no character; the cut moves by `GRAPHEME_MAX` at most, out of a pair at least."""
    text = mark * 1000
    for at in range(500, 504):
        assert at - GRAPHEME_MAX <= head_end(text, at) <= at
        assert at <= tail_start(text, len(text) - at) <= at + GRAPHEME_MAX
        whole = "\ud83d" not in (text[head_end(text, at) - 1], text[tail_start(text, len(text) - at) - 1])
        assert whole


def test_marks_without_end_before_a_pair_do_not_tear_it() -> None:
    """The bound is reached in the middle of a pair, from either side."""
    marks, pair = "\u0301" * GRAPHEME_MAX, "\ud83d\ude00"
    text = "a" + pair + marks + pair + "a"
    for at in range(1, len(text)):
        assert text[head_end(text, at) - 1] != "\ud83d"
        assert text[tail_start(text, len(text) - at) - 1] != "\ud83d"


def test_head_and_tail_that_cover_the_text_are_no_cut() -> None:
    """Nothing would go; and where clean borders leave nothing between, neither."""
    assert head_and_tail("abcdef", 3, tail=3) is None
    assert head_and_tail("abcdef", 3, tail=2) == ("abc", "ef")
    joined = "a" + "\u0301" * 9
    assert head_and_tail(joined, 5, tail=4) == ("", "")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.integers(0, 40), st.integers(0, 40))
def test_a_cut_keeps_a_beginning_and_an_end_of_the_text(text: str, head: int, tail: int) -> None:
    """And never more than was asked for."""
    cut = head_and_tail(text, head, tail=tail)
    if cut is not None:
        assert text.startswith(cut[0])
        assert text.endswith(cut[1])
        assert len(cut[0]) <= head
        assert len(cut[1]) <= tail


@given(st.text(min_size=1, max_size=300), st.integers(0, 120))
def test_a_fitted_head_or_tail_is_within_its_measure(text: str, limit: int) -> None:
    """Whatever the measure: here one that knows wide characters."""

    def measure(piece: str) -> int:
        return sum(1 if ch < "\x80" else 3 for ch in piece)

    assert measure(text[: fit_head(text, limit, measure=measure)]) <= limit
    tail = fit_tail(text, limit, measure=measure)
    assert measure(text[len(text) - tail :]) <= limit


def test_a_fitted_head_comes_close_to_its_measure() -> None:
    """At least nine tenths of what would fit, where text is even; all of it where all fits."""
    text = "word " * 4000
    assert 0.9 * 1500 <= len(text[: fit_head(text, 1500, measure=lambda s: len(s) // 5)]) // 5 <= 1500
    assert fit_head("short", 100, measure=len) == 5
    assert fit_head("", 100, measure=len) == fit_head("text", 0, measure=len) == 0
    assert fit_head("漢" * 10, 2, measure=lambda s: 3 * len(s)) == 0


def test_plain_text_comes_back_as_the_same_object() -> None:
    """Most text has no terminal codes; it is not copied."""
    text = "ordinary\ntext"
    assert plain(text) is text


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07body", "body"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("0%\r50%\r100%\n", "0%\n100%\n"),
        ("same\rsame\n", "same\n"),
        ("once\r\n", "once\n"),
        ("once\r", "once"),
        ("\r\r\n", "\n"),
        ("\r \r", ""),
        ("one\ntwo\r2\nthree", "one\ntwo\n2\nthree"),
    ],
)
def test_terminal_output_is_read_as_a_person_saw_it(raw: str, seen: str) -> None:
    """Fault report L07: sequences gone; of each redrawn line the first and the last state."""
    assert plain(raw) == seen


HOSTILE = {
    "open sequences": "\x1b[",
    "sequences with endless digits": "\x1b[" + "1;" * 80,
    "titles without end": "\x1b]" + "t" * 2046,
    "device strings without end": "\x1bP" + "d" * 2046,
    "escapes alone": "\x1b",
    "escapes before spaces": "\x1b    ",
    "redraws": "x\r",
    "combining marks": "\u0301",
    "joiners": "\u200d",
    "flags": "\U0001f1e9",
    "tags": "<foldline-fold id=",
    "blocks": '<foldline-fold id="m1@00000000">\n',
    "block ends": "\n</foldline-fold>",
    "notices": "[foldline: ",
    "notices with dots": "[foldline: a · m" + "1." * 14,
    "digits": "m1-1.",
    "open lists": "[",
    "escaped strings": '["\\u0000',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_of_hostile_text_takes_linear_time(name: str) -> None:
    """No expression backtracks over the text."""
    assert slowness(_all_of_it, HOSTILE[name], size=MEGABYTE, scans_max=SCANS_MAX) == ""


def _all_of_it(text: str) -> None:
    plain(text)
    head_end(text, len(text) // 2)
    tail_start(text, len(text) // 2)
    fit_head(text, 5000, measure=len)
    escape_tags(text)
    has_notice(text)
    is_notice(text)
    read_block(text)
    read_block(f'<foldline-fold id="m1@00000000">\n{text}')
    clamp_json(text, 4000, mark="[mark]")
    with pytest.raises(UnknownAddress):
        parse_address(text)


def test_a_sequence_is_looked_for_no_further_than_its_bound() -> None:
    """What is longer is text; the cut stays where it was."""
    text = "\x1b]" + "t" * (2 * SEQUENCE_MAX)
    assert head_end(text, SEQUENCE_MAX + 10) == SEQUENCE_MAX + 10
