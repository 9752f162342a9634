"""A fork and the logs it goes on from, as one log.

    parent   e0 e1 e2 │ e3 e4                    fork of e2    e0 e1 e2 e3′ e4′
    fork              └ e0 e1                    byte          the fork's own, after the parent's up to the cut

A fork has no copy of its parent's history: its first line names the parent, the last entry that belongs to the fork, and the
byte at which that one ends. Numbers and bytes go on from there, so whoever reads a lineage reads one log: replay,
checkpoints, addresses and edits know nothing of forks. Hand-off records of a parent are not handed on (requirement JRN-9).
Knows stores by their port alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import takewhile
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.entry import Draft, Entry
from foldline.core.errors import InvalidOption, SessionCorrupt, UnknownSession
from foldline.core.ports import Journal, Pages, Store
from foldline.log.handoff import KIND
from foldline.log.shelf import Lent, Shelf
from foldline.wire import strict

DEPTH_MAX: Final = 1000
"""Forks of forks."""


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


class Above(Struct, frozen=True, kw_only=True):
    """A log that another one goes on from, and where that leaves it."""

    pages: Pages
    left_at: Cut


class Stretch(Struct, frozen=True, kw_only=True):
    """The part of one log in a lineage."""

    pages: Pages
    seq: int
    """Added to the numbers of its entries …"""
    begin: int
    """… and to their bytes."""
    end: int | None
    """Byte of the lineage at which its part ends; `None`: it is the lineage's own."""

    def entries(self, offset: int) -> Iterator[Entry]:
        """Its entries from this byte of the lineage on."""
        for entry in self.pages.entries(max(0, offset - self.begin)):
            if self.end is not None and entry.offset + self.begin >= self.end:
                return
            yield self.placed(entry)

    def back(self) -> Iterator[Entry]:
        """Its entries from the newest on."""
        for entry in self.pages.back():
            if self.end is None or entry.offset + self.begin < self.end:
                yield self.placed(entry)

    def placed(self, entry: Entry) -> Entry:
        """An entry as the lineage has it: hand-off records of what it goes on from say nothing there."""
        hidden = self.end is not None and entry.kind == KIND
        if not (hidden or self.seq or self.begin):
            return entry
        kind = "hidden" if hidden else entry.kind
        return replace(entry, seq=entry.seq + self.seq, offset=entry.offset + self.begin, kind=kind)


class Lineage:
    """`foldline.core.ports.Pages` over a log and all that it goes on from. `above`: the logs before it, the nearest first;
    `shelf`: what holds those open."""

    def __init__(
        self, own: Pages, above: Sequence[Above] = (), *, cut: Cut | None = None, shelf: Shelf | None = None
    ) -> None:
        self.own, self._above, self._cut, self._shelf = own, tuple(above), cut, shelf
        self._seq = 0 if cut is None else cut.seq + 1
        self._byte = 0 if cut is None else cut.byte
        self._stretches = self._laid_out()
        self._ends = [stretch.end for stretch in self._stretches if stretch.end is not None]

    def _laid_out(self) -> tuple[Stretch, ...]:
        """The parts of all logs, the oldest first. A fork may leave its parent before that one's own beginning: the parent's
        part is empty then, and the one before it shorter."""
        found = [Stretch(pages=self.own, seq=self._seq, begin=self._byte, end=None)]
        end = self._byte
        for number, one in enumerate(self._above):
            before = self._above[number + 1].left_at if number + 1 < len(self._above) else None
            begin = 0 if before is None else before.byte
            seq = 0 if before is None else before.seq + 1
            found.append(Stretch(pages=one.pages, seq=seq, begin=begin, end=end))
            end = min(end, begin)
        return tuple(reversed(found))

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
        stretch = self._stretches[bisect_right(self._ends, offset)]
        return stretch.placed(stretch.pages.entry(offset - stretch.begin))

    def entries(self, offset: int = 0) -> Iterator[Entry]:
        for stretch in self._stretches[bisect_right(self._ends, offset) :]:
            yield from stretch.entries(offset)

    def back(self) -> Iterator[Entry]:
        for stretch in reversed(self._stretches):
            yield from stretch.back()

    def close(self) -> None:
        self.own.close()
        if self._shelf is not None:
            self._shelf.close()

    def logs(self, name: str) -> tuple[Ancestor, ...]:
        """The logs it is made of, the oldest first; the last is its own, which is called `name`."""
        names = [*[one.left_at.name for one in reversed(self._above)], name]
        return tuple(
            Ancestor(
                name=called,
                pages=one.pages,
                byte=None if one.end is None else max(0, one.end - one.begin),
            )
            for called, one in zip(names, self._stretches, strict=True)
        )

    @property
    def depth(self) -> int:
        """How many logs it goes on from."""
        return len(self._above)

    def first_ordinal(self) -> int:
        """The ordinal of its own first message: how many messages it goes on from. Reads those logs."""
        before = takewhile(lambda entry: entry.offset < self._byte, self.entries())
        return sum(entry.kind == "message" for entry in before) if self._above else 0

    def forked(self, own: Journal, cut: Cut) -> WrittenLineage:
        """The log of a fork that leaves this one at `cut`. What this one holds open of others is the fork's from here on;
        this one's own is the caller's to close."""
        shelf = cast(Shelf, self._shelf)  # as `lineage_of` made it
        above = (Above(pages=lent(shelf, cut.name), left_at=cut), *self._above)
        return WrittenLineage(own, above, cut=cut, shelf=shelf)

    def _mine(self, entry: Entry) -> Entry:
        return self._stretches[-1].placed(entry)


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


