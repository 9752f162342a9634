"""Rounds, turns and units: where a view may be cut.

Reads a repaired view (`foldline.core.repair`): every result stands in its round. Then the structure is plain:

    index   0        1      2            3        4        5          6       7
    role    system   user   assistant+2  result   result   assistant  user    assistant+1 …
    unit    ├─ 0 ─┤  ├ 1 ┤  ├────────── 2 ─────────────┤   ├── 3 ──┤  ├ 4 ┤   ├── 5, open
    turn             ├─────────────────── 0 ───────────────────────┤  ├──────── 1

A cut point is a place before a unit. Knows nothing of tokens or policies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import (
    Message,
    ToolResult,
    calls_of,
    holds_results,
    is_native_compaction,
    results_of,
    speaks_for_user,
)
from foldline.core.view import Item, Span, View

_AWAITS = re.compile(r"confirm|approv|permission|consent|ask_?(?:user|human)|human_?input", re.IGNORECASE)


UnitKind: TypeAlias = Literal["system", "user", "round", "synthetic"]


class Unit(Struct, frozen=True, kw_only=True, gc=False):
    """The smallest piece that is kept or dropped whole."""

    start: int
    end: int
    """Half-open range of view indexes."""
    kind: UnitKind
    tokens: int
    open: bool = False
    """True for the last round while a call in it has no result."""


class Outline(Struct, frozen=True, kw_only=True):
    """The structure of one view; made in one pass over it."""

    items: tuple[Item, ...]
    units: tuple[Unit, ...]
    turns: tuple[tuple[int, int], ...]
    """Half-open ranges of unit indexes, each from a user's message up to the next."""

    def seqs(self, unit: Unit) -> frozenset[int]:
        """Ordinals inside a unit."""
        return frozenset([item.seq for item in self.items[unit.start : unit.end]])


def outline(items: tuple[Item, ...]) -> Outline:
    """The units and turns of a view; O(n)."""
    units: list[Unit] = []
    index, count = 0, len(items)
    while index < count:
        message = items[index].message
        end = _round_end(items, index) if message.role == "assistant" else index + 1
        tokens = items[index].tokens if end == index + 1 else sum([item.tokens for item in items[index:end]])
        units.append(Unit(start=index, end=end, kind=_kind_of(message), tokens=tokens))
        index = end
    if units and units[-1].kind == "round":
        last = units[-1]
        if unanswered([item.message for item in items[last.start : last.end]]):
            units[-1] = replace(last, open=True)
    return Outline(items=items, units=tuple(units), turns=_turns(items, units))


def outline_of(view: View) -> Outline:
    """The outline of a view, made once for each view."""
    if not view.memo:
        view.memo.append(outline(view.items()))
    found: Outline = view.memo[0]
    return found


def _round_end(items: Sequence[Item], start: int) -> int:
    """A round: neighbouring assistant messages, then every message that holds results."""
    end, count = start + 1, len(items)
    while end < count and items[end].message.role == "assistant":
        end += 1
    while end < count and items[end].message.role != "assistant" and holds_results(items[end].message):
        end += 1
    return end


def _kind_of(message: Message) -> UnitKind:
    match message.role:
        case "assistant" | "tool":
            return "round"
        case "system":
            return "system"
        case "user":
            return "synthetic" if message.synthetic else "user"
        case _:
            assert_never(message.role)


def _turns(items: Sequence[Item], units: Sequence[Unit]) -> tuple[tuple[int, int], ...]:
    starts = [
        n
        for n, unit in enumerate(units)
        if unit.kind == "user" and speaks_for_user(items[unit.start].message)
    ]
    return tuple(zip(starts, [*starts[1:], len(units)], strict=False)) if starts else ()


TAIL_OVER = 1.4
"""How far the newest whole units may pass their share of the target, so that one large round does not end them early."""


