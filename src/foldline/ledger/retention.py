"""Retention: of what a history says, how much a view still says, and how much of the rest can be recalled.

Each fact is one of four: *in view*; *recallable*, when it is not but an address in the view opens a message that says
it; *lost*, when neither; *altered*, a number whose key stands in the view with other values alone, none of them the
newest. Measured over the whole history and over what left the view, in one pass and without a model: what survives is
an upper bound of what a model will make of it.

Knows facts and items; what to expect of constraints and commands comes in as text. Costs two look-ups for each fact
beside finding the facts of what is new in the view; only what no look-up can tell (quoted lines) is searched for, in
text that foldline wrote.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain, compress
from operator import not_

from msgspec import Struct

from foldline.core.address import escape_tags
from foldline.core.message import Part, Text, speaks_for_user
from foldline.core.view import Item
from foldline.ledger.compose import text_of, whole_text_of
from foldline.ledger.errors_in_text import IN_CODE
from foldline.ledger.facts import INITIALS, VALUE, FactCache, FactKind, Found, Name
from foldline.ledger.index import holds_more, names_in_line
from foldline.ledger.look_alikes import read_whole
from foldline.ledger.standing_within import Within

FACT_KINDS: tuple[FactKind, ...] = ("paths", "identifiers", "numbers", "errors")
KINDS = (*FACT_KINDS, "commands", "user_messages", "constraints", "rules_taken_back", "pins")
"""Every rule that a user ever gave is counted: those that stand as constraints, and apart from them those that later words
took back, so that one that was taken back wrongly is seen to have left."""

_ADDRESS = re.compile(r"\bm(\d{1,9})(?:-(\d{1,9}))?(?:\.\d{1,9})?@[0-9a-f]{8}\b")
_SPAN_MAX = 1_000_000
"""Ordinals one address may name; a longer range is no address of ours."""
_PATH, _NUMBER = INITIALS["paths"], INITIALS["numbers"]
_ERROR, _SYMBOL = INITIALS["errors"], INITIALS["symbols"]
_CODE = _ERROR + IN_CODE


class Counts(Struct, frozen=True, kw_only=True, gc=False):
    """How many of one kind, and what became of them; the last four add up to `total`."""

    total: int = 0
    in_view: int = 0
    recallable: int = 0
    lost: int = 0
    altered: int = 0


class Retention(Struct, frozen=True, kw_only=True):
    """Counts by kind, in the order of `KINDS`, every kind present."""

    whole: dict[str, Counts]
    evicted: dict[str, Counts]
    """Of what was said in messages that left the view or were reduced in it."""


class Expected(Struct, frozen=True, kw_only=True):
    """What a view should still say beside facts. Ordinals are those of the history."""

    constraints: tuple[tuple[int, str], ...] = ()
    """Ordinal of the user's message, and the rule verbatim."""
    taken_back: tuple[tuple[int, str], ...] = ()
    """The same of the rules that a later message took back."""
    commands: tuple[tuple[int, str, str], ...] = ()
    """Ordinal of the call, the command, and its outcome as the ledger writes it; an outcome may be empty."""
    pins: frozenset[int] = frozenset()
    evicted: frozenset[int] = frozenset()
    """Messages that left the view or were reduced in it."""


class _Shown(Struct, frozen=True, kw_only=True):
    """A view, laid out for look-ups."""

    names: Set[Name]
    """Of every fact that it says."""
    longer: Set[str]
    """Paths in what foldline wrote: the ledger lists `src/app.py` no second time beside `/repo/src/app.py`."""
    texts: dict[int, tuple[str, ...]]
    """Ordinal -> the texts of its message."""
    whole: frozenset[int]
    """Ordinals of messages that stand as they came in."""
    written: str
    """All text that is not in the history: folds, notices, what is left of a reduced part."""
    covered: frozenset[int]
    """Ordinals that an address in `written` opens."""


class _Said(Struct, frozen=True, kw_only=True):
    """The facts of a history by where they were said."""

    all: Set[Name]
    left: Set[Name]
    """In messages that left the view or were reduced in it."""
    covered: Set[Name]
    """In messages that an address in the view opens."""


def texts_of(history: Sequence[Item]) -> list[tuple[str, ...]]:
    """Of each item the texts that facts are looked for in."""
    return [tuple([text_of(part) for part in item.message.parts]) for item in history]


