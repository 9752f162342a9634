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
from contextlib import ExitStack
from itertools import takewhile
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.entry import Draft, Entry
from foldline.core.errors import InvalidOption, SessionCorrupt, UnknownSession
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


class Ancestor(Struct, frozen=True, kw_only=True):
    """One log that a session's messages stand in."""

    name: str
    pages: Pages
    byte: int | None = None
    """Byte of this log at which its part of the session ends; `None`: it is the session's own."""


class Lineage:
    """`foldline.core.ports.Pages` over a log and all that it goes on from."""

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

    def close(self) -> None:
        self.own.close()
        if self._parent is not None:
            self._parent.close()

    def logs(self, name: str) -> tuple[Ancestor, ...]:
        """The logs it is made of, the oldest first; the last is its own, which is called `name`."""
        found: list[Ancestor] = []
        log: Lineage = self
        end: int | None = None
        while True:
            begin = log._byte
            byte = None if end is None else max(0, end - begin)
            found.append(Ancestor(name=name, pages=log.own, byte=byte))
            if log._parent is None or log._cut is None:
                return tuple(reversed(found))
            name, log, end = log._cut.name, log._parent, begin if end is None else min(end, begin)

    def first_ordinal(self) -> int:
        """The ordinal of its own first message: how many messages it goes on from. Reads those logs."""
        if self._parent is None:
            return 0
        before = takewhile(lambda entry: entry.offset < self._byte, self._parent.entries())
        return sum(entry.kind == "message" for entry in before)

    def _mine(self, entry: Entry) -> Entry:
        if self._cut is None:
            return entry
        return replace(entry, seq=entry.seq + self._seq, offset=entry.offset + self._byte)


class WrittenLineage(Lineage):
    """`foldline.core.ports.Journal` over a log that is written, and all that it goes on from."""

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

    @property
    def _journal(self) -> Journal:
        return cast(Journal, self.own)  # as `written` made it


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


def lineage_of(store: Store, own: Pages, *, as_it_is: bool = False) -> Lineage:
    """A log with those it goes on from. Raises `SessionCorrupt`, also for a parent that is gone, or that no longer holds the
    entry the log goes on from; `as_it_is`: whatever the parent holds by now. Then `own` is the caller's to close."""
    cut = cut_of(own)
    return Lineage(own, _above(store, cut, depth=1, as_it_is=as_it_is), cut=cut)


def written(store: Store, own: Journal) -> WrittenLineage:
    """A log that is written, with those it goes on from. Raises as `lineage_of`."""
    cut = cut_of(own)
    return WrittenLineage(own, _above(store, cut, depth=1), cut=cut)


def read_lineage(store: Store, name: str, *, as_it_is: bool = False) -> Lineage:
    """A session's log as it is now, to be read and closed. Raises as `lineage_of`, and `UnknownSession`."""
    with ExitStack() as held:
        own = store.read(name)
        held.callback(own.close)
        log = lineage_of(store, own, as_it_is=as_it_is)
        held.pop_all()
        return log


def _above(store: Store, cut: Cut | None, *, depth: int, as_it_is: bool = False) -> Lineage | None:
    """What a log goes on from, open to be read."""
    if cut is None:
        return None
    if depth > DEPTH_MAX:
        raise SessionCorrupt(0, f"more than {DEPTH_MAX} forks of forks, or one that goes on from itself")
    with ExitStack() as held:
        try:
            own = store.read(cut.name)
        except (UnknownSession, InvalidOption) as error:  # gone, or a name that no session has
            why = f"this is a fork of session {cut.name!r}, which is gone; restore it from a copy"
            raise SessionCorrupt(0, why) from error
        held.callback(own.close)
        before = cut_of(own)
        parent = Lineage(own, _above(store, before, depth=depth + 1, as_it_is=as_it_is), cut=before)
        held.callback(parent.close)
        if not as_it_is:
            refuse_moved(parent, cut)
        held.pop_all()
        return parent


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
