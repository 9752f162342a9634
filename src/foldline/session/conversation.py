"""What a session and its nodes have in common: to be spoken to, to prepare a request, to take in what was answered.

    user ──► prepare ──► (provider) ──► record ──► tool_result ──► prepare ──► …

The passes run in `prepare`, by the session's policy, before every request. What they do is appended to the log and on disk
before the request is given out. Each call holds the session's lock; the async twins run off the event loop.
"""

from __future__ import annotations

from hashlib import sha256
from time import perf_counter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.entry import Draft
from foldline.core.errors import ContextExhausted, InvalidOption, TargetUnreachable
from foldline.core.estimate import Estimate
from foldline.core.message import Message, ToolCall, calls_of
from foldline.distribution import contents, percent
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.gate import gated
from foldline.log.handoff import KIND as HANDOFF
from foldline.log.handoff import handoff_json
from foldline.log.state import ROOT, Scope
from foldline.log.values import bytes_json, dumps, system_json, timeless
from foldline.reduce import Goal, History, Reduced, broken_laws, reduce
from foldline.session.handing_off import band_of, due_record, in_force, reminder_tokens
from foldline.session.incoming import (
    fixed_part,
    result_message,
    user_message,
    waiting_call,
    waiting_calls,
)
from foldline.session.keep import Keeper, message_draft
from foldline.session.originals import Originals, Shown, Spans
from foldline.session.projecting import Fixed, Sound, fixed_of, held_in, outgoing_request, projected, sound
from foldline.session.request import Prepared
from foldline.session.setup import Setup
from foldline.survival import look_ahead
from foldline.wire.codec import Request
from foldline.wire.response import read_response

FOCUS_NOTE = "focus has no effect without a model to write the summary"
FINGERPRINT_CHARS = 16


class Known(Struct, kw_only=True):
    """What a session and its nodes share, beside the log."""

    setup: Setup
    memo: dict[str, Any] = {}
    """What passes found in parts that the views still show."""
    spans: Spans
    fixed: dict[str, Fixed] = {}
    """By scope, the system prompt and tools last given in this process."""


class Sent(Struct, frozen=True, kw_only=True):
    """The last request that was prepared in a scope."""

    revision: bytes
    tokens_fixed: int


class Planned(Struct, frozen=True, kw_only=True):
    """A reduction that is not made yet."""

    goal: Goal
    due: bool
    reduced: Reduced | None = None
    """`None`: nothing is due, and the policy does nothing before every request."""


