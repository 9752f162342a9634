"""Fold oldest: everything before the newest whole units becomes one message. The last tier: it always reaches the
target, or leaves the smallest history there is. Counterpart: `snip`, which only leaves a notice. Knows units and
tokens; what the fold says comes from `template`."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from foldline.core.edit import Edit, Fold, Frame, Plan
from foldline.core.ports import Moment
from foldline.core.rounds import Outline, Unit, outline_of
from foldline.core.view import View
from foldline.passes.clamping import clamp
from foldline.passes.folding import counted, fold_of
from foldline.passes.template import body

FOLD_TOKENS_MIN = 80
"""What the delimiters, the address and one line of a fold cost at most."""
EDGE_TOKENS_MIN = 400
"""Less room than this is not worth half a unit at the edge."""
EDGE_SHARE = 0.3
"""Share of the room at the edge that one unit too large for it may take, so that older units still find a place."""


class FoldOldest(Struct, frozen=True, kw_only=True):
    """Keep the newest whole units, fold all before them.

        [system][u][a][r][u][a][r][a][r][u]  →  [system][‹fold of 6 messages›][a][r][u]

    Costs: O(messages) and one count of the fold. Breaks the cache once, at the first folded message; what follows is
    new to the cache too. Reach for it last: it forgets more than any other pass, and it is the only one that can
    always reach the target. Pins, leading system messages, the last user message and rounds that wait stay in place.
    """

    name: str = "fold"
    share_max: float = 0.1
    """Share of the target that the fold may take."""
    fold_tokens_max: int = 2000
    """Most tokens the fold may take, whatever the target."""
    clamp_edge: bool = True
    """Clamp the results of the one unit at the edge so that it fits, rather than fold it."""

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """A fold, and clamps of single results where those alone make the rest fit. Empty when the view fits."""
        if moment.tokens_excess <= 0:
            return Plan()
        structure = outline_of(view)
        loose: list[Unit] = []
        fixed: list[Unit] = []
        for unit in structure.units:
            (loose if may_fold(structure, unit, frame) else fixed).append(unit)
        room = moment.tokens_target - sum(unit.tokens for unit in fixed)
        clamps: tuple[Edit, ...] = ()
        if room < FOLD_TOKENS_MIN:
            cut = clamp(structure, fixed, FOLD_TOKENS_MIN - room, frame)
            clamps, room = cut.edits, room + cut.tokens_freed
        fold_max = min(
            self.fold_tokens_max, max(FOLD_TOKENS_MIN, int(moment.tokens_target * self.share_max)), room
        )
        folded, edge, room = self._divide(structure, loose, room - fold_max, frame)
        fold_max = min(self.fold_tokens_max, fold_max + max(0, room))
        return Plan(edits=(*clamps, *edge, *self._fold_edit(structure, folded, fold_max, frame)))

    def _divide(
        self, structure: Outline, loose: list[Unit], room: int, frame: Frame
    ) -> tuple[list[Unit], tuple[Edit, ...], int]:
        """The newest units that fit, from the end; one that does not is clamped to its share of the room, and older
        ones follow while they fit. What is to be folded, oldest first, the cuts, and the room that is left."""
        rest, left = _newest_that_fit(loose, room)
        if not rest or not self.clamp_edge or left < EDGE_TOKENS_MIN:
            return rest, (), left
        edge, older = rest[-1], rest[:-1]
        share = max(EDGE_TOKENS_MIN, int(left * EDGE_SHARE))
        beyond, left_over = _newest_that_fit(older, left - share)
        size = share + left_over
        cut = clamp(structure, [edge], edge.tokens - size, frame)
        if edge.tokens - cut.tokens_freed > size:
            return rest, (), left
        return beyond, cut.edits, 0

    def _fold_edit(
        self, structure: Outline, units: Sequence[Unit], tokens_max: int, frame: Frame
    ) -> list[Fold]:
        gone = [item for unit in units for item in structure.items[unit.start : unit.end]]
        if not gone:
            return []
        head = f"{counted(gone)}, folded; the address opens the originals."
        room = tokens_max - FOLD_TOKENS_MIN
        lines = body(gone, room, frame.counter.text) if room > 0 else ""
        edit = fold_of(gone, f"{head}\n{lines}" if lines else head, frame)
        return [edit] if frame.counter.message(edit.message) < sum(item.tokens for item in gone) else []


def _newest_that_fit(units: Sequence[Unit], room: int) -> tuple[list[Unit], int]:
    """The units without the newest ones that fit into `room`, and the room that is left."""
    rest, left = list(units), room
    while rest and rest[-1].tokens <= left:
        left -= rest.pop().tokens
    return rest, left


def may_fold(structure: Outline, unit: Unit, frame: Frame) -> bool:
    """True for a unit that nothing protects."""
    return unit.kind != "system" and not unit.open and structure.seqs(unit).isdisjoint(frame.kept)
