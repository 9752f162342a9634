"""What stands on one line of the ledger is one line, for every reader of lines."""

from __future__ import annotations

import pytest

from foldline.ledger.lines import OUTCOME_CHARS, last_line, one_line, unbroken

BREAKS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("line_end", BREAKS, ids=[ascii(each) for each in BREAKS])
def test_nothing_that_ends_a_line_is_left_in_a_line(line_end: str) -> None:
    """Law TRACE: no quoted text opens a heading."""
    text = f"a{line_end}## b  c"
    assert unbroken(text) == "a ## b  c"
    assert one_line(text, 80) == "a ## b c"
    assert last_line(text) == "## b c"


def test_a_long_text_is_cut_at_a_word() -> None:
    """Every line has a bound."""
    assert one_line("word " * 100, 12) == "word word…"
    assert one_line("x" * 100, 12) == "x" * 11 + "…"
    assert len(last_line("x" * 10_000)) == OUTCOME_CHARS
    assert last_line(" \n") == "no output"