class Conversation:
    """One scope of a session's log: the session itself, or a node."""

    def __init__(self, keeper: Keeper, known: Known, *, scope: str = ROOT) -> None:
        self._keeper, self._known, self._scope = keeper, known, scope
        self._sent: Sent | None = None

    # ── what is said ─────────────────────────────────────────────────────────────────────────────────────────

    def user(self, content: Any) -> None:
        """What the user says: a text, a list of the format's content parts, or a whole message of role user. Durable
        when this returns. Raises `InvalidOption`, `SessionFailed`."""
        with self._keeper.lock:
            self._view()
            message = user_message(content, format=self._known.setup.format)
            self._keeper.say(message_draft(message, scope=self._scope))

    def record(self, response: Any) -> None:
        """What the model answered: the SDK's object, or its dict, whole or the message alone. Its usage is what the next
        projection starts from, if its request was the last one prepared and nothing was said since (requirement TOK-5).
        Raises `InvalidOption`, `SessionFailed`."""
        with self._keeper.lock:
            self._view()
            setup = self._known.setup
            told = read_response(response, format=setup.format, tokens_window=setup.planned.window)
            sent, self._sent = self._sent, None
            is_answer = sent is not None and sent.revision == self._keeper.state.revision
            request: Any = {"tokens_fixed": sent.tokens_fixed} if sent is not None and is_answer else False
            last = told.messages[-1]
            drafts = [message_draft(message, scope=self._scope) for message in told.messages[:-1]]
            more = {"request": request} if last.meta is not None and last.meta.usage is not None else {}
            ends = not any(calls_of(message) for message in told.messages)
            self._keeper.say(*drafts, message_draft(last, scope=self._scope, **more), ends_turn=ends)

    def tool_result(self, call_id: str, output: Any, *, is_error: bool = False) -> None:
        """What a tool gave for a call: a text, a list of the format's content parts, or any JSON value. Raises
        `InvalidOption` for a call that the view does not have, `SessionFailed`."""
        with self._keeper.lock:
            call = waiting_call(self._view().view, call_id)
            message = result_message(call, output, is_error=is_error, format=self._known.setup.format)
            self._keeper.say(message_draft(message, scope=self._scope))

    @property
    def waiting(self) -> tuple[ToolCall, ...]:
        """Calls of the last round that have no result yet, in order: what is still to be run, after a crash or a break of
        the network too. What has its result in the log is not run again (requirement JRN-15)."""
        with self._keeper.lock:
            return waiting_calls(self._view().view.items())

    # ── requests ─────────────────────────────────────────────────────────────────────────────────────────────

    def prepare(self, system: Any = None, tools: Any = None) -> Prepared:
        """The next request, reduced by the policy where it is due. `system` and `tools` in the format's own values; left
        out, those last said. Raises `CheckpointFailed` when a reduction could not be made durable (memory is as it was),
        `ContextExhausted` when a policy that compacts once a response would have to do it again."""
        with self._keeper.lock:
            self._weigh()
            fixed = self._fix(system, tools)
            fit, tokens = self._fit(fixed)
            if not len(fit.view):
                raise InvalidOption(
                    "messages", [], why="no provider takes a request without any; say something first"
                )
            plan = self._plan(fit, tokens, goal=Goal(policy=self._policy))
            report = self._untouched(fit, tokens) if plan.reduced is None else plan.reduced.report
            if plan.reduced is not None and plan.reduced.edits:
                self._refuse_twice(plan)
                self._apply(plan, reason="threshold" if plan.due else "always")
                fit, tokens = self._fit(fixed)
            if not plan.due and self._remind(fit, tokens):
                fit, tokens = self._fit(fixed)
            return self._prepared(fixed, fit, tokens=tokens, report=report)

    def compact(self, to: int | float | None = None, *, focus: str | None = None) -> Report:
        """Reduce the view by hand: to so many tokens of the whole request, or a share of it in (0, 1); left out, to the
        policy's target, at any size. Returns the report. Raises `TargetUnreachable`, with the report as `.result`, where
        that is not possible; nothing has changed then. Raises `CheckpointFailed` as `prepare` does."""
        with self._keeper.lock:
            plan, reduced = self._by_hand(to, focus=focus)
            report = reduced.report
            if report.outcome == "unreachable":
                target, why = report.tokens_target or 0, report.reason or ""
                raise TargetUnreachable(report.tokens_after, target, why, report, reduced=bool(reduced.edits))
            if reduced.edits:
                self._apply(plan, reason="by hand")
            return report

    def preview(self, to: int | float | None = None, *, focus: str | None = None) -> Report:
        """What `compact` would do, and nothing done."""
        with self._keeper.lock:
            return self._by_hand(to, focus=focus)[1].report

    def context_use(self) -> dict[str, Any]:
        """What fills the next request, and how far it is from the line of the policy in force: the values of
        `foldline context` (requirements UIX-1, BUD-5, BUD-11). Right after a response `tokens_projected` is what the provider
        said of it."""
        with self._keeper.lock:
            self._weigh()
            setup, policy = self._known.setup, self._policy
            planned, fixed = setup.planned, self._fix(None, None)
            fit, tokens = self._fit(fixed)
            line = policy.threshold.tokens(planned.window, output_max=planned.output_max)
            return {
                "schema": "foldline.context/1",
                "format": setup.format,
                "model": setup.model,
                "policy": policy.name,
                "counter": setup.counter.name,
                "messages": len(fit.view),
                "tokens_total": fit.view.tokens + fixed.tokens,
                "tokens_projected": tokens.tokens,
                "tokens_anchored": tokens.tokens_anchored,
                "tokens_estimated": tokens.tokens_estimated,
                "tokens_window": planned.window,
                "tokens_threshold": line,
                "percent": percent(tokens.tokens, line),
                **contents(fit.view.items(), setup.counter, fixed=fixed.tokens, tools=fixed.tools),
                "notes": list(planned.notes),
            }

    @property
    def size(self) -> int:
        """Messages in the view."""
        return len(self._view().view)

    # ── within ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def format(self) -> str:
        """The wire format that is spoken."""
        return self._known.setup.format

    @property
    def _policy(self) -> Policy:
        setup = self._known.setup
        return setup.policy if self._scope == ROOT else setup.inside

    def _view(self) -> Scope:
        """This scope of the log. Raises `InvalidOption` for a node that is no more, `SessionFailed` once it was closed."""
        self._keeper.refuse_closed()
        scope = self._keeper.state.scopes.get(self._scope)
        if scope is None:
            why = "it has ended, or was rolled back; start another"
            raise InvalidOption("node", self._scope, why=why)
        return scope

    def _weigh(self) -> None:
        self._view()
        self._keeper.weigh_by(self._known.setup.counter)

    def _fix(self, system: Any, tools: Any) -> Fixed:
        """System prompt and tools of this request; what is new of them is appended."""
        state, known = self._keeper.state, self._known
        before = known.fixed.get(self._scope)
        if before is None and self._scope == ROOT:
            stored = Request(format=known.setup.format, messages=(), system=state.system, tools=state.tools)
            before = fixed_of(stored, known.setup.counter)
        before = before or Fixed()
        if system is not None or tools is not None:
            given = fixed_part(system, tools, format=known.setup.format)
            whole = replace(
                given,
                system=before.system if system is None else given.system,
                tools=before.tools if tools is None else given.tools,
            )
            now = before if _is_same(before, whole) else fixed_of(whole, known.setup.counter)
            if self._scope == ROOT:
                self._say_fixed(before, now)
            before = now
        known.fixed[self._scope] = before
        return before

    def _say_fixed(self, before: Fixed, now: Fixed) -> None:
        drafts = []
        if _system_body(now.system) != _system_body(before.system):
            drafts.append(Draft(kind="system", body=_system_body(now.system)))
        if now.tools != before.tools:
            told = (
                {}
                if now.tools is None
                else {"format": self._known.setup.format, **bytes_json("tools", now.tools)}
            )
            drafts.append(Draft(kind="tools", body=dumps(told)))
        if drafts:
            self._keeper.say(*drafts)

    def _fit(self, fixed: Fixed) -> tuple[Sound, Estimate]:
        """The view fit to send, and the size of the request with it."""
        setup, scope = self._known.setup, self._view()
        fit = sound(scope.view, needs=setup.needs, counter=setup.counter, format=setup.format)
        beside = reminder_tokens(
            in_force(self._keeper.state, self._scope),
            anchor=None if scope.anchor is None else scope.anchor.ordinal,
            counter=setup.counter,
            format=setup.format,
        )
        counting = setup.policy.counting
        return fit, projected(scope, fit.view, fixed=fixed.tokens, counting=counting, beside=beside)

    def _remind(self, fit: Sound, tokens: Estimate) -> bool:
        """Write the epoch's reminder where the request is in the hand-off band; never where the window is not known
        (requirements HND-1, TOK-10)."""
        setup, policy = self._known.setup, self._policy
        planned = setup.planned
        if self._scope != ROOT or not planned.is_window_known:
            return False
        record = due_record(self._keeper.state, fit.view.items()) if policy.handoff is not None else None
        if record is None:
            return False
        more = setup.counter.text(record.text)
        for size in (
            tokens.tokens,
            tokens.tokens + more,
        ):  # with it the request is still no reason to compact
            if band_of(size, policy, window=planned.window, output_max=planned.output_max) != "handoff_band":
                return False
        self._keeper.say(Draft(kind=HANDOFF, body=dumps(handoff_json(record))))
        return True

    def _history(self, fit: Sound, *, fixed: int) -> History:
        """The view as the passes see it."""
        setup, keeper, known = self._known.setup, self._keeper, self._known
        view, state = self._view().view, keeper.state
        originals = Originals(
            keeper.log,
            keeper.replay.places,
            count=state.ordinals,
            shown=view.items(),
            withheld=frozenset(keeper.lives),
        )
        return History(
            view=replace(fit.view, next_seq=state.ordinals),
            tokens_fixed=fixed,
            repairs=fit.repairs,
            needs=setup.needs,
            originals=originals,
            shown=Shown(originals, view.items()),
            address_of=known.spans.address,
            held=held_in(state, self._scope),
            limits=known.fixed[self._scope].limits,
            memo=known.memo,
        )

    def _plan(self, fit: Sound, tokens: Estimate, *, goal: Goal, notes: tuple[str, ...] = ()) -> Planned:
        """A reduction, planned and judged, and nothing done."""
        setup, state = self._known.setup, self._keeper.state
        window, output_max = setup.planned.window, setup.planned.output_max
        line = goal.policy.threshold
        due = line.is_reached(tokens.tokens, window, output_max=output_max)
        fixed = self._known.fixed[self._scope].tokens
        if not tokens.tokens_anchored and not setup.policy.counting.fixed:
            fixed = 0
        counted = fit.view.tokens + fixed
        goal = replace(
            goal,
            tokens_window=window,
            output_max=output_max,
            calls=state.calls,
            idle_s=self._idle_s(),
            scale=tokens.tokens / counted if tokens.tokens_anchored and counted else 1.0,
        )
        always = any(tier.when == "always" for tier in goal.policy.tiers)
        if line.is_reached(2 * tokens.tokens, window, output_max=output_max):
            look_ahead(self._history(fit, fixed=fixed))
        if goal.to is None and not due and not always:
            return Planned(goal=goal, due=due)
        blank = Report(format=setup.format, model=setup.model, notes=(*setup.planned.notes, *notes))
        history = self._history(fit, fixed=fixed)
        reduced = reduce(history, goal, counter=setup.counter, report=blank, clock=perf_counter)
        judged = gated(reduced, setup.policy.floors, counter=setup.counter)
        return Planned(goal=goal, due=due, reduced=judged)

    def _idle_s(self) -> float | None:
        now, answered = self._known.setup.clock(), self._keeper.state.answered_ms
        return None if now is None or answered is None else max(0, now - answered) / 1000

    def _by_hand(self, to: int | float | None, *, focus: str | None) -> tuple[Planned, Reduced]:
        self._weigh()
        setup = self._known.setup
        fixed = self._fix(None, None)
        if to is None:
            to = setup.policy.target.tokens(setup.planned.window, output_max=setup.planned.output_max)
        fit, tokens = self._fit(fixed)
        plan = self._plan(
            fit, tokens, goal=Goal(policy=self._policy, to=to), notes=(FOCUS_NOTE,) if focus else ()
        )
        assert plan.reduced is not None, "a goal that is named is always planned for"
        return plan, plan.reduced

    def _untouched(self, fit: Sound, tokens: Estimate) -> Report:
        """The report of a request that nothing was due for."""
        setup, size = self._known.setup, len(fit.view)
        return Report(
            format=setup.format,
            model=setup.model,
            policy=setup.policy.name,
            counter=setup.counter.name,
            reason="below the threshold",
            messages_before=size,
            tokens_before=tokens.tokens,
            tokens_after=tokens.tokens,
            repairs=fit.repairs,
            notes=setup.planned.notes,
        )

    def _refuse_twice(self, plan: Planned) -> None:
        if (
            plan.due
            and plan.goal.policy.once_per_response
            and self._keeper.state.compacted
            and self._scope == ROOT
        ):
            raise ContextExhausted(
                f"{plan.goal.policy.name} compacts once a response, and the request is over its line again; "
                "record a response first, or compact by hand"
            )

    def _apply(self, plan: Planned, *, reason: str) -> None:
        """Append what was planned, and take it in once it is durable (requirement SNP-4: all of it together, or nothing)."""
        assert plan.reduced is not None, "only what was planned is applied"
        reduced, report = plan.reduced, plan.reduced.report
        told = timeless(report.to_dict())
        if plan.goal.to is None and not plan.due:
            self._keeper.edit(scope=self._scope, edits=reduced.edits, report=told)
            return
        begin = {
            "reason": reason,
            "policy": report.policy,
            "tokens_before": report.tokens_before,
            "tokens_target": report.tokens_target,
        }
        result = {"report": told, "tokens_before": report.tokens_before, "tokens_after": report.tokens_after}
        self._keeper.commit(begin, scope=self._scope, edits=reduced.edits, result=result)

    def _prepared(self, fixed: Fixed, fit: Sound, *, tokens: Estimate, report: Report) -> Prepared:
        setup, state = self._known.setup, self._keeper.state
        handoff = in_force(state, self._scope)
        request = outgoing_request(fit, self._view().view, fixed=fixed, setup=setup, handoff=handoff)
        if report.outcome != "unchanged" or report.repairs:
            violations = broken_laws(request.messages, setup.needs)
            report = replace(report, valid=not violations, violations=violations)
        self._sent = Sent(revision=state.revision, tokens_fixed=fixed.tokens)
        sha = sha256(state.revision)
        control = b"" if handoff is None else handoff.text.encode()
        for piece in (self._scope.encode(), _system_body(fixed.system), fixed.tools or b"", control):
            sha.update(b"%d:" % len(piece) + piece)
        report = replace(report, messages_after=len(request.messages))
        digest = sha.hexdigest()[:FINGERPRINT_CHARS]
        return Prepared(request, report=report, tokens=tokens, fingerprint=digest)


def _system_body(system: Message | None) -> bytes:
    return b"{}" if system is None else dumps(system_json(system))


def _is_same(before: Fixed, whole: Request) -> bool:
    return before.tools == whole.tools and _system_body(before.system) == _system_body(whole.system)
