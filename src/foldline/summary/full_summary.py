"""A whole summary by a model in the place of all but the newest messages: `handoff`, `reserve`, the ladders and `cascade` each
have their own form and their own tail. Counterpart: `prose_ledger`, which keeps a record of the host's beside the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from foldline.core.bounds import Positive, Whole
from foldline.core.budget import replacement_max
from foldline.core.completion import Planning
from foldline.core.edit import Fold, Frame, Plan
from foldline.core.ports import Moment
from foldline.core.rounds import Outline, Unit, outline_of
from foldline.core.view import Item, View
from foldline.ledger.entries import Entry
from foldline.passes.fold_range import CANNOT
from foldline.passes.folding import as_it_came, fold_of, may_fold
from foldline.summary.dialogue import Brief, told_by
from foldline.summary.folds import HEAD_TOKENS, head_of, ledger_of, merged, rules_of
from foldline.summary.instructions import RECOVERY, FormName
from foldline.summary.records import records_of, without_payloads
from foldline.summary.taken import Fault, as_prose

ROOM_TOKENS_MIN: Final = 150
"""Where less than this is left for a summary, none is asked for: it could not bring the view to its target."""
CHECKPOINT_TOKENS: Final = 2_000
"""What the host's own record may take beside a hand-off summary: rules, tasks, what changed (requirement CMP-9)."""
CHECKPOINT_SHARE: Final = 0.3
SUMMARY_SHARE: Final = 0.25
"""Share of the target that the newest messages leave to the summary."""


