"""Marks of the ledger's lines: whoever writes one, the number in it is read, and another is put there."""

from __future__ import annotations

import pytest

from foldline.ledger import marks
from foldline.ledger.marks import between, numbers_in, told_by

WRITTEN = {
    name: value
    for name, value in vars(marks).items()
    if name.isupper() and isinstance(value, str) and value.endswith(" m")
}


def test_every_mark_is_read_and_told_anew() -> None:
    """Law TRACE: the one for what a restored folder takes was missing, and named a message of another history."""
    assert len(WRITTEN) == 12
    for mark in WRITTEN.values():
        line = f"`x` → {mark.removeprefix('; ')}31" if not mark.startswith(";") else f"a.py edited{mark}31"
        assert list(numbers_in(line)) == [31]
        assert told_by(line, 7) == line.replace("m31", "m7")


def test_several_marks_of_one_line_are_told_anew() -> None:
    """Law TRACE: an edit that failed before is made later."""
    line = "`x` → failed; failed at m3, not seen to pass since; changed at m12"
    assert list(numbers_in(line)) == [3, 12]
    assert told_by(line, 7) == "`x` → failed; failed at m7, not seen to pass since; changed at m7"


@pytest.mark.parametrize("line", ["`ls` → printed: was refused at m31", "looks at m31", "m3-m9: 6 files"])
def test_other_words_are_no_marks(line: str) -> None:
    """What a program printed stays what it printed."""
    assert list(numbers_in(line)) == []
    assert told_by(line, 7) == line


def test_a_line_of_several_messages_stays_apart_from_others_like_it() -> None:
    """Law TRACE: two of them in one ledger are two entries where another message holds both."""
    line = f"{between(3, 9)}: 6 files edited, by sed: a b c d e f; last `s/x/y/`"
    assert line.startswith("m3-m9: ")
    once = told_by(line, 1)
    assert once == "3-9 of m1: 6 files edited, by sed: a b c d e f; last `s/x/y/`"
    assert told_by(once, 5) == once.replace("m1", "m5")
