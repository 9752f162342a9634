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
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import partial
from itertools import chain
from typing import Any

from msgspec import Struct

from foldline.core.address import escape_tags
from foldline.core.message import Part, Text, speaks_for_user
from foldline.core.view import Item
from foldline.ledger.facts import INITIALS, FactCache, FactKind, Name
from foldline.ledger.index import holds_more, listed_paths, names_in_line
from foldline.ledger.look_alikes import read_whole
from foldline.ledger.readings import readings_in, text_of, whole_text_of
from foldline.ledger.standing_within import Within
from foldline.ledger.stated import Place, Stated, key_of

FACT_KINDS: tuple[FactKind, ...] = ("paths", "identifiers", "numbers", "errors")
KINDS = (*FACT_KINDS, "commands", "user_messages", "constraints", "rules_taken_back", "pins")
"""Every rule that a user ever gave is counted: those that stand as constraints, and apart from them those that later words
took back, so that one that was taken back wrongly is seen to have left."""

_ADDRESS = re.compile(r"\bm(\d{1,9})(?:-(\d{1,9}))?(?:\.\d{1,9})?@[0-9a-f]{8}\b")
OURS_CHARS_MAX = 1_000_000
"""Characters of foldline's own texts that are remembered with what they say, beyond those of the last compaction."""
_SPAN_MAX = 1_000_000
"""Ordinals one address may name; a longer range is no address of ours."""
_PATH, _IDENTIFIER = INITIALS["paths"], INITIALS["identifiers"]
_WORD = re.compile(r"\w+")
_NUMBER, _ERROR = INITIALS["numbers"], INITIALS["errors"]


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

    said: Set[Place]
    """Of the facts that the history states those that the view says."""
    keys: Set[str]
    """Keys of the numbers that text of foldline's says."""
    paths: Set[str]
    """The paths that it lists: it lists `src/app.py` no second time beside `/repo/src/app.py`."""
    texts: dict[int, tuple[str, ...]]
    """Ordinal -> the texts of its message."""
    whole: frozenset[int]
    """Ordinals of messages that stand as they came in."""
    written: str
    """All text that is not in the history: folds, notices, what is left of a reduced part."""
    covered: frozenset[int]
    """Ordinals that an address in `written` opens."""


class _Ours(Struct, frozen=True, kw_only=True, gc=False):
    """What a text says that foldline wrote."""

    text: str
    """Without what it says of itself."""
    names: tuple[Name, ...]
    """Of its facts …"""
    paths: tuple[str, ...]
    """… the paths among them, and the keys of the numbers."""
    keys: tuple[str, ...]
    opened: tuple[range, ...]
    """The ordinals that its addresses open."""


def measure(
    history: Sequence[Item],
    view: Sequence[Item],
    *,
    cache: FactCache,
    expected: Expected | None = None,
    memo: dict[str, Any] | None = None,
) -> Retention:
    """What `view` still says of `history`. O(parts + facts), and each fact of a text is found once; of a history that goes on
    from what the `memo` has, only what is new is counted.

    A number is one fact for each of its values; the same fact in several messages is one.
    """
    expected, memo = expected or Expected(), {} if memo is None else memo
    readings = readings_in(memo)
    read = [(item, readings.of(item.message).texts) for item in history]
    stated = _stated([texts for _, texts in read], cache=cache, memo=memo)
    shown = _lay_out(read, view, stated=stated, cache=cache, memo=memo)
    gone = stated.said_in([item.seq in expected.evicted for item in history])
    whole = {kind: [0, 0, 0, 0] for kind in KINDS}
    evicted = {kind: [0, 0, 0, 0] for kind in KINDS}
    became = dict(_not_in_view(stated, shown, is_opened=[item.seq in shown.covered for item in history]))
    for kind in FACT_KINDS:
        of_kind = stated.of_kind[INITIALS[kind]]
        for sums, total in ((whole[kind], len(of_kind)), (evicted[kind], len(of_kind & gone))):
            sums[_IN_VIEW] = total
        for outcome, places in became.items():
            found = places & of_kind
            for sums, count in ((whole[kind], len(found)), (evicted[kind], len(found & gone))):
                sums[outcome] += count
                sums[_IN_VIEW] -= count
    for said, is_left, outcome in _sayings(history, shown, expected=expected):
        whole[said][outcome] += 1
        evicted[said][outcome] += is_left
    return Retention(whole=_counted(whole), evicted=_counted(evicted))


