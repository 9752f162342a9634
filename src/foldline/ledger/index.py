"""The index of the ledger: facts in dense lines, one a kind, as many as fit.

    paths: src/app.py docs/start.md                     apart by a space, which costs nothing
    numbers, newest first: limit=100|50 port=8080       values under their key, once
    errors: no such row · exit code 2                   what holds spaces, apart by a point
    error: build · job failed                           what holds such a point itself

Each kind has a share of the room, so that none is complete at the cost of another; what a kind leaves goes to the
others. A fact that a longer one beside it shows (`app.py` in `src/app.py`) takes no room. Every text stands verbatim,
so that it can be found, and the lines can be read back. Counterpart: `render`, which writes what is said in sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import accumulate, chain
from typing import TypeAlias

from msgspec import Struct

from foldline.core.address import escape_tags
from foldline.ledger.errors_in_text import IN_CODE, key_of_listed
from foldline.ledger.facts import INITIALS, VALUE, Fact, FactKind, Name, name_of
from foldline.ledger.lines import unbroken
from foldline.ledger.paths_in_text import key_of
from foldline.ledger.standing_within import Within

LABELS: tuple[tuple[FactKind, str], ...] = (
    ("errors", "errors"),
    ("paths", "paths"),
    ("identifiers", "identifiers"),
    ("numbers", "numbers, newest first"),
    ("symbols", "names"),
)
SEPARATOR = " · "
"""Between errors, which hold spaces."""
ERROR_LABEL = "error"
"""Of a line with one error that holds a separator."""
VALUES = "|"
"""Between the values of one key: a comma may stand within one."""
LABEL_TOKENS = 6
SEPARATOR_TOKENS = 1
COST_WEIGHT = 0.7
"""How much a fact's length counts against its rank: of two facts wanted alike the shorter comes first."""
CODE = "code"
"""Of the failures, lines of code that speak of one: they have a share of their own, as they say what could fail."""
SHARES: dict[str, float] = {
    "errors": 0.17,
    CODE: 0.1,
    "paths": 0.28,
    "identifiers": 0.12,
    "numbers": 0.17,
    "symbols": 0.32,
}
"""Of the room, to begin with. Chosen with `benchmarks/continuation`."""
FILLS_MAX = 3
"""How often the room is filled again with what was freed by facts that others show."""

_MAY_STAND_WITHIN = frozenset({"paths", "identifiers", "symbols"})

Count: TypeAlias = Callable[[list[str]], list[int]]
_BLANK = re.compile(r"\s")
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[^\s/]+")
"""In a path, of a file or folder."""
_PATH, _IDENTIFIER, _NUMBER = INITIALS["paths"], INITIALS["identifiers"], INITIALS["numbers"]


class Priced:
    """Facts with what each costs. What else is asked of them is found out when it is asked for."""

    def __init__(self, facts: Sequence[Fact], *, costs: Sequence[int], keys: Mapping[str, int]) -> None:
        self.facts = facts
        """Most wanted first."""
        self.costs = costs
        self.keys = keys
        """What the key of a number costs beside its values."""
        self.labels = LABEL_TOKENS * len({fact.kind for fact in facts})
        self._shows: dict[int, Set[str]] = {}

    @cached_property
    def tokens(self) -> int:
        """What all of them take at most."""
        return sum(self.costs) + sum(self.keys.values()) + self.labels

    @cached_property
    def order(self) -> Sequence[int]:
        """Their places in the order in which they find room."""
        return _order(self.facts, self.costs)

    @cached_property
    def firsts(self) -> Mapping[str, int]:
        """A number's key → the place of its newest value, without which no other stands."""
        return _firsts(self.facts)

    @cached_property
    def within(self) -> Within:
        """Looks for those that may stand within others."""
        return Within([fact.text for fact in self.facts if fact.kind in _MAY_STAND_WITHIN])

    def shown_by(self, place: int) -> Set[str]:
        """The texts of those that stand within the one at this place."""
        found = self._shows.get(place)
        if found is None:
            found = self._shows[place] = self.within.text(self.facts[place].text)
        return found


