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
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from msgspec import Struct

from foldline.core.address import escape_tags
from foldline.core.message import Part, Text, speaks_for_user
from foldline.core.view import Item
from foldline.ledger.compose import text_of, whole_text_of
from foldline.ledger.errors_in_text import IN_CODE
from foldline.ledger.facts import Fact, FactCache
from foldline.ledger.look_alikes import read_whole
from foldline.ledger.render import NUMBERS_LABEL, facts_in_line

FACT_KINDS = ("paths", "identifiers", "numbers", "errors")
KINDS = (*FACT_KINDS, "commands", "user_messages", "constraints", "pins")

_ADDRESS = re.compile(r"\bm(\d{1,9})(?:-(\d{1,9}))?(?:\.\d{1,9})?@[0-9a-f]{8}\b")
_SPAN_MAX = 1_000_000
"""Ordinals one address may name; a longer range is no address of ours."""


Same: TypeAlias = tuple[str, str, str]
"""What makes it one fact: kind, key, value."""


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
    commands: tuple[tuple[int, str, str], ...] = ()
    """Ordinal of the call, the command, and its outcome as the ledger writes it; an outcome may be empty."""
    pins: frozenset[int] = frozenset()
    evicted: frozenset[int] = frozenset()
    """Messages that left the view or were reduced in it."""


class _Shown(Struct, frozen=True):
    """A view, laid out for look-ups."""

    facts: frozenset[Same]
    values: dict[str, set[str]]
    """A number's key -> its values in view."""
    texts: dict[int, tuple[str, ...]]
    """Ordinal -> the texts of its message."""
    whole: frozenset[int]
    """Ordinals of messages that stand as they came in."""
    written: str
    """All text that is not in the history: folds, notices, what is left of a reduced part."""
    covered: frozenset[int]
    """Ordinals that an address in `written` opens."""


def measure(
    history: Sequence[Item], view: Sequence[Item], *, cache: FactCache, expected: Expected | None = None
) -> Retention:
    """What `view` still says of `history`. O(parts + facts), and each fact of a part is found once.

    A number is one fact for each of its values; the same fact in several messages is one. Lines of code that speak of
    failures are no errors here.
    """
    expected = expected or Expected()
    shown = _lay_out(history, view, cache=cache)
    rows = chain(
        _facts(history, shown, cache=cache, left=expected.evicted),
        _sayings(history, shown, expected=expected),
    )
    whole = {kind: [0, 0, 0, 0] for kind in KINDS}
    evicted = {kind: [0, 0, 0, 0] for kind in KINDS}
    for kind, left, outcome in rows:
        whole[kind][outcome] += 1
        if left:
            evicted[kind][outcome] += 1
    return Retention(whole=_counted(whole), evicted=_counted(evicted))


_IN_VIEW, _RECALLABLE, _LOST, _ALTERED = range(4)


def _counted(sums: dict[str, list[int]]) -> dict[str, Counts]:
    return {
        kind: Counts(total=sum(row), in_view=row[0], recallable=row[1], lost=row[2], altered=row[3])
        for kind, row in sums.items()
    }


def _lay_out(history: Sequence[Item], view: Sequence[Item], *, cache: FactCache) -> _Shown:
    came_in = {id(part) for item in history for part in item.message.parts}
    facts: set[Same] = set()
    values: dict[str, set[str]] = {}
    texts: dict[int, tuple[str, ...]] = {}
    written: list[str] = []
    for item in view:
        for part in item.message.parts:
            text = text_of(part)
            ours = id(part) not in came_in
            if ours:
                written.append(whole_text_of(part))
                for line in text.split("\n") if NUMBERS_LABEL in text else ():
                    for fact in facts_in_line(line):  # a key with several values, which no extractor reads
                        facts.add((fact.kind, fact.key, fact.value))
                        if fact.kind == "numbers":
                            values.setdefault(fact.key, set()).add(fact.value)
            for fact in cache.of(part, *(read_whole(text) if ours else [text])):
                facts.add((fact.kind, fact.key, fact.value))
                if fact.kind == "numbers":
                    values.setdefault(fact.key, set()).add(fact.value)
        if not item.covers:
            texts[item.seq] = tuple([text_of(part) for part in item.message.parts])
    whole = frozenset(
        item.seq
        for item in history
        if (now := texts.get(item.seq)) is not None and _stands(item.message.parts, now)
    )
    joined = "\n".join(written)
    return _Shown(frozenset(facts), values, texts, whole, joined, frozenset(_opened(joined)))


