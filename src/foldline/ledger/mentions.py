"""Mentions: every fact of a history as often as it is said, and which of them are wanted again.

    newest part ◄── part ◄── part ◄── oldest part         each with the names of its facts, and whether in own words
         1 2 3       4 5       6                          how old a mention is: mentions after it that the view lacks

A fact is wanted the more, the newer its newest mention and the more often it is said; a mention in the user's or the
agent's own words counts for more than one in a tool's output, and a line of code that speaks of a failure for less than
a failure. Knows texts and facts, no messages; `compose` reads those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from math import sqrt

from foldline.ledger.errors_in_text import IN_CODE
from foldline.ledger.facts import INITIALS, Fact, Found, Name, name_of
from foldline.ledger.standing_within import Standing

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
_NUMBER, _SYMBOL = INITIALS["numbers"], INITIALS["symbols"]


class Mentions:
    """The mentions of a history, told by its parts; it grows as the history does."""

    def __init__(self, parts: Iterable[tuple[Found, bool]] = ()) -> None:
        """Facts of each part, and whether they were said in own words, the newest first. O(mentions)."""
        self._parts: list[tuple[Sequence[Name], bool]] = []
        """The oldest first."""
        self._names: dict[Name, Name] = {}
        """Each name once, so that two mentions are told to be of one fact by what they are, not by how they read."""
        self.newest: dict[Name, Fact] = {}
        """Name → the newest fact of that name."""
        self.leading: dict[str, Fact] = {}
        """A number's key → its newest value, wherever it stands."""
        self.codes: set[Name] = set()
        """Lines of code that speak of a failure."""
        self.symbols: set[Name] = set()
        self.standing = Standing()
        """What stands within what: of the texts of all facts but numbers."""
        self.grow(reversed(list(parts)))

    def grow(self, parts: Iterable[tuple[Found, bool]]) -> None:
        """Take in newer parts, the oldest of them first."""
        once = self._names.setdefault
        texts: list[str] = []
        for found, own in parts:
            names, facts = _counted(found)
            self._parts.append((tuple(map(once, names, names)), own))
            self.codes.update([name for name in found.names[found.errors :] if name.startswith(_CODE)])
            self.symbols.update([name for name in found.names[: found.numbers] if name[0] == _SYMBOL])
            self.newest.update(zip(reversed(names), reversed(facts), strict=True))
            numbers = [fact for fact in reversed(facts) if fact.kind == "numbers"]
            self.leading.update([(fact.key, fact) for fact in numbers])
            texts += [fact.text for fact in facts if fact.kind != "numbers"]
        self.standing.learn(texts)

    def lacking(self, shown: Set[Name]) -> tuple[list[Name], dict[Name, int]]:
        """Every mention without those of these names, the newest first; and how many mentions old each is in own words."""
        said: list[Name] = []
        own_ages: dict[Name, int] = {}
        for names, own in reversed(self._parts):
            lacking = [name for name in names if name not in shown]
            if own:
                for age, name in enumerate(lacking, len(said) + 1):
                    own_ages.setdefault(name, age)
            said += lacking
        return said, own_ages

    def wanted(self, shown: Set[Name], carried: Sequence[Fact] = ()) -> Wanted:
        """The facts without those of these names; `carried` are older than all others."""
        older: dict[Name, Fact] = {}
        for fact in carried:
            if (name := name_of(fact)) not in shown and name not in self.newest:
                older.setdefault(name, fact)
        self.standing.learn([fact.text for fact in older.values() if fact.kind != "numbers"])
        return Wanted(self, shown=shown, carried=carried, older=older)


class Wanted:
    """The facts of a history that a view lacks. What they are is told at once; in what order they are wanted is found out
    when somebody asks."""

    def __init__(
        self, mentions: Mentions, *, shown: Set[Name], carried: Sequence[Fact], older: Mapping[Name, Fact]
    ) -> None:
        self._mentions = mentions
        self._shown = shown
        self._older = older
        """Of the facts `carried` those that no part mentions."""
        numbers = [fact for fact in reversed(carried) if fact.kind == "numbers"]
        self._leading = {fact.key: fact for fact in numbers} | mentions.leading
        self.standing = mentions.standing

    @cached_property
    def facts(self) -> Sequence[Fact]:
        """All of them, in no order of any meaning."""
        shown, newest = self._shown, self._mentions.newest
        lacking = [fact for name, fact in newest.items() if name not in shown]
        lacking += self._older.values()
        keys = dict.fromkeys([fact.key for fact in lacking if fact.kind == "numbers"])
        heads = [self._leading[key] for key in keys]
        return [*lacking, *[head for head in heads if name_of(head) in shown]]

    @cached_property
    def ranked(self) -> Sequence[Fact]:
        """Most wanted first. Each value of a number is a fact of its own: what a tool measured twice is two facts. Of one
        failure that came again and again the newest line stands."""
        said, own_ages = self._mentions.lacking(self._shown)
        said += self._older
        times = Counter(said)
        scores = self._scores(said, own_ages, times=times)
        facts = {**self._mentions.newest, **self._older} if self._older else self._mentions.newest
        rows = [facts[name] for name in sorted(times, key=scores.__getitem__)]
        in_time = [facts[name] for name in times if name[0] == _NUMBER]
        return _newest_value_first(rows, in_time, leading=self._leading)

    def _scores(
        self, said: Sequence[Name], own_ages: Mapping[Name, int], *, times: Mapping[Name, int]
    ) -> dict[Name, float]:
        """Of each name the lower, the more its fact is wanted. `said` is every mention, the newest first; `own_ages` is how old
        the newest is in own words."""
        scores: dict[Name, float] = dict(zip(reversed(said), range(len(said), 0, -1), strict=True))
        for name, own in own_ages.items():
            scores[name] = min(scores[name], own / OWN_WORDS)
        for name in self._kept_of(self._mentions.codes, scores, opens=_CODE):
            scores[name] *= CODE
        for name in [name for name, count in times.items() if count > 1]:
            scores[name] /= sqrt(times[name])
        for name in self._kept_of(self._mentions.symbols, scores, opens=_SYMBOL):
            if times[name] == 1:
                scores[name] *= ONCE
        return scores

    def _kept_of(self, names: Set[Name], scores: Mapping[Name, float], *, opens: str) -> Iterator[Name]:
        yield from [name for name in names if name in scores]
        yield from [name for name in self._older if name.startswith(opens) and name not in names]


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


def _newest_value_first(
    rows: Sequence[Fact], in_time: Sequence[Fact], *, leading: Mapping[str, Fact]
) -> Sequence[Fact]:
    """The facts, the values of each number's key from the newest back as they come `in_time`, led by the newest, even one
    that the view shows: an older value alone would pass for what holds."""
    newest = {fact.key: fact.value for fact in reversed(in_time)}
    heads = {key: leading[key] for key, value in newest.items() if leading[key].value != value}
    times = Counter([fact.key for fact in in_time])
    several: dict[str, list[Fact]] = {key: [] for key, count in times.items() if count > 1}
    if not heads and not several:
        return rows
    for fact in reversed(in_time):
        if fact.key in several:
            several[fact.key].append(fact)
    out: list[Fact] = []
    for fact in rows:
        if fact.kind == "numbers":
            key = fact.key
            if key in heads:
                out.append(heads.pop(key))
            if key in several:
                fact = several[key].pop()
        out.append(fact)
    return out
