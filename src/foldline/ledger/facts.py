"""Facts: what can be checked of a history without understanding it.

A fact is found once in an immutable text and cached; identity is its kind and key. Owns the vocabulary of facts and
the cache; how facts are found stands in `found_in_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from msgspec import Struct

Made = TypeVar("Made")

CACHED_BYTES_MAX = 64 << 20
"""About what may be remembered in memory, texts with their facts: a history of two million tokens twice over where it is
prose, once where every line is a fact."""
TEXT_BYTES, FACT_BYTES = 1_500, 250
"""About what a text takes beside its characters, with what is made of its facts, and what a fact takes. A text of few
characters with many facts takes ten times its characters."""
BATCH_CHARS = 100_000
"""Texts are read together up to this size: more brings no speed, and takes memory."""

FactKind: TypeAlias = Literal["paths", "identifiers", "numbers", "errors", "symbols"]
"""`identifiers`: URLs, hashes, ids. `numbers`: a number with its key. `errors`: a line that reports a failure.
`symbols`: names of functions, classes and the like."""

KINDS: tuple[FactKind, ...] = ("paths", "identifiers", "numbers", "errors", "symbols")
Origin: TypeAlias = Literal["user", "assistant", "tool", "system"]
"""Who said it. Text from files and the web comes through tools."""


class Fact(Struct, frozen=True, kw_only=True, gc=False):
    """One fact, as it stood."""

    kind: FactKind
    key: str
    """What makes it the same fact elsewhere: the path or identifier itself, a number's key, an error without what
    changes from run to run."""
    text: str
    """Verbatim, on one line; what has to be in view for the fact to be in view."""
    value: str = ""
    """A number's value."""


class Extract(Protocol):
    """Finds the facts of texts; pure."""

    def __call__(self, text: str, /) -> tuple[Fact, ...]:
        """Facts of one text, in order of first occurrence, each once."""
        ...

    def many(self, texts: Iterable[str], /) -> list[tuple[Fact, ...]]:
        """The same of each text."""
        ...


class _Entry:
    """Facts of one text, and what was made of them."""

    __slots__ = ("facts", "made")

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self.facts = facts
        self.made: dict[Callable[[tuple[Fact, ...]], Any], Any] = {}


class FactCache:
    """Facts of texts, found once: the text of a part never changes, and a history says the same again when it comes
    back longer.

    Bounded by about what its texts and their facts take in memory: those asked for longest ago are forgotten, half of
    all at once.
    """

    def __init__(self, extract: Extract, *, bytes_max: int = CACHED_BYTES_MAX) -> None:
        self._extract = extract
        self._bytes_max = bytes_max
        self._young: dict[str, _Entry] = {}
        self._old: dict[str, _Entry] = {}
        self._bytes = 0
        """Of the young ones."""

    def of(self, text: str) -> tuple[Fact, ...]:
        """Facts of a text."""
        return self._entry(text).facts

    def made(self, text: str, make: Callable[[tuple[Fact, ...]], Made]) -> Made:
        """What `make`, a pure function, makes of the facts of a text; made once."""
        entry = self._entry(text)
        if make not in entry.made:
            entry.made[make] = make(entry.facts)
        made: Made = entry.made[make]
        return made

    def learn(self, texts: Iterable[str]) -> None:
        """Find the facts of those texts that are new, many at a time, which costs less than one by one."""
        batch: list[str] = []
        room = BATCH_CHARS
        for text in dict.fromkeys(texts):
            if text not in self._young and text not in self._old:
                batch.append(text)
                room -= len(text)
            if room < 0:
                self._find(batch)
                batch, room = [], BATCH_CHARS
        self._find(batch)

    def _entry(self, text: str) -> _Entry:
        entry = self._young.get(text)
        if entry is None:
            entry = self._old.get(text) or _Entry(self._extract(text))
            self._keep(text, entry)
        return entry

    def _find(self, texts: list[str]) -> None:
        for text, facts in zip(texts, self._extract.many(texts), strict=True):
            self._keep(text, _Entry(facts))

    def _keep(self, text: str, entry: _Entry) -> None:
        size = len(text) + TEXT_BYTES + FACT_BYTES * len(entry.facts)
        if self._bytes + size > self._bytes_max // 2:
            self._young, self._old, self._bytes = {}, self._young, 0
        self._young[text] = entry
        self._bytes += size

    def __contains__(self, text: str) -> bool:
        return text in self._young or text in self._old

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())
