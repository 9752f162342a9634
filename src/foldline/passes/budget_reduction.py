"""Budget reduction: one oversized tool result is cut to its head and tail. Counterpart: `microcompact`, which clears
results for their age. Knows results, never user or assistant text (requirement BUD-9)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.bounds import Positive, Share, Whole
from foldline.core.edit import Frame, Plan
from foldline.core.message import result_text
from foldline.core.ports import Moment
from foldline.core.rounds import newest_units_start, outline_of
from foldline.core.view import View
from foldline.ledger.tools import ToolKind
from foldline.passes.results import Found, find_results
from foldline.passes.shorten import Limit, cuts


class BudgetReduction(Struct, frozen=True, kw_only=True):
    """Cut results over a limit to head and tail, with a notice between.

        [assistant: call] [result ██████████]  →  [assistant: call] [result ██ … ██]

    Costs: one count per result, O(messages). Breaks the cache from the first result it cuts; run at the door, on
    results that were never sent, it breaks nothing. Reach for it first: half of most sessions is a few results.
    Idempotent: a result cut once is not cut again (requirements BUD-10, MIC-6).
    """

    name: str = "budget-reduction"
    unit: Literal["characters", "tokens"] = "characters"
    """What all limits of this value are in."""
    limit: Positive = 4000
    """A result of this size or less stays (requirement BUD-6)."""
    head: Whole = 2400
    tail: Whole = 1600
    per_tool: tuple[tuple[str, Positive], ...] = ()
    """Limits by tool kind (`file_read`, `shell`, …) or tool name; `limit` for the rest (requirement BUD-7)."""
    per_turn: Positive | None = None
    """Limit for all results of one turn together; the largest give way first (requirement BUD-8)."""
    carry: Whole = 0
    """Tokens for facts of what is cut out, beside head and tail (only in tokens)."""
    keep_share: Share = 0.0
    """Results inside the newest rounds that fit into this share of the target stay whole, where there is a target."""

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """One edit for each result over its limit."""
        structure = outline_of(view)
        whole = (
            newest_units_start(structure, moment.tokens_target, share=self.keep_share)
            if self.keep_share
            else None
        )
        results = [
            f
            for f in find_results(structure)
            if f.movable and f.seq not in frame.pins and (whole is None or f.round < whole)
        ]
        by_tool = {
            name: self._limit_of(name, kind, frame=frame)
            for name, kind in {(f.name, f.kind) for f in results}
        }
        limits = [by_tool[found.name] for found in results]
        freed = sum(
            found.tokens - limit.kept
            for found, limit in zip(results, limits, strict=True)
            if found.tokens > max(limit.size, limit.kept)
        )
        if freed < moment.tokens_excess:  # not enough: what is cut here is cleared or folded next
            limits = [replace(limit, carry=0) for limit in limits]
        elif moment.tokens_excess > 0:
            limits = self._with_more_facts(results, limits, spare=freed - moment.tokens_excess)
        if self.per_turn is not None:
            limits = self._by_turn(results, limits, frame=frame)
        edits = cuts(list(zip(results, limits, strict=True)), frame=frame)
        return Plan(edits=tuple(edit for edit in edits if edit is not None))

    def _with_more_facts(self, results: list[Found], limits: list[Limit], *, spare: int) -> list[Limit]:
        """The limits with what is cut beyond the target given back to facts, as far as a result stays within its own."""
        over = [found.tokens > limit.size for found, limit in zip(results, limits, strict=True)]
        each = spare // max(1, sum(over))
        return [
            replace(limit, carry=limit.carry + max(0, min(each, limit.spare)))
            if is_over and limit.carry
            else limit
            for limit, is_over in zip(limits, over, strict=True)
        ]

    def _limit_of(self, name: str, kind: ToolKind, *, frame: Frame) -> Limit:
        declared = dict(frame.limits).get(name) if self.unit == "tokens" else None
        limits = dict(self.per_tool)
        size = declared or limits.get(name) or limits.get(kind) or self.limit
        limit = Limit(size=size, head=self.head, tail=self.tail, unit=self.unit, carry=self.carry)
        return limit if size >= self.head + self.tail else limit.keeping(size)

    def _size(self, found: Found, frame: Frame) -> int:
        text = result_text(found.part)
        return len(text) if self.unit == "characters" else frame.counter.text(text)

    def _by_turn(self, results: list[Found], limits: list[Limit], *, frame: Frame) -> list[Limit]:
        """Within each turn over its total, one common cap for every result, as high as the total allows."""
        assert self.per_turn is not None
        sizes = [
            min(self._size(found, frame), limit.size) for found, limit in zip(results, limits, strict=True)
        ]
        by_turn: dict[int, list[int]] = {}
        for found, size in zip(results, sizes, strict=True):
            by_turn.setdefault(found.turn, []).append(size)
        caps = {turn: common_cap(of_turn, self.per_turn) for turn, of_turn in by_turn.items()}
        return [
            limit if size <= caps[found.turn] else limit.keeping(max(1, caps[found.turn]))
            for found, limit, size in zip(results, limits, sizes, strict=True)
        ]


def common_cap(sizes: list[int], total: int) -> int:
    """The largest cap for which the capped sizes sum to at most `total`; 0 when `total` is none."""
    rest, left = max(0, total), len(sizes)
    for size in sorted(sizes):
        if size * left > rest:
            return rest // left
        rest, left = rest - size, left - 1
    return max(sizes, default=0)