_IN_VIEW, _RECALLABLE, _LOST, _ALTERED = range(4)


def _counted(sums: dict[str, list[int]]) -> dict[str, Counts]:
    return {
        kind: Counts(total=sum(row), in_view=row[0], recallable=row[1], lost=row[2], altered=row[3])
        for kind, row in sums.items()
    }


def _stated(texts: list[tuple[str, ...]], *, cache: FactCache, memo: dict[str, Any]) -> Stated:
    """What the messages of these texts state. Of a history that goes on from what the `memo` has, only what is new is
    counted."""
    before, stated = memo.pop("stated", None) or ([], Stated())  # away while it grows
    if before != texts[: len(before)]:
        before, stated = [], Stated()
    new = texts[len(before) :]
    cache.learn(chain.from_iterable(new))
    cache.settle()
    stated.grow([tuple(map(cache.found, said)) for said in new])
    memo["stated"] = (texts, stated)
    return stated


def _lay_out(
    history: Sequence[tuple[Item, tuple[str, ...]]],
    view: Sequence[Item],
    *,
    stated: Stated,
    cache: FactCache,
    memo: dict[str, Any],
) -> _Shown:
    """The view for look-ups. What stands as it came in is told by where it stood in the history, given with its texts; only
    edited messages are looked at part by part."""
    place_of = {id(item.message): place for place, (item, _) in enumerate(history)}
    is_whole = [False] * len(history)
    shown: dict[int, tuple[str, ...]] = {}
    edited: list[Item] = []
    for item in view:
        place = place_of.get(id(item.message))
        if place is None:
            edited.append(item)
            continue
        is_whole[place] = True
        if not item.covers:
            shown[item.seq] = history[place][1]
    seqs = {item.seq for item in edited}
    came_in = {
        id(part): text
        for (item, said), stays in zip(history, is_whole, strict=True)
        if not stays and item.seq in seqs
        for part, text in zip(item.message.parts, said, strict=True)
    }
    ours = [part for item in edited for part in item.message.parts if id(part) not in came_in]
    told = _told_by_us(ours, cache=cache, memo=memo)
    stay: list[str] = []
    written = iter(told)
    for item in edited:
        said = tuple(
            [came_in[id(part)] if id(part) in came_in else next(written).text for part in item.message.parts]
        )
        stay += [came_in[id(part)] for part in item.message.parts if id(part) in came_in]
        if not item.covers:
            shown[item.seq] = said
    names = [cache.found(text).names for text in stay]
    names += [one.names for one in told]
    return _Shown(
        said=stated.said_in(is_whole) | stated.among(chain.from_iterable(names)),
        keys=set().union(*[one.keys for one in told]),
        paths=set().union(*[one.paths for one in told]),
        texts=shown,
        whole=frozenset([item.seq for item, said in history if _stands(said, shown.get(item.seq))]),
        written="\n".join(map(whole_text_of, ours)),
        covered=frozenset(chain.from_iterable([ordinals for one in told for ordinals in one.opened])),
    )


def _stands(said: tuple[str, ...], now: tuple[str, ...] | None) -> bool:
    """Whether a message of these texts shows all that it said."""
    return now is not None and (now is said or all(text in now for text in said))


def _told_by_us(parts: Sequence[Part], *, cache: FactCache, memo: dict[str, Any]) -> list[_Ours]:
    """What parts say that foldline wrote. Remembered for the next compactions, which write most of them again."""
    before: dict[str, _Ours] = memo.get("ours", {})
    texts = list(map(whole_text_of, parts))
    new = {text: part for text, part in zip(texts, parts, strict=True) if text not in before}
    read = {whole: _read_back(text_of(part)) for whole, part in new.items()}
    cache.learn(chain.from_iterable([pieces for _, _, pieces in read.values()]))
    made = {
        whole: _ours(
            whole, text, names=[*listed, *chain.from_iterable([cache.found(piece).names for piece in pieces])]
        )
        for whole, (text, listed, pieces) in read.items()
    }
    known = before | made
    if sum(map(len, known)) > OURS_CHARS_MAX:
        known = {text: known[text] for text in texts}
    memo["ours"] = known
    return [known[text] for text in texts]