def first_of(pages: Pages) -> int:
    """The number of the first entry of a log of its own: in a fork its parent's go before. Raises `SessionCorrupt`."""
    cut = cut_of(pages)
    return 0 if cut is None else cut.seq + 1


def _number(told: Any) -> int | None:
    return None if told is None else int(told)


def lineage_of(store: Store, own: Pages, *, as_it_is: bool = False) -> Lineage:
    """A log with those it goes on from. Raises `SessionCorrupt`, also for a parent that is gone, or that no longer holds the
    entry the log goes on from; `as_it_is`: whatever the parent holds by now. Then `own` is the caller's to close."""
    cut, shelf = cut_of(own), Shelf(store)
    return Lineage(own, _above(shelf, cut, as_it_is=as_it_is), cut=cut, shelf=shelf)


def written(store: Store, own: Journal) -> WrittenLineage:
    """A log that is written, with those it goes on from. Raises as `lineage_of`."""
    cut, shelf = cut_of(own), Shelf(store)
    return WrittenLineage(own, _above(shelf, cut), cut=cut, shelf=shelf)


def read_lineage(store: Store, name: str, *, as_it_is: bool = False) -> Lineage:
    """A session's log as it is now, to be read and closed. Raises as `lineage_of`, and `UnknownSession`."""
    with ExitStack() as held:
        own = store.read(name)
        held.callback(own.close)
        log = lineage_of(store, own, as_it_is=as_it_is)
        held.pop_all()
        return log


def _above(shelf: Shelf, cut: Cut | None, *, as_it_is: bool = False) -> tuple[Above, ...]:
    """What a log goes on from, the nearest first; each is there, and holds what the next one goes on from."""
    found: list[Above] = []
    with ExitStack() as held:
        held.callback(shelf.close)
        while cut is not None:
            refuse_deeper(len(found))
            found.append(Above(pages=lent(shelf, cut.name), left_at=cut))
            cut = cut_of(found[-1].pages)
            if not as_it_is and not _leaves_before(found[-1].left_at, cut):  # at once, while it is open
                refuse_moved(Lineage(found[-1].pages, cut=cut), found[-1].left_at)
        for number, one in enumerate(found[:-1]):
            if not as_it_is and _leaves_before(one.left_at, found[number + 1].left_at):
                refuse_moved(held_by(found[number:]), one.left_at)
        held.pop_all()
    return tuple(found)


def refuse_deeper(depth: int) -> None:
    """Raise `SessionCorrupt` for a log that would be one more than may be between."""
    if depth >= DEPTH_MAX:
        raise SessionCorrupt(0, f"more than {DEPTH_MAX} forks of forks, or one that goes on from itself")


def held_by(above: Sequence[Above]) -> Lineage:
    """The first of these logs with as many of the others as its fork's cut needs to be found: mostly none, since a fork
    leaves its parent behind that one's own beginning."""
    before = above[1].left_at if len(above) > 1 else None
    needed = len(above) if _leaves_before(above[0].left_at, before) else 1
    return Lineage(above[0].pages, above[1:needed], cut=before)


def _leaves_before(cut: Cut, beginning: Cut | None) -> bool:
    """True where a fork leaves its parent before that one's own beginning, or where its first line does not say."""
    return beginning is not None and (cut.start is None or cut.start < beginning.byte)


def lent(shelf: Shelf, name: str) -> Lent:
    """A log that another one goes on from. Raises `SessionCorrupt` where it is gone."""
    try:
        return shelf.pages(name)
    except (UnknownSession, InvalidOption) as error:  # gone, or a name that no session has
        why = f"this is a fork of session {name!r}, which is gone; restore it from a copy"
        raise SessionCorrupt(0, why) from error


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
