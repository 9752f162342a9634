"""Columns: what is asked of thousands of facts at once, each fact at a place of its own.

    place        0          1              2            3
    fact         paths …    numbers …      errors …     symbols …
    sort         paths      numbers        code         symbols
    key          -1         0 (limit)      -1           -1
    cost         4          2              9            3

A ledger chooses among all facts of a history that the view lacks. Asked one by one what it is, how it reads and what it
costs, each would be looked at a dozen times; with columns that is arithmetic on places. A place stays what it is, so that what was
found out of it holds for the next compaction of a history that grew. Knows single facts; `index` chooses among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import chain, compress
from typing import TypeAlias

from foldline.core.address import escape_tags
from foldline.ledger.errors_in_text import IN_CODE
from foldline.ledger.facts import Fact
from foldline.ledger.lines import unbroken
from foldline.ledger.standing_within import Standing

Place: TypeAlias = int
"""Of a fact in the columns."""
Count: TypeAlias = Callable[[list[str]], list[int]]

CODE = "code"
"""Of the failures, lines of code that speak of one: they have a share of their own, as they say what could fail."""
NO_KEY = -1
"""In the place of a number's key, of a fact that is no number."""
VALUES = "|"
"""Between the values of one key: a comma may stand within one."""
SEPARATOR_TOKENS = 1
PIECES_MAX = 200_000
"""Pieces of one sort whose tokens are remembered before all are forgotten: some 20 MB."""

_NAMING = frozenset({"paths", "identifiers"})
_MAY_STAND_WITHIN = frozenset({*_NAMING, "symbols"})
_BLANK = re.compile(r"\s")


class Prices:
    """What pieces of an index cost, each counted once: a history says the same again when it comes back longer."""

    def __init__(self, count: Count, *, counter: str = "", pieces_max: int = PIECES_MAX) -> None:
        self.count = count
        self.counter = counter
        """The name of what counts."""
        self._pieces_max = pieces_max
        self._known: dict[str, dict[str, int]] = {}
        """What stands before a piece → piece → tokens of both."""

    def of(self, texts: Sequence[str], *, behind: str) -> list[int]:
        """The tokens of each text, with what stands before it."""
        known = self._known.setdefault(behind, {})
        try:
            return list(map(known.__getitem__, texts))
        except KeyError:
            pass
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if len(known) + len(new) > self._pieces_max:
            new = list(dict.fromkeys(texts))
            known.clear()
        known.update(zip(new, self.count([f"{behind}{text}" for text in written(new)]), strict=True))
        return list(map(known.__getitem__, texts))


