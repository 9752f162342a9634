"""Fold oldest: everything before the newest whole units becomes one message. The last tier: it always reaches the
target, or leaves the smallest history there is. Counterpart: `snip`, which only leaves a notice. Knows units and
tokens; what the fold says comes from `template`."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from foldline.core.edit import Edit, Fold, Frame, Plan, Replace
from foldline.core.ports import Moment
from foldline.core.rounds import Outline, Unit, outline
from foldline.core.view import Item, View
from foldline.passes.folding import counted, fold_of
from foldline.passes.results import Found, find_results
from foldline.passes.shorten import Limit, shorten
from foldline.passes.template import body

FOLD_TOKENS_MIN = 80
"""What the delimiters, the address and one line of a fold cost at most."""
CLAMP_TOKENS_MIN = 120
"""A result is not clamped below this: its notice alone costs about 40."""
EDGE_TOKENS_MIN = 400
"""Less room than this is not worth half a unit at the edge."""


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
        structure = outline(view.items())
        fixed = [not may_fold(structure, unit, frame) for unit in structure.units]
        needed = sum(unit.tokens for unit, stays in zip(structure.units, fixed, strict=True) if stays)
        if not all(fixed) and needed + FOLD_TOKENS_MIN < moment.tokens_target:
            return self._fold(structure, fixed, moment, frame)
        squeezed = clamp_to_fit(structure, fixed, moment.tokens_target - FOLD_TOKENS_MIN, frame)
        folded = [u for u, stays in zip(structure.units, fixed, strict=True) if not stays]
        return Plan(edits=(*squeezed, *self._fold_edit(structure, folded, FOLD_TOKENS_MIN, frame)))

    def _fold(self, structure: Outline, fixed: list[bool], moment: Moment, frame: Frame) -> Plan:
        room = moment.tokens_target - sum(
            unit.tokens for unit, stays in zip(structure.units, fixed, strict=True) if stays
        )
        fold_max = min(self.fold_tokens_max, max(FOLD_TOKENS_MIN, int(moment.tokens_target * self.share_max)), room)
        room -= fold_max
        folded: list[Unit] = []
        clamps: list[Edit] = []
        edge_open = True
        for unit, stays in reversed(list(zip(structure.units, fixed, strict=True))):
            if stays:
                continue
            if edge_open and unit.tokens <= room:
                room -= unit.tokens
                continue
            if edge_open and self.clamp_edge and room >= EDGE_TOKENS_MIN:
                clamps = clamp_unit(structure, unit, room, frame)
            else:
                clamps = [] if edge_open else clamps
            if not (edge_open and clamps):
                folded.append(unit)
            edge_open = False
        return Plan(edits=(*clamps, *self._fold_edit(structure, folded[::-1], fold_max, frame)))

    def _fold_edit(self, structure: Outline, units: Sequence[Unit], tokens_max: int, frame: Frame) -> list[Fold]:
        gone = [item for unit in units for item in structure.items[unit.start : unit.end]]
        if not gone:
            return []
        head = f"{counted(gone)}, folded; the originals can be read again at this address."
        room = tokens_max - FOLD_TOKENS_MIN
        lines = body(gone, room, frame.counter.text) if room > 0 else ""
        edit = fold_of(gone, f"{head}\n{lines}" if lines else head)
        return [edit] if frame.counter.message(edit.message) < sum(item.tokens for item in gone) else []


def may_fold(structure: Outline, unit: Unit, frame: Frame) -> bool:
    """True for a unit that nothing protects."""
    return unit.kind != "system" and not unit.open and structure.seqs(unit).isdisjoint(frame.kept | frame.pins)


def clamp_unit(structure: Outline, unit: Unit, room: int, frame: Frame) -> list[Edit]:
    """Cuts of one unit's results that bring it to `room` tokens; empty when they cannot."""
    results = [f for f in _results_in(structure, [unit]) if f.movable]
    edits, freed = _clamp(results, unit.tokens - room, frame)
    return edits if unit.tokens - freed <= room else []


def clamp_to_fit(structure: Outline, fixed: list[bool], target: int, frame: Frame) -> list[Edit]:
    """Cuts of oversized results among the units that stay, pins apart, largest first, until they fit `target`."""
    units = [unit for unit, stays in zip(structure.units, fixed, strict=True) if stays and unit.kind == "round"]
    excess = sum(unit.tokens for unit, stays in zip(structure.units, fixed, strict=True) if stays) - target
    results = [f for f in _results_in(structure, units) if f.movable and f.seq not in frame.pins]
    return _clamp(results, excess, frame)[0] if excess > 0 else []


def _results_in(structure: Outline, units: Sequence[Unit]) -> list[Found]:
    items: list[Item] = [item for unit in units for item in structure.items[unit.start : unit.end]]
    return list(find_results(outline(tuple(items))))


def _clamp(results: Sequence[Found], excess: int, frame: Frame) -> tuple[list[Edit], int]:
    edits: list[Edit] = []
    freed = 0
    for found in sorted(results, key=lambda f: (-f.tokens, f.seq, f.part.slot)):
        left = excess - freed
        if left <= 0 or found.tokens <= CLAMP_TOKENS_MIN * 2:
            break
        size = max(CLAMP_TOKENS_MIN, found.tokens - left - CLAMP_TOKENS_MIN)
        limit = Limit(size=size, head=size * 3 // 4, tail=size // 4, unit="tokens")
        edit = shorten(found, limit, frame.counter.text)
        if isinstance(edit, Replace):
            edits.append(edit)
            freed += found.tokens - frame.counter.part(edit.part)
    return edits, freed
