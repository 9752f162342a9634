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
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, cached_property, partial
from itertools import accumulate, compress, count
from operator import mul

from msgspec import Struct

from foldline.ledger.columns import CODE, NO_KEY, VALUES, Columns, Place, Prices, written
from foldline.ledger.errors_in_text import LINE_CHARS_MAX, key_of_listed
from foldline.ledger.facts import INITIALS, VALUE, Fact, FactKind, Found, Name, name_of
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
_LABELS: dict[str, str] = {**dict(LABELS), CODE: CODE_LABEL}
"""Sort of a fact → the label of its line, in the order of the lines."""
_FAILING = frozenset({"errors", CODE})
SEPARATOR = " · "
"""Between errors, which hold spaces."""
CUT = " …"
"""Behind a line that goes on where it came from."""
ERROR_LABEL = "error"
"""Of a line with one error that holds a separator."""
LABEL_TOKENS = 6
COST_WEIGHT = 0.7
"""How much a fact's length counts against its rank: of two facts wanted alike the shorter comes first."""
SHARES: dict[str, float] = {
    "errors": 0.22,
    CODE: 0.12,
    "paths": 0.32,
    "identifiers": 0.12,
    "numbers": 0.17,
    "symbols": 0.28,
}
"""Of the room, to begin with. Chosen with `benchmarks/continuation`."""
SCARCE = 0.55
"""Where there is room for less than this part of what all facts take …"""
SCARCE_SHARES = {**SHARES, "errors": 0.14, CODE: 0.03, "symbols": 0.5}
"""… failures, and lines of code that speak of one, which are long and seldom wanted again, give way to names of code."""
AMPLE = 1 << 40
"""More tokens than any index takes."""
NEAR, FARTHER = 1.25, 1.25
"""Of so much more than the room, facts are put in order to fill it, and then in such steps."""
FEW = 64
"""Of so many facts it costs less to look whether any stands within another than to know it of all."""
FILLS_MAX = 3
"""How often the room is filled again with what was freed by facts that others show."""

_KIND_OF: dict[str, FactKind] = {label: kind for kind, label in (*LABELS, ("errors", CODE_LABEL))}
"""The label of a line -> the kind of its facts, in the order of the lines."""

_RESPELT = re.compile(r"\\\\| \./| [ab]/|/ ")
"""Of paths apart by spaces: that one may go by another spelling."""
_PATH = INITIALS["paths"]


class Priced:
    """Facts with what each costs. What else is asked of them is found out when it is asked for."""

    def __init__(
        self, columns: Columns, places: Sequence[Place], *, prices: Prices, standing: Callable[[], Standing]
    ) -> None:
        """What cannot be told apart by spaces again is left out, and so are names that are paths or identifiers too: nothing is
        listed twice. The most wanted come first where they are to be chosen among. `standing`: what stands within what, of
        their texts, and maybe of more."""
        self.columns = columns
        self.places = _listed(columns, places)
        self.costs, self.key_costs = columns.priced(prices)
        """By place; and of keys."""
        self.standing = standing

    @cached_property
    def keys(self) -> Set[int]:
        """The keys of their numbers."""
        return set(map(self.columns.keys.__getitem__, self.places)) - {NO_KEY}

    @cached_property
    def labels(self) -> int:
        """What the labels of their lines cost."""
        return LABEL_TOKENS * len(set(map(self.columns.sorts.__getitem__, self.places)))

    @cached_property
    def tokens(self) -> int:
        """What all of them take at most."""
        own = sum(map(self.costs.__getitem__, self.places))
        return own + sum(map(self.key_costs.__getitem__, self.keys)) + self.labels

    def orders(self, room: int) -> Iterator[Sequence[Place]]:
        """The order in which they find room, of which there is so much: of those that come first, which seldom leave any, and then
        of all."""
        turns = self._scarce if room < self.tokens * SCARCE else self._ample
        near = turns.until(int(room * NEAR))
        yield near
        if len(near) < len(self.places):
            yield turns.until(AMPLE)

    @cached_property
    def _ample(self) -> _Turns:
        return _Turns(self, shares=SHARES)

    @cached_property
    def _scarce(self) -> _Turns:
        return _Turns(self, shares=SCARCE_SHARES)

    @cached_property
    def least(self) -> int:
        """What the cheapest of them costs."""
        return min(set(map(self.costs.__getitem__, self.places)))