class Choice(Struct, frozen=True, kw_only=True):
    """Facts that fit."""

    facts: tuple[Fact, ...] = ()
    """Most wanted first."""
    tokens: int = 0
    """What they cost, or, where some did not fit, what all would cost at most."""
    is_all: bool = True
    """Whether none is left out for want of room."""


def price(facts: Sequence[Fact], *, count: Count) -> Priced:
    """The facts, counted once. What cannot be told apart by spaces again is left out."""
    return prices([facts], count=count)[0]


def prices(groups: Iterable[Sequence[Fact]], *, count: Count) -> list[Priced]:
    """The same of each group, with one count for all of them."""
    listed = [_plain(_each_once(facts)) for facts in groups]
    keys = [list(_firsts(facts)) for facts in listed]
    pieces: list[str] = []
    for facts, heads in zip(listed, keys, strict=True):
        texts = written([fact.value if fact.kind == "numbers" else fact.text for fact in facts])
        pieces += [
            f"{VALUES if fact.kind == 'numbers' else ' '}{text}"
            for fact, text in zip(facts, texts, strict=True)
        ]
        pieces += [f" {key}" for key in written(heads)]
    counted = iter(count(pieces))
    return [
        Priced(
            facts,
            costs=[
                cost + SEPARATOR_TOKENS if fact.kind == "errors" else cost
                for fact, cost in zip(facts, counted, strict=False)
            ],
            keys=dict(zip(heads, counted, strict=False)),
        )
        for facts, heads in zip(listed, keys, strict=True)
    ]


def _firsts(facts: Sequence[Fact]) -> dict[str, int]:
    """A number's key → the place of the first of its values."""
    numbers = [(fact.key, place) for place, fact in enumerate(facts) if fact.kind == "numbers"]
    return dict(reversed(numbers))


def written(texts: Sequence[str]) -> list[str]:
    """Texts as they stand on a line of ours."""
    return [text if "<" not in text and text.isprintable() else escape_tags(unbroken(text)) for text in texts]


def _each_once(facts: Sequence[Fact]) -> list[Fact]:
    """The facts without names that are paths or identifiers too: nothing is listed twice."""
    told = {fact.text for fact in facts if fact.kind in ("paths", "identifiers")}
    return [fact for fact in facts if fact.kind != "symbols" or fact.text not in told]


