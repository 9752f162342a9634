"""A host's callback, asked: whatever it gives is looked through, bounded and, where it is not what was asked for, named.

A callback may raise, give a text for a list, a list without end, or values whose fields are of any kind; none of it reaches a
message unread, and none of it stops a compaction. Knows no file and no message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TypeVar

from foldline.core.foreign import Raised, tried
from foldline.core.surrogates import is_torn, whole
from foldline.ledger.lines import one_line

Value = TypeVar("Value")

ROWS_MAX = 64
"""Rows taken of a callback."""
LINE_CHARS_MAX = 300
"""Characters of one line."""
TEXT_CHARS_MAX = 400_000
"""Characters of one text that are looked at."""


class Notes:
    """What went wrong, for the report."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self.said: list[str] = []

    def add(self, source: str, why: str) -> None:
        """Once each."""
        note = f"{source}: {one_line(text_of(self._redact(why)), LINE_CHARS_MAX)}"
        if note not in self.said and len(self.said) < ROWS_MAX:
            self.said.append(note)


def one(source: str, call: Callable[[], object] | None, *, kind: type[Value], notes: Notes) -> Value | None:
    """One value of a kind; `None` where there is no callback, or it gave none that can be used."""
    if call is None:
        return None
    given = tried(call)
    if isinstance(given, Raised):
        notes.add(source, given.why)
        return None
    if given is None or isinstance(given, kind):
        return given
    notes.add(source, f"gave a {type(given).__name__}, not a {kind.__name__}")
    return None


def many(source: str, call: Callable[[], object], *, kind: type[Value], notes: Notes) -> tuple[Value, ...]:
    """Values of a kind, at most `ROWS_MAX`; others are left out and said."""
    given = tried(call)
    rows: object = given
    if given is None:
        return ()
    if not isinstance(given, Raised):
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
            notes.add(source, f"gave a {type(given).__name__}, not a list")
            return ()
        found: Iterable[object] = given
        rows = tried(lambda: list(islice(found, ROWS_MAX + 1)))
    if isinstance(rows, Raised):
        notes.add(source, rows.why)
        return ()
    assert isinstance(rows, list)
    if len(rows) > ROWS_MAX:
        notes.add(source, f"gave more than {ROWS_MAX} rows; the rest is left out")
    wrong = [row for row in rows[:ROWS_MAX] if not isinstance(row, kind)]
    if wrong:
        notes.add(source, f"gave a {type(wrong[0]).__name__} among its rows, not a {kind.__name__}")
    return tuple(row for row in rows[:ROWS_MAX] if isinstance(row, kind))


def text_of(value: object) -> str:
    """A field as a text, bounded and mended; empty where it is none."""
    if not isinstance(value, str):
        return ""
    text = value[:TEXT_CHARS_MAX]
    return whole(text) if is_torn(text) else text


def line_of(value: object) -> str:
    """A field as one line."""
    return one_line(text_of(value), LINE_CHARS_MAX)
