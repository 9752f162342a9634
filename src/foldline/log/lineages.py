"""Many sessions of one store, read one after the other: what they have in common is found out once.

    a ── b ── c        a, b and c each go on from what is before: three logs, not six

`foldline.log.lineage` reads one session with all that it goes on from. Who does that for every session of a store reads a parent
as often as it has forks, and theirs; here its first line is read once, what a fork goes on from is looked at once, and where its
messages stand is found once. Counterparts: forgetting, the search of all sessions, `foldline verify --all`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import closing, contextmanager

from msgspec import Struct

from foldline.core.entry import Entry
from foldline.core.errors import SessionCorrupt
from foldline.core.ports import Pages, Store
from foldline.log.lineage import Above, Cut, Lineage, cut_of, held_by, lent, refuse_deeper, refuse_moved
from foldline.log.shelf import Lent, Shelf


class _Said(Struct):
    """The messages of one log."""

    bytes: array[int]
    """Where each begins, in this very log."""
    damage: SessionCorrupt | None = None
    """What ended the reading; all that is before it was read."""


class Lineages:
    """The sessions of a store. To be closed; a log that is changed or removed meanwhile has to be told (`changed`)."""

    def __init__(self, store: Store) -> None:
        self.store, self._shelf = store, Shelf(store)
        self._lent: dict[str, Lent] = {}
        self._cuts: dict[str, Cut | None] = {}
        self._held: set[str] = set()
        """Sessions whose parent holds the entry they go on from."""
        self._said: dict[str, _Said] = {}
        self._first: dict[str, int] = {}

    def close(self) -> None:
        """Let go of all that is open."""
        self._shelf.close()

    def changed(self, name: str) -> None:
        """A log has other bytes of the same length by now, or is gone: what was read of it counts no more."""
        self._shelf.drop(name)

    # ── one session ──────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self, name: str, *, as_it_is: bool = False) -> Iterator[Lineage]:
        """A session's log with those it goes on from. Raises as `foldline.log.lineage.read_lineage`."""
        with closing(self.store.read(name)) as own:
            yield self.of(own, name, as_it_is=as_it_is)

    def of(self, own: Pages, name: str, *, as_it_is: bool = False) -> Lineage:
        """A log, which is the caller's to close, with those it goes on from. Raises as `foldline.log.lineage.lineage_of`."""
        cut = self._cuts[name] = cut_of(own)
        above: list[Above] = []
        names = [name]
        while cut is not None:
            refuse_deeper(len(above))
            above.append(Above(pages=self._pages(cut.name), left_at=cut))
            names.append(cut.name)
            cut = self._cuts[cut.name]
        for number in reversed(range(len(above))):
            if not as_it_is and names[number] not in self._held:
                refuse_moved(held_by(above[number:]), above[number].left_at)
                self._held.add(names[number])
        return Lineage(own, above, cut=self._cuts[name])

    def _pages(self, name: str) -> Lent:
        found = self._lent.get(name)
        if found is None:
            found = self._lent[name] = lent(self._shelf, name)
            self._cuts[name] = cut_of(found)
        return found

    # ── messages by ordinal ──────────────────────────────────────────────────────────────────────────────────

    def first_ordinal(self, name: str) -> int:
        """The ordinal of a session's own first message: how many messages it goes on from. Raises `SessionCorrupt`."""
        way = [name]
        while way[-1] not in self._first and (cut := self._cut(way[-1])) is not None:
            refuse_deeper(len(way))
            way.append(cut.name)
        for one in reversed(way):
            if one not in self._first:
                self._first[one] = self._before(self._cut(one))
        return self._first[name]

    def _before(self, cut: Cut | None) -> int:
        """How many messages stand before a cut."""
        end = 0 if cut is None else cut.byte
        while cut is not None:
            above = self._cut(cut.name)
            begin = 0 if above is None else above.byte
            if end > begin or above is None:
                said = self._messages(cut.name)
                if said.damage is not None and said.damage.offset < end - begin:
                    raise said.damage
                return self._first[cut.name] + bisect_left(said.bytes, end - begin)
            cut = above
        return 0

    def message(self, name: str, ordinal: int) -> Entry | None:
        """The entry of a message of a session, by its ordinal, those it goes on from included; its place is that in its own log.
        `None` where there is none. Raises `SessionCorrupt`."""
        while ordinal < self.first_ordinal(name):
            cut = self._cut(name)
            assert cut is not None, "a log that goes on from none has message 0"
            name = cut.name
        at, said = ordinal - self.first_ordinal(name), self._messages(name)
        return self._pages(name).entry(said.bytes[at]) if at < len(said.bytes) else None

    def _cut(self, name: str) -> Cut | None:
        if name not in self._cuts:
            self._pages(name)
        return self._cuts[name]

    def _messages(self, name: str) -> _Said:
        found = self._said.get(name)
        if found is None:
            found = self._said[name] = _Said(bytes=array("Q"))
            try:
                for entry in self._pages(name).entries():
                    if entry.kind == "message":
                        found.bytes.append(entry.offset)
            except SessionCorrupt as damage:
                found.damage = damage
        return found