class Columns:
    """Facts, column by column."""

    def __init__(self, facts: Sequence[Fact] = ()) -> None:
        self.facts: list[Fact] = []
        self.sorts: list[str] = []
        """Its kind, or `CODE`."""
        self.texts: list[str] = []
        """How it reads: its text, and of a number its value."""
        self.keys: list[int] = []
        """Of a number the place of its key in `key_texts`; else `NO_KEY`."""
        self.key_texts: list[str] = []
        self.codes: set[Place] = set()
        self.symbols: set[Place] = set()
        self.odd: set[Place] = set()
        """What cannot be told apart by spaces again."""
        self._key_places: dict[str, int] = {}
        self._costs: list[int] = []
        self._key_costs: list[int] = []
        self._priced_by: Prices | None = None
        self._twins: tuple[int, Mapping[Place, Sequence[Place]]] = (-1, {})
        self._within: tuple[tuple[int, int], Mapping[Place, Set[Place]]] = ((-1, -1), {})
        self._reading: tuple[int, Mapping[str, Sequence[Place]]] = (-1, {})
        self.add(facts)

    def __len__(self) -> int:
        return len(self.facts)

    def add(self, facts: Sequence[Fact]) -> range:
        """These at the next places, which come back."""
        start = len(self.facts)
        places = range(start, start + len(facts))
        sorts: list[str] = [fact.kind for fact in facts]
        texts = [fact.text for fact in facts]
        keys = [NO_KEY] * len(facts)
        for number, sort in enumerate(sorts):
            if sort == "numbers":
                texts[number] = facts[number].value
                keys[number] = self._key_of(facts[number].key)
            elif sort == "errors":
                if facts[number].key.startswith(IN_CODE):
                    sorts[number] = CODE
                    self.codes.add(start + number)
            elif sort == "symbols":
                self.symbols.add(start + number)
        self.facts += facts
        self.sorts += sorts
        self.texts += texts
        self.keys += keys
        if not _are_plain(facts):
            self.odd.update([place for place, fact in zip(places, facts, strict=True) if not _is_plain(fact)])
        return places

    def renew(self, place: Place, fact: Fact) -> None:
        """The same fact as it is said now: a path may go by another spelling, a failure by other numbers."""
        was, self.facts[place] = self.facts[place], fact
        if fact.text == was.text or self.keys[place] != NO_KEY:
            return
        self.texts[place] = fact.text
        (self.odd.discard if _is_plain(fact) else self.odd.add)(place)
        self._twins, self._within, self._reading = (-1, {}), ((-1, -1), {}), (-1, {})
        if place < len(self._costs) and self._priced_by is not None:
            self._costs[place] = self._priced_by.of([fact.text], behind=" ")[0] + self._between(place)

    def _key_of(self, key: str) -> int:
        place = self._key_places.setdefault(key, len(self.key_texts))
        if place == len(self.key_texts):
            self.key_texts.append(key)
        return place

    def _between(self, place: Place) -> int:
        return SEPARATOR_TOKENS if self.facts[place].kind == "errors" else 0

    def priced(self, prices: Prices) -> tuple[Sequence[int], Sequence[int]]:
        """What each costs, a number without its key; and what each key costs."""
        if self._priced_by is not prices:
            self._priced_by, self._costs, self._key_costs = prices, [], []
        start = len(self._costs)
        if start < len(self.facts):
            is_number = [key != NO_KEY for key in self.keys[start:]]
            texts = self.texts[start:]
            values = iter(prices.of(list(compress(texts, is_number)), behind=VALUES))
            words = [text for text, number in zip(texts, is_number, strict=True) if not number]
            others = iter(prices.of(words, behind=" "))
            self._costs += [next(values) if number else next(others) for number in is_number]
            for place in range(start, len(self.facts)):
                if self.facts[place].kind == "errors":
                    self._costs[place] += SEPARATOR_TOKENS
            self._key_costs += prices.of(self.key_texts[len(self._key_costs) :], behind=" ")
        return self._costs, self._key_costs

    def twins(self) -> Mapping[Place, Sequence[Place]]:
        """Each name of code that is a path or an identifier too → where it is that."""
        if self._twins[0] != len(self.facts):
            found: dict[Place, list[Place]] = {}
            symbols = {self.texts[place]: place for place in self.symbols}
            for place in self._that_name() if symbols else ():
                if (symbol := symbols.get(self.texts[place])) is not None:
                    found.setdefault(symbol, []).append(place)
            self._twins = len(self.facts), found
        return self._twins[1]

    def _that_name(self) -> Iterable[Place]:
        return compress(range(len(self.facts)), map(_NAMING.__contains__, self.sorts))

    def within(self, standing: Standing) -> Mapping[Place, Set[Place]]:
        """Each that may stand within others → where those are; nowhere for one that is the key of a number."""
        size = len(self.facts), len(standing)
        if self._within[0] != size:
            self._within = size, self._standing_within(standing)
        return self._within[1]

    def within_few(self, few: Set[Place]) -> Mapping[Place, Set[Place]]:
        """The same of a few, among which there seldom is one."""
        texts = [self.texts[place] for place in few if self.keys[place] == NO_KEY]
        is_shown = max(map("\n".join(texts).count, texts), default=0) > 1
        showing = Standing(texts if is_shown else ()).showing
        return {
            place: few if showing(text) else frozenset()
            for place in few
            if (showing(text := self.texts[place]) or text in self._key_places)
            and self.sorts[place] in _MAY_STAND_WITHIN
        }

    def _standing_within(self, standing: Standing) -> Mapping[Place, Set[Place]]:
        showing, keys = standing.showing, self._key_places
        texts = {
            place: showing(text)
            for place, text in enumerate(self.texts)
            if (showing(text) or text in keys) and self.sorts[place] in _MAY_STAND_WITHIN
        }
        wanted = set[str]().union(*texts.values())
        places: dict[str, list[Place]] = {}
        for place in compress(range(len(self.facts)), map(wanted.__contains__, self.texts)):
            if self.keys[place] == NO_KEY:
                places.setdefault(self.texts[place], []).append(place)
        return {
            place: frozenset([other for text in shown for other in places.get(text, ())])
            for place, shown in texts.items()
        }

    def key_named(self, place: Place) -> int:
        """The key of numbers that reads as this fact does; `NO_KEY` where there is none."""
        return self._key_places.get(self.texts[place], NO_KEY)

    def reading(self, texts: Iterable[str]) -> set[Place]:
        """Those that read as one of these and may stand within others."""
        if self._reading[0] != len(self.facts):
            found: dict[str, list[Place]] = {}
            for place in compress(range(len(self.facts)), map(_MAY_STAND_WITHIN.__contains__, self.sorts)):
                found.setdefault(self.texts[place], []).append(place)
            self._reading = len(self.facts), found
        return set(chain.from_iterable([self._reading[1].get(text, ()) for text in texts]))

    def by_sort(self, places: Iterable[Place]) -> dict[str, list[Place]]:
        """The places of each sort, in their order."""
        found: dict[str, list[Place]] = {}
        sorts = self.sorts
        for place in places:
            found.setdefault(sorts[place], []).append(place)
        return found


def written(texts: Sequence[str]) -> list[str]:
    """Texts as they stand on a line of ours."""
    if (together := "".join(texts)).isprintable() and "<" not in together:
        return list(texts)
    return [text if "<" not in text and text.isprintable() else escape_tags(unbroken(text)) for text in texts]


def _are_plain(facts: Sequence[Fact]) -> bool:
    """Whether all facts can be told apart again, seen from all of them together."""
    numbers = [fact for fact in facts if fact.kind == "numbers"]
    keys, values = "".join([fact.key for fact in numbers]), "".join([fact.value for fact in numbers])
    texts = "".join([fact.text for fact in facts if fact.kind not in ("numbers", "errors")])
    return not ("=" in keys or VALUES in values or any(map(_holds_blank, (keys, values, texts))))


def _holds_blank(text: str) -> bool:
    """As `_BLANK` says it, in half the time: of a text of some hundred thousand characters."""
    return bool(text) and text.split(maxsplit=1) != [text]


def _is_plain(fact: Fact) -> bool:
    if fact.kind == "errors":
        return True
    if fact.kind == "numbers":
        return not (
            _BLANK.search(fact.key) or _BLANK.search(fact.value) or "=" in fact.key or VALUES in fact.value
        )
    return _BLANK.search(fact.text) is None