def _plain(facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts that can be told apart again; that all can is seen from all of them together."""
    numbers = [fact for fact in facts if fact.kind == "numbers"]
    keys, values = [fact.key for fact in numbers], [fact.value for fact in numbers]
    words = [fact.text for fact in facts if fact.kind not in ("numbers", "errors")]
    if "=" in "".join(keys) or VALUES in "".join(values) or _BLANK.search("".join([*words, *keys, *values])):
        return [fact for fact in facts if _is_plain(fact)]
    return facts


def _is_plain(fact: Fact) -> bool:
    if fact.kind == "errors":
        return True
    if fact.kind == "numbers":
        return not (
            _BLANK.search(fact.key) or _BLANK.search(fact.value) or "=" in fact.key or VALUES in fact.value
        )
    return _BLANK.search(fact.text) is None


def _order(facts: Sequence[Fact], costs: Sequence[int]) -> list[int]:
    """Places of the facts in the order in which they find room: of each kind the most wanted first, short ones before
    long ones, and the kinds side by side, each as fast as its share allows."""
    of_kind: dict[str, list[int]] = {}
    for place, fact in enumerate(facts):
        kind = CODE if fact.kind == "errors" and fact.key.startswith(IN_CODE) else fact.kind
        of_kind.setdefault(kind, []).append(place)
    weights = {cost: cost**COST_WEIGHT for cost in set(costs)}
    turns: list[tuple[float, int]] = []
    for kind, places in of_kind.items():
        ranks = [number * weights[costs[place]] for number, place in enumerate(places, 1)]
        if kind == "numbers":
            ranks = _newest_first(ranks, [facts[place].key for place in places])
        ranked = [place for _, place in sorted(zip(ranks, places, strict=True))]
        share = SHARES[kind]
        used = accumulate([costs[place] for place in ranked])
        turns += zip([tokens / share for tokens in used], ranked, strict=True)
    return [place for _, place in sorted(turns)]


def _newest_first(ranks: Sequence[float], keys: Sequence[str]) -> list[float]:
    """The ranks of numbers, of each key none before its newest value."""
    first: dict[str, float] = {}
    return [max(rank, first.setdefault(key, rank)) for rank, key in zip(ranks, keys, strict=True)]


def choose(priced: Priced, room: int, *, said: Iterable[str] = ()) -> Choice:
    """The facts that fit into `room` tokens, without those that stand in the lines `said` or within one another. O(facts
    that fit)."""
    facts = priced.facts
    if room <= priced.labels or not facts:
        return Choice(tokens=priced.tokens, is_all=not facts)
    filling = _Filling(priced, room - priced.labels, shown=set().union(*map(priced.within.line, said)))
    for _ in range(FILLS_MAX):
        filling.fill()
        if not filling.free() or filling.is_done:
            break
    taken = filling.taken
    is_all = filling.is_done
    chosen = tuple([facts[place] for place in sorted(taken)])
    return Choice(facts=chosen, tokens=room - filling.left if is_all else priced.tokens, is_all=is_all)


class _Filling:
    """Room, and the facts that found a place in it."""

    def __init__(self, priced: Priced, room: int, *, shown: Set[str]) -> None:
        self.taken: set[int] = set()
        self.gone: set[int] = set()
        """Facts that are shown elsewhere."""
        self.left = room
        self._priced = priced
        self._shown = shown
        self._least = min(priced.costs)

    @property
    def is_done(self) -> bool:
        """Whether every fact has a place or needs none."""
        return len(self.taken) + len(self.gone) == len(self._priced.facts)

    def fill(self) -> None:
        """Take facts in their order while they fit."""
        facts, costs = self._priced.facts, self._priced.costs
        fits = self._priced.tokens <= self.left
        for place in range(len(facts)) if fits else self._priced.order:
            if self.left < self._least:
                break
            if place in self.taken or place in self.gone:
                continue
            fact, cost = facts[place], costs[place]
            if fact.kind == "numbers":
                cost = self._cost(place, fact.key)
            elif fact.text in self._shown and fact.kind in _MAY_STAND_WITHIN:
                self.gone.add(place)
                continue
            if cost <= self.left:
                self.taken.add(place)
                self.left -= cost

    def _cost(self, place: int, key: str) -> int:
        """What a number costs: with its key where it is the newest value; more than there is where that has no place."""
        first, cost = self._priced.firsts[key], self._priced.costs[place]
        if place == first:
            return cost + self._priced.keys[key]
        return cost if first in self.taken else self.left + 1

    def free(self) -> bool:
        """Give back the room of what stands within another fact that was taken; false where nothing does."""
        facts, firsts = self._priced.facts, self._priced.firsts
        longer = {key for key, place in firsts.items() if place in self.taken}
        for place in self.taken:
            if facts[place].kind != "numbers":
                longer |= self._priced.shown_by(place)
        within = {
            place
            for place in self.taken
            if facts[place].text in longer and facts[place].kind in _MAY_STAND_WITHIN
        }
        self.taken -= within
        self.gone |= within
        self.left += sum([self._priced.costs[place] for place in within])
        return bool(within)


def lines_of(facts: Sequence[Fact]) -> list[str]:
    """One line for each kind of the facts."""
    of_kind: dict[FactKind, list[Fact]] = {}
    for fact in facts:
        of_kind.setdefault(fact.kind, []).append(fact)
    lines = []
    for kind, label in LABELS:
        here = of_kind.get(kind, [])
        texts = written(_by_key(here) if kind == "numbers" else [fact.text for fact in here])
        alone = [text for text in texts if SEPARATOR in text] if kind == "errors" else []
        if len(texts) > len(alone):
            together = [text for text in texts if text not in alone] if alone else texts
            lines.append(f"{label}: {(SEPARATOR if kind == 'errors' else ' ').join(together)}")
        lines += [f"{ERROR_LABEL}: {text}" for text in alone]
    return lines


def index(facts: Sequence[Fact], room: int, *, count: Count) -> tuple[tuple[Fact, ...], list[str]]:
    """The facts that fit into `room` tokens, most wanted first, and their lines."""
    if room <= LABEL_TOKENS or not facts:
        return (), []
    chosen = choose(price(facts, count=count), room).facts
    return chosen, lines_of(chosen)


def indexes(wanted: Sequence[tuple[Sequence[Fact], int]], *, count: Count) -> list[list[str]]:
    """The lines of many indexes, each given as facts and room, with one count for all."""
    priced = prices([facts if room > LABEL_TOKENS else () for facts, room in wanted], count=count)
    return [lines_of(choose(found, room).facts) for found, (_, room) in zip(priced, wanted, strict=True)]


def _by_key(numbers: Sequence[Fact]) -> list[str]:
    """Numbers with their key once, newest value first: `limit=100|50`."""
    values: dict[str, list[str]] = {}
    for fact in numbers:
        values.setdefault(fact.key, []).append(fact.value)
    return [f"{key}={VALUES.join(dict.fromkeys(found))}" for key, found in values.items()]


_KIND_OF = {label: kind for kind, label in LABELS}
_HOLDING = (
    *[f"{label}: " for kind, label in LABELS if kind in ("errors", "identifiers")],
    f"{ERROR_LABEL}: ",
)


def facts_in_line(line: str) -> Iterable[Fact]:
    """The facts of one line of an index; none of any other line."""
    label, _, rest = line.partition(": ")
    if label == ERROR_LABEL:
        return [Fact(kind="errors", key=key_of_listed(rest), text=rest)]
    kind = _KIND_OF.get(label)
    if kind is None:
        return ()
    texts = [text for text in rest.split(SEPARATOR if kind == "errors" else " ") if text]
    if kind == "errors":
        return [Fact(kind=kind, key=key_of_listed(text), text=text) for text in texts]
    if kind != "numbers":
        return [Fact(kind=kind, key=text, text=text) for text in texts]
    pairs = [
        (key, value)
        for key, _, values in (text.partition("=") for text in texts)
        for value in values.split(VALUES)
    ]
    return [Fact(kind=kind, key=key, text=f"{key}={value}", value=value) for key, value in pairs if value]


def names_in_line(line: str) -> Collection[Name]:
    """The names of the facts of one line of an index, as `facts_in_line` has them, and none of any other line. What is
    listed as a path goes by its key, and what stands within it may be an identifier; the key of a number may be a path."""
    label, _, rest = line.partition(": ")
    kind = _KIND_OF.get(label)
    if kind is None or kind == "errors":
        return [name_of(fact) for fact in facts_in_line(line)]
    texts = rest.split(" ")
    if kind == "paths":
        within = chain(_WORD.findall(rest), _NAME.findall(rest))
        return [*map(_PATH.__add__, map(key_of, texts)), *map(_IDENTIFIER.__add__, within)]
    if kind != "numbers":
        return [f"{INITIALS[kind]}{text}" for text in texts]
    names: list[Name] = []
    for key, _, values in [text.partition("=") for text in texts]:
        names.append(f"{_PATH}{key}")
        names += [f"{_NUMBER}{key}{VALUE}{value}" for value in values.split(VALUES)]
    return names


def holds_more(line: str) -> bool:
    """True for a line of an index in which a fact holds others: a failure its path, an address an id."""
    return line.startswith(_HOLDING)