class FullSummary(Struct, frozen=True, kw_only=True):
    """Put one summary by a model in the place of everything old.

        [u][a][r][u][a][r]…[a][r][u]   ↦   [‹summary, and what users ruled›][a][r][u]

    What users ruled stands behind the model's words, word for word, whatever the model wrote. The last user message, pins and
    an open round stay in their places. Costs: one request, a fork that hits the cache or a call of its own. Breaks the cache
    once, from the first folded message on. Reach for it where the story of the work matters more than its facts, and one
    request is affordable; a text that is no summary, or frees too little, changes nothing.
    """

    name: str = "summary"
    form: FormName = "full"
    """What is to be written: seven headings, nine sections, six fields, or what the model thinks best."""
    keep: Literal["rounds", "turns", "percent", "messages", "newest"] = "turns"
    """What of the newest stays: so many rounds · so many turns, fewer where they do not fit · so many percent of the messages
    that could go, as far as they fit · so many messages, and of the rest whatever need not go · so many messages and no more."""
    keep_count: Whole = 2
    """How many."""
    is_fork: bool = True
    """Whether the conversation's own request is gone on with; else a call of its own, on blocks of text."""
    summary_tokens: Whole = 4_000
    """Most tokens that the model is asked for; 0: no word of it."""
    attempts: Positive = 1
    """Most requests for a text that will do, three at most."""
    retries_errors: bool = False
    """Whether an error of the provider is tried again, where the caller's client does not."""
    shrinks: bool = False
    """After an overflow leave out what can be read again, the oldest, what is long (requirement CMP-11); else read in pieces."""

    def asking(self, view: View, moment: Moment, *, frame: Frame) -> Planning:
        """One fold, or an empty plan with what was asked and why it came to nothing."""
        structure = outline_of(view)
        units = self._units(structure, view, moment=moment, frame=frame)
        items = [item for unit in units for item in structure.items[unit.start : unit.end]]
        if not items or all(item.message.synthetic for item in items):
            return Plan(hints=(CANNOT,) if not items else ())
        work = _Work(self, items, view=view, moment=moment, frame=frame)
        if work.room < ROOM_TOKENS_MIN:
            return Plan(hints=(CANNOT,))
        sources = [
            [as_it_came(item, frame) for item in structure.items[unit.start : unit.end]] for unit in units
        ]
        brief = Brief(
            form=self.form,
            units=sources,
            is_fork=self.is_fork,
            tokens_max=work.tokens_max,
            attempts_max=self.attempts,
            retries_errors=self.retries_errors,
            shrinks=self.shrinks,
            is_lenient=self.form == "reserve",
            judge=work.judge,
        )
        told = yield from told_by(brief, moment=moment, frame=frame)
        if not told.text:
            return Plan(asked=told.asked)
        return Plan(edits=(work.fold(told.text),), asked=told.asked)

    # ── what goes ────────────────────────────────────────────────────────────────────────────────────────────

    def _units(self, structure: Outline, view: View, *, moment: Moment, frame: Frame) -> list[Unit]:
        """The units that go, oldest first."""
        loose = [unit for unit in structure.units if may_fold(structure, unit, frame=frame)]
        fixed = view.tokens - sum(unit.tokens for unit in loose)
        target = moment.tokens_target if not moment.at_once else view.tokens
        room = target - fixed - min(self.summary_tokens, int(target * SUMMARY_SHARE))
        match self.keep:
            case "rounds":
                start = _newest_rounds(structure, self.keep_count)
                return [unit for unit in loose if unit.end <= start]
            case "turns":
                return _before_turns(structure, loose, count=self.keep_count, room=room)
            case "percent":
                messages = sum(unit.end - unit.start for unit in loose)
                return _before_newest(loose, messages=-(-messages * self.keep_count // 100), room=room)
            case "messages" | "newest":
                last = len(structure.items) - self.keep_count
                old = [unit for unit in loose if unit.end <= last]
                if self.keep == "newest" or moment.at_once:
                    return old
                return _smallest(old, excess=moment.tokens_excess, room=self.summary_tokens)


class _Work:
    """One summary: what it may be, what stands beside it, and the fold that it becomes."""

    def __init__(
        self, made: FullSummary, items: list[Item], *, view: View, moment: Moment, frame: Frame
    ) -> None:
        self._made, self._items = made, items
        self._view, self._moment, self._frame = view, moment, frame
        self._structure = structure = outline_of(view)
        self._evicted = sum(item.tokens for item in items)
        self._records: tuple[Entry, ...] = records_of(items) if made.form == "handoff" else ()
        self._rules = rules_of(structure, items, frame=frame)
        self._loose = sum(unit.tokens for unit in structure.units if may_fold(structure, unit, frame=frame))
        self.room = self._room()
        self.tokens_max = min(made.summary_tokens, self.room) if made.summary_tokens else None

    def _limit(self) -> int:
        """Tokens that the view may have afterwards."""
        moment, made = self._moment, self._made
        limit = self._view.tokens - 1
        if made.form == "reserve":
            return limit if moment.tokens_threshold is None else min(limit, moment.tokens_threshold - 1)
        return limit if moment.at_once else min(limit, max(moment.tokens_target, 1))

    def _bound(self) -> int:
        """Tokens that what replaces the loose messages may have (requirement CMP-10)."""
        if self._made.form != "handoff":
            return self._view.tokens
        return replacement_max(self._loose, self._moment.tokens_window or 2 * self._loose)

    def _room(self) -> int:
        """Tokens left for the model's words."""
        stays = self._view.tokens - self._evicted
        beside = HEAD_TOKENS + self._frame.counter.text(self._rules)
        return min(self._limit() - stays, self._bound() - (self._loose - self._evicted)) - beside

    def judge(self, text: str) -> Fault | None:
        """Whether the summary does what it is for: smaller than what it replaces, under its line, worth its price."""
        tokens = self._frame.counter.message(self.fold(text).message)
        after = self._view.tokens - self._evicted + tokens
        if tokens >= self._evicted:
            return (
                "too_large",
                f"with {tokens:,} tokens it is no smaller than the {self._evicted:,} it replaces",
            )
        if self._loose - self._evicted + tokens > self._bound():
            said = f"what replaces {self._loose:,} tokens would have {self._loose - self._evicted + tokens:,}"
            return "small_gain", f"{said}, and {self._bound():,} is the most"
        if after > self._limit():
            if self._made.form == "reserve":
                return (
                    "over_threshold",
                    f"the view would have {after:,} tokens and be due again at {self._limit() + 1:,}",
                )
            return "too_large", f"the view would have {after:,} tokens, and {self._limit():,} is the target"
        return None

    def fold(self, text: str) -> Fold:
        """The fold with these words."""
        body = [head_of(self._items)]
        if self._made.form == "handoff":
            text = without_payloads(text, self._records)
            budget = min(CHECKPOINT_TOKENS, int(self.room * CHECKPOINT_SHARE))
            budget = max(budget, self._frame.counter.text(self._rules) + HEAD_TOKENS)
            record = ledger_of(self._structure, self._items, frame=self._frame, budget=budget, prose=text)
            body.append(merged(record, text, records=self._records))
        else:
            body.append(as_prose(text))
            if self._made.form == "ladder":
                body.append(as_prose(RECOVERY))
            if self._rules:
                body.append(self._rules)
        return fold_of(self._items, "\n".join(body), frame=self._frame)


def _newest_rounds(structure: Outline, count: int) -> int:
    """View index at which the newest rounds begin; before everything where there are not more of them."""
    rounds = [unit for unit in structure.units if unit.kind == "round"]
    return rounds[-count].start if len(rounds) > count else 0


def _before_turns(structure: Outline, loose: Sequence[Unit], *, count: int, room: int) -> list[Unit]:
    """What is older than the newest turns: so many, fewer where they have no room, at least one (requirement CMP-37)."""
    starts = [structure.units[start].start for start, _ in structure.turns]
    for number in range(min(count, len(starts)), 0, -1):
        old = [unit for unit in loose if unit.end <= starts[-number]]
        if number == 1 or sum(unit.tokens for unit in loose if unit.end > starts[-number]) <= room:
            return old
    return list(loose)


def _before_newest(loose: Sequence[Unit], *, messages: int, room: int) -> list[Unit]:
    """What is older than so many of the newest messages, as far as those fit."""
    rest = list(loose)
    while rest and messages >= rest[-1].end - rest[-1].start and room >= rest[-1].tokens:
        unit = rest.pop()
        messages -= unit.end - unit.start
        room -= unit.tokens
    return rest


def _smallest(old: Sequence[Unit], *, excess: int, room: int) -> list[Unit]:
    """The smallest oldest part that frees `excess` with a summary in its place, which may take up to a fifth of it
    (requirement CMP-25); nothing where no part does."""
    gone: list[Unit] = []
    freed = 0
    for unit in old:
        gone.append(unit)
        freed += unit.tokens
        if freed - max(ROOM_TOKENS_MIN + HEAD_TOKENS, min(room, freed // 5)) >= excess:
            return gone
    return gone if freed - ROOM_TOKENS_MIN - HEAD_TOKENS >= excess else []
