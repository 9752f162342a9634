"""The index of the ledger: facts in dense lines, one a kind, as many as fit.

    paths: src/app.py docs/start.md                     apart by a space, which costs nothing
    numbers, newest first: limit=100|50 port=8080       values under their key, once
    errors: no such row · exit code 2                   what holds spaces, apart by a point
    code that names errors: except OSError:             what reports none, but would print or handle one
    error: build · job failed                           what holds such a point itself

Each kind has a share of the room, so that none is complete at the cost of another; what a kind leaves goes to the
others. A fact that a longer one beside it shows (`app.py` in `src/app.py`) takes no room. Every text stands verbatim,
so that it can be found, and the lines can be read back. Counterpart: `render`, which writes what is said in sentences.
"""

from __future__ import annotations

import re
from collections import Counter
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
from foldline.ledger.standing_within import Standing

LABELS: tuple[tuple[FactKind, str], ...] = (
    ("errors", "errors"),
    ("paths", "paths"),
    ("identifiers", "identifiers"),
    ("numbers", "numbers, newest first"),
    ("symbols", "names"),
)
CODE_LABEL = "code that names errors"
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
    "errors": 0.22,
    CODE: 0.12,
    "paths": 0.32,
    "identifiers": 0.12,
    "numbers": 0.17,
    "symbols": 0.28,
}
"""Of the room, to begin with. Chosen with `benchmarks/continuation`."""
AMPLE = 1 << 40
"""More tokens than any index takes."""
PIECES_MAX = 200_000
"""Pieces of one sort whose tokens are remembered before all are forgotten: some 20 MB."""
FILLS_MAX = 3
"""How often the room is filled again with what was freed by facts that others show."""

_LABEL_OF = dict(LABELS)
_KIND_OF: dict[str, FactKind] = {label: kind for kind, label in (*LABELS, ("errors", CODE_LABEL))}
"""The label of a line -> the kind of its facts, in the order of the lines."""

_NAMING = frozenset({"paths", "identifiers"})
_MAY_STAND_WITHIN = frozenset({"paths", "identifiers", "symbols"})

Count: TypeAlias = Callable[[list[str]], list[int]]
_BLANK = re.compile(r"\s")
_RESPELT = re.compile(r"\\\\| \./| [ab]/|/ ")
"""Of paths apart by spaces: that one may go by another spelling."""
_PATH = INITIALS["paths"]


class Prices:
    """What pieces of an index cost, each counted once: a history says the same again when it comes back longer."""

    def __init__(self, count: Count, *, counter: str = "", pieces_max: int = PIECES_MAX) -> None:
        self.count = count
        self.counter = counter
        """The name of what counts."""
        self._pieces_max = pieces_max
        self._known: dict[str, dict[str, int]] = {}
        """What stands before a piece → piece → tokens of both."""

    def learn(self, facts: Iterable[Fact]) -> None:
        """Count what is not known of these, which costs less than of a few at a time."""
        listed = list(facts)
        numbers = [fact for fact in listed if fact.kind == "numbers"]
        self.of([fact.value for fact in numbers], behind=VALUES)
        words = [fact.text for fact in listed if fact.kind != "numbers"]
        self.of([*words, *[fact.key for fact in numbers]], behind=" ")

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


class Priced:
    """Facts with what each costs. What else is asked of them is found out when it is asked for."""

    def __init__(
        self,
        facts: Sequence[Fact],
        *,
        costs: Sequence[int],
        keys: Mapping[str, int],
        labels: int,
        standing: Standing | None = None,
    ) -> None:
        self.facts = facts
        """Most wanted first."""
        self.costs = costs
        self.keys = keys
        """What the key of a number costs beside its values."""
        self.labels = labels
        self._standing = standing

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
    def standing(self) -> Standing:
        """What stands within what: of their texts, and maybe of more."""
        if self._standing is not None:
            return self._standing
        return Standing([fact.text for fact in self.facts if fact.kind != "numbers"])

    @cached_property
    def shown_by(self) -> Mapping[int, Collection[str]]:
        """The place of each that may stand within others → their texts; a key of a number is such a text too."""
        showing, keys = self.standing.showing, self.keys
        found: dict[int, Collection[str]] = {}
        for place, fact in enumerate(self.facts):
            if fact.kind in _MAY_STAND_WITHIN and ((text := fact.text) in keys or showing(text)):
                found[place] = showing(text)
        return found


class Choice(Struct, frozen=True, kw_only=True):
    """Facts that fit."""

    facts: tuple[Fact, ...] = ()
    """Most wanted first."""
    tokens: int = 0
    """What they cost, or, where some did not fit, what all would cost at most."""
    is_all: bool = True
    """Whether none is left out for want of room."""


