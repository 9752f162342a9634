"""The ledger with a model's words in it: what `balanced` folds into, where a model is at hand. Counterpart:
`foldline.passes.fold_oldest`, which divides the room and makes the same ledger without a model."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.bounds import Positive, Share
from foldline.core.completion import Planning
from foldline.core.edit import Fold, Frame, Plan
from foldline.core.ports import Moment
from foldline.core.rounds import Outline, outline_of
from foldline.core.view import Item, View, seqs_in
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.folding import as_it_came, fold_of
from foldline.summary.dialogue import Brief, told_by
from foldline.summary.folds import HEAD_TOKENS, head_of, ledger_of, merged
from foldline.summary.records import records_of, without_payloads
from foldline.summary.taken import Fault

PROSE_TOKENS_MIN: Final = 80
"""Less room than this is not worth a request."""
OVER: Final = 1.5
"""How far a text may pass the tokens it was asked to have; the record gives way to it so far."""
FITS_MAX: Final = 3
"""How often the record is written again, shorter, where headings and words together came to more than their room."""


class ProseLedger(Struct, frozen=True, kw_only=True):
    """Fold as `fold` does, and let the model write why things are as they are.

        [u][a][r][u][a][r][u]   ↦   [‹ledger: record + prose›][a][r][u]

    The room is divided as without a model. The model writes under the seven headings on a fork of the conversation, so that
    its request hits the cache; the host keeps what users ruled, tasks, changes, commands and facts, and puts back what the
    model left out, in the room that its words leave. Costs: one request. Breaks the cache once, from the first folded
    message on. Reach for it where a policy that ends in `fold` may ask a model: where no text is taken nothing is planned,
    and the fold without a model follows.
    """

    name: str = "prose-ledger"
    fold: FoldOldest = FoldOldest()
    """How the room is divided."""
    prose_share: Share = 0.4
    """Share of the fold that the model's words may take …"""
    prose_tokens: Positive = 2_500
    """… and most tokens of them."""
    attempts: Positive = 2
    """Most requests for a text that will do, three at most."""

    def asking(self, view: View, moment: Moment, *, frame: Frame) -> Planning:
        """A fold with the model's words, and the clamps of `fold`; an empty plan, with what was asked, where none came."""
        base = self.fold.plan(view, moment, frame)
        fold = next((edit for edit in base.edits if isinstance(edit, Fold)), None)
        if fold is None:
            return Plan()
        structure = outline_of(view)
        seqs = set(seqs_in(fold.spans))
        units = [structure.items[unit.start : unit.end] for unit in structure.units]
        gone = [[as_it_came(item, frame) for item in unit] for unit in units if unit[0].seq in seqs]
        items = [item for unit in units for item in unit if item.seq in seqs]
        room = frame.counter.message(fold.message)
        prose_max = min(self.prose_tokens, int(room * self.prose_share))
        if prose_max < PROSE_TOKENS_MIN or all(item.message.synthetic for item in items):
            return Plan()

        def judge(text: str) -> Fault | None:
            tokens = frame.counter.text(text)
            if tokens > OVER * prose_max:
                return "too_large", f"it has {tokens:,} tokens, and at most {prose_max:,} have room"
            return None

        brief = Brief(
            form="ledger",
            units=gone,
            is_fork=True,
            tokens_max=prose_max,
            attempts_max=self.attempts,
            judge=judge,
        )
        told = yield from told_by(brief, moment=moment, frame=frame)
        if not told.text:
            return Plan(asked=told.asked)
        written = self._written(structure, items, text=told.text, room=room, frame=frame)
        edits = tuple(written if edit is fold else edit for edit in base.edits)
        return replace(base, edits=edits, asked=told.asked)

    def _written(self, structure: Outline, items: list[Item], *, text: str, room: int, frame: Frame) -> Fold:
        """The fold within `room` tokens: the model's words, and as much of the record as stands beside them."""
        records = records_of(items)
        text = without_payloads(text, records)
        around = frame.counter.text(merged("", text, records=records)) + HEAD_TOKENS
        budget = room - around
        for _ in range(FITS_MAX):
            record = ledger_of(structure, items, frame=frame, budget=budget, prose=text)
            body = "\n".join([head_of(items), merged(record, text, records=records)])
            made = fold_of(items, body, frame=frame)
            over = frame.counter.message(made.message) - room
            if over <= 0:
                break
            budget -= over
        return made
