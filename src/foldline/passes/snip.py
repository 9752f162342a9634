"""Snip: old parts of the conversation go and a notice stays in their place, without a model. Counterpart:
`fold_oldest`, which says what went. Knows units and turns, never thresholds of a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, assert_never

from msgspec import Struct

from foldline.core.bounds import Whole
from foldline.core.edit import Frame, Plan
from foldline.core.ports import Moment
from foldline.core.rounds import Outline, Unit, outline_of
from foldline.core.view import Item, View
from foldline.ledger.tools import rank
from foldline.ledger.words import Words, rule_lines, words_of
from foldline.passes.folding import counted, fold_of, may_fold
from foldline.passes.results import find_results
from foldline.passes.template import removed_lines

NOTICE_TOKENS = 60
"""What a one-line notice costs at most."""
LINE_TOKENS = 40
"""What one removed message's line in a notice costs at most, 80 characters of any script apart from the rarest."""


class Snip(Struct, frozen=True, kw_only=True):
    """Take old messages out until the target is met.

        [u][a][r][a][u][a][r][a][u]  →  [‹notice: what went›][u][a][r][a][u]

    Costs: O(messages). Breaks the cache from the first message it takes. Reach for it where old turns are done with;
    what was said in them is then only behind the notice's address, but for users' rules, which the notice says word for
    word. Stops as soon as the target is met.
    """

    name: str = "snip"
    unit: Literal["messages", "turns", "tool-rounds"] = "messages"
    """`messages`: the oldest run (requirement SNP-1). `turns`: whole turns, oldest first (SNP-2). `tool-rounds`: rounds
    with tools, read-only successes before writes before errors (SNP-3)."""
    over_messages: Whole = 9
    """Acts only in a view of more messages than this (`messages`): by default not under ten (requirement SNP-1)."""
    removed_min: Whole = 5
    """Fewer messages than this are not worth a notice (`messages`)."""
    keep_rounds: Whole = 10
    """The newest rounds with tools stay (`tool-rounds`, requirement SNP-7)."""
    unknown_from: Whole = 30
    """With usage unknown it acts from this many messages on, on everything before the kept rounds (SNP-7)."""

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """At most one fold; empty when the target is met already or too little could go."""
        structure = outline_of(view)
        match self.unit:
            case "messages":
                gone = self._oldest_run(structure, moment, frame=frame)
            case "turns":
                gone = self._turns(structure, moment, frame=frame)
            case "tool-rounds":
                gone = self._tool_rounds(structure, moment, frame=frame)
            case _:
                assert_never(self.unit)
        if not gone:
            return Plan()
        lines = [counted(gone) + " were removed here."]
        if self.unit == "messages":
            lines.extend(line for item in gone for line in removed_lines(item))
        lines += rule_lines(gone, _words(structure, frame=frame))
        return Plan(edits=(fold_of(gone, "\n".join(lines), frame=frame, kind="notice"),))

    def _oldest_run(self, structure: Outline, moment: Moment, *, frame: Frame) -> list[Item]:
        if moment.tokens_excess <= 0 or len(structure.items) <= self.over_messages:
            return []
        words = _words(structure, frame=frame)
        gone: list[Item] = []
        freed = -NOTICE_TOKENS
        for unit in structure.units:
            if not may_fold(structure, unit, frame=frame):
                if len(gone) >= self.removed_min:
                    break
                gone, freed = [], -NOTICE_TOKENS
                continue
            gone.extend(structure.items[unit.start : unit.end])
            freed += unit.tokens - LINE_TOKENS * (unit.end - unit.start)
            freed -= _ruled(structure, [unit], words=words, frame=frame)
            if freed >= moment.tokens_excess and len(gone) >= self.removed_min:
                break
        return gone if len(gone) >= self.removed_min and freed > 0 else []

    def _turns(self, structure: Outline, moment: Moment, *, frame: Frame) -> list[Item]:
        words = _words(structure, frame=frame)
        gone: list[Item] = []
        excess = moment.tokens_excess + NOTICE_TOKENS
        for start, end in structure.turns[:-1]:
            if excess <= 0 or moment.tokens_excess <= 0:
                break
            units = structure.units[start:end]
            if all(may_fold(structure, unit, frame=frame) for unit in units):
                gone.extend(item for unit in units for item in structure.items[unit.start : unit.end])
                excess -= sum(unit.tokens for unit in units) - _ruled(
                    structure, units, words=words, frame=frame
                )
        return gone if sum(item.tokens for item in gone) > NOTICE_TOKENS else []

    def _tool_rounds(self, structure: Outline, moment: Moment, *, frame: Frame) -> list[Item]:
        blind = not moment.usage_known
        if (not blind and moment.tokens_excess <= 0) or (blind and len(structure.items) < self.unknown_from):
            return []
        ranks: dict[int, int] = {}
        for found in find_results(structure):
            now = rank(found.kind, is_error=found.part.is_error)
            ranks[found.round] = max(now, ranks.get(found.round, 0))
        old = sorted(ranks)[: max(0, len(ranks) - self.keep_rounds)]
        old = [number for number in old if may_fold(structure, structure.units[number], frame=frame)]
        excess = moment.tokens_excess + NOTICE_TOKENS
        chosen: list[int] = []
        for number in sorted(old, key=lambda number: (ranks[number], number)):
            if excess <= 0 and not blind:
                break
            chosen.append(number)
            excess -= structure.units[number].tokens
        units = [structure.units[number] for number in sorted(chosen)]
        gone = [item for unit in units for item in structure.items[unit.start : unit.end]]
        return gone if sum(item.tokens for item in gone) > NOTICE_TOKENS else []


def _words(structure: Outline, *, frame: Frame) -> Words:
    return words_of(structure.items, frame.memo)


def _ruled(structure: Outline, units: Sequence[Unit], *, words: Words, frame: Frame) -> int:
    """Tokens of the rules of units, which the notice says word for word."""
    gone = [item for unit in units for item in structure.items[unit.start : unit.end]]
    if not any(item.message.role == "user" for item in gone):
        return 0
    return frame.counter.text("\n".join(rule_lines(gone, words)))