def price(facts: Sequence[Fact], *, prices: Prices, standing: Standing | None = None) -> Priced:
    """The facts with what they cost. What cannot be told apart by spaces again is left out, and so are names that are paths
    or identifiers too: nothing is listed twice."""
    numbers = [fact for fact in facts if fact.kind == "numbers"]
    words = [fact for fact in facts if fact.kind != "numbers"]
    twice = _twice(words)
    if twice or not _are_plain(numbers, words):
        listed = [
            fact for fact in facts if _is_plain(fact) and not (fact.kind == "symbols" and fact.text in twice)
        ]
        return price(listed, prices=prices, standing=standing)
    keys = list(dict.fromkeys([fact.key for fact in numbers]))
    values = iter(prices.of([fact.value for fact in numbers], behind=VALUES))
    texts = iter(prices.of([fact.text for fact in words], behind=" "))
    costs = [next(values) if fact.kind == "numbers" else next(texts) for fact in facts]
    kinds = {fact.kind for fact in words}
    if "errors" in kinds:
        for place in [place for place, fact in enumerate(facts) if fact.kind == "errors"]:
            costs[place] += SEPARATOR_TOKENS
    return Priced(
        facts,
        costs=costs,
        keys=dict(zip(keys, prices.of(keys, behind=" "), strict=True)),
        labels=LABEL_TOKENS * (len(_labels_in(words)) + bool(numbers)),
        standing=standing,
    )


def _firsts(facts: Sequence[Fact]) -> dict[str, int]:
    """A number's key → the place of the first of its values."""
    firsts: dict[str, int] = {}
    for place, fact in enumerate(facts):
        if fact.kind == "numbers":
            firsts.setdefault(fact.key, place)
    return firsts


def written(texts: Sequence[str]) -> list[str]:
    """Texts as they stand on a line of ours."""
    return [text if "<" not in text and text.isprintable() else escape_tags(unbroken(text)) for text in texts]


def _twice(words: Sequence[Fact]) -> Set[str]:
    """Texts that are names of code, and paths or identifiers too."""
    names = {fact.text for fact in words if fact.kind == "symbols"}
    return names & {fact.text for fact in words if fact.kind in _NAMING} if names else names


def _are_plain(numbers: Sequence[Fact], words: Sequence[Fact]) -> bool:
    """Whether all facts can be told apart again, seen from all of them together."""
    keys, values = "".join([fact.key for fact in numbers]), "".join([fact.value for fact in numbers])
    texts = "".join([fact.text for fact in words if fact.kind != "errors"])
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