def _stands(parts: Iterable[Part], now: Sequence[str]) -> bool:
    return all(text_of(part) in now for part in parts)


def _opened(text: str) -> Iterator[int]:
    """The ordinals that the addresses in a text open."""
    for match in _ADDRESS.finditer(text) if "@" in text else ():
        first = int(match[1])
        last = int(match[2] or first)
        if first <= last <= first + _SPAN_MAX:
            yield from range(first, last + 1)


class _Said(Struct):
    """One fact of a history, gathered message by message."""

    text: str
    left: bool = False
    covered: bool = False


def _facts(
    history: Sequence[Item], shown: _Shown, *, cache: FactCache, left: frozenset[int]
) -> Iterator[tuple[str, bool, int]]:
    """Each fact of the history: its kind, whether it was said in what left, what became of it."""
    found: dict[Same, _Said] = {}
    newest: dict[str, str] = {}
    columns: set[str] = set()  # keys with several values at once: none of them is the value of the key
    for item in history:
        gone, covered = item.seq in left, item.seq in shown.covered
        for part in item.message.parts:
            facts = [fact for fact in cache.of(part, text_of(part)) if _counts(fact)]
            columns.update(_repeated(facts))
            newest.update([(fact.key, fact.value) for fact in facts if fact.kind == "numbers"])
            for fact in facts:
                said = found.setdefault((fact.kind, fact.key, fact.value), _Said(fact.text))
                said.text = fact.text
                said.left = said.left or gone
                said.covered = said.covered or covered
    for same, said in found.items():
        kind, key, _ = same
        if same in shown.facts or (kind == "errors" and _quotes(shown, said.text)):
            outcome = _IN_VIEW
        elif kind == "numbers" and key not in columns and _is_stale(shown.values.get(key), newest[key]):
            outcome = _ALTERED
        else:
            outcome = _RECALLABLE if said.covered else _LOST
        yield kind, said.left, outcome


def _repeated(facts: Iterable[Fact]) -> Iterator[str]:
    """Keys of numbers that stand with more than one value."""
    seen: set[str] = set()
    for fact in facts:
        if fact.kind == "numbers":
            if fact.key in seen:
                yield fact.key
            seen.add(fact.key)


def _is_stale(values: set[str] | None, newest: str) -> bool:
    return values is not None and newest not in values


def _counts(fact: Fact) -> bool:
    return fact.kind in FACT_KINDS and not fact.key.startswith(IN_CODE)


def _quotes(shown: _Shown, text: str) -> bool:
    """True when text that foldline wrote holds `text`, escaped or not."""
    return bool(shown.written) and (text in shown.written or escape_tags(text) in shown.written)


def _sayings(
    history: Sequence[Item], shown: _Shown, *, expected: Expected
) -> Iterator[tuple[str, bool, int]]:
    """The same for user messages, constraints, commands and pins."""

    def became(seq: int, *, in_view: bool) -> int:
        return _IN_VIEW if in_view else _RECALLABLE if seq in shown.covered else _LOST

    for item in history:
        seq, left = item.seq, item.seq in expected.evicted
        if speaks_for_user(item.message):
            said = [part.text for part in item.message.parts if isinstance(part, Text)]
            quoted = bool(said) and all(_quotes(shown, text) for text in said)
            yield "user_messages", left, became(seq, in_view=seq in shown.whole or quoted)
        if seq in expected.pins:
            yield "pins", left, became(seq, in_view=seq in shown.whole)
    for seq, rule in expected.constraints:
        stands = any(rule in text for text in shown.texts.get(seq, ()))
        yield "constraints", seq in expected.evicted, became(seq, in_view=stands or _quotes(shown, rule))
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
