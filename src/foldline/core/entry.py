"""Entries: the records of a session's log, as every layer above shares them.

A log is a header and numbered entries, only ever appended to. What they come to is `foldline.log.replay`'s to say,
how a line is spelt `foldline.log.lines`'s, where it lies a store's.
"""

from __future__ import annotations

from msgspec import Struct


class Draft(Struct, frozen=True, kw_only=True, gc=False):
    """An entry that is to be appended."""

    kind: str
    """`message`, `compaction`, …: a word of `a`-`z` and `_`."""
    body: bytes
    """A JSON object on one line."""


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """An entry of a log."""

    seq: int
    """Its number among the entries, from 0, without a gap."""
    kind: str
    body: bytes
    """The exact JSON bytes."""
    offset: int
    """Byte of the log at which its line begins. Never changes, wherever an archive keeps the line."""
    size: int = 0
    """Bytes of its line, line feed included."""
    time_ms: int | None = None
    """Unix time of the append, milliseconds; `None` in a log that a pure function wrote."""
    more: int = 0
    """How many entries after it belong to the same append; they count together or not at all."""
