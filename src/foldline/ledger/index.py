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
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import TypeAlias

from msgspec import Struct

from foldline.core.address import escape_tags
from foldline.ledger.errors_in_text import IN_CODE, key_of_listed
from foldline.ledger.facts import Fact, FactKind
from foldline.ledger.lines import unbroken

LABELS: tuple[tuple[FactKind, str], ...] = (
    ("errors", "errors"),
    ("paths", "paths"),
    ("identifiers", "identifiers"),
    ("numbers", "numbers, newest first"),
    ("symbols", "names"),
)
NUMBERS_LABEL = "numbers, newest first: "
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
PATH_NAMES_MAX = 8
"""Names at the end of a path that are looked at for shorter paths within it."""
FILLS_MAX = 3
"""How often the room is filled again with what was freed by facts that others show."""

_MAY_STAND_WITHIN = frozenset({"paths", "identifiers", "symbols"})

Count: TypeAlias = Callable[[list[str]], list[int]]
_WORDS = re.compile(r"(?<![\w-])\w+(?![\w-]|\.\w)")
_BLANK = re.compile(r"\s")
_BESIDE = re.compile(r"[\s\"'`()\[\]{}<>,;:=]+")


class Priced(Struct, frozen=True, kw_only=True):
    """Facts with what each costs, in the order in which they find room."""

    facts: tuple[Fact, ...]
    """Most wanted first."""
    texts: tuple[str, ...]
    """As each is written."""
    costs: tuple[int, ...]
    keys: dict[str, int]
    """What the key of a number costs beside its values."""
    order: tuple[int, ...]


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
    facts = [fact for fact in _each_once(facts) if _is_plain(fact)]
    texts = [escape_tags(unbroken(fact.value if fact.kind == "numbers" else fact.text)) for fact in facts]
    heads = list(dict.fromkeys(fact.key for fact in facts if fact.kind == "numbers"))
    counted = count(
        [
            *(
                f"{VALUES if fact.kind == 'numbers' else ' '}{text}"
                for fact, text in zip(facts, texts, strict=True)
            ),
            *(f" {escape_tags(key)}" for key in heads),
        ]
    )
    costs = [
        cost + (SEPARATOR_TOKENS if fact.kind == "errors" else 0)
        for fact, cost in zip(facts, counted, strict=False)
    ]
    keys = dict(zip(heads, counted[len(facts) :], strict=True))
    return Priced(
        facts=tuple(facts),
        texts=tuple(texts),
        costs=tuple(costs),
        keys=keys,
        order=tuple(_order(facts, costs)),
    )


def _each_once(facts: Sequence[Fact]) -> Iterator[Fact]:
    """The facts without names that are paths or identifiers too: nothing is listed twice."""
    told = {fact.text for fact in facts if fact.kind in ("paths", "identifiers")}
    return (fact for fact in facts if fact.kind != "symbols" or fact.text not in told)


def _is_plain(fact: Fact) -> bool:
    if fact.kind == "errors":
        return bool(fact.text.strip())
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
        kind = CODE if fact.key.startswith(IN_CODE) else fact.kind
        of_kind.setdefault(kind, []).append(place)
    turns: list[tuple[float, int]] = []
    for kind, places in of_kind.items():
        used = 0
        for place in _ranked(places, facts, costs=costs):
            used += costs[place]
            turns.append((used / SHARES[kind], place))
    return [place for _, place in sorted(turns)]


def _ranked(places: Sequence[int], facts: Sequence[Fact], *, costs: Sequence[int]) -> list[int]:
    """The places of one kind, in their order; of a number no older value before the newest."""
    ranks: list[tuple[float, int]] = []
    first: dict[str, float] = {}
    for number, place in enumerate(places, 1):
        rank = number * costs[place] ** COST_WEIGHT
        if facts[place].kind == "numbers":
            rank = max(rank, first.setdefault(facts[place].key, rank))
        ranks.append((rank, place))
    return [place for _, place in sorted(ranks)]


def choose(priced: Priced, room: int, *, said: Iterable[str] = ()) -> Choice:
    """The facts that fit into `room` tokens, without those that stand in the lines `said` or within one another."""
    facts = priced.facts
    labels = LABEL_TOKENS * len({fact.kind for fact in facts})
    whole = sum(priced.costs) + sum(priced.keys.values()) + labels
    if room <= labels or not facts:
        return Choice(tokens=whole, is_all=not facts)
    filling = _Filling(priced, room - labels, shown=_shown_in(said))
    for _ in range(FILLS_MAX):
        filling.fill()
        if not filling.free():
            break
    taken = filling.taken
    is_all = len(taken) + len(filling.gone) == len(facts)
    chosen = tuple([fact for place, fact in enumerate(facts) if place in taken])
    return Choice(facts=chosen, tokens=room - filling.left if is_all else whole, is_all=is_all)


