"""Mentions: every fact of a history as often as it is said, and which of them are wanted again.

    newest part ◄── part ◄── part ◄── oldest part         each with the names of its facts, and whether in own words
         1 2 3       4 5       6                          how old a mention is: mentions after it that the view lacks

A fact is wanted the more, the newer its newest mention and the more often it is said; a mention in the user's or the
agent's own words counts for more than one in a tool's output, and a line of code that speaks of a failure for less than
a failure. Knows texts and facts, no messages; `compose` reads those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import accumulate, compress, repeat
from math import sqrt
from operator import itemgetter, truediv

from msgspec import Struct

from foldline.ledger.columns import NO_KEY, Columns, Place
from foldline.ledger.facts import Fact, Found, Name, name_of
from foldline.ledger.standing_within import Standing

OWN_WORDS = 3
"""How many times more recent a fact counts that the user or the agent used in its own words: those come back."""
PART_FACTS_MAX = 250
"""Facts of one kind taken from one part: a listing of a thousand files is data, not a thousand facts."""
CODE = 2.0
"""How many times less a line of code counts that speaks of a failure than a failure."""
ONCE = 2.0
"""How many times less a name of code counts that was seen in one place alone."""

_NOWHERE = -1
"""The place of what no part mentions."""


class Mentions:
    """The mentions of a history, told by its parts; it grows as the history does."""

    def __init__(self, parts: Iterable[tuple[Found, bool]] = ()) -> None:
        """Facts of each part, and whether they were said in own words, the newest first. O(mentions)."""
        self.columns = Columns()
        """The newest fact of each name, and those that only earlier ledgers carried."""
        self.standing = Standing()
        """What stands within what: of the texts of all facts but numbers."""
        self._places: dict[Name, Place] = {}
        self._said: list[Place] = []
        """Every mention, the oldest first …"""
        self._own = bytearray()
        """… and whether it is in own words."""
        self._leading: dict[int, Place] = {}
        """A number's key → its newest value, wherever it stands."""
        self._unsaid: set[Place] = set()
        """Facts that no part mentions."""
        self._in_time: _InTime | None = None
        self.grow(reversed(list(parts)))

    def grow(self, parts: Iterable[tuple[Found, bool]]) -> None:
        """Take in newer parts, the oldest of them first."""
        counted = [(*_counted(found), own) for found, own in parts]
        if not counted:
            return
        self._in_time = None
        newest: dict[Name, Fact] = {}
        texts: list[str] = []
        for names, facts, _ in counted:
            newest.update(zip(reversed(names), reversed(facts), strict=True))
            texts += [fact.text for fact in facts if fact.kind != "numbers"]
        self._take(newest)
        self.standing.learn(texts)
        place_of, keys = self._places.__getitem__, self.columns.keys
        for names, _, own in counted:
            places = list(map(place_of, reversed(names)))
            self._said += places
            self._own += bytes([own]) * len(places)
            self._leading.update(zip(map(keys.__getitem__, places), places, strict=True))
        self._leading.pop(NO_KEY, None)
        if self._unsaid:
            self._unsaid.difference_update(map(place_of, newest))

    def _take(self, facts: Mapping[Name, Fact]) -> None:
        """Give each a place, or the place that it has its newest fact."""
        places = self._places
        new = {name: fact for name, fact in facts.items() if name not in places}
        if len(new) < len(facts):
            for name, fact in facts.items():
                if name not in new:
                    self.columns.renew(places[name], fact)
        places.update(zip(new, self.columns.add(list(new.values())), strict=True))

    @property
    def leading(self) -> Mapping[int, Place]:
        """The key of each number that a part mentions → its newest value."""
        return self._leading

    def in_time(self) -> _InTime:
        """The facts that parts mention; found out once for what was said so far."""
        if self._in_time is None:
            self._in_time = self._put_in_time()
        return self._in_time

    def _put_in_time(self) -> _InTime:
        said, columns = self._said, self.columns
        places = list(dict.fromkeys(reversed(said)))
        back = range(len(said) - 1, -1, -1)
        newest = dict(zip(said, back, strict=True))
        times = Counter(said)
        parts = dict(zip(places, map(sqrt, map(times.__getitem__, places)), strict=True))
        for place in columns.codes & parts.keys():
            parts[place] /= CODE
        for place in columns.symbols & parts.keys():
            if times[place] == 1:
                parts[place] /= ONCE
        own = dict(zip(compress(said, self._own), compress(back, self._own), strict=True))
        values: dict[int, list[Place]] = {}
        for place in places:
            values.setdefault(columns.keys[place], []).append(place)
        values.pop(NO_KEY, None)
        return _InTime(
            places=places,
            masked=_at(places),
            said=_at(said[::-1]),
            newest=_at(list(map(newest.__getitem__, places))),
            parts=list(parts.values()),
            own=[(number, own[place]) for number, place in enumerate(places) if place in own],
            values={key: here for key, here in values.items() if len(here) > 1},
        )

    def wanted(self, shown: Iterable[Name], carried: Sequence[Fact] = ()) -> Wanted:
        """The facts without those of these names; `carried` are older than all others."""
        older: dict[Name, Fact] = {}
        for fact in carried:
            older.setdefault(name_of(fact), fact)
        older = {name: fact for name, fact in older.items() if self._is_unsaid(name)}
        self._take(older)
        places = list(map(self._places.__getitem__, older))
        self._unsaid.update(places)
        seen = set(map(self._places.get, shown, repeat(_NOWHERE)))
        seen.discard(_NOWHERE)
        lacking = [fact for fact, place in zip(older.values(), places, strict=True) if place not in seen]
        self.standing.learn([fact.text for fact in lacking if fact.kind != "numbers"])
        return Wanted(self, shown=seen, older=places)

    def _is_unsaid(self, name: Name) -> bool:
        place = self._places.get(name)
        return place is None or place in self._unsaid

    def mask(self) -> bytearray:
        """By place, 1 for what a part mentions."""
        mask = bytearray(b"\1") * len(self.columns)
        for place in self._unsaid:
            mask[place] = 0
        return mask