class Choice(Struct, frozen=True, kw_only=True, dict=True):
    """Facts that fit."""

    columns: Columns
    among: Sequence[Place] = ()
    """What was chosen among, most wanted first."""
    taken: Set[Place] = frozenset()
    tokens: int = 0
    """What they cost, or, where some did not fit, what all would cost at most."""
    is_all: bool = True
    """Whether none is left out for want of room."""

    @cached_property
    def places(self) -> Sequence[Place]:
        """Most wanted first."""
        if len(self.taken) == len(self.among):
            return self.among
        return list(compress(self.among, map(self.taken.__contains__, self.among)))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What they are."""
        return tuple(map(self.columns.facts.__getitem__, self.places))

    @property
    def lines(self) -> list[str]:
        """One line for each kind."""
        return _lines(self.columns, self.places)


def price(facts: Sequence[Fact], *, prices: Prices) -> Priced:
    """The facts with what they cost."""
    return Priced(Columns(facts), range(len(facts)), prices=prices, standing=cache(partial(_standing, facts)))


def _standing(facts: Iterable[Fact]) -> Standing:
    return Standing([fact.text for fact in facts if fact.kind != "numbers"])


def _listed(columns: Columns, places: Sequence[Place]) -> Sequence[Place]:
    """The places without those that are not listed."""
    twins = columns.twins()
    if not twins and columns.odd.isdisjoint(places):
        return places
    here = set(places)
    hidden = {symbol for symbol, others in twins.items() if not here.isdisjoint(others)} | columns.odd
    return [place for place in places if place not in hidden] if not here.isdisjoint(hidden) else places


class _Turns:
    """The order in which facts find room: of each sort the most wanted first, short ones before long ones, and the sorts side by
    side, each as fast as its share allows."""

    def __init__(self, priced: Priced, *, shares: Mapping[str, float]) -> None:
        columns, costs, self._places = priced.columns, priced.costs, priced.places
        weights = {cost: cost**COST_WEIGHT for cost in set(map(costs.__getitem__, self._places))}
        self._sorts: list[_Sort] = []
        for sort, here in columns.by_sort(self._places).items():
            own = list(map(costs.__getitem__, here))
            ranks = list(map(mul, count(1), map(weights.__getitem__, own)))
            if sort == "numbers":
                ranks = _newest_first(ranks, list(map(columns.keys.__getitem__, here)))
            order = sorted(range(len(own)), key=ranks.__getitem__)
            used = list(accumulate(map(own.__getitem__, order)))
            self._sorts.append(_Sort(share=shares[sort], places=here, order=order, used=used))
        self._known: dict[float, Sequence[Place]] = {}

    def until(self, tokens: int) -> Sequence[Place]:
        """Those that come first, as many as take about so many tokens or more; all where they take less."""
        sorts = self._sorts
        last = max(one.turn(one.used[-1]) for one in sorts)
        until = tokens / sum(one.share for one in sorts)
        while until < last and sum(min(until * one.share, one.used[-1]) for one in sorts) < tokens:
            until *= FARTHER
        until = min(until, last)
        if until not in self._known:
            self._known[until] = self._until(until)
        return self._known[until]

    def _until(self, until: float) -> Sequence[Place]:
        turns: dict[Place, float] = {}
        for one in self._sorts:
            used = one.used[: bisect_right(one.used, until, key=one.turn)]
            turns.update(zip(map(one.places.__getitem__, one.order), map(one.turn, used), strict=False))
        # of two at one turn the more wanted comes first
        return sorted(compress(self._places, map(turns.__contains__, self._places)), key=turns.__getitem__)


class _Sort(Struct, frozen=True, kw_only=True, gc=False):
    """The facts of one sort."""

    share: float
    places: Sequence[Place]
    """Most wanted first."""
    order: Sequence[int]
    """In which of these find room …"""
    used: Sequence[int]
    """… and what they take with those before them."""

    def turn(self, tokens: int) -> float:
        """How far its share has come with so many tokens."""
        return tokens / self.share


def _newest_first(ranks: Sequence[float], keys: Sequence[int]) -> list[float]:
    """The ranks of numbers, of each key none before its newest value."""
    first: dict[int, float] = {}
    return [max(rank, first.setdefault(key, rank)) for rank, key in zip(ranks, keys, strict=True)]


def choose(priced: Priced, room: int, *, said: Sequence[str] = ()) -> Choice:
    """The facts that fit into `room` tokens, without those that stand in the lines `said` or within one another. O(facts
    that fit)."""
    columns, places = priced.columns, priced.places
    if not places:
        return Choice(columns=columns)
    if room <= priced.labels:
        return Choice(columns=columns, among=places, tokens=priced.tokens, is_all=False)
    shown = set[str]().union(*map(priced.standing().line, said)) if said else ()
    hidden = columns.reading(shown).intersection(places) if shown else frozenset()
    filling = _Filling(priced, room - priced.labels, hidden=hidden)
    for _ in range(FILLS_MAX):
        filling.fill()
        if not filling.free() or filling.is_done:
            break
    is_all = filling.is_done
    tokens = room - filling.left if is_all else priced.tokens
    return Choice(columns=columns, among=places, taken=filling.taken, tokens=tokens, is_all=is_all)


class _Filling:
    """Room, and the facts that found a place in it."""

    def __init__(self, priced: Priced, room: int, *, hidden: Set[Place]) -> None:
        self.taken: set[Place] = set()
        self.gone: set[Place] = set()
        """Facts that are shown elsewhere."""
        self.left = self._room = room
        self._keys: set[int] = set()
        """The keys of the numbers that were taken."""
        self._priced = priced
        self._hidden = hidden
        """Those that stand in what is said beside them."""

    @property
    def is_done(self) -> bool:
        """Whether every fact has a place or needs none."""
        return len(self.taken) + len(self.gone) == len(self._priced.places)

    def fill(self) -> None:
        """Take facts in their order while they fit."""
        if not self.taken and self._priced.tokens <= self.left:
            self._take_all()
            return
        self.gone |= self._hidden
        for order in self._priced.orders(self._room):
            self._take(order)
            if self.left < self._priced.least:
                break

    def _take(self, order: Iterable[Place]) -> None:
        """A number costs its key too where it is the newest value, which comes first; where that found no room, no other does."""
        costs, key_costs, keys = self._priced.costs, self._priced.key_costs, self._priced.columns.keys
        refused: set[int] = set()
        for place in order:
            if place in self.taken or place in self.gone:
                continue
            key, cost = keys[place], costs[place]
            if key != NO_KEY and key not in self._keys:
                if key in refused:
                    continue
                refused.add(key)
                cost += key_costs[key]
            if cost <= self.left:
                self.taken.add(place)
                self.left -= cost
                if key != NO_KEY:
                    self._keys.add(key)

    def _take_all(self) -> None:
        """Take every fact that is not shown elsewhere: there is room for all."""
        priced = self._priced
        self.gone = set(self._hidden)
        self.taken = set(priced.places) - self.gone
        self._keys.update(priced.keys)
        self.left -= priced.tokens - priced.labels - sum(map(priced.costs.__getitem__, self.gone))

    def free(self) -> bool:
        """Give back the room of what stands within another fact that was taken; false where nothing does."""
        priced, taken = self._priced, self.taken
        columns = priced.columns
        shown_by = columns.within_few(taken) if len(taken) <= FEW else columns.within(priced.standing())
        within = {
            place
            for place, others in shown_by.items()
            if place in taken and (not taken.isdisjoint(others) or columns.key_named(place) in self._keys)
        }
        self.taken -= within
        self.gone |= within
        self.left += sum(map(priced.costs.__getitem__, within))
        return bool(within)


def lines_of(facts: Sequence[Fact]) -> list[str]:
    """One line for each kind of the facts."""
    return _lines(Columns(facts), range(len(facts)))


def _lines(columns: Columns, places: Sequence[Place]) -> list[str]:
    lines: list[str] = []
    of_sort = columns.by_sort(places)
    for sort, label in _LABELS.items():
        if sort not in of_sort:
            continue
        here = of_sort[sort]
        texts = written(
            _by_key(columns, here) if sort == "numbers" else list(map(columns.texts.__getitem__, here))
        )
        if sort in _FAILING:
            texts = [f"{text}{CUT}" if len(text) >= LINE_CHARS_MAX else text for text in texts]
        alone = [text for text in texts if SEPARATOR in text] if sort in _FAILING else []
        if len(texts) > len(alone):
            together = [text for text in texts if text not in alone] if alone else texts
            lines.append(f"{label}: {(SEPARATOR if sort in _FAILING else ' ').join(together)}")
        lines += [f"{ERROR_LABEL}: {text}" for text in alone]
    return lines


def labels_of(choice: Choice) -> list[str]:
    """The lines of what was chosen, with one word in the place of each fact."""
    sorts = set(map(choice.columns.sorts.__getitem__, choice.taken))
    return [f"{label}: -" for sort, label in _LABELS.items() if sort in sorts]


def index(facts: Sequence[Fact], room: int, *, prices: Prices) -> tuple[tuple[Fact, ...], list[str]]:
    """The facts that fit into `room` tokens, most wanted first, and their lines."""
    if room <= LABEL_TOKENS or not facts:
        return (), []
    choice = choose(price(facts, prices=prices), room)
    return choice.facts, choice.lines


def indexes(wanted: Sequence[tuple[Found, int]], *, prices: Prices) -> list[list[str]]:
    """The lines of many indexes, each given as what a text says and room. Texts say the same again and again: all share columns, in
    which a fact stands once for each way in which it reads."""
    columns = Columns()
    listed = [
        list(map(_spelt, found.names, found.facts)) if room > LABEL_TOKENS else [] for found, room in wanted
    ]
    new: dict[str, Fact] = {}
    for spelt, (found, _) in zip(listed, wanted, strict=True):
        new.update(zip(spelt, found.facts, strict=False))
    places = dict(zip(new, columns.add(list(new.values())), strict=True))
    standing = cache(partial(_standing, new.values()))
    lines: list[list[str]] = []
    for spelt, (_, room) in zip(listed, wanted, strict=True):
        own = list(map(places.__getitem__, spelt))
        priced = Priced(columns, own, prices=prices, standing=standing)
        lines.append(choose(priced, room).lines if own else [])
    return lines


def _spelt(name: Name, fact: Fact) -> str:
    """What is the same for facts that stand alike on a line: a path may go by another spelling, a failure by other numbers."""
    return f"{name}{VALUE}{fact.text}" if fact.kind in ("paths", "errors") else name


def _by_key(columns: Columns, numbers: Sequence[Place]) -> list[str]:
    """Numbers with their key once, newest value first: `limit=100|50`."""
    texts, keys = columns.texts, columns.keys
    found: dict[int, list[str]] = {}
    for place in numbers:
        found.setdefault(keys[place], []).append(texts[place])
    return [
        f"{columns.key_texts[key]}={VALUES.join(dict.fromkeys(values)) if len(values) > 1 else values[0]}"
        for key, values in found.items()
    ]


_PATHS = f"{next(label for kind, label in LABELS if kind == 'paths')}: "
_IDS = re.compile(r"identifiers:(?: \w+)+", re.ASCII)
_HOLDING = (
    *[f"{label}: " for label, kind in _KIND_OF.items() if kind in ("errors", "identifiers")],
    f"{ERROR_LABEL}: ",
)


def facts_in_line(line: str) -> Iterable[Fact]:
    """The facts of one line of an index; none of any other line."""
    label, _, rest = line.partition(": ")
    if label == ERROR_LABEL:
        text = rest.removesuffix(CUT)
        return [Fact(kind="errors", key=key_of_listed(text), text=text)]
    kind = _KIND_OF.get(label)
    if kind is None:
        return ()
    texts = [text for text in rest.split(SEPARATOR if kind == "errors" else " ") if text]
    if kind == "errors":
        whole = [text.removesuffix(CUT) for text in texts]
        return [Fact(kind=kind, key=key_of_listed(text), text=text) for text in whole]
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
    """True for a line of an index in which a fact may hold others: a failure its path, an address an id; an id alone none."""
    return line.startswith(_HOLDING) and _IDS.fullmatch(line) is None