def measure(
    history: Sequence[Item],
    view: Sequence[Item],
    *,
    cache: FactCache,
    expected: Expected | None = None,
    texts: Sequence[tuple[str, ...]] = (),
) -> Retention:
    """What `view` still says of `history`, whose texts are `texts_of` it. O(parts + facts), and each fact of a text is found
    once.

    A number is one fact for each of its values; the same fact in several messages is one.
    """
    expected = expected or Expected()
    texts = texts or texts_of(history)
    cache.learn(chain.from_iterable(texts))
    cache.settle()
    shown = _lay_out(history, view, texts=texts, cache=cache)
    founds = [[cache.found(text) for text in said] for said in texts]
    said = _said(history, founds, left=expected.evicted, covered=shown.covered)
    whole = {kind: [0, 0, 0, 0] for kind in KINDS}
    evicted = {kind: [0, 0, 0, 0] for kind in KINDS}
    for outcome, names in enumerate(_outcomes(said, shown, founds=list(chain.from_iterable(founds)))):
        for sums, found in ((whole, names), (evicted, names & said.left)):
            initials = Counter([name[0] for name in found])
            for of_facts in FACT_KINDS:
                sums[of_facts][outcome] += initials[INITIALS[of_facts]]
    for kind, is_left, outcome in _sayings(history, shown, expected=expected):
        whole[kind][outcome] += 1
        evicted[kind][outcome] += is_left
    return Retention(whole=_counted(whole), evicted=_counted(evicted))


_IN_VIEW, _RECALLABLE, _LOST, _ALTERED = range(4)


def _counted(sums: dict[str, list[int]]) -> dict[str, Counts]:
    return {
        kind: Counts(total=sum(row), in_view=row[0], recallable=row[1], lost=row[2], altered=row[3])
        for kind, row in sums.items()
    }


def _lay_out(
    history: Sequence[Item], view: Sequence[Item], *, texts: Sequence[tuple[str, ...]], cache: FactCache
) -> _Shown:
    came_in = {id(item.message): said for item, said in zip(history, texts, strict=True)}
    parts = {id(part) for item in history for part in item.message.parts}
    names: set[Name] = set()
    shown: dict[int, tuple[str, ...]] = {}
    ours: list[Part] = []
    for item in view:
        said = came_in.get(id(item.message))
        if said is None:
            said = tuple([text_of(part) for part in item.message.parts])
            is_ours = [id(part) not in parts for part in item.message.parts]
            ours += compress(item.message.parts, is_ours)
            names.update(*[cache.found(text).names for text in compress(said, map(not_, is_ours))])
        else:
            names.update(*[cache.found(text).names for text in said])
        if not item.covers:
            shown[item.seq] = said
    written = _written("\n".join(map(text_of, ours)), cache=cache)
    names |= written
    whole = frozenset(
        item.seq
        for item, said in zip(history, texts, strict=True)
        if (now := shown.get(item.seq)) is not None and (now is said or all(text in now for text in said))
    )
    joined = "\n".join(map(whole_text_of, ours))
    return _Shown(
        names=names,
        longer={name[1:] for name in written if name[0] == _PATH},
        texts=shown,
        whole=whole,
        written=joined,
        covered=frozenset(_opened(joined)),
    )


def _written(text: str, *, cache: FactCache) -> Set[Name]:
    """The names of the facts that text of foldline's says. Those of an index, which opens behind a notice or a heading, are
    read off it."""
    names: set[Name] = set()
    others: list[str] = []
    is_index = False
    for line in text.split("\n"):
        listed = names_in_line(line) if is_index else ()
        names.update(listed)
        if not listed:
            is_index = not line or line.startswith("#")
        if not listed or holds_more(line):
            others.append(line)
    pieces = list(read_whole(others))
    cache.learn(pieces)
    return names.union(*[cache.found(piece).names for piece in pieces])


def _opened(text: str) -> Iterator[int]:
    """The ordinals that the addresses in a text open."""
    for match in _ADDRESS.finditer(text) if "@" in text else ():
        first = int(match[1])
        last = int(match[2] or first)
        if first <= last <= first + _SPAN_MAX:
            yield from range(first, last + 1)


def _said(
    history: Sequence[Item], founds: Sequence[Sequence[Found]], *, left: Set[int], covered: Set[int]
) -> _Said:
    """Names of code are no facts to be counted, nor are lines of code that speak of a failure."""
    everywhere: set[Name] = set()
    gone: set[Name] = set()
    opened: set[Name] = set()
    for item, found in zip(history, founds, strict=True):
        names = [one.names for one in found]
        everywhere.update(*names)
        if item.seq in left:
            gone.update(*names)
        if item.seq in covered:
            opened.update(*names)
    uncounted = {
        name for name in everywhere if name[0] == _SYMBOL or (name[0] == _ERROR and name.startswith(_CODE))
    }
    everywhere -= uncounted
    return _Said(all=everywhere, left=gone, covered=opened)


