"""Facts: what can be checked of a history without understanding it.

A fact is found once in an immutable text and cached; identity is its kind and key. Owns the vocabulary of facts and
the cache; how facts are found stands in `found_in_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

CACHED_BYTES_MAX = 64 << 20
"""About what may be remembered in memory, texts with their facts: a history of two million tokens twice over where it is
prose, once where every line is a fact."""
TEXT_BYTES, FACT_BYTES = 1_500, 250
"""About what a text takes beside its characters, with what is made of its facts, and what a fact takes. A text of few
characters with many facts takes ten times its characters."""
BATCH_CHARS = 300_000
"""Texts are read together up to this size, so that words which say nothing are read a few times and need not be remembered:
more brings no speed, and takes memory."""

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


Name: TypeAlias = str
"""What makes it one fact wherever it stands: its kind and key, and of a number the value behind `VALUE`."""
Named: TypeAlias = tuple[Name, Fact]
"""A fact with its name."""
VALUE = "\0"
INITIALS: dict[FactKind, str] = {kind: kind[0] for kind in KINDS}
"""What a name opens with."""


def name_of(fact: Fact) -> Name:
    """The name of a fact."""
    name = INITIALS[fact.kind] + fact.key
    return f"{name}{VALUE}{fact.value}" if fact.kind == "numbers" else name


class Found(Struct, frozen=True, kw_only=True, gc=False):
    """The facts of one text: of its words first, then its numbers, then the lines that report a failure."""

    facts: tuple[Fact, ...]
    names: tuple[Name, ...]
    """Of each fact."""
    numbers: int
    """Where its numbers begin …"""
    errors: int
    """… and where its failures do."""


class Extract(Protocol):
    """Finds the facts of texts; pure."""

    def many(self, texts: Iterable[str], /) -> list[Found]:
        """Facts of each text, each once: of its words in order of first occurrence, its numbers in order of their last
        mention, and the lines that report a failure in theirs."""
        ...

    def forget(self) -> None:
        """Let go of all that only makes reading faster."""
        ...


class FactCache:
    """Facts of texts, found once: the text of a part never changes, and a history says the same again when it comes
    back longer.

    Bounded by about what its texts and their facts take in memory: those asked for longest ago are forgotten, half of
    all at once.
    """

    def __init__(self, extract: Extract, *, bytes_max: int = CACHED_BYTES_MAX) -> None:
        self._extract = extract
        self._bytes_max = bytes_max
        self._young: dict[str, Found] = {}
        self._old: dict[str, Found] = {}
        self._bytes = 0
        """Of the young ones."""
        self.heard: Callable[[int, int], None] | None = None
        """Takes how many characters of a history are read, and of how many."""

    def of(self, text: str) -> tuple[Fact, ...]:
        """Facts of a text."""
        return self.found(text).facts

    def found(self, text: str) -> Found:
        """The same with their names."""
        found = self._young.get(text)
        if found is None:
            found = self._old.get(text) or self._extract.many([text])[0]
            self._keep(text, found)
        return found

    def all_of(self, texts: Sequence[str]) -> Iterator[Found]:
        """The same of each, in order: however many they are, what is found is not forgotten before it is asked for."""
        total, done, start, size = sum(map(len, texts)), 0, 0, 0
        for end, text in enumerate(texts, 1):
            size += len(text)
            if size < BATCH_CHARS and end < len(texts):
                continue
            self.learn(texts[start:end])
            yield from map(self.found, texts[start:end])
            start, done, size = end, done + size, 0
            if self.heard is not None:
                self.heard(done, total)

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

    def settle(self) -> None:
        """All of a history is known: let go of what made the reading faster. It takes as much memory as the facts."""
        self._extract.forget()

    def _find(self, texts: list[str]) -> None:
        for text, found in zip(texts, self._extract.many(texts), strict=True):
            self._keep(text, found)

    def _keep(self, text: str, found: Found) -> None:
        size = len(text) + TEXT_BYTES + FACT_BYTES * len(found.facts)
        if self._bytes + size > self._bytes_max // 2:
            self._young, self._old, self._bytes = {}, self._young, 0
        self._young[text] = found
        self._bytes += size

    def __contains__(self, text: str) -> bool:
        return text in self._young or text in self._old

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())