class _InTime(Struct, frozen=True, kw_only=True, gc=False):
    """The facts that parts mention, each once, by their newest mention: the newest first."""

    places: Sequence[Place]
    masked: Callable[[bytearray], Sequence[int]]
    """Of a mask what it has of each."""
    said: Callable[[bytearray], Sequence[int]]
    """Of a mask what it has of every mention, the newest first."""
    newest: Callable[[Sequence[int]], Sequence[int]]
    """Of the ages of mentions those of the newest of each …"""
    parts: Sequence[float]
    """… and into how many parts that is divided: the more, the more it is wanted."""
    own: Sequence[tuple[int, int]]
    """Of those said in own words the number, and how many mentions are newer than the newest of these."""
    values: Mapping[int, Sequence[Place]]
    """A number's key that has several values → these."""


class Wanted:
    """The facts of a history that a view lacks. What they are is told at once; in what order they are wanted is found out
    when somebody asks."""

    def __init__(self, mentions: Mentions, *, shown: Set[Place], older: Sequence[Place]) -> None:
        """`older` are facts that an earlier ledger carried and that no part mentions, the newest first."""
        self._mentions = mentions
        self._shown = shown
        self._older = [place for place in older if place not in shown]
        """Of those that are wanted."""
        self.columns = mentions.columns
        keys = self.columns.keys
        self._carried = {keys[place]: place for place in reversed(older) if keys[place] != NO_KEY}
        """A number's key → its newest value among them."""
        self.standing = mentions.standing

    @cached_property
    def _mask(self) -> bytearray:
        """By place, 1 for what is wanted."""
        mask = self._mentions.mask()
        for place in self._shown:
            mask[place] = 0
        for place in self._older:
            mask[place] = 1
        return mask

    @cached_property
    def _heads(self) -> Mapping[int, Place]:
        """A number's key of which values are wanted → its newest value, where the view shows that."""
        keys, mask = set(compress(self.columns.keys, self._mask)), self._mask
        newest = {**self._carried, **self._mentions.leading}
        return {key: place for key, place in newest.items() if not mask[place] and key in keys}

    @cached_property
    def places(self) -> Sequence[Place]:
        """All of them, in no order of any meaning."""
        return [*compress(range(len(self._mask)), self._mask), *self._heads.values()]

    @cached_property
    def ranked(self) -> Sequence[Place]:
        """Most wanted first. Each value of a number is a fact of its own: what a tool measured twice is two facts. Of one
        failure that came again and again the newest line stands."""
        in_time = self._mentions.in_time()
        places, scores = [*in_time.places, *self._older], self._scores()
        wanted = compress(range(len(places)), [*in_time.masked(self._mask), *repeat(1, len(self._older))])
        return self._newest_value_first([places[number] for number in sorted(wanted, key=scores.__getitem__)])

    def _scores(self) -> list[float]:
        """Of each that a part mentions, and of what is older, the lower, the more it is wanted: how many mentions old it is of
        what is wanted, by its parts."""
        in_time = self._mentions.in_time()
        ages = list(accumulate(in_time.said(self._mask)))
        scores = list(map(truediv, in_time.newest(ages), in_time.parts))
        for number, own in in_time.own:
            scores[number] = min(scores[number], ages[own] / OWN_WORDS / in_time.parts[number])
        columns, said = self.columns, ages[-1] if ages else 0
        for age, place in enumerate(self._older, said + 1):
            scores.append(
                age * (CODE if place in columns.codes else 1) * (ONCE if place in columns.symbols else 1)
            )
        return scores

    def _newest_value_first(self, rows: Sequence[Place]) -> Sequence[Place]:
        """The facts, the values of each number's key from the newest back, led by the newest, even one that the view shows: an
        older value alone would pass for what holds."""
        keys, heads = self.columns.keys, dict(self._heads)
        several = {key: filter(self._mask.__getitem__, here) for key, here in self._values().items()}
        if not heads and not several:
            return rows
        out: list[Place] = []
        for place in rows:
            key = keys[place]
            if key in heads:
                out.append(heads.pop(key))
            out.append(next(several[key]) if key in several else place)
        return out

    def _values(self) -> Mapping[int, Sequence[Place]]:
        """A number's key → its values from the newest back, where it may have several; what was carried is the oldest."""
        values = self._mentions.in_time().values
        older: dict[int, list[Place]] = {}
        for place in self._older:
            older.setdefault(self.columns.keys[place], []).append(place)
        older.pop(NO_KEY, None)
        return {**values, **{key: [*self._said(key), *here] for key, here in older.items()}}

    def _said(self, key: int) -> Sequence[Place]:
        """The values of a number's key that a part mentions."""
        newest = self._mentions.leading.get(key)
        return self._mentions.in_time().values.get(key, () if newest is None else (newest,))


def _at(numbers: Sequence[int]) -> Callable[[Sequence[int]], Sequence[int]]:
    """What stands in a row at each of these."""
    return itemgetter(*numbers) if len(numbers) > 1 else lambda row: [row[number] for number in numbers]


def _counted(found: Found) -> tuple[Sequence[Name], Sequence[Fact]]:
    """The names and facts of one part that count: its numbers from the last back, since what an output says further down is
    newer, and of each kind no more than `PART_FACTS_MAX`."""
    words, errors = found.numbers, found.errors
    names = found.names[:words] + found.names[words:errors][::-1] + found.names[errors:]
    facts = found.facts[:words] + found.facts[words:errors][::-1] + found.facts[errors:]
    if len(facts) <= PART_FACTS_MAX:
        return names, facts
    of_kind: Counter[str] = Counter()
    kept: list[int] = []
    for place, fact in enumerate(facts):
        of_kind[fact.kind] += 1
        if of_kind[fact.kind] <= PART_FACTS_MAX:
            kept.append(place)
    return [names[place] for place in kept], [facts[place] for place in kept]
