"""Collapse: talk without consequences shows as one template summary, and can be unfolded again. Counterpart:
`fold_oldest`, which folds anything old. Knows what is decisive; what was collapsed is the log's to keep."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from foldline.core.bounds import Positive, Whole
from foldline.core.edit import Edit, Frame, Plan
from foldline.core.message import ToolCall, ToolResult
from foldline.core.ports import Moment
from foldline.core.rounds import Outline, outline_of
from foldline.core.view import Item, View
from foldline.ledger.words import rule_lines, words_of
from foldline.passes.folding import counted, fold_of
from foldline.passes.template import body

SUMMARY_SHARE = 0.5
"""A summary larger than this share of its span is not worth making."""


class Collapse(Struct, frozen=True, kw_only=True):
    """Fold runs of messages that decide nothing.

        [u][a][u][a] … [u][a: call][r]  →  [‹summary of 20 messages›][u][a: call][r]

    Decisive are tool calls with their results (plans and task lists change through tools); plain talk, confirmations
    and replies without calls are not. Costs: O(messages). Breaks the cache from the first folded message. Reach for it
    in sessions of long talk between stretches of work. A span is never collapsed twice: folds are not messages.
    """

    name: str = "collapse"
    window: Positive = 20
    """Fewest messages in a row that are worth folding (requirement COL-3)."""
    keep_last: Whole = 0
    """The newest messages stay out of it."""
    summary_tokens_max: Whole = 2000

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """One fold for each long enough run, oldest first, until the target is met."""
        if moment.tokens_excess <= 0:
            return Plan()
        edits: list[Edit] = []
        excess = moment.tokens_excess
        for run in self._runs(outline_of(view), frame):
            if excess <= 0:
                break
            items = self._enough(run, excess)
            before = sum(item.tokens for item in items)
            lines = body(items, self._budget(before), count=frame.counter.text)
            rules = rule_lines(items, words_of(view.items(), frame.memo))
            text = "\n".join([f"{counted(items)}, folded.", lines, *rules])
            edit = fold_of(items, text, frame=frame)
            after = frame.counter.message(edit.message)
            if after < before:
                edits.append(edit)
                excess -= before - after
        return Plan(edits=tuple(edits))

    def _budget(self, tokens: int) -> int:
        return min(self.summary_tokens_max, int(tokens * SUMMARY_SHARE))

    def _enough(self, run: Sequence[tuple[Item, ...]], excess: int) -> tuple[Item, ...]:
        """The oldest part of a run that frees `excess`, no shorter than the window; all of it where nothing less does."""
        chosen: list[Item] = []
        tokens = 0
        for members in run:
            if len(chosen) >= self.window and tokens - self._budget(tokens) >= excess:
                break
            chosen.extend(members)
            tokens += sum(item.tokens for item in members)
        return tuple(chosen)

    def _runs(self, structure: Outline, frame: Frame) -> list[list[tuple[Item, ...]]]:
        """Units in a row that decide nothing, where they make at least a window of messages."""
        last = len(structure.items) - self.keep_last
        runs: list[list[tuple[Item, ...]]] = [[]]
        for unit in structure.units:
            members = structure.items[unit.start : unit.end]
            plain = unit.kind in ("user", "round") and not _is_decisive(members)
            if plain and unit.end <= last and structure.seqs(unit).isdisjoint(frame.kept):
                runs[-1].append(members)
            elif runs[-1]:
                runs.append([])
        return [run for run in runs if sum(map(len, run)) >= self.window]


def _is_decisive(items: Sequence[Item]) -> bool:
    return any(isinstance(part, (ToolCall, ToolResult)) for item in items for part in item.message.parts)