def newest_units_start(
    structure: Outline, tokens_target: int, *, share: float, over: float = TAIL_OVER
) -> int:
    """Number of the first of the newest whole units whose rounds reach `share` of the target without passing it by more
    than `over`; as many as there are units when not even the last fits. What is kept whole at the end of a view."""
    wanted, most = int(tokens_target * share), int(tokens_target * min(1.0, share * over))
    number, taken = len(structure.units), 0
    for place in range(number - 1, -1, -1):
        unit = structure.units[place]
        taken += unit.tokens if unit.kind == "round" else 0
        if taken > most:
            break
        number = place
        if taken >= wanted:
            break
    return number


def unanswered(messages: Iterable[Message]) -> tuple[str, ...]:
    """Ids of client-side calls in these messages that no result in them answers, in order."""
    open_ids: dict[str, None] = {}
    for message in messages:
        for call in calls_of(message):
            open_ids[call.id] = None
        for result in results_of(message):
            open_ids.pop(result.call_id, None)
    return tuple(open_ids)


def awaits_person(name: str) -> bool:
    """True for a tool whose answer comes from a person, so that a missing result means waiting, not a lost process
    (google/adk-python#4740)."""
    return _AWAITS.search(name) is not None


def kept_seqs(structure: Outline) -> frozenset[int]:
    """Ordinals no pass may edit: leading system messages, the last user message and the open round (law TAIL), rounds
    with a call that waits for a person, a provider's own newest compaction, which nobody here can write anew, and messages
    of which a repair moved a part into an earlier round: an edit speaks of ordinals and would take both halves."""
    items, kept = structure.items, set[int]()
    for item in items:
        if item.message.role != "system":
            break
        kept.add(item.seq)
    for belongs in (speaks_for_user, is_native_compaction):
        newest = next((item for item in reversed(items) if belongs(item.message)), None)
        kept |= {newest.seq} if newest is not None else set()
    for unit in structure.units:
        if unit.open or (unit.kind == "round" and _waits(items[unit.start : unit.end])):
            kept |= structure.seqs(unit)
    return whole_units(structure, kept | _torn_apart(structure))


def whole_units(structure: Outline, seqs: Iterable[int]) -> frozenset[int]:
    """These ordinals and all that share a unit with them, however a repair has spread a message over units."""
    kept = set(seqs)
    if len({item.seq for item in structure.items}) == len(structure.items):
        return frozenset(kept)
    grown = True
    while grown:  # at most once for each message that a repair took apart
        before = len(kept)
        for unit in structure.units:
            members = structure.seqs(unit)
            if not members.isdisjoint(kept):
                kept |= members
        grown = len(kept) > before
    return frozenset(kept)


def _torn_apart(structure: Outline) -> set[int]:
    """Ordinals that stand in more than one unit; a line that a repair put before the first message does not count."""
    if len({item.seq for item in structure.items}) == len(structure.items):
        return set()
    home: dict[int, int] = {}
    units = [unit for unit in structure.units if unit.kind != "synthetic"]
    return {
        seq
        for unit in units
        for seq in structure.seqs(unit)
        if home.setdefault(seq, unit.start) != unit.start
    }


def open_seqs(structure: Outline) -> frozenset[int]:
    """Ordinals of the open round; empty when every call has its result."""
    return (
        structure.seqs(structure.units[-1]) if structure.units and structure.units[-1].open else frozenset()
    )


def _waits(items: Iterable[Item]) -> bool:
    for item in items:
        for part in item.message.parts:
            if isinstance(part, ToolResult) and part.interim and item.message.synthetic == "repair":
                return True
    return False


def spans_of(seqs: Iterable[int]) -> tuple[Span, ...]:
    """Ordinals as the fewest ascending half-open ranges."""
    spans: list[Span] = []
    for seq in sorted(set(seqs)):
        if spans and spans[-1].end == seq:
            spans[-1] = Span(start=spans[-1].start, end=seq + 1)
        else:
            spans.append(Span(start=seq, end=seq + 1))
    return tuple(spans)
