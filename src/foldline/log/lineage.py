"""A fork and the logs it goes on from, as one log.

    parent   e0 e1 e2 │ e3 e4                    fork of e2    e0 e1 e2 e3′ e4′
    fork              └ e0 e1                    byte          the fork's own, after the parent's up to the cut

A fork has no copy of its parent's history: its first line names the parent, the last entry that belongs to the fork, and the
byte at which that one ends. Numbers and bytes go on from there, so whoever reads a lineage reads one log: replay,
checkpoints, addresses and edits know nothing of forks. Hand-off records of a parent are not handed on (requirement JRN-9).
Knows stores by their port alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.entry import Draft, Entry
from foldline.core.errors import SessionCorrupt, UnknownSession
from foldline.core.ports import Journal, Pages, Store
from foldline.wire import strict

DEPTH_MAX: Final = 64
"""Forks of forks."""
HIDDEN: Final = "handoff"


class Cut(Struct, frozen=True, kw_only=True):
    """Where a fork leaves its parent."""

    name: str
    """The parent."""
    seq: int
    """The last entry of the parent that belongs to the fork; -1: none."""
    byte: int
    """Where that entry ends: what comes after it in the fork has this added to its own byte."""
    start: int | None = None
    """Where that entry begins; `None` in a log that does not say it yet."""
    time_ms: int | None = None
    """When that entry was appended. With `start` it tells an entry from another of its number and size; a checksum would
    not outlive a forget, which rewrites bodies in place."""


class Lineage:
    """`foldline.core.ports.Pages` over a log and all that it goes on from, and `Journal` where its own end can be written."""

    def __init__(self, own: Pages, parent: Lineage | None = None, *, cut: Cut | None = None) -> None:
        self.own, self._parent, self._cut = own, parent, cut
        self._seq = 0 if cut is None else cut.seq + 1
        self._byte = 0 if cut is None else cut.byte

    @property
    def format(self) -> str:
        return self.own.format

    @property
    def about(self) -> bytes:
        return self.own.about

    @property
    def torn(self) -> str:
        return self.own.torn

    @property
    def cut(self) -> Cut | None:
        """Where it leaves its parent; `None` for a log that has none."""
        return self._cut

    def entry(self, offset: int) -> Entry:
        if self._parent is not None and offset < self._byte:
            return _handed_on(self._parent.entry(offset))
        return self._mine(self.own.entry(offset - self._byte))

    def entries(self, offset: int = 0) -> Iterator[Entry]:
        if self._parent is not None and offset < self._byte:
            for entry in self._parent.entries(offset):
                if entry.offset >= self._byte:
                    break
                yield _handed_on(entry)
            offset = self._byte
        for entry in self.own.entries(offset - self._byte):
            yield self._mine(entry)

    def back(self) -> Iterator[Entry]:
        for entry in self.own.back():
            yield self._mine(entry)
        if self._parent is not None:
            for entry in self._parent.back():
                if entry.offset < self._byte:
                    yield _handed_on(entry)

    def append(self, drafts: Sequence[Draft], *, sync: bool = True) -> tuple[Entry, ...]:
        return tuple([self._mine(entry) for entry in self._journal.append(drafts, sync=sync)])

    def sync(self) -> None:
        self._journal.sync()

    @property
    def packed(self) -> int:
        return self._journal.packed + self._byte

    def archive(self) -> str:
        """Pack its own end away; a parent's is its own affair."""
        return self._journal.archive()

    def close(self) -> None:
        close = getattr(self.own, "close", None)
        if close is not None:
            close()
        if self._parent is not None:
            self._parent.close()

    @property
    def _journal(self) -> Journal:
        if not hasattr(self.own, "append"):
            raise TypeError("a log that was opened to be read is not written")
        own: Any = self.own
        journal: Journal = own
        return journal

    def _mine(self, entry: Entry) -> Entry:
        if self._cut is None:
            return entry
        return replace(entry, seq=entry.seq + self._seq, offset=entry.offset + self._byte)


def _handed_on(entry: Entry) -> Entry:
    """A parent's entry as its fork sees it: hand-off records say nothing there."""
    return replace(entry, kind="hidden") if entry.kind == HIDDEN else entry


def cut_of(pages: Pages) -> Cut | None:
    """What a first line says of the parent. Raises `SessionCorrupt`."""
    try:
        about = strict.loads(pages.about)
        told = about.get("parent") if isinstance(about, dict) else None
        if told is None:
            return None
        return Cut(
            name=str(told["name"]),
            seq=int(told["seq"]),
            byte=int(told["byte"]),
            start=_number(told.get("start")),
            time_ms=_number(told.get("time_ms")),
        )
    except (ValueError, LookupError, TypeError) as error:
        raise SessionCorrupt(0, f"the first line names no parent that can be read: {error}") from error


def _number(told: Any) -> int | None:
    return None if told is None else int(told)


def lineage_of(store: Store, own: Pages, *, depth: int = 0) -> Lineage:
    """A log with those it goes on from. Raises `SessionCorrupt`, also for a parent that is gone, or that
    no longer holds the entry the log goes on from."""
    cut = cut_of(own)
    if cut is None:
        return Lineage(own)
    if depth >= DEPTH_MAX:
        raise SessionCorrupt(0, f"more than {DEPTH_MAX} forks of forks, or one that goes on from itself")
    try:
        parent = store.read(cut.name)
    except UnknownSession as error:
        why = f"this is a fork of session {cut.name!r}, which is gone; restore it from a copy"
        raise SessionCorrupt(0, why) from error
    above = lineage_of(store, parent, depth=depth + 1)
    refuse_moved(above, cut)
    return Lineage(own, above, cut=cut)


def refuse_moved(parent: Lineage, cut: Cut) -> None:
    """Raise `SessionCorrupt` where a parent lost the end that a fork goes on from: what it says there by now is another
    history, and none of the fork's."""
    if cut.seq < 0:
        return
    found = _at_cut(parent, cut)
    if found is None or (cut.start is not None and found.time_ms != cut.time_ms):
        why = (
            f"this is a fork of session {cut.name!r} after its entry {cut.seq:,}, which that session no longer holds there: "
            f"its end was lost, or an older copy stands in its place; restore {cut.name!r} from a newer copy"
        )
        raise SessionCorrupt(cut.byte, why)


def _at_cut(parent: Lineage, cut: Cut) -> Entry | None:
    """The parent's entry that has the number of the cut and ends at its byte; costs an entry or two."""
    if cut.start is not None:
        try:
            found = parent.entry(cut.start)
        except SessionCorrupt:
            return None
        return found if (found.seq, found.offset + found.size) == (cut.seq, cut.byte) else None
    last = next(parent.back(), None)
    if last is None or last.offset + last.size < cut.byte:
        return None
    if last.offset + last.size == cut.byte:
        return last if last.seq == cut.seq else None
    try:
        after = next(parent.entries(cut.byte), None)
    except SessionCorrupt:  # no line begins there
        return None
    return after if after is not None and after.seq == cut.seq + 1 else None


def read_lineage(store: Store, name: str) -> Lineage:
    """A session's log as it is now, to be read. Raises as `lineage_of`, and `UnknownSession`."""
    return lineage_of(store, store.read(name))


def forks_of(store: Store, name: str) -> tuple[str, ...]:
    """The sessions that go on from this one, and that its removal would break."""
    found = []
    for other in store.names():
        pages = store.read(other)
        cut = cut_of(pages)
        if cut is not None and cut.name == name:
            found.append(other)
        Lineage(pages).close()
    return tuple(found)
