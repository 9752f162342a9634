"""How a scope of a session is reduced: planned on a snapshot, asked about with the lock free, landed whole or not at all.

    prepare ─┬─ nothing due ─────────────────────────────────────────────► request
             └─ due ─► PreCompact ─► plan ⇄ ask ─► land ─► SessionStart, PostCompact ─► request
                                      lock   free    lock

Everything that needs an answer of the outside is a generator; what it yields, `foldline.session.outside` answers, waiting or
awaiting. The lock is held between two answers and never across one. Whatever ends a generator early (an interrupt, a
cancelled task) leaves log and memory as they were, but for the intent, which is then settled. Once it has landed it stands, and
its hooks are told before the caller is let go.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from functools import partial
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from foldline.asking import FOCUS_NOTE, IN_A_LOOP, adriven, awaited
from foldline.core.errors import (
    CompactionBlocked,
    ContextExhausted,
    InvalidOption,
    TargetUnreachable,
)
from foldline.core.estimate import Estimate
from foldline.core.kinds import refuse_no_number, refuse_no_text
from foldline.core.view import Item
from foldline.engine.driving import drive
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.gate import compacting
from foldline.hooks.occasion import Occasion
from foldline.log.state import ROOT
from foldline.log.values import timeless
from foldline.own_loop import is_in_a_loop
from foldline.reduce import Goal, Reduced, target_of
from foldline.restore.restorer import Restored
from foldline.restore.sources import SubAgent
from foldline.session.landing import Landing
from foldline.session.outside import (
    After,
    Before,
    Outside,
    Restoring,
    Started,
    aanswerer,
    answerer,
    owed,
    restored_for,
)
from foldline.session.projecting import Fixed, Sound
from foldline.session.request import Prepared
from foldline.session.restoring import folds_in, summary_in, with_restored
from foldline.session.watching import (
    Stopped,
    driven_alone,
    made_alone,
    refuse_what_does_not_fit,
    worth_making,
)
from foldline.session.working import (
    ANSWERING,
    BREAKER_MAX,
    BUSY,
    OPEN,
    TURNED,
    WAIT_S_MAX,
    WITHIN_ASK,
    Work,
)
from foldline.settings import window_asked

RESTORED_SHARE = 0.2
"""Of the target: what a summary leaves free at most for what is restored behind it."""
UNKNOWN_NOTE = "the model's window is not known, so no summary is asked for; name the model, or its window in foldline.toml"

Told = TypeVar("Told")
Going: TypeAlias = Generator[Outside, Any, Told]


class Looked(Struct, frozen=True, kw_only=True):
    """A scope as it stands, and what is to be done about it."""

    fixed: Fixed
    fit: Sound
    tokens: Estimate
    goal: Goal
    due: bool
    always: bool
    """True where the policy does something before every request."""


class Compacting(Landing):
    """What a session and its nodes do to their views."""

    # ── a request ────────────────────────────────────────────────────────────────────────────────────────────

    def _preparing(
        self, system: Any, tools: Any, *, output_cap: int | None = None, made: Report | None = None
    ) -> Going[Prepared]:
        """The next request, reduced where that is due. `made`: a compaction that was made for it already; no other is then."""
        refuse_no_number(or_none=True, output_cap=output_cap)
        self._cap = output_cap
        report = made
        with self._keeper.lock:
            self._weigh()
            fixed = self._fix(system, tools)
            self._bring_context()
            work = self._ready() if made is None else None
            if work is None and made is None:
                work, report = self._begun(self._waited(fixed))
        if work is not None:
            report = yield from self._carried(work)
        with self._keeper.lock:
            self._weigh()
            fit, tokens = self._fit(fixed)
            if self._remind(fit, tokens):
                fit, tokens = self._fit(fixed)
            report = report or self._untouched(fit, tokens)
            return self._prepared(fixed, fit, tokens=tokens, report=report)

    def _waited(self, fixed: Fixed) -> Looked:
        """The scope as it stands, once a compaction that runs has ended, where the request cannot go out before."""
        while True:
            looked = self._looked(fixed, Goal(policy=self._policy))
            work = self._known.work
            if not len(looked.fit.view):
                raise InvalidOption(
                    "messages", [], why="no provider takes a request without any; say something first"
                )
            if work is None or work.reduced is not None or WITHIN_ASK.get() or not self._must_wait(looked):
                return looked
            if not self._known.idle.wait(WAIT_S_MAX):
                return looked
            self._weigh()

    def _must_wait(self, looked: Looked) -> bool:
        """From the threshold on the compaction is finished first (requirement CMP-1); where the policy has a line from which
        a request waits, from there on (BUD-4)."""
        forced = self._policy.forced
        if not looked.due or forced is None:
            return looked.due
        return forced.is_reached(looked.tokens.tokens, looked.goal.room)

    def _begun(self, looked: Looked) -> tuple[Work | None, Report | None]:
        """The compaction that a request needs, where it takes the outside to make it; else it is made here, and its report
        is given."""
        if not looked.due:
            self._has_room(looked.tokens, looked.goal.policy)
            if not looked.always:
                return None, None
        if self._known.work is not None or WITHIN_ASK.get():
            untouched = self._untouched(looked.fit, looked.tokens)
            return None, replace(untouched, notes=(*untouched.notes, BUSY)) if looked.due else untouched
        stopped = self._refused_or_stopped(looked)
        if stopped is not None and stopped.fits:
            untouched = self._untouched(looked.fit, looked.tokens)
            return None, replace(untouched, outcome="failed", reason=stopped.cause)
        asks = looked.due and stopped is None and self._may_ask()
        work = self._work(looked, reason="threshold", asks=asks)
        work.stopped = "" if stopped is None else stopped.cause
        if looked.due and (work.goal.has_model or self._known.host.hooks or self._known.host.restore):
            self._known.work = work
            return work, None
        return None, self._made_alone(work, looked)

    def _refused_or_stopped(self, looked: Looked) -> Stopped | None:
        """Why nothing more is compacted for a request; `None` where something may be. Raises `ContextExhausted`."""
        if not looked.due:
            return None
        self._refuse_twice(looked)
        fixed = round(self._counted(looked.fixed, looked.tokens) * looked.goal.scale)
        return self._stopped(looked.tokens, looked.goal.policy, fixed=fixed)

    def _made_alone(self, work: Work, looked: Looked) -> Report:
        """The compaction without a model and hooks, and where the host restores nothing of its own; or what the policy does before every
        request."""
        if looked.due:
            reduced = self._restored_here(work, lambda: worth_making(work, made_alone(work)))
            refuse_what_does_not_fit(work, reduced)
            made = self._conclude if reduced.edits else self._came_to_nothing
            return made(work, reduced)
        reduced = driven_alone(work)
        if reduced.edits:
            told = timeless(reduced.report.to_dict())
            self._keeper.edit(scope=self._scope, edits=reduced.edits, report=told)
        return reduced.report

    def _looked(self, fixed: Fixed, goal: Goal) -> Looked:
        """The scope as it stands. `goal`: without the numbers of this moment."""
        setup, state = self._known.setup, self._keeper.state
        fit, tokens = self._fit(fixed)
        room = self._room(tokens)
        line = goal.policy.threshold
        counted = fit.view.tokens + self._counted(fixed, tokens)
        goal = replace(
            goal,
            tokens_window=room.window,
            is_window_known=setup.planned.is_window_known,
            output_cap=room.output_cap,
            output_max=room.output_max,
            calls=state.calls,
            idle_s=self._idle_s(),
            scale=tokens.tokens / counted if tokens.tokens_anchored and counted else 1.0,
        )
        self._is_half_way = line.is_reached(2 * tokens.tokens, room)
        return Looked(
            fixed=fixed,
            fit=fit,
            tokens=tokens,
            goal=goal,
            due=line.is_reached(tokens.tokens, room) and not self._is_served,
            always=goal.policy.acts_on_each(is_window_known=setup.planned.is_window_known),
        )

    def _may_ask(self) -> bool:
        """Whether a model is asked of the session's own accord (requirements TOK-10, CMP-14)."""
        is_window_known = self._known.setup.planned.is_window_known
        return self._asks(self._policy) and is_window_known and not self._is_open()

    def _asks(self, policy: Policy) -> bool:
        """Whether there is a model to ask, and a tier that asks one."""
        return self._known.host.completer is not None and bool(policy.asking)

    def _is_open(self) -> bool:
        """True where the model failed too often in a row, in this session and workspace."""
        return self._keeper.state.failures.get(self._known.host.workspace, 0) >= BREAKER_MAX

    def _work(self, looked: Looked, *, reason: str, asks: bool, focus: str | None = None) -> Work:
        setup = self._known.setup
        host, policy = self._known.host, looked.goal.policy
        notes = [*setup.planned.notes]
        if focus and not asks:
            notes.append(FOCUS_NOTE)
        if self._asks(policy) and looked.due and not asks and reason != "preview":
            notes.append(OPEN if self._is_open() else UNKNOWN_NOTE)
        return Work(
            goal=replace(
                looked.goal,
                has_model=asks,
                tokens_window_asked=window_asked(host.completer, model=setup.model),
                focus=focus or "",
            ),
            history=self._history(looked.fit, fixed=self._counted(looked.fixed, looked.tokens)),
            blank=Report(format=setup.format, model=setup.model, notes=tuple(notes)),
            reason=reason,
            counter=setup.counter,
            turn=self._keeper.turn,
            view=self._view().view,
        )

    def _refuse_twice(self, looked: Looked) -> None:
        if looked.goal.policy.once_per_response and self._keeper.state.compacted and self._scope == ROOT:
            raise ContextExhausted(
                f"{looked.goal.policy.name} compacts once a response, and the request is over its line again; "
                "record a response first, or compact by hand"
            )

    # ── by hand ──────────────────────────────────────────────────────────────────────────────────────────────

    def _by_hand(self, to: int | float | None, *, focus: str | None) -> Going[Report]:
        """A compaction that a person or the host asks for; ignored while the model answers, skipped while another runs
        (requirements CMP-33, CMP-34)."""
        refuse_no_text(or_none=True, focus=focus)
        with self._keeper.lock:
            looked = self._looked_for(to)
            passed_over = ANSWERING if self._known.answering else BUSY
            if self._known.answering or self._known.work is not None or WITHIN_ASK.get():
                report = self._untouched(looked.fit, looked.tokens)
                return replace(report, reason=passed_over)
            asks = self._asks(looked.goal.policy)
            if asks and to is None:
                looked = replace(looked, goal=replace(looked.goal, to=None, at_once=True))
            work = self._known.work = self._work(looked, reason="by hand", asks=asks, focus=focus)
        report = yield from self._carried(work)
        if report.outcome == "unreachable":
            target, why = report.tokens_target or 0, report.reason or ""
            raise TargetUnreachable(report.tokens_after, target, why, report, reduced=bool(report.passes))
        return report

    def _looked_for(self, to: int | float | None) -> Looked:
        """The scope as it stands, with a target that is named."""
        self._weigh()
        fixed = self._fix(None, None)
        if to is None:
            _, tokens = self._fit(fixed)
            to = self._policy.target.tokens(self._room(tokens))
        return self._looked(fixed, Goal(policy=self._policy, to=to))

    # ── carried out ──────────────────────────────────────────────────────────────────────────────────────────

    def _carried(self, work: Work) -> Going[Report]:
        """Carry a compaction through, or give it up."""
        try:
            if work.reduced is None:
                blocked = yield from self._planned(work)
                if blocked is not None:
                    return blocked
            with self._keeper.lock:
                self._keeper.refuse_closed()
                if work.reduced is None:
                    return self._given_up(work, TURNED, is_silent=True)
                report = self._land(work, work.reduced)
            if report.outcome == "compacted" and self._stands(work):
                report = yield from self._hooks_after(work, report)
            return report
        finally:
            self._over(work)

    def _planned(self, work: Work) -> Going[Report | None]:
        """PreCompact, and the plan; the report where a hook blocked it. The host hears that one runs, and that none does."""
        listener = self._known.host.listener
        listener.state(is_compacting=True)
        try:
            blocked = yield from self._hooks_before(work)
            if blocked is None:
                ahead = yield from self._restored_ahead(work)
                reduced = yield from self._asked(work)
                while reduced is not None and work.lowered(reduced):
                    reduced = yield from self._asked(work)
                if reduced is not None:
                    work.reduced = yield from self._restored(work, reduced, ahead=ahead)
            return blocked
        finally:
            listener.state(is_compacting=False)

    def _restored_ahead(self, work: Work) -> Going[Restored | None]:
        """What the agent needs to go on, as far as a share of the target holds it; the summary leaves so much free. `None` where
        nothing is restored, or no target is named."""
        target = target_of(work.history.tokens, work.goal, tokens_fixed=work.history.tokens_fixed)
        if not self._policy.restores or target is None:
            return None
        restored: Restored = yield self._restoring(work, room=int(target * RESTORED_SHARE))
        work.goal = replace(work.goal, beside=restored.tokens)
        return restored

    def _restored(self, work: Work, reduced: Reduced, *, ahead: Restored | None) -> Going[Reduced]:
        """The compaction with what the agent needs to go on behind its summary, in the same message and so in the same commit
        (requirement RST-1), within what the target leaves."""
        if not self._policy.restores or not folds_in(reduced):
            return reduced
        target = self._policy.target.tokens(work.goal.room)
        room = max(0, (reduced.report.tokens_target or target) - reduced.report.tokens_after)
        if ahead is None or ahead.is_cut or ahead.tokens > room or ahead.has_files:
            ahead = yield self._restoring(work, room=room, kept=reduced.view.items())
        return with_restored(reduced, ahead, counter=work.counter)

    def _restored_here(self, work: Work, plan: Callable[[], Reduced]) -> Reduced:
        """A compaction that nobody outside is asked for, with what is restored behind it."""
        here = partial(restored_for, self._known.host)
        ahead = drive(self._restored_ahead(work), here)
        return drive(self._restored(work, plan(), ahead=ahead), here)

    def _restoring(self, work: Work, *, room: int, kept: tuple[Item, ...] = ()) -> Restoring:
        """The question for it. Nodes that run are the session's own to name."""
        state = self._keeper.state
        nodes = tuple(SubAgent(name=one.name) for one in state.nodes.values() if one.id != self._scope)
        return Restoring(
            items=work.history.view.items(),
            room=room,
            counter=work.counter,
            kept=kept,
            nodes=nodes,
            skill_tokens=work.policy.skill_tokens,
        )

    def _ahead(self, *, focus: str | None) -> Work | None:
        """The beginning of a compaction whose plan waits for the next request to be taken in; `None` where one runs or waits
        already."""
        refuse_no_text(or_none=True, focus=focus)
        with self._keeper.lock:
            if self._known.work is not None or WITHIN_ASK.get():
                return None
            looked = self._looked_for(None)
            # as by hand, in any window; but nobody waits for it, so a model that fails is left alone
            asks = self._asks(self._policy) and not self._is_open()
            if asks:
                looked = replace(looked, goal=replace(looked.goal, to=None, at_once=True, ahead=True))
            work = self._work(looked, reason="background", asks=asks, focus=focus)
            work.is_background = True
            self._known.work = work
            return work

    def _going_ahead(self, work: Work) -> Going[None]:
        """Plan it; what comes of it waits for a request."""
        try:
            yield from self._planned(work)
        finally:
            if work.reduced is None or not work.reduced.edits:
                self._over(work)
            with self._keeper.lock:
                self._known.idle.notify_all()

    def _asked(self, work: Work) -> Going[Reduced | None]:
        """The plan, with the lock held between two answers and free while one is waited for; `None` where the session is no
        longer the one that it was begun in, and nothing more is asked."""
        setup = self._known.setup
        inner = compacting(
            work.history, work.goal, counter=setup.counter, report=work.blank, clock=perf_counter
        )
        reply: Any = None
        try:
            while True:
                with self._keeper.lock:
                    if not self._stands(work):
                        return None
                    try:
                        ask = inner.send(reply)
                    except StopIteration as done:
                        reduced: Reduced = done.value
                        return reduced
                    self._intend(work)
                reply = yield ask
        finally:
            inner.close()

    def _hooks_before(self, work: Work) -> Going[Report | None]:
        """PreCompact: its instructions go to the summary; what it blocks is not made (requirements HOK-1, CMP-17)."""
        hooks = self._known.host.hooks
        if hooks is None:
            return None
        may_block = work.policy.hooks_may_block
        verdict = yield Before(trigger=self._trigger(work), instructions=work.goal.focus, may_block=may_block)
        work.notes = (*work.notes, *verdict.notes)
        work.goal = replace(work.goal, focus=verdict.instructions)
        if verdict.blocked is None:
            return None
        with self._keeper.lock:
            report = self._given_up(work, f"blocked: {verdict.blocked}")
            fits = report.tokens_after < self._known.setup.planned.window
        if work.reason == "threshold" and fits:
            return report
        raise CompactionBlocked(
            f"{verdict.blocked}; nothing was changed: mend the hook's cause or take the hook out"
        )

    def _hooks_after(self, work: Work, report: Report) -> Going[Report]:
        """SessionStart and PostCompact, in this order (requirement HOK-4)."""
        hooks = self._known.host.hooks
        if hooks is None or work.reduced is None:
            return report
        trigger = self._trigger(work)
        started = yield Started(trigger=trigger)
        if started.added and self._stands(work):
            with self._keeper.lock:
                self._add_behind(started.added)
        ended = yield After(trigger=trigger, summary=summary_in(work.reduced))
        return replace(report, notes=(*report.notes, *started.notes, *ended.notes))

    @staticmethod
    def _trigger(work: Work) -> Any:
        return "manual" if work.is_manual else "auto"

    def _ready(self) -> Work | None:
        """A compaction that was made in the background and waits to be taken in."""
        work = self._known.work
        ready = work is not None and work.is_background and work.reduced is not None
        return work if ready and self._scope == ROOT else None

    # ── the outside ──────────────────────────────────────────────────────────────────────────────────────────

    def _wait(self, going: Going[Told]) -> Told:
        """Answer what a generator asks, waiting."""
        host = self._known.host
        if host.completer is not None and is_in_a_loop() and awaited(host.completer):
            going.close()
            raise InvalidOption("completer", host.completer, why=IN_A_LOOP)
        asking: Any = going  # the drivers know of questions to a model alone
        answer: Any = answerer(host, basis_of=self._basis, occasion_of=self._occasion)
        told: Told = drive(asking, answer, owed=owed)
        return told

    async def _await(self, going: Going[Told]) -> Told:
        """The same, awaiting, with everything between the answers off the event loop."""
        host = self._known.host
        asking: Any = going
        answer = aanswerer(host, basis_of=self._basis, occasion_of=self._occasion)
        told: Told = await adriven(asking, answer, owed=owed)
        return told

    def _occasion(self, trigger: Any) -> Occasion:
        host = self._known.host
        return Occasion(
            session_id=self._keeper.name,
            trigger=trigger,
            cwd=host.workspace or os.getcwd(),
            transcript_path=self._known.log_path,
            model=self._known.setup.model,
        )
