"""Segments: stretches of old turns, each summed up by a model on its own and each opened again on its own. Counterpart:
`foldline.passes.collapse`, which folds talk without consequences by a template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from foldline.core.bounds import Positive, Whole
from foldline.core.completion import Asked, Planning, noted, spent
from foldline.core.edit import Edit, Fold, Frame, Plan
from foldline.core.ports import Moment
from foldline.core.rounds import Outline, Unit, outline_of
from foldline.core.view import Item, View
from foldline.passes.folding import as_it_came, fold_of, may_fold
from foldline.summary.dialogue import Brief, Telling, told_by
from foldline.summary.folds import head_of, rules_of
from foldline.summary.instructions import SEGMENT_TOKENS
from foldline.summary.taken import Fault, as_prose

SEGMENTS_MAX: Final = 32
"""Requests of one compaction."""
OVER: Final = 2.0
"""How far a segment's text may pass the tokens it was asked to have."""


class Segments(Struct, frozen=True, kw_only=True):
    """Fold old turns in stretches of five to ten, a few sentences each.

        [u][a]…[u][a]…[u][a]…[u][a]   ↦   [‹turns 1–10›][‹turns 11–20›]…[u][a]

    One request a segment, independent of the others, and one fold each, so that each can be unfolded alone (requirement COL-4).
    Rules of users stand in them word for word. What was summed up once is not again. Costs: a request a segment. Breaks the
    cache once, from the first segment on. Reach for it where whole turns have to go and the story of them should stay.
    """

    name: str = "segments"
    turns: Positive = 10
    """Turns of a segment, as far as there are."""
    turns_min: Positive = 5
    """Fewer turns than this are no segment."""
    keep_turns: Whole = 2
    """The newest turns stay."""

    def asking(self, view: View, moment: Moment, *, frame: Frame) -> Planning:
        """Segments from the oldest on until the target is met; the first that comes to nothing ends it."""
        structure = outline_of(view)
        edits: list[Edit] = []
        asked: list[Asked] = []
        excess = moment.tokens_excess
        for units in self._segments(structure, frame)[:SEGMENTS_MAX]:
            if excess <= 0 and not (moment.at_once and not edits):
                break
            items = [item for unit in units for item in structure.items[unit.start : unit.end]]
            rules = rules_of(structure, items, frame=frame)
            told = yield from self._told(structure, units, rules=rules, moment=moment, frame=frame)
            asked.append(told.asked)
            if not told.text:
                break
            made = _fold(items, told.text, rules=rules, frame=frame)
            edits.append(made)
            excess -= sum(item.tokens for item in items) - frame.counter.message(made.message)
        return Plan(edits=tuple(edits), asked=_together(asked) if asked else None)

    def _told(
        self, structure: Outline, units: Sequence[Unit], *, rules: str, moment: Moment, frame: Frame
    ) -> Telling:
        items = [item for unit in units for item in structure.items[unit.start : unit.end]]
        tokens = sum(item.tokens for item in items)

        def judge(text: str) -> Fault | None:
            size = frame.counter.message(_fold(items, text, rules=rules, frame=frame).message)
            if size >= tokens or frame.counter.text(text) > OVER * SEGMENT_TOKENS[1]:
                return "too_large", f"{frame.counter.text(text):,} tokens for a stretch of {tokens:,}"
            return None

        brief = Brief(
            form="segments",
            purpose="segment",
            units=[[as_it_came(item, frame) for item in structure.items[u.start : u.end]] for u in units],
            is_fork=False,
            tokens_max=min(SEGMENT_TOKENS[1], max(50, tokens // 3)),
            attempts_max=1,
            judge=judge,
        )
        return (yield from told_by(brief, moment=moment, frame=frame))

    def _segments(self, structure: Outline, frame: Frame) -> list[list[Unit]]:
        """Runs of whole old turns in which everything may go, in stretches of at most `turns`."""
        old = structure.turns[: max(0, len(structure.turns) - self.keep_turns)]
        runs: list[list[list[Unit]]] = [[]]
        for start, end in old:
            units = list(structure.units[start:end])
            may_go = all(
                unit.kind != "synthetic" and may_fold(structure, unit, frame=frame) for unit in units
            )
            if may_go:
                runs[-1].append(units)
            elif runs[-1]:
                runs.append([])
        return [segment for run in runs for segment in self._stretches(run)]

    def _stretches(self, run: Sequence[list[Unit]]) -> list[list[Unit]]:
        """A run in stretches of equal length; one shorter than `turns_min` is left alone."""
        count = -(-len(run) // self.turns)
        if len(run) < self.turns_min:
            return []
        size = -(-len(run) // count)
        stretches = [run[at : at + size] for at in range(0, len(run), size)]
        return [[unit for turn in one for unit in turn] for one in stretches if len(one) >= self.turns_min]


def _fold(items: Sequence[Item], text: str, *, rules: str, frame: Frame) -> Fold:
    body = [head_of(items), as_prose(text), *([rules] if rules else [])]
    return fold_of(items, "\n".join(body), frame=frame)


def _together(asked: Sequence[Asked]) -> Asked:
    """Several segments' questions as one answer."""
    return Asked(
        form="segments",
        requests=sum(one.requests for one in asked),
        attempts=sum(one.attempts for one in asked),
        tokens_source=sum(one.tokens_source for one in asked if one.is_written),
        tokens_seen=sum(one.tokens_seen for one in asked),
        failures=tuple(failure for one in asked for failure in one.failures),
        is_written=any(one.is_written for one in asked),
        notes=noted(one.notes for one in asked),
        usage=spent(one.usage for one in asked),
    )