def _outcomes(said: _Said, shown: _Shown, *, founds: Sequence[Found]) -> tuple[Set[Name], ...]:
    """The facts by what became of them: in view, recallable, lost, altered."""
    in_view = said.all & shown.names
    rest = said.all - in_view
    in_view |= _within(rest, shown.longer)
    in_view |= _quoted(rest, shown, founds=founds)
    rest -= in_view
    altered = _altered(rest, shown.names, founds=founds)
    rest -= altered
    recallable = rest & said.covered
    return in_view, recallable, rest - recallable, altered


def _within(names: Set[Name], longer: Iterable[str]) -> Set[Name]:
    """Paths that stand within longer ones."""
    paths = [name[1:] for name in names if name[0] == _PATH]
    among = Within(paths)
    return set() if not paths else {f"{_PATH}{path}" for path in set().union(*map(among.path, longer))}


def _quoted(names: Set[Name], shown: _Shown, *, founds: Iterable[Found]) -> Set[Name]:
    """Failures of which text that foldline wrote holds the newest line."""
    lines = {
        name: fact.text
        for found in founds
        if found.errors < len(found.names)
        for name, fact in zip(found.names[found.errors :], found.facts[found.errors :], strict=True)
        if name in names
    }
    return {name for name, line in lines.items() if _quotes(shown, line)}


def _altered(names: Set[Name], shown: Set[Name], *, founds: Iterable[Found]) -> Set[Name]:
    """Numbers whose key stands in the view with other values alone, none of them the newest. A key to which a text gives
    several values is a column: none of them is its value."""
    numbers = [name for name in names if name[0] == _NUMBER]
    keys = {name[1:].partition(VALUE)[0] for name in shown if name[0] == _NUMBER}
    keys &= {name[1:].partition(VALUE)[0] for name in numbers}
    newest: dict[str, str] = {}
    columns: set[str] = set()
    for found in founds if keys else ():
        stated = [fact for fact in found.facts[found.numbers : found.errors] if fact.key in keys]
        if not stated:
            continue
        here = {fact.key: fact.value for fact in stated}
        newest |= here
        if len(here) < len(stated):
            columns |= {key for key, times in Counter([fact.key for fact in stated]).items() if times > 1}
    stale = {key for key in keys - columns if f"{_NUMBER}{key}{VALUE}{newest[key]}" not in shown}
    return {name for name in numbers if name[1:].partition(VALUE)[0] in stale}


def _quotes(shown: _Shown, text: str) -> bool:
    """True when text that foldline wrote holds `text`, escaped or not."""
    return bool(shown.written) and (text in shown.written or escape_tags(text) in shown.written)


def _sayings(
    history: Sequence[Item], shown: _Shown, *, expected: Expected
) -> Iterator[tuple[str, bool, int]]:
    """The same for user messages, constraints, commands and pins."""

    def became(seq: int, *, in_view: bool) -> int:
        return _IN_VIEW if in_view else _RECALLABLE if seq in shown.covered else _LOST

    repeated = {
        part.text
        for item in history
        if item.seq in shown.whole and speaks_for_user(item.message)
        for part in item.message.parts
        if isinstance(part, Text)
    }
    for item in history:
        seq, left = item.seq, item.seq in expected.evicted
        if speaks_for_user(item.message):
            said = [part.text for part in item.message.parts if isinstance(part, Text)]
            quoted = bool(said) and all(text in repeated or _quotes(shown, text) for text in said)
            yield "user_messages", left, became(seq, in_view=seq in shown.whole or quoted)
        if seq in expected.pins:
            yield "pins", left, became(seq, in_view=seq in shown.whole)
    for kind, rules in (("constraints", expected.constraints), ("rules_taken_back", expected.taken_back)):
        for seq, rule in rules:
            stands = any(rule in text for text in shown.texts.get(seq, ()))
            stands = stands or _quotes(shown, rule) or _quotes(shown, " ".join(rule.split()))
            yield kind, seq in expected.evicted, became(seq, in_view=stands)
    for seq, command, outcome_said in expected.commands:
        stands = seq in shown.whole or _told(shown, command, outcome=outcome_said)
        yield "commands", seq in expected.evicted, became(seq, in_view=stands)


def _told(shown: _Shown, command: str, *, outcome: str) -> bool:
    """True when a line that foldline wrote holds the command with its outcome."""
    escaped = escape_tags(command)
    at = shown.written.find(escaped)
    while at >= 0:
        start = shown.written.rfind("\n", 0, at) + 1
        end = shown.written.find("\n", at + len(escaped))
        if outcome in shown.written[start : end if end >= 0 else len(shown.written)]:
            return True
        at = shown.written.find(escaped, end) if end >= 0 else -1
    return False
