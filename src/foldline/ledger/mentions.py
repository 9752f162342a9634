"""Mentions: every fact of a history as often as it is said, and which of them are wanted again.

    newest part ◄── part ◄── part ◄── oldest part         each with the names of its facts, and whether in own words
         1 2 3       4 5       6                          how old a mention is: mentions after it that the view lacks

A fact is wanted the more, the newer its newest mention and the more often it is said; a mention in the user's or the
agent's own words counts for more than one in a tool's output, and a line of code that speaks of a failure for less than
a failure. Knows texts and facts, no messages; `compose` reads those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import compress, repeat
from math import sqrt

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
        self.grow(reversed(list(parts)))

    def grow(self, parts: Iterable[tuple[Found, bool]]) -> None:
        """Take in newer parts, the oldest of them first."""
        counted = [(*_counted(found), own) for found, own in parts]
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

    def leading(self, key: int) -> Place | None:
        """The newest value of a number's key; `None` for a key that no part mentions."""
        return self._leading.get(key)

    def lacking(self, wanted: Set[Place]) -> tuple[list[Place], dict[Place, int]]:
        """Every mention of these facts, the newest first; and how many mentions old each is in own words."""
        is_wanted = list(map(wanted.__contains__, reversed(self._said)))
        said = list(compress(reversed(self._said), is_wanted))
        is_own = list(compress(reversed(self._own), is_wanted))
        ages = list(compress(range(1, len(said) + 1), is_own))
        own = list(compress(said, is_own))
        return said, dict(zip(reversed(own), reversed(ages), strict=True))  # the newest stands last

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
        lacking = [fact for fact, place in zip(older.values(), places, strict=True) if place not in seen]
        self.standing.learn([fact.text for fact in lacking if fact.kind != "numbers"])
        return Wanted(self, shown=seen, older=places)

    def _is_unsaid(self, name: Name) -> bool:
        place = self._places.get(name)
        return place is None or place in self._unsaid

    def said(self) -> set[Place]:
        """Every fact that a part mentions."""
        return set(range(len(self.columns))) - self._unsaid


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
    def _lacking(self) -> set[Place]:
        return (self._mentions.said() - self._shown).union(self._older)

    @cached_property
    def places(self) -> Sequence[Place]:
        """All of them, in no order of any meaning."""
        keys = set(map(self.columns.keys.__getitem__, self._lacking)) - {NO_KEY}
        heads = self._shown & set(map(self._leading, keys))
        return [*self._lacking, *heads]

    def _leading(self, key: int) -> Place:
        """The newest value of a number's key, wherever it stands."""
        place = self._mentions.leading(key)
        return self._carried[key] if place is None else place

    @cached_property
    def ranked(self) -> Sequence[Place]:
        """Most wanted first. Each value of a number is a fact of its own: what a tool measured twice is two facts. Of one
        failure that came again and again the newest line stands."""
        said, own_ages = self._mentions.lacking(self._lacking)
        said += self._older
        times = Counter(said)
        scores = self._scores(said, own_ages, times=times)
        keys = self.columns.keys
        return self._newest_value_first(
            sorted(times, key=scores.__getitem__), [place for place in times if keys[place] != NO_KEY]
        )

    def _scores(
        self, said: Sequence[Place], own_ages: Mapping[Place, int], *, times: Mapping[Place, int]
    ) -> dict[Place, float]:
        """Of each the lower, the more it is wanted. `said` is every mention, the newest first; `own_ages` is how old the newest
        is in own words."""
        scores: dict[Place, float] = dict(zip(reversed(said), range(len(said), 0, -1), strict=True))
        for place, own in own_ages.items():
            scores[place] = min(scores[place], own / OWN_WORDS)
        for place in self.columns.codes & self._lacking:
            scores[place] *= CODE
        for place in [place for place, count in times.items() if count > 1]:
            scores[place] /= sqrt(times[place])
        for place in self.columns.symbols & self._lacking:
            if times[place] == 1:
                scores[place] *= ONCE
        return scores

    def _newest_value_first(self, rows: Sequence[Place], in_time: Sequence[Place]) -> Sequence[Place]:
        """The facts, the values of each number's key from the newest back as they come `in_time`, led by the newest, even one
        that the view shows: an older value alone would pass for what holds."""
        keys = self.columns.keys
        of_key = list(map(keys.__getitem__, in_time))
        newest = dict(zip(reversed(of_key), reversed(in_time), strict=True))
        heads = {key: head for key, place in newest.items() if (head := self._leading(key)) != place}
        times = Counter(of_key)
        several: dict[int, list[Place]] = {key: [] for key, count in times.items() if count > 1}
        if not heads and not several:
            return rows
        for key, place in zip(reversed(of_key), reversed(in_time), strict=True):
            if key in several:
                several[key].append(place)
        out: list[Place] = []
        for place in rows:
            key = keys[place]
            if key in heads:
                out.append(heads.pop(key))
            out.append(several[key].pop() if key in several else place)
        return out


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
