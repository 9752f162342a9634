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
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import TypeAlias

from msgspec import Struct

from foldline.core.address import escape_tags
from foldline.core.message import Text, speaks_for_user
from foldline.core.view import Item
from foldline.ledger.compose import text_of, whole_text_of
from foldline.ledger.errors_in_text import IN_CODE
from foldline.ledger.facts import Fact, FactCache
from foldline.ledger.index import NUMBERS_LABEL, facts_in_line, parts_of
from foldline.ledger.look_alikes import read_whole
from foldline.ledger.paths_in_text import key_of

FACT_KINDS = ("paths", "identifiers", "numbers", "errors")
KINDS = (*FACT_KINDS, "commands", "user_messages", "constraints", "pins")

_ADDRESS = re.compile(r"\bm(\d{1,9})(?:-(\d{1,9}))?(?:\.\d{1,9})?@[0-9a-f]{8}\b")
_SPAN_MAX = 1_000_000
"""Ordinals one address may name; a longer range is no address of ours."""


Same: TypeAlias = str
"""What makes it one fact of its kind: its key, and of a number the value behind `_VALUE`."""
_VALUE = "\0"


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


class _Sum(Struct, frozen=True, kw_only=True):
    """What the facts of one text come to."""

    same: dict[str, tuple[Same, ...]]
    """By kind, kinds without a fact left out. Lines of code that speak of failures are no errors."""
    newest: dict[str, str]
    """A number's key -> its newest value."""
    columns: frozenset[str]
    """Keys with several values at once: none of them is the value of the key."""
    errors: dict[Same, str]
    """The line that reports a failure."""


class _Shown(Struct, frozen=True, kw_only=True):
    """A view, laid out for look-ups."""

    same: dict[str, set[Same]]
    texts: dict[int, tuple[str, ...]]
    """Ordinal -> the texts of its message."""
    whole: frozenset[int]
    """Ordinals of messages that stand as they came in."""
    written: str
    """All text that is not in the history: folds, notices, what is left of a reduced part."""
    covered: frozenset[int]
    """Ordinals that an address in `written` opens."""


class _Said:
    """The facts of one kind in a history."""

    def __init__(self) -> None:
        self.all: set[Same] = set()
        self.left: set[Same] = set()
        """Said in messages that left the view or were reduced in it."""
        self.covered: set[Same] = set()
        """Said in messages that an address in the view opens."""

    def add(self, same: Iterable[Same], *, is_left: bool, is_covered: bool) -> None:
        self.all.update(same)
        if is_left:
            self.left.update(same)
        if is_covered:
            self.covered.update(same)


def measure(
    history: Sequence[Item], view: Sequence[Item], *, cache: FactCache, expected: Expected | None = None
) -> Retention:
    """What `view` still says of `history`. O(parts + facts), and each fact of a text is found once.

    A number is one fact for each of its values; the same fact in several messages is one.
    """
    expected = expected or Expected()
    texts = [tuple([text_of(part) for part in item.message.parts]) for item in history]
    cache.learn(chain.from_iterable(texts))
    shown = _lay_out(history, view, texts=texts, cache=cache)
    whole = {kind: [0, 0, 0, 0] for kind in KINDS}
    evicted = {kind: [0, 0, 0, 0] for kind in KINDS}
    for kind, found, left in _facts(history, shown, texts=texts, cache=cache, left=expected.evicted):
        for outcome, same in enumerate(found):
            whole[kind][outcome] += len(same)
            evicted[kind][outcome] += len(same & left)
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


def _sum(facts: Sequence[Fact]) -> _Sum:
    same: dict[str, dict[Same, None]] = {}
    newest: dict[str, str] = {}
    columns: set[str] = set()
    errors: dict[Same, str] = {}
    for fact in facts:
        kind, key = fact.kind, fact.key
        if kind == "numbers":
            if key in newest:
                columns.add(key)
            newest[key] = fact.value
        elif kind == "errors":
            if key.startswith(IN_CODE):
                continue
            errors[key] = fact.text
        elif kind not in FACT_KINDS:
            continue
        same.setdefault(kind, {})[_same(fact)] = None
    return _Sum(
        same={kind: tuple(found) for kind, found in same.items()},
        newest=newest,
        columns=frozenset(columns),
        errors=errors,
    )


def _same(fact: Fact) -> Same:
    return f"{fact.key}{_VALUE}{fact.value}" if fact.kind == "numbers" else fact.key