def _order(facts: Sequence[Fact], costs: Sequence[int]) -> list[int]:
    """Places of the facts in the order in which they find room: of each kind the most wanted first, short ones before
    long ones, and the kinds side by side, each as fast as its share allows."""
    of_kind: dict[str, list[int]] = {}
    for place, fact in enumerate(facts):
        kind = CODE if fact.kind == "errors" and fact.key.startswith(IN_CODE) else fact.kind
        of_kind.setdefault(kind, []).append(place)
    weights = {cost: cost**COST_WEIGHT for cost in set(costs)}
    turns = [0.0] * len(facts)
    for kind, places in of_kind.items():
        own = [costs[place] for place in places]
        ranks = [number * weights[cost] for number, cost in enumerate(own, 1)]
        if kind == "numbers":
            ranks = _newest_first(ranks, [facts[place].key for place in places])
        order = sorted(range(len(own)), key=ranks.__getitem__)
        share = SHARES[kind]
        used = accumulate([own[number] for number in order])
        for number, tokens in zip(order, used, strict=True):
            turns[places[number]] = tokens / share
    return sorted(range(len(facts)), key=turns.__getitem__)


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
    filling = _Filling(priced, room - priced.labels, shown=set().union(*map(priced.standing.line, said)))
    for _ in range(FILLS_MAX):
        filling.fill()
        if not filling.free() or filling.is_done:
            break
    is_all, gone = filling.is_done, filling.gone
    if is_all:
        chosen = tuple([fact for place, fact in enumerate(facts) if place not in gone] if gone else facts)
    else:
        chosen = tuple([facts[place] for place in sorted(filling.taken)])
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
        if not self.taken and self._priced.tokens <= self.left:
            self._take_all()
            return
        facts, costs = self._priced.facts, self._priced.costs
        for place in self._priced.order:
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

    def _take_all(self) -> None:
        """Take every fact that is not shown elsewhere: there is room for all."""
        shown, costs = self._shown, self._priced.costs
        if shown:
            self.gone = {
                place
                for place, fact in enumerate(self._priced.facts)
                if fact.text in shown and fact.kind in _MAY_STAND_WITHIN
            }
        self.taken = set(range(len(costs))) - self.gone
        self.left -= sum(costs) - sum([costs[place] for place in self.gone])
        self.left -= sum(self._priced.keys.values())

    def _cost(self, place: int, key: str) -> int:
        """What a number costs: with its key where it is the newest value; more than there is where that has no place."""
        first, cost = self._priced.firsts[key], self._priced.costs[place]
        if place == first:
            return cost + self._priced.keys[key]
        return cost if first in self.taken else self.left + 1

    def free(self) -> bool:
        """Give back the room of what stands within another fact that was taken; false where nothing does."""
        facts, taken, shown_by = self._priced.facts, self.taken, self._priced.shown_by
        if not shown_by:
            return False
        texts = {facts[place].text for place in taken if facts[place].kind != "numbers"}
        keys = {key for key, place in self._priced.firsts.items() if place in taken}
        within = {
            place
            for place, showing in shown_by.items()
            if place in taken and (facts[place].text in keys or not texts.isdisjoint(showing))
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
    of_label = {_LABEL_OF[kind]: here for kind, here in of_kind.items() if kind != "errors"}
    for fact in of_kind.get("errors", ()):
        of_label.setdefault(_label_of(fact), []).append(fact)
    lines = []
    for label, kind in _KIND_OF.items():
        here = of_label.get(label, [])
        texts = written(_by_key(here) if kind == "numbers" else [fact.text for fact in here])
        alone = [text for text in texts if SEPARATOR in text] if kind == "errors" else []
        if len(texts) > len(alone):
            together = [text for text in texts if text not in alone] if alone else texts
            lines.append(f"{label}: {(SEPARATOR if kind == 'errors' else ' ').join(together)}")
        lines += [f"{ERROR_LABEL}: {text}" for text in alone]
    return lines


def labels_of(facts: Sequence[Fact]) -> list[str]:
    """The lines of the facts, with one word in the place of each."""
    labels = _labels_in(facts)
    return [f"{label}: -" for label in _KIND_OF if label in labels]


def _labels_in(facts: Sequence[Fact]) -> Set[str]:
    kinds = {fact.kind for fact in facts} - {"errors"}
    return {_LABEL_OF[kind] for kind in kinds} | {_label_of(fact) for fact in facts if fact.kind == "errors"}


def _label_of(fact: Fact) -> str:
    is_code = fact.kind == "errors" and fact.key.startswith(IN_CODE)
    return CODE_LABEL if is_code else _LABEL_OF[fact.kind]


def index(facts: Sequence[Fact], room: int, *, prices: Prices) -> tuple[tuple[Fact, ...], list[str]]:
    """The facts that fit into `room` tokens, most wanted first, and their lines."""
    if room <= LABEL_TOKENS or not facts:
        return (), []
    chosen = choose(price(facts, prices=prices), room).facts
    return chosen, lines_of(chosen)


def indexes(wanted: Sequence[tuple[Sequence[Fact], int]], *, prices: Prices) -> list[list[str]]:
    """The lines of many indexes, each given as facts and room; what is not priced yet is counted together."""
    prices.learn(chain.from_iterable([facts for facts, room in wanted if room > LABEL_TOKENS]))
    return [index(facts, room, prices=prices)[1] for facts, room in wanted]


def _by_key(numbers: Sequence[Fact]) -> list[str]:
    """Numbers with their key once, newest value first: `limit=100|50`."""
    values = {fact.key: fact.value for fact in reversed(numbers)}
    if len(values) < len(numbers):
        times = Counter([fact.key for fact in numbers])
        several: dict[str, dict[str, None]] = {key: {} for key, count in times.items() if count > 1}
        for fact in numbers:
            if fact.key in several:
                several[fact.key][fact.value] = None
        values |= {key: VALUES.join(found) for key, found in several.items()}
    return [f"{key}={values[key]}" for key in dict.fromkeys([fact.key for fact in numbers])]


_PATHS = f"{next(label for kind, label in LABELS if kind == 'paths')}: "
_HOLDING = (
    *[f"{label}: " for label, kind in _KIND_OF.items() if kind in ("errors", "identifiers")],
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
    listed as a path goes by its key; the key of a number may be a path."""
    label, _, rest = line.partition(": ")
    kind = _KIND_OF.get(label)
    if kind is None or kind == "errors":
        return [name_of(fact) for fact in facts_in_line(line)]
    initial = INITIALS[kind]
    if kind == "paths" and _RESPELT.search(f" {rest} "):
        return [f"{initial}{key_of(text)}" for text in rest.split(" ")]
    if kind != "numbers":
        return _behind(initial, rest.split(" "))
    texts = rest.split(" ")
    alone = [text for text in texts if VALUES not in text and text.count("=") == 1]
    names = _behind(initial, " ".join(alone).replace("=", VALUE).split(" ")) if alone else []
    for text in texts if len(alone) < len(texts) else ():
        key, _, values = text.partition("=")
        names += [f"{initial}{key}{VALUE}{value}" for value in values.split(VALUES)]
    return [*names, *_behind(_PATH, [text.partition("=")[0] for text in texts])]


def _behind(initial: str, texts: Sequence[str]) -> list[str]:
    """The texts, none of which holds a blank, each behind an initial."""
    return f"{initial}{f' {initial}'.join(texts)}".split(" ")


def listed_paths(lines: Iterable[str]) -> str:
    """The paths that lines of an index list, apart by spaces."""
    return " ".join([line[len(_PATHS) :] for line in lines if line.startswith(_PATHS)])


def holds_more(line: str) -> bool:
    """True for a line of an index in which a fact holds others: a failure its path, an address an id."""
    return line.startswith(_HOLDING)
