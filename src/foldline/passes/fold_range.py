"""Fold range: the smallest oldest part whose fold brings the view to its target becomes one ledger, which has room for the rules
in it; the newest messages are never in it. Counterpart: `fold_oldest`, which always reaches the target. Knows messages and
tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from foldline.core.bounds import Whole
from foldline.core.edit import Fold, Frame, Plan
from foldline.core.ports import Moment
from foldline.core.rounds import Outline, Unit, outline_of
from foldline.core.view import Item, View
from foldline.ledger.compose import compose
from foldline.ledger.words import words_of
from foldline.passes.folding import HEAD_TOKENS, evicted_of, fold_of, head_of, may_fold
from foldline.passes.shorten import fact_cache, prices_of

CANNOT = "cannot free enough"
RULES_TOKENS = 16
"""A ledger that had no room for a rule is not written again for less than so much more."""


class FoldRange(Struct, frozen=True, kw_only=True):
    """Fold as little as possible, from the oldest message on.

        [u][a][r][a][r][u][a][r]   target ↓   →  [‹ledger of 3 messages›][a][r][u][a][r]

    Costs: O(messages) and the facts of what is folded. Breaks the cache from the first folded message. Reach for it where
    the newest messages must stay whatever they weigh: where no range frees enough, or as much as its rules need beside,
    nothing is changed, and the next tier has to.
    """

    name: str = "fold-range"
    keep_last: Whole = 10
    """The newest messages stay; a round that begins among them stays whole."""
    summary_tokens: Whole = 2_000
    """Most tokens of the ledger."""

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """One fold, or a hint that no range frees enough (requirement CMP-25)."""
        if moment.tokens_excess <= 0:
            return Plan()
        structure = outline_of(view)
        gone: list[Item] = []
        freed, least = -HEAD_TOKENS, 0
        for unit in _oldest(structure, keep_last=self.keep_last, frame=frame):
            gone += structure.items[unit.start : unit.end]
            freed += unit.tokens
            if freed >= moment.tokens_excess + least:
                budget = min(self.summary_tokens, freed - moment.tokens_excess)
                fold, is_ruled = self._fold(structure, gone, budget=budget, frame=frame)
                if is_ruled or budget == self.summary_tokens:
                    return Plan(edits=(fold,))
                # a ledger is written a few times, not once a unit
                least = min(self.summary_tokens, 2 * budget + RULES_TOKENS)
        return Plan(hints=(CANNOT,))

    def _fold(
        self, structure: Outline, gone: Sequence[Item], *, budget: int, frame: Frame
    ) -> tuple[Fold, bool]:
        """The fold of a range with a ledger of so many tokens, and whether every rule stands in that."""
        evicted = evicted_of(structure, gone, words=words_of(structure.items, frame.memo), frame=frame)
        written = compose(evicted, budget=budget, prices=prices_of(frame), cache=fact_cache(frame))
        head = head_of(gone)
        fold = fold_of(gone, f"{head}\n{written.text}" if written.text else head, frame=frame)
        return fold, not written.rules_omitted


def _oldest(structure: Outline, *, keep_last: int, frame: Frame) -> Iterator[Unit]:
    """What may be folded, oldest first, up to the newest messages."""
    last = len(structure.items) - keep_last
    for unit in structure.units:
        if unit.end > last:
            return
        if may_fold(structure, unit, frame=frame):
            yield unit
