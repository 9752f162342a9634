"""Bounded fold: the deterministic fallback of a summary. What replaces a history stays within a bound of its own, and
what is kept whole leaves its thoughts and pictures behind. Counterpart: `fold_oldest`, which does the folding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import notice
from foldline.core.budget import replacement_max
from foldline.core.edit import Edit, Fold, Frame, Plan, Replace
from foldline.core.message import NEW, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.core.ports import Moment
from foldline.core.rounds import outline_of
from foldline.core.view import Item, View
from foldline.passes.fold_least import vital_tokens
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.folding import may_fold


class BoundedFold(Struct, frozen=True, kw_only=True):
    """Fold all before the newest whole units, and bound what stands in its place.

        [u][a][r][u][a][r]…[u]   ↦   [‹ledger›] + newest whole units   ≤ min(50,000, half the window, 80 % of the source)

    The ledger comes first, then whole units from the newest, by measured tokens; one unit at the edge may be cut, head
    75 %, tail 25 % (requirement CMP-12). What users ruled is never dropped for the bound: where it needs more, the bound
    gives way (CMP-30). The last user message stands once, in its place (CMP-31). In what is kept, unsigned reasoning and
    pictures inside results are cleared (CMP-32); signed reasoning belongs to its round and stays with it (law ROUND), a
    user's own pictures stay with the words (law CUT). Costs: as `fold`. Breaks the cache from the first message it folds or
    clears. Reach for it where a summary by a model failed or none is at hand, and a policy bounds what a summary may be.
    """

    name: str = "bounded-fold"
    fold: FoldOldest = FoldOldest()
    """How it folds within the bound."""

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """Empty when the view fits."""
        if moment.tokens_excess <= 0:
            return Plan()
        structure = outline_of(view)
        loose = [unit for unit in structure.units if may_fold(structure, unit, frame=frame)]
        source = sum(unit.tokens for unit in loose)
        fixed = view.tokens - source
        bound = replacement_max(source, moment.tokens_window or 2 * source)
        items = [item for unit in loose for item in structure.items[unit.start : unit.end]]
        vital = vital_tokens(structure, loose, frame=frame)
        target = max(min(moment.tokens_target, fixed + bound), fixed + vital)
        within = replace(moment, tokens_target=target, tokens_excess=view.tokens - target)
        folded = self.fold.plan(view, within, frame)
        cleared = _cleared(_that_stay(items, folded.edits), frame=frame)
        return replace(folded, edits=(*cleared, *folded.edits))


def _that_stay(items: Sequence[Item], edits: Sequence[Edit]) -> Iterator[tuple[Item, Part]]:
    """Parts of messages that no edit folds or cuts."""
    spans = [span for edit in edits if isinstance(edit, Fold) for span in edit.spans]
    gone = {seq for span in spans for seq in range(span.start, span.end)}
    cut = {(edit.seq, edit.slot) for edit in edits if isinstance(edit, Replace)}
    for item in items:
        if item.seq not in gone and item.message.synthetic is None:
            yield from ((item, part) for part in item.message.parts if (item.seq, part.slot) not in cut)


def _cleared(stay: Iterator[tuple[Item, Part]], *, frame: Frame) -> tuple[Edit, ...]:
    edits: list[Edit] = []
    for item, part in stay:
        address = frame.part_address(item.seq, part) if part.slot != NEW else ""
        now = _without(part, address) if address else None
        if now is not None and frame.counter.part(now) < frame.counter.part(part):
            edits.append(Replace(seq=item.seq, slot=part.slot, part=now, address=address))
    return tuple(edits)


def _without(part: Part, address: str) -> Part | None:
    """The part without its thoughts or pictures; `None` for one that has none, or whose provider signed them."""
    match part:
        case Reasoning():
            if part.signature is not None or part.redacted:
                return None
            return replace(part, text=notice("reasoning cleared", address), edited=True)
        case ToolResult():
            if part.server or not any(isinstance(inner, Media) for inner in part.content):
                return None
            content = tuple(_seen(inner, address) for inner in part.content)
            return replace(part, content=content, edited=True)
        case Text() | ToolCall() | Media() | Opaque():
            return None
        case _:
            assert_never(part)


def _seen(inner: Text | Media | Opaque, address: str) -> Text | Media | Opaque:
    if not isinstance(inner, Media):
        return inner
    return Text(text=notice(f"{inner.kind} cleared", address), edited=True)
