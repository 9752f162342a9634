"""Stated: the facts that a history states, each once, with what a look-up needs to tell what became of them.

Grows as the history does: what was told of it at the compaction before is told of its beginning. Each fact goes by its place
in `names`, so that what is asked of thousands of facts are operations on sets of small numbers. Knows facts by their names,
and no messages. Counterpart: `retention`, which asks it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from itertools import chain, compress, filterfalse, repeat
from typing import TypeAlias

from foldline.ledger.errors_in_text import IN_CODE
from foldline.ledger.facts import INITIALS, VALUE, Found, Name

Place: TypeAlias = int
"""Of a fact in `Stated.names`."""

_ERROR, _SYMBOL = INITIALS["errors"], INITIALS["symbols"]
_CODE = _ERROR + IN_CODE
_PATH = INITIALS["paths"]
_DOUBTFUL = frozenset({_ERROR, _SYMBOL})
"""Kinds of which not all facts are counted."""
_NOWHERE = -1
"""The place of what is said and not counted."""


class Stated:
    """The facts of a history, told message by message."""

    def __init__(self) -> None:
        self.names: list[Name] = []
        """Of every fact that is counted: names of code are not, nor are lines of code that speak of a failure."""
        self.of_kind: dict[str, set[Place]] = {initial: set() for initial in INITIALS.values()}
        """The facts of each kind, by its initial."""
        self.last: dict[Place, str] = {}
        """Path → its last name."""
        self.failures: dict[Place, str] = {}
        """Failure → its newest line."""
        self._places: dict[Name, Place] = {}
        self._said: list[tuple[Place, ...]] = []
        """Of each message what it says."""
        self._newest: dict[str, Place] = {}
        """A number's key → its newest value."""
        self._keys: dict[Place, str] = {}
        """Number → its key."""
        self._columns: set[str] = set()
        """Keys to which one text gives several values: none of them is the key's value."""

    def said_in(self, is_meant: Sequence[bool]) -> set[Place]:
        """All that is said in those messages that are meant."""
        said: set[Place] = set().union(*compress(self._said, is_meant))
        said.discard(_NOWHERE)
        return said

    def among(self, names: Iterable[Name]) -> set[Place]:
        """Those of these names that are stated."""
        found = set(map(self._places.get, names, repeat(_NOWHERE)))
        found.discard(_NOWHERE)
        return found

    def grow(self, founds: Sequence[tuple[Found, ...]]) -> None:
        """Take in newer messages, the oldest of them first. Of each the facts of its parts."""
        every = list(chain.from_iterable(founds))
        self._place(dict.fromkeys(chain.from_iterable([found.names for found in every])))
        place_of = self._places.__getitem__
        self._said += [
            tuple(map(place_of, chain.from_iterable([found.names for found in parts]))) for parts in founds
        ]
        for found in every:
            if found.numbers < len(found.names):
                self._state(found)

    def _place(self, names: Iterable[Name]) -> None:
        """Give each of these that is new a place, as far as it is counted."""
        new = list(filterfalse(self._places.__contains__, names))
        counted = [name for name in new if name[0] not in _DOUBTFUL or _is_counted(name)]
        start = len(self.names)
        self._places.update(dict.fromkeys(new, _NOWHERE))
        self._places.update(zip(counted, range(start, start + len(counted)), strict=True))
        for place, name in enumerate(counted, start):
            initial = name[0]
            self.of_kind[initial].add(place)
            if initial == _PATH:
                self.last[place] = _last_name(name[1:])
        self.names += counted

    def _state(self, found: Found) -> None:
        """Note the numbers and failures of a text: the last value of a key is its newest."""
        places = list(map(self._places.__getitem__, found.names[found.numbers :]))
        size = found.errors - found.numbers
        if size:
            keys = [fact.key for fact in found.facts[found.numbers : found.errors]]
            self._keys.update(zip(places, keys, strict=False))
            here = dict(zip(keys, places, strict=False))
            self._newest |= here
            if len(here) < size:
                self._columns.update([key for key, count in Counter(keys).items() if count > 1])
        if size < len(places):
            failures = [fact.text for fact in found.facts[found.errors :]]
            self.failures.update(zip(places[size:], failures, strict=True))

    def stale(self, keys: Iterable[str], shown: Set[Place]) -> set[str]:
        """Those of the keys of which a view that says these has no newest value."""
        newest, columns = self._newest, self._columns
        return {key for key in keys if key in newest and newest[key] not in shown and key not in columns}

    def keys(self, numbers: Set[Place]) -> set[str]:
        """The keys of numbers."""
        return set(map(self._keys.__getitem__, numbers))

    def with_key(self, numbers: Set[Place], keys: Set[str]) -> set[Place]:
        """Those of the numbers that have one of these keys."""
        return {place for place in numbers if self._keys[place] in keys}


def _is_counted(name: Name) -> bool:
    return name[0] != _SYMBOL and not (name[0] == _ERROR and name.startswith(_CODE))


def _last_name(path: str) -> str:
    """What a path ends with."""
    return path.rstrip("/").rpartition("/")[2]


def key_of(number: Name) -> str:
    """The key of a number by its name."""
    return number[1:].partition(VALUE)[0]
