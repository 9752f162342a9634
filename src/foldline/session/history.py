"""A session's whole history, read lazily: every message and every summary at its own place, page by page.

Nothing is loaded that nobody asks for (requirement JRN-19): the log is walked from its end, only as far as needed, and what
is kept of it is the byte at which each entry begins.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Literal, overload

from msgspec import Struct

from foldline.core.edit import Fold
from foldline.core.entry import Entry
from foldline.core.message import Message
from foldline.core.ports import Pages
from foldline.log.chain import back, members_of, unreadable
from foldline.log.said import time_of
from foldline.log.state import ROOT
from foldline.log.values import read_edits, read_message, read_scope
from foldline.wire import strict
from foldline.wire.formats import CODECS, DEFAULT, codec

PAGE = 50
"""Entries of a page where nobody says otherwise."""
TOLD = frozenset(("message", "compaction"))
"""Kinds of entries that a person reads in a history."""


class Happened(Struct, frozen=True, kw_only=True):
    """One thing in a history, as a person reads it."""

    seq: int
    kind: Literal["message", "compaction"]
    time_ms: int | None
    """When it was said, as a message brought in from elsewhere says itself, or when it was appended."""
    message: Message | None = None
    """What was said; `None` for a compaction."""
    summaries: tuple[str, ...] = ()
    """What a compaction put in the place of what it took out."""
    report: dict[str, Any] = {}
    """A compaction's report."""


class Made(Struct, frozen=True, kw_only=True):
    """One compaction of a session, explained."""

    seq: int
    """Its entry: what `undo` and `rollback(before=…)` take."""
    counts: bool
    """False when it was taken back, or lies behind a rollback."""
    happened: Happened

    @property
    def report(self) -> dict[str, Any]:
        """What it did, in numbers."""
        return self.happened.report

    @property
    def summaries(self) -> tuple[str, ...]:
        """What it put in the place of what it took out, each at its own place."""
        return self.happened.summaries


class Page(Struct, frozen=True, kw_only=True):
    """A piece of a history, oldest first."""

    entries: tuple[Happened, ...]
    format: str
    """The session's wire format."""
    before: int | None
    """Where the page before this one ends, to be asked for with; `None`: this is the first."""


class Chronicle:
    """The entries of one scope that a person reads, found from the newest on."""

    def __init__(self, pages: Pages, *, kinds: frozenset[str], scope: str = ROOT) -> None:
        self._pages, self._kinds, self._scope = pages, kinds, scope
        self._walk = back(pages)
        self._found = array("q")
        """Bytes of their entries, newest first."""

    def _go(self, count: int | None) -> None:
        """Walk on until so many are found; to the beginning for `None`."""
        while count is None or len(self._found) < count:
            entry = next(self._walk, None)
            if entry is None:
                return
            if entry.kind in self._kinds and read_scope(members_of(entry)) == self._scope:
                self._found.append(entry.offset)

    def __len__(self) -> int:
        self._go(None)
        return len(self._found)

    def newest(self, start: int, stop: int) -> list[Entry]:
        """Entries `start` to `stop` from the newest, oldest first."""
        self._go(stop)
        return [self._pages.entry(offset) for offset in reversed(self._found[start:stop])]

    def page(self, *, before: int | None = None, limit: int = PAGE) -> Page:
        """The page that ends before entry `before`, the last one for `None`."""
        start = 0
        if before is not None:
            start = self._after(before)
        entries = self.newest(start, start + limit)
        self._go(start + limit + 1)
        more = len(self._found) > start + limit
        return Page(
            entries=tuple(happened(entry) for entry in entries),
            format=self._pages.format,
            before=entries[0].seq if more and entries else None,
        )

    def _after(self, seq: int) -> int:
        """How many of the found stand at or after entry `seq`."""
        low, count = 0, 64
        while True:
            self._go(count)
            if len(self._found) < count or self._pages.entry(self._found[-1]).seq < seq:
                break
            count *= 2
        high = len(self._found)
        while low < high:
            middle = (low + high) // 2
            if self._pages.entry(self._found[middle]).seq >= seq:
                low = middle + 1
            else:
                high = middle
        return low


class Messages(Sequence[dict[str, Any]]):
    """Every message of a session in its wire form, compacted or not, in order; each is read when it is asked for."""

    def __init__(self, pages: Pages) -> None:
        self._format = pages.format
        self._chronicle = Chronicle(pages, kinds=frozenset(("message",)))

    def __len__(self) -> int:
        return len(self._chronicle)

    def __repr__(self) -> str:
        return f"<{len(self):,} messages; list() reads them>"

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if index < 0:  # from the end, without a walk to the beginning
            found = self._chronicle.newest(-index - 1, -index)
        else:
            count = len(self)
            found = self._chronicle.newest(count - index - 1, count - index) if index < count else []
        if not found:
            raise IndexError(index)
        return wire_of(read_message(found[0].body), self._format)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for index in range(len(self)):
            yield self[index]


def wire_of(message: Message, format: str) -> dict[str, Any]:
    """A message in its own format; one of no wire's as the session's format has it, where that has one message for it."""
    is_one_for_one = format in CODECS and not codec(format).rules.needs.items
    return codec(message.format or (format if is_one_for_one else DEFAULT)).encode(message)


def _message_of(entry: Entry) -> Message:
    try:
        return read_message(entry.body)
    except (ValueError, LookupError, TypeError) as error:
        raise unreadable(entry, error) from error


def happened(entry: Entry) -> Happened:
    """An entry as a person reads it."""
    if entry.kind == "message":
        message = _message_of(entry)
        return Happened(seq=entry.seq, kind="message", time_ms=time_of(entry, message), message=message)
    told = members_of(entry)
    return Happened(
        seq=entry.seq,
        kind="compaction",
        time_ms=entry.time_ms,
        summaries=tuple(edit.message.text for edit in read_edits(told["edits"]) if isinstance(edit, Fold)),
        report=strict.loads(told["report"]) if "report" in told else {},
    )
