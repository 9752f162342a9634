"""Budget reduction: one oversized tool result is cut to its head and tail. Counterpart: `microcompact`, which clears
results for their age. Knows results, never user or assistant text (requirement BUD-9)."""

from __future__ import annotations

from msgspec import Struct

from foldline.core.edit import Edit, Frame, Plan, Replace
from foldline.core.message import result_text
from foldline.core.ports import Moment
from foldline.core.rounds import Outline, outline_of
from foldline.core.view import View
from foldline.passes.results import Found, find_results
from foldline.passes.shorten import Limit, shorten


class BudgetReduction(Struct, frozen=True, kw_only=True):
    """Cut results over a limit to head and tail, with a notice between.

        [assistant: call] [result ██████████]  →  [assistant: call] [result ██ … ██]

    Costs: one count per result, O(messages). Breaks the cache from the first result it cuts; run at the door, on
    results that were never sent, it breaks nothing. Reach for it first: half of most sessions is a few results.
    Idempotent: a result cut once is not cut again (requirements BUD-10, MIC-6).
    """

    name: str = "budget-reduction"
    unit: str = "characters"
    """`characters` or `tokens`: what all limits of this value are in."""
    limit: int = 4000
    """A result of this size or less stays (requirement BUD-6)."""
    head: int = 2400
    tail: int = 1600
    per_tool: tuple[tuple[str, int], ...] = ()
    """Limits by tool kind (`file_read`, `shell`, …) or tool name; `limit` for the rest (requirement BUD-7)."""
    per_turn: int | None = None
    """Limit for all results of one turn together; the largest give way first (requirement BUD-8)."""

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """One edit for each result over its limit."""
        structure = outline_of(view)
        edits: list[Edit] = []
        sizes: list[tuple[Found, int]] = []
        for found in find_results(structure):
            if not found.movable or found.seq in frame.pins:
                continue
            edit = shorten(found, self._limit_of(found, frame), frame)
            if edit is not None:
                edits.append(edit)
            elif self.per_turn is not None:
                sizes.append((found, self._size(found, frame)))
        if self.per_turn is not None:
            edits.extend(self._by_turn(structure, sizes, edits, frame))
        return Plan(edits=tuple(edits))

    def _limit_of(self, found: Found, frame: Frame) -> Limit:
        declared = dict(frame.limits).get(found.name) if self.unit == "tokens" else None
        limits = dict(self.per_tool)
        size = declared or limits.get(found.name) or limits.get(found.kind) or self.limit
        return Limit(size=size, head=self.head, tail=self.tail, unit=self.unit)

    def _size(self, found: Found, frame: Frame) -> int:
        text = result_text(found.part)
        return len(text) if self.unit == "characters" else frame.counter.text(text)

    def _by_turn(
        self, structure: Outline, sizes: list[tuple[Found, int]], done: list[Edit], frame: Frame
    ) -> list[Edit]:
        """Within each turn over its total, one common cap for every result, as high as the total allows."""
        assert self.per_turn is not None
        cut = {(edit.seq, edit.slot) for edit in done if isinstance(edit, Replace)}
        edits: list[Edit] = []
        for turn in range(-1, len(structure.turns)):
            members = [(f, s) for f, s in sizes if f.turn == turn and (f.seq, f.part.slot) not in cut]
            if sum(size for _, size in members) <= self.per_turn:
                continue
            cap = common_cap([size for _, size in members], self.per_turn)
            limit = Limit(size=self.limit, head=self.head, tail=self.tail, unit=self.unit).keeping(max(1, cap))
            shortened = (shorten(f, limit, frame) for f, s in members if s > cap)
            edits.extend(edit for edit in shortened if edit is not None)
        return edits


def common_cap(sizes: list[int], total: int) -> int:
    """The largest cap for which the capped sizes sum to at most `total`; 0 when `total` is none."""
    rest, left = max(0, total), len(sizes)
    for size in sorted(sizes):
        if size * left > rest:
            return rest // left
        rest, left = rest - size, left - 1
    return max(sizes, default=0)
