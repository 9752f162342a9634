"""Stated: the facts that a history states, each once, with what a look-up needs to tell what became of them.

Grows as the history does: what was told of it at the compaction before is told of its beginning. Knows facts by their
names, and no messages. Counterpart: `retention`, which asks it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from itertools import chain, compress

from foldline.ledger.errors_in_text import IN_CODE
from foldline.ledger.facts import INITIALS, VALUE, Found, Name

_ERROR, _SYMBOL = INITIALS["errors"], INITIALS["symbols"]
_CODE = _ERROR + IN_CODE


class Stated:
    """The facts of a history, told message by message."""

    def __init__(self) -> None:
        self.founds: list[tuple[Found, ...]] = []
        """Of each message, part by part."""
        self.names: set[Name] = set()
        """Of every fact that is counted: names of code are not, nor are lines of code that speak of a failure."""
        self.totals: Counter[str] = Counter()
        """How many of each kind, by the initial of the kind."""
        self.failures: dict[Name, str] = {}
        """Failure → its newest line."""
        self._newest: dict[str, Name] = {}
        """A number's key → the name of its newest value."""
        self._keys: dict[Name, str] = {}
        """A number's name → its key."""
        self._columns: set[str] = set()
        """Keys to which one text gives several values: none of them is the key's value."""

    def said_in(self, is_meant: Sequence[bool]) -> set[Name]:
        """The names of all that is said in those messages that are meant."""
        founds = chain.from_iterable(compress(self.founds, is_meant))
        return set().union(*[found.names for found in founds])

    def grow(self, founds: Sequence[tuple[Found, ...]]) -> None:
        """Take in newer messages, the oldest of them first."""
        said: set[Name] = set().union(*[found.names for found in chain.from_iterable(founds)])
        new = {name for name in said - self.names if _is_counted(name)}
        self.totals.update([name[0] for name in new])
        self.names |= new
        for found in chain.from_iterable(founds):
            names = found.names[found.numbers : found.errors]
            keys = [fact.key for fact in found.facts[found.numbers : found.errors]]
            self._keys.update(zip(names, keys, strict=True))
            here = dict(zip(keys, names, strict=True))
            self._newest |= here
            if len(here) < len(keys):
                self._columns.update([key for key, count in Counter(keys).items() if count > 1])
            for name, fact in zip(found.names[found.errors :], found.facts[found.errors :], strict=True):
                self.failures[name] = fact.text
        self.founds += founds

    def stale(self, numbers: Sequence[Name], shown: Set[Name]) -> set[str]:
        """The keys of those numbers of which a view that says these names has no newest value."""
        keys = set(map(self._keys.__getitem__, numbers)) - self._columns
        return {key for key in keys if self._newest[key] not in shown}


def _is_counted(name: Name) -> bool:
    return name[0] != _SYMBOL and not (name[0] == _ERROR and name.startswith(_CODE))


def key_of(number: Name) -> str:
    """The key of a number by its name."""
    return number[1:].partition(VALUE)[0]