class _Filling:
    """Room, and the facts that found a place in it."""

    def __init__(self, priced: Priced, room: int, *, shown: Set[str]) -> None:
        self.taken: set[int] = set()
        self.gone: set[int] = set()
        """Facts that are shown elsewhere."""
        self.left = room
        self._priced = priced
        self._shown = shown
        self._first: dict[str, int] = {}
        """A number's key -> the place of its newest value, without which no other stands."""
        for place, fact in enumerate(priced.facts):
            if fact.kind == "numbers":
                self._first.setdefault(fact.key, place)

    def fill(self) -> None:
        """Take facts in their order while they fit."""
        for place in self._priced.order:
            if place in self.taken or place in self.gone or self._is_shown(place):
                continue
            cost = self._cost(place)
            if cost is not None and cost <= self.left:
                self.taken.add(place)
                self.left -= cost

    def _is_shown(self, place: int) -> bool:
        fact = self._priced.facts[place]
        if fact.kind in _MAY_STAND_WITHIN and fact.text in self._shown:
            self.gone.add(place)
            return True
        return False

    def _cost(self, place: int) -> int | None:
        fact, cost = self._priced.facts[place], self._priced.costs[place]
        if fact.kind != "numbers":
            return cost
        first = self._first[fact.key]
        if place == first:
            return cost + self._priced.keys[fact.key]
        return cost if first in self.taken else None

    def free(self) -> bool:
        """Give back the room of what stands within another fact that was taken; false where nothing does."""
        facts = self._priced.facts
        longer = _longer([facts[place].text for place in self.taken if facts[place].kind != "numbers"])
        longer |= self._first.keys() - {key for key, place in self._first.items() if place not in self.taken}
        within = {
            place
            for place in self.taken
            if facts[place].kind in _MAY_STAND_WITHIN and facts[place].text in longer
        }
        self.taken -= within
        self.gone |= within
        self.left += sum([self._priced.costs[place] for place in within])
        return bool(within)


def _shown_in(lines: Iterable[str]) -> set[str]:
    """The words and paths that stand in lines of text, with the parts of the paths."""
    shown: set[str] = set()
    for line in lines:
        shown.update(_WORDS.findall(line))
        for piece in _BESIDE.split(line):
            if "/" in piece or "." in piece:
                piece = piece.rstrip(".")
                shown.add(piece)
                shown.update(parts_of(piece))
    return shown


def _longer(texts: Iterable[str]) -> set[str]:
    """What stands within these texts as words of their own, and is not one of them whole."""
    within: set[str] = set()
    for text in texts:
        if "/" in text:
            within.update(parts_of(text))
        if _BLANK.search(text):
            within |= _shown_in([text])
        else:
            within.update(word for word in _WORDS.findall(text) if word != text)
    return within


def parts_of(path: str) -> Iterator[str]:
    """What a path shows beside itself: each run of its last names, folders with and without a slash at their end."""
    names = path.rstrip("/").split("/")
    first = max(0, len(names) - PATH_NAMES_MAX)
    for start in range(first, len(names)):
        for end in range(start + 1, len(names) + 1):
            part = "/".join(names[start:end])
            if part and part != path:
                yield part
            if part and (end < len(names) or path.endswith("/")) and f"{part}/" != path:
                yield f"{part}/"


def lines_of(facts: Sequence[Fact]) -> list[str]:
    """One line for each kind of the facts."""
    lines = []
    for kind, label in LABELS:
        here = [fact for fact in facts if fact.kind == kind]
        texts = _by_key(here) if kind == "numbers" else [fact.text for fact in here]
        alone = [text for text in texts if SEPARATOR in text] if kind == "errors" else []
        if len(texts) > len(alone):
            between = SEPARATOR if kind == "errors" else " "
            joined = between.join(escape_tags(unbroken(text)) for text in texts if text not in alone)
            lines.append(f"{label}: {joined}")
        lines += [f"{ERROR_LABEL}: {escape_tags(unbroken(text))}" for text in alone]
    return lines


def index(facts: Sequence[Fact], room: int, *, count: Count) -> tuple[tuple[Fact, ...], list[str]]:
    """The facts that fit into `room` tokens, most wanted first, and their lines."""
    if room <= LABEL_TOKENS or not facts:
        return (), []
    chosen = choose(price(facts, count=count), room).facts
    return chosen, lines_of(chosen)


def _by_key(numbers: Sequence[Fact]) -> list[str]:
    """Numbers with their key once, newest value first: `limit=100|50`."""
    values: dict[str, list[str]] = {}
    for fact in numbers:
        values.setdefault(fact.key, []).append(fact.value)
    return [f"{key}={VALUES.join(dict.fromkeys(found))}" for key, found in values.items()]


_KIND_OF = {label: kind for kind, label in LABELS}


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