def _ours(whole: str, text: str, *, names: Iterable[Name]) -> _Ours:
    once = tuple(dict.fromkeys(names))
    return _Ours(
        text=text,
        names=once,
        paths=tuple([name[1:] for name in once if name[0] == _PATH]),
        keys=tuple({key_of(name) for name in once if name[0] == _NUMBER}),
        opened=tuple(_opened(whole)),
    )


def _read_back(text: str) -> tuple[str, list[Name], list[str]]:
    """A text of foldline's; the names of the facts of an index in it, which opens behind a notice or a heading; and in pieces
    what is no index, or holds more than it lists."""
    names: list[Name] = []
    others: list[str] = []
    is_index = False
    for line in text.split("\n"):
        listed = names_in_line(line) if is_index else ()
        names += listed
        if not listed:
            is_index = not line or line.startswith("#")
        if not listed or holds_more(line):
            others.append(line)
    return text, names, list(read_whole(others))


def _opened(text: str) -> Iterator[range]:
    """The ordinals that the addresses in a text open."""
    for match in _ADDRESS.finditer(text) if "@" in text else ():
        first = int(match[1])
        last = int(match[2] or first)
        if first <= last <= first + _SPAN_MAX:
            yield range(first, last + 1)


def _not_in_view(
    stated: Stated, shown: _Shown, *, is_opened: Sequence[bool]
) -> Iterator[tuple[int, Set[Place]]]:
    """The facts that a view does not say, by what became of them. `is_opened`: of each message, whether an address opens it."""
    rest = set(range(len(stated.names))) - shown.said
    rest -= _within_paths(rest, shown, stated=stated)
    failures = rest & stated.of_kind[_ERROR]
    rest -= {place for place in failures if _quotes(shown, stated.failures[place])}
    altered = _altered(rest, shown, stated=stated)
    rest -= altered
    lost = rest - stated.said_in(is_opened) if rest else rest
    yield _ALTERED, altered
    yield _LOST, lost
    yield _RECALLABLE, rest - lost


def _within_paths(rest: set[Place], shown: _Shown, *, stated: Stated) -> set[Place]:
    """Of these the paths that stand within longer ones that foldline wrote, which hold their last name; and the identifiers that
    stand within paths that it listed."""
    found = _shown_within(rest & stated.of_kind[_PATH], shown.paths, stated=stated) if shown.paths else set()
    identifiers = {stated.names[place][1:]: place for place in rest & stated.of_kind[_IDENTIFIER]}
    listed = listed_paths(shown.written.split("\n")) if identifiers else ""
    for parts in (listed.replace("/", " ").split, partial(_WORD.findall, listed)):
        if identifiers:
            found.update([identifiers.pop(text) for text in identifiers.keys() & set(parts())])
    return found


def _shown_within(paths: set[Place], longer: Set[str], *, stated: Stated) -> set[Place]:
    """Those of the paths that stand within longer ones. A longer one is looked into while it holds the last name of one that was
    not found yet."""
    names = set("/".join(longer).split("/"))
    sought: dict[str, set[Place]] = {}
    for place in paths:
        if (last := stated.last[place]) in names:
            sought.setdefault(last, set()).add(place)
    place_of = {stated.names[place][1:]: place for here in sought.values() for place in here}
    within, found = Within(place_of), set[Place]()
    for path in longer:
        if not sought:
            break
        if sought.keys().isdisjoint(path.split("/")):
            continue
        for place in {place_of[text] for text in within.path(path)} - found:
            found.add(place)
            last = stated.last[place]
            sought[last].discard(place)
            if not sought[last]:
                del sought[last]
    return found


def _altered(rest: Set[Place], shown: _Shown, *, stated: Stated) -> Set[Place]:
    """Numbers whose key stands in the view with other values alone, none of them the newest. A key to which a text gives
    several values is a column: none of them is its value."""
    numbers = stated.of_kind[_NUMBER]
    missing = rest & numbers
    stale = stated.stale(stated.keys(shown.said & numbers) | shown.keys, shown.said)
    return stated.with_key(missing, stale) if stale else set()


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