def _lay_out(
    history: Sequence[Item], view: Sequence[Item], *, texts: Sequence[tuple[str, ...]], cache: FactCache
) -> _Shown:
    came_in = {id(item.message): said for item, said in zip(history, texts, strict=True)}
    parts = {id(part) for item in history for part in item.message.parts}
    same: dict[str, set[Same]] = {kind: set() for kind in FACT_KINDS}
    shown: dict[int, tuple[str, ...]] = {}
    written: list[str] = []
    for item in view:
        said = came_in.get(id(item.message))
        pieces: Iterable[str] = said or ()
        if said is None:
            said = tuple([text_of(part) for part in item.message.parts])
            ours = [part for part in item.message.parts if id(part) not in parts]
            written += map(whole_text_of, ours)
            pieces = chain.from_iterable(
                [text] if id(part) in parts else read_whole(text)
                for part, text in zip(item.message.parts, said, strict=True)
            )
            for fact in chain.from_iterable(map(_listed, map(text_of, ours))):
                same[fact.kind].add(_same(fact))
            same["paths"] |= _within(map(text_of, ours), cache)
        for piece in pieces:
            for kind, found in cache.made(piece, _sum).same.items():
                same[kind].update(found)
        if not item.covers:
            shown[item.seq] = said
    whole = frozenset(
        item.seq
        for item, said in zip(history, texts, strict=True)
        if (now := shown.get(item.seq)) is not None and (now is said or all(text in now for text in said))
    )
    joined = "\n".join(written)
    return _Shown(same=same, texts=shown, whole=whole, written=joined, covered=frozenset(_opened(joined)))


def _listed(text: str) -> Iterator[Fact]:
    """Facts of an index: a key with several values is read by no extractor."""
    for line in text.split("\n") if NUMBERS_LABEL in text else ():
        yield from (fact for fact in facts_in_line(line) if fact.kind in FACT_KINDS)


def _within(texts: Iterable[str], cache: FactCache) -> set[Same]:
    """Paths that stand within longer ones: the ledger lists `src/app.py` no second time beside `/repo/src/app.py`."""
    pieces = chain.from_iterable(map(read_whole, texts))
    longer = {path for piece in pieces for path in cache.made(piece, _sum).same.get("paths", ())}
    return {key_of(part) for path in longer for part in parts_of(path)}


def _opened(text: str) -> Iterator[int]:
    """The ordinals that the addresses in a text open."""
    for match in _ADDRESS.finditer(text) if "@" in text else ():
        first = int(match[1])
        last = int(match[2] or first)
        if first <= last <= first + _SPAN_MAX:
            yield from range(first, last + 1)


def _facts(
    history: Sequence[Item],
    shown: _Shown,
    *,
    texts: Sequence[tuple[str, ...]],
    cache: FactCache,
    left: frozenset[int],
) -> Iterator[tuple[str, tuple[set[Same], ...], set[Same]]]:
    """Of each kind: its facts by what became of them, and those that were said in what left."""
    kinds = {kind: _Said() for kind in FACT_KINDS}
    newest: dict[str, str] = {}
    columns: set[str] = set()
    errors: dict[Same, str] = {}
    for item, said in zip(history, texts, strict=True):
        gone, covered = item.seq in left, item.seq in shown.covered
        for facts in [cache.made(text, _sum) for text in said]:
            newest.update(facts.newest)
            columns |= facts.columns
            errors.update(facts.errors)
            for kind, same in facts.same.items():
                kinds[kind].add(same, is_left=gone, is_covered=covered)
    for kind, found in kinds.items():
        in_view = found.all & shown.same[kind]
        rest = found.all - in_view
        altered: set[Same] = set()
        if kind == "errors":
            in_view |= {same for same in rest if _quotes(shown, errors[same])}
        elif kind == "numbers":
            stale = _stale(rest, shown.same[kind], newest=newest)
            altered = {same for same in stale if same.partition(_VALUE)[0] not in columns}
        rest -= in_view | altered
        recallable = rest & found.covered
        yield kind, (in_view, recallable, rest - recallable, altered), found.left


def _stale(numbers: Iterable[Same], shown: Set[Same], *, newest: Mapping[str, str]) -> Iterator[Same]:
    """Those whose key stands in the view, but not with its newest value."""
    keys = {same.partition(_VALUE)[0] for same in shown}
    for same in numbers:
        key = same.partition(_VALUE)[0]
        if key in keys and f"{key}{_VALUE}{newest[key]}" not in shown:
            yield same


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
    for seq, rule in expected.constraints:
        stands = any(rule in text for text in shown.texts.get(seq, ()))
        stands = stands or _quotes(shown, rule) or _quotes(shown, " ".join(rule.split()))
        yield "constraints", seq in expected.evicted, became(seq, in_view=stands)
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
