"""The end of a compaction: taken in whole where everything it names still stands, or given up and said so.

A result is appended and synced before memory has it (requirement JRN-2). Where the session was taken back, cleared or closed
meanwhile nothing of it is written anywhere (JRN-10); what arrived meanwhile stands behind it, in order. Counterpart:
`foldline.session.compacting`, which plans and asks.
"""

from __future__ import annotations

import contextlib
from typing import Any

from msgspec.structs import replace

from foldline.core.address import block
from foldline.core.edit import Edit, Fold
from foldline.core.errors import FoldlineError
from foldline.core.message import Meta
from foldline.engine.report import Report
from foldline.log.state import ROOT
from foldline.log.values import Json, timeless
from foldline.reduce import Reduced, frame_of, target_of
from foldline.session.hosting import Block
from foldline.session.incoming import user_message, waiting_calls
from foldline.session.keep import message_draft
from foldline.session.watching import Watching, refuse_what_does_not_fit, worth_making
from foldline.session.working import GONE, NO_GAIN, TURNED, Work, landed, still_stands
from foldline.wire.formats import codec


class Landing(Watching):
    """What a session and its nodes do with a compaction that was planned."""

    def _stands(self, work: Work) -> bool:
        """True while the session is the one that the compaction began in."""
        return work.turn == self._keeper.turn and not self._keeper.is_closed

    # ── landed ───────────────────────────────────────────────────────────────────────────────────────────────

    def _intend(self, work: Work) -> None:
        """Append the intent, before a model is asked for the first time."""
        if work.begin is None:
            work.begin = self._keeper.intend(_intent(work), scope=self._scope)

    def _land(self, work: Work, reduced: Reduced) -> Report:
        """Take in what was planned where everything it names still stands, and the laws hold; else give it up."""
        self._keeper.refuse_closed()
        if not self._stands(work):
            return self._given_up(work, TURNED, is_silent=True)
        reduced = worth_making(work, _without_a_size(work, reduced))
        refuse_what_does_not_fit(work, reduced)
        if not reduced.edits or (reduced.report.outcome == "unreachable" and work.is_named):
            return self._came_to_nothing(work, reduced)
        self._weigh()  # by the counter of the model that is used now
        if self._view().view is not work.view:
            rebased = self._rebased(work, reduced)
            if isinstance(rebased, str):
                return self._given_up(work, rebased)
            reduced = rebased
        report = self._conclude(work, reduced)
        self._shown(reduced.edits, report)
        return report

    def _rebased(self, work: Work, reduced: Reduced) -> Reduced | str:
        """The same edits on the view as it is now: what arrived meanwhile stands behind them, untouched. A text: why they are
        given up."""
        now = self._view().view
        if not still_stands(work.view, now, edits=reduced.edits):
            return GONE
        fixed = self._known.fixed[self._scope]
        fit, tokens = self._fit(fixed)
        history = self._history(fit, fixed=self._counted(fixed, tokens))
        frame = frame_of(history, counter=self._known.setup.counter)
        after = landed(history.view, reduced.edits, frame=frame)
        if after is None:
            return GONE
        if after.tokens >= fit.view.tokens:
            return NO_GAIN
        arrived = len(now) - len(work.view)
        note = f"{arrived:,} message{'' if arrived == 1 else 's'} came meanwhile, kept behind it as said"
        report = replace(
            reduced.report,
            messages_after=len(after),
            tokens_before=history.tokens,
            tokens_after=after.tokens + history.tokens_fixed,
            notes=(*reduced.report.notes, note) if arrived else reduced.report.notes,
        )
        return replace(reduced, view=after, report=report)

    def _conclude(self, work: Work, reduced: Reduced) -> Report:
        """Result and commit, and the intent before them where there is none yet (requirement SNP-4: all of it together)."""
        told = self._came_to(work, reduced)
        warned = self._warned(work, reduced, told=told)
        report = replace(reduced.report, notes=(*reduced.report.notes, *work.notes, *warned))
        result: Json = {
            "report": timeless(report.to_dict()),
            "tokens_before": report.tokens_before,
            "tokens_after": report.tokens_after,
            **self._model_told(report),
            **told,
        }
        begin = _intent(work) if work.begin is None else work.begin
        work.begin = None
        self._keeper.commit(begin, scope=self._scope, edits=reduced.edits, result=result)
        work.landed = report
        return report

    def _came_to_nothing(self, work: Work, reduced: Reduced) -> Report:
        """Nothing is changed: the log says why, where a model was asked."""
        told = self._came_to(work, reduced)
        warned = self._warned(work, reduced, told=told)
        report = replace(reduced.report, notes=(*reduced.report.notes, *work.notes, *warned))
        self._idle(work, reduced)
        why = report.reason or "nothing to do"
        names = [failure.name for failure in report.summary.failures]
        failed = {"failures": names} if names else {}
        self._settle(work, why, outcome="failed", **self._model_told(report), **told, **failed)
        if report.summary.failures:
            self._known.host.listener.block(Block(text=why, is_error=True))
        return report

    def _given_up(self, work: Work, why: str, *, is_silent: bool = False) -> Report:
        """The request as it is, and why."""
        self._settle(work, why, outcome="abandoned")
        self._weigh()
        fixed = self._known.fixed.get(self._scope) or self._fix(None, None)
        report = self._untouched(*self._fit(fixed))
        if not is_silent:
            self._known.host.listener.block(Block(text=why, is_error=True))
        return replace(report, outcome="failed", reason=why, notes=(*report.notes, *work.notes))

    def _settle(self, work: Work, why: str, *, outcome: str, **more: Any) -> None:
        begin, work.begin = work.begin, None
        if begin is not None and self._keeper.state.open_begin == begin:
            self._keeper.settled(begin, why=why, outcome=outcome, **more)

    def _model_told(self, report: Report) -> Json:
        """Whether the model's summary came to something, for whoever counts failures; nothing where none was asked."""
        summary = report.summary
        if summary.form is None and not summary.failures:
            return {}
        workspace = self._known.host.workspace
        said = {"outcome": "failed" if summary.form is None else "ok"}
        return {"model": {**said, "workspace": workspace} if workspace else said}

    def _shown(self, edits: tuple[Edit, ...], report: Report) -> None:
        """Tell the listener what now stands for what went."""
        folds = [edit for edit in edits if isinstance(edit, Fold)]
        if folds:
            message = folds[-1].message
            wire = dict(codec(self._known.setup.format).encode(message))
            self._known.host.listener.block(Block(text=message.text, message=wire))

    def _over(self, work: Work) -> None:
        """The end of a compaction, however it ended; one that waits to be taken in goes on waiting."""
        with self._keeper.lock:
            with contextlib.suppress(FoldlineError):
                if not self._keeper.is_closed:
                    self._settle(work, "the caller gave it up", outcome="abandoned")
            if self._known.work is work:
                self._known.work = None
            self._known.idle.notify_all()

    def _add_behind(self, text: str) -> None:
        """Text of a hook, for the model: behind what the session holds, by nobody's hand (requirement CMP-40)."""
        body = block("context", f"e{self._keeper.state.epoch}", body=text)
        made = user_message(body, format=self._known.setup.format)
        made = replace(made, synthetic="reminder", meta=Meta(injected=True))
        self._known.waiting_context = (*self._known.waiting_context, made)
        self._bring_context()

    def _bring_context(self) -> None:
        """Append what hooks said, once no call waits: between a call and its results nothing stands (law PAIR)."""
        waiting = self._known.waiting_context
        if waiting and self._scope == ROOT and not waiting_calls(self._view().view):
            self._keeper.say(*[message_draft(message) for message in waiting])
            self._known.waiting_context = ()


def _without_a_size(work: Work, reduced: Reduced) -> Reduced:
    """A compaction by hand that named no size is what it frees, wherever the policy's own target lies (requirement CMP-15); after
    a refusal what fits will do."""
    report = reduced.report
    fits = work.goal.at_once or report.tokens_after <= work.fits
    if not (fits and reduced.edits and report.outcome == "unreachable"):
        return reduced
    note = f"the policy's own target of {report.tokens_target:,} tokens is not reached: {report.reason}"
    return replace(
        reduced, report=replace(report, outcome="compacted", reason=None, notes=(*report.notes, note))
    )


def _intent(work: Work) -> Json:
    """The body of an intent."""
    return {
        "reason": work.reason,
        "policy": work.policy.name,
        "tokens_before": work.history.tokens,
        "tokens_target": target_of(work.history.tokens, work.goal, tokens_fixed=work.history.tokens_fixed),
    }
