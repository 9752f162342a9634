"""Which sessions go on from which: the forks of a store, by their first lines alone.

    a ── b ── c        parents of c, nearest first: b, a        forks of a: b, c, d
    └─── d

A fork holds no copy of what it goes on from, so whoever removes or changes a log has to know who reads it. Counterpart:
`foldline.log.lineage`, which reads a fork and its parents as one log.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from foldline.core.errors import UNREADABLE, UnknownSession
from foldline.core.ports import Store
from foldline.log.lineage import cut_of


class Forks(Struct, frozen=True, kw_only=True):
    """The sessions of a store."""

    parents: dict[str, str]
    """By session what it goes on from; empty where that is nothing, or its first line cannot be read."""

    def above(self, name: str) -> tuple[str, ...]:
        """What a session goes on from, the nearest first."""
        found = [name]
        while (name := self.parents.get(name, "")) and name not in found:
            found.append(name)
        return tuple(found[1:])

    def below(self, name: str) -> frozenset[str]:
        """The forks of a session, and theirs."""
        found = {name}
        while more := {fork for fork, parent in self.parents.items() if parent in found} - found:
            found |= more
        return frozenset(found - {name})

    def ordered(self, names: Iterable[str]) -> list[str]:
        """The same sessions, each before its forks."""
        return sorted(names, key=lambda name: (len(self.above(name)), name))

    def related(self, name: str) -> frozenset[str]:
        """A session with all that has a part of its history, or of which it has a part."""
        beside: dict[str, list[str]] = {}
        for fork, parent in self.parents.items():
            if parent in self.parents:
                beside.setdefault(fork, []).append(parent)
                beside.setdefault(parent, []).append(fork)
        found, waiting = {name}, [name]
        while waiting:
            more = set(beside.get(waiting.pop(), ())) - found
            found |= more
            waiting += more
        return frozenset(found)


def forks_in(store: Store) -> Forks:
    """The forks of a store; each first line is read once."""
    parents: dict[str, str] = {}
    for name in store.names():
        try:
            pages = store.read(name)
        except (UnknownSession, *UNREADABLE):
            parents[name] = ""
            continue
        try:
            cut = cut_of(pages)
            parents[name] = "" if cut is None else cut.name
        except UNREADABLE:
            parents[name] = ""
        finally:
            pages.close()
    return Forks(parents=parents)
