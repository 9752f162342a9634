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
from itertools import chain
from math import sqrt

from foldline.ledger.errors_in_text import IN_CODE
from foldline.ledger.facts import INITIALS, Fact, Found, Name, name_of

OWN_WORDS = 3
"""How many times more recent a fact counts that the user or the agent used in its own words: those come back."""
PART_FACTS_MAX = 250
"""Facts of one kind taken from one part: a listing of a thousand files is data, not a thousand facts."""
CODE = 2.0
"""How many times less a line of code counts that speaks of a failure than a failure."""
ONCE = 2.0
"""How many times less a name of code counts that was seen in one place alone."""

_ERROR = INITIALS["errors"]
_CODE = _ERROR + IN_CODE
_SYMBOL = INITIALS["symbols"]


class Mentions:
    """The mentions of a history, told by its parts, the newest first."""

    def __init__(self, parts: Iterable[tuple[Found, bool]]) -> None:
        """Facts of each part, and whether they were said in own words. O(mentions)."""
        told = [(*_counted(found), own) for found, own in parts]
        facts = list(chain.from_iterable([facts for _, facts, _ in told]))
        names = list(chain.from_iterable([names for names, _, _ in told]))
        self._parts = [(names, own) for names, _, own in told]
        self._newest = dict(zip(reversed(names), reversed(facts), strict=True))
        """Name → the newest fact of that name."""
        numbers = [fact for fact in reversed(facts) if fact.kind == "numbers"]
        self._leading = {fact.key: fact for fact in numbers}
        """A number's key → its newest value, wherever it stands."""

    def chars(self, shown: Set[Name]) -> int:
        """Characters of the facts without those of these names: how much there is to say, told before it is put in order."""
        newest = self._newest
        return sum([len(newest[name].text) for name in newest.keys() - shown])

    def wanted(self, shown: Set[Name], carried: Sequence[Fact]) -> tuple[Fact, ...]:
        """Facts without those of these names, most wanted first; `carried` are older than all others. Each value of a
        number is a fact of its own: what a tool measured twice is two facts. Of one failure that came again and again
        the newest line stands."""
        said: list[Name] = []
        own_ages: dict[Name, int] = {}
        for names, own in self._parts:
            lacking = [name for name in names if name not in shown]
            if own:
                for age, name in enumerate(lacking, len(said) + 1):
                    own_ages.setdefault(name, age)
            said += lacking
        facts = dict(self._newest)
        for fact in carried:
            if (name := name_of(fact)) not in shown and name not in facts:
                facts[name] = fact
                said.append(name)
        scores = _scores(said, own_ages)
        rows = [facts[name] for name in sorted(scores, key=scores.__getitem__)]
        leading = {fact.key: fact for fact in reversed(carried) if fact.kind == "numbers"} | self._leading
        return _newest_value_first(rows, [facts[name] for name in scores], leading=leading)


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


def _scores(said: Sequence[Name], own_ages: Mapping[Name, int]) -> dict[Name, float]:
    """Of each name the lower, the more its fact is wanted, in the order in which they are first said. `said` is every
    mention, the newest first; `own_ages` is how old the newest is in own words."""
    ages: dict[Name, float] = dict(zip(reversed(said), range(len(said), 0, -1), strict=True))
    for name, own in own_ages.items():
        ages[name] = min(ages[name], own / OWN_WORDS)
    scores: dict[Name, float] = {}
    for name, times in Counter(said).items():
        age = ages[name]
        if name[0] == _ERROR and name.startswith(_CODE):
            age *= CODE
        if times > 1:
            age /= sqrt(times)
        elif name[0] == _SYMBOL:
            age *= ONCE
        scores[name] = age
    return scores


def _newest_value_first(
    rows: Sequence[Fact], in_time: Iterable[Fact], *, leading: Mapping[str, Fact]
) -> tuple[Fact, ...]:
    """The facts, the values of each number's key from the newest back as they come `in_time`, led by the newest, even one
    that the view shows: an older value alone would pass for what holds."""
    values: dict[str, list[Fact]] = {}
    for fact in in_time:
        if fact.kind == "numbers":
            values.setdefault(fact.key, []).append(fact)
    turns = {key: iter(found) for key, found in values.items()}
    led: set[str] = set()
    out: list[Fact] = []
    for fact in rows:
        if fact.kind == "numbers":
            if fact.key not in led:
                led.add(fact.key)
                first = leading[fact.key]
                out += [first] if first.value != values[fact.key][0].value else []
            fact = next(turns[fact.key])
        out.append(fact)
    return tuple(out)
