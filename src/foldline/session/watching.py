"""Whether the compactions that a session makes of its own accord get it anywhere, and the stop where they do not.

    due ─┬─ one may help ───────────────────────────────► compacted; the log counts one that was no progress
         └─ three did not, or system prompt and ─┬─ the request fits the window ──► it goes out as it is, the report says why
            tools alone are over the line        ├─ the policy's other tiers make it fit ──► compacted, no model asked
                                                 └─ nothing does ──► ContextExhausted, with the cause

The count stands in the log (`progress`, beside a compaction or alone), so that a session that is opened again knows it. It is set
back by a compaction that helped, by hand too, by a request with room below the line, and by another model. Counterpart:
`foldline.engine.progress`, which judges one compaction.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.entry import Draft
from foldline.core.errors import ContextExhausted
from foldline.core.estimate import Estimate
from foldline.engine.driving import drive, unanswered
from foldline.engine.policy import Policy
from foldline.engine.progress import STALLED_MAX, Sizes, cause_of, has_room, why_stopped, why_too_little
from foldline.engine.report import Covers, cache_of
from foldline.gate import compacting, sizes_of
from foldline.log.state import ROOT
from foldline.log.values import Json, dumps, members
from foldline.reduce import Reduced
from foldline.session.hosting import Block
from foldline.session.planning import Planning
from foldline.wire import strict

if TYPE_CHECKING:
    from foldline.session.working import Work


class Stopped(Struct, frozen=True, kw_only=True):
    """A request that a compaction is due for, and that compactions do not help."""

    cause: str
    fits: bool
    """True where the provider takes it all the same."""


class Watching(Planning):
    """What a session knows of its compactions."""

    def _stopped(self, tokens: Estimate, policy: Policy, *, fixed: int) -> Stopped | None:
        """Why nothing more is compacted for a request that is due; `None` where a compaction may help. `fixed`: of system
        prompt and tools, as the policy counts them."""
        state, room = self._keeper.state, self._room(tokens)
        line = policy.threshold.tokens(room)
        if self._scope != ROOT or not (fixed >= line or state.stalled >= STALLED_MAX):
            return None
        sizes = Sizes(
            before=tokens.tokens, after=self._left(tokens), line=line, fixed=fixed, largest=self._largest()
        )
        cause = cause_of(sizes)
        return Stopped(
            cause=cause if fixed >= line else why_stopped(cause),
            fits=tokens.tokens <= room.window or not policy.is_reactive,
        )

    def _left(self, tokens: Estimate) -> int:
        """What the last compaction left of the request; all of it where there was none."""
        made = [one for one in self._keeper.state.applied if one.scope == ROOT and not one.is_edit]
        if not made:
            return tokens.tokens
        told = members(self._keeper.log.entry(made[-1].offset).body).get("tokens_after", b"0")
        return int(strict.loads(told)) or tokens.tokens

    def _largest(self) -> int:
        return max((item.tokens for item in self._view().view), default=0)

    def _has_room(self, tokens: Estimate, policy: Policy) -> None:
        """Note in the log that a request is well below the line again, where compactions had not helped before."""
        line = policy.threshold.tokens(self._room(tokens))
        if self._scope == ROOT and self._keeper.state.stalled and has_room(tokens.tokens, line):
            self._keeper.say(Draft(kind="progress", body=dumps({"progress": True})))

    def _came_to(self, work: Work, reduced: Reduced) -> Json:
        """What the log is told of a compaction's progress; nothing of one that says nothing of the next."""
        sizes = sizes_of(reduced, work.goal)
        if sizes is None or self._scope != ROOT:
            return {}
        if work.is_named:
            helped = reduced.report.outcome == "compacted" and sizes.after < sizes.line
            return {"progress": True} if helped else {}
        failures = reduced.report.summary.failures
        if not reduced.edits and failures and not any(one.name == "small_gain" for one in failures):
            return {}  # the breaker counts those
        return {"progress": bool(reduced.edits) and sizes.is_progress}

    def _idle(self, work: Work, reduced: Reduced) -> None:
        """Note a compaction that was due and came to nothing, where nothing else of it is written."""
        told = self._came_to(work, reduced)
        if told and work.begin is None:
            self._keeper.say(Draft(kind="progress", body=dumps(told)))

    def _warned(self, work: Work, reduced: Reduced, *, told: Json) -> tuple[str, ...]:
        """What a person hears when the last compaction that may be without progress was one."""
        sizes = sizes_of(reduced, work.goal)
        if (
            told.get("progress") is not False
            or sizes is None
            or self._keeper.state.stalled + 1 != STALLED_MAX
        ):
            return ()
        cause = cause_of(sizes)
        why = why_stopped(cause if reduced.edits else reduced.report.reason or cause)
        self._known.host.listener.block(Block(text=why, is_error=True))
        return (why,)


def refuse_what_does_not_fit(work: Work, reduced: Reduced) -> None:
    """Raise `ContextExhausted` where compactions did not help, and this one does not make the request fit the window either."""
    sizes = sizes_of(reduced, work.goal)
    if work.stopped and sizes is not None and not (reduced.edits and sizes.after <= sizes.window):
        raise ContextExhausted(
            f"{work.stopped}; the request takes {sizes.before:,} tokens, and the window is {sizes.window:,}"
        )


def driven_alone(work: Work) -> Reduced:
    """The plan without a model."""
    goal = replace(work.goal, has_model=False)
    counter = work.counter
    return drive(
        compacting(work.history, goal, counter=counter, report=work.blank, clock=perf_counter), unanswered
    )


def made_alone(work: Work) -> Reduced:
    """The same for a compaction, which leaves no more messages than a checkpoint holds where it can."""
    reduced = driven_alone(work)
    while work.lowered(reduced):
        reduced = driven_alone(work)
    return reduced


def worth_making(work: Work, reduced: Reduced) -> Reduced:
    """The compaction; taken back, and said so, where it was made of the session's own accord, frees hardly anything and leaves
    the request due (1jehuang/jcode#170)."""
    sizes = sizes_of(reduced, work.goal)
    if sizes is None or work.is_named or work.stopped or not reduced.edits or not sizes.is_too_little:
        return reduced
    before = reduced.before
    report = replace(
        reduced.report,
        outcome="failed",
        reason=why_too_little(sizes),
        passes=(),
        covers=Covers(messages=0, addresses=()),
        tokens_after=before.tokens,
        messages_after=len(before.view),
        cache=cache_of(before.view, before.view, fixed=before.tokens_fixed),
    )
    return replace(reduced, view=before.view, edits=(), report=report)
