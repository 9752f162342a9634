"""What a session and its nodes have in common: to be spoken to, to prepare a request, to take in what was answered.

    user ──► prepare ──► (provider) ──► record ──► tool_result ──► prepare ──► …

The passes run in `prepare`, by the session's policy, before every request. What they do is appended to the log and on disk
before the request is given out. Each call holds the session's lock, but not while a model or a hook is waited for; the async
twins run off the event loop.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from foldline.core.kinds import refuse_no_text
from foldline.core.message import ToolCall, calls_of
from foldline.distribution import contents, percent
from foldline.engine.report import Report
from foldline.session.incoming import (
    result_message,
    user_message,
    waiting_call,
    waiting_calls,
)
from foldline.session.keep import message_draft
from foldline.session.limits import outgrown
from foldline.session.planning import Sent
from foldline.session.reacting import Reacting
from foldline.session.request import Prepared
from foldline.session.serving import done_json, heard
from foldline.session.twins import twin
from foldline.session.watching import made_alone
from foldline.survival import facts_of
from foldline.wire.mismatch import Mismatch, Outgoing, mismatch_of
from foldline.wire.native import Done
from foldline.wire.response import Response, read_response


class Conversation(Reacting):
    """One scope of a session's log: the session itself, or a node."""

    # ── what is said ─────────────────────────────────────────────────────────────────────────────────────────

    def user(self, content: Any) -> None:
        """What the user says: a text, a list of the format's content parts, or a whole message of role user. Durable
        when this returns. Raises `InvalidOption`, `SessionFailed`."""
        with self._keeper.lock:
            self._view()
            message = user_message(content, format=self._known.setup.format)
            self._keeper.say(message_draft(message, scope=self._scope))

    auser = twin(user)

    def record(self, response: Any) -> None:
        """What the model answered: the SDK's object, or its dict, whole or the message alone. Its usage is what the next
        projection starts from, if its request was the last one prepared and nothing was said since (requirement TOK-5).
        Raises `InvalidOption`, `SessionFailed`."""
        with self._keeper.lock:
            self._view()
            setup = self._known.setup
            told = read_response(response, format=setup.format, tokens_window=setup.planned.window)
            sent, self._sent = self._sent, None
            self._recovered, self._recovering_with = False, None
            now = (self._keeper.state.revision, setup.model)
            if sent is not None and (sent.revision, sent.model) != now:
                sent = None
            mismatch = self._mismatch(told, sent)
            last = told.messages[-1]
            drafts = [message_draft(message, scope=self._scope) for message in told.messages[:-1]]
            more: dict[str, Any] = {}
            if last.meta is not None and last.meta.usage is not None:
                counts = sent is not None and mismatch is None
                more["request"] = (
                    {"tokens_fixed": sent.tokens_fixed} if sent is not None and counts else False
                )
            if mismatch is not None:
                more["mismatch"] = mismatch.to_json()
            if done := done_json(told.done):
                more["native"] = done
            self._heard = (*heard(told.done), *([mismatch.note()] if mismatch is not None else []))
            ends = not any(calls_of(message) for message in told.messages)
            self._keeper.say(*drafts, message_draft(last, scope=self._scope, **more), ends_turn=ends)
            if self._is_half_way:
                self._ahead_of_cuts.look(
                    self._seen.of(self._view().view).standing, facts_of(self._known.memo)
                )

    arecord = twin(record)

    def _mismatch(self, told: Response, sent: Sent | None) -> Mismatch | None:
        """What the usage of an answer says against its request; nothing where the provider's service shortened it."""
        meta = told.messages[-1].meta
        usage = None if meta is None else meta.usage
        reported = told.tokens_claimed or (0 if usage is None else usage.tokens_input)
        if sent is None or not reported or told.done != Done():
            return None
        out = Outgoing(
            tokens=sent.tokens.tokens,
            grown=sent.tokens.tokens_estimated,
            before=sent.tokens_before,
            is_text=self._seen.of(self._view().view).is_text,
        )
        setup = self._known.setup
        found = mismatch_of(reported, out, window=setup.planned.window)
        if setup.learned is not None and reported > setup.learned.tokens:
            self._known.setup = outgrown(setup, reported)
            return None
        return found

    def tool_result(self, call_id: str, output: Any, *, is_error: bool = False) -> None:
        """What a tool gave for a call: a text, a list of the format's content parts, or any JSON value. Raises
        `InvalidOption` for a call that the view does not have, `SessionFailed`."""
        with self._keeper.lock:
            call = waiting_call(self._view().view, call_id)
            message = result_message(call, output, is_error=is_error, format=self._known.setup.format)
            self._keeper.say(message_draft(message, scope=self._scope))

    atool_result = twin(tool_result)

    @property
    def waiting(self) -> tuple[ToolCall, ...]:
        """Calls of the last round that have no result yet, in order: what is still to be run, after a crash or a break of
        the network too. What has its result in the log is not run again (requirement JRN-15)."""
        with self._keeper.lock:
            return waiting_calls(self._view().view)

    # ── requests ─────────────────────────────────────────────────────────────────────────────────────────────

    def prepare(self, system: Any = None, tools: Any = None, *, output_cap: int | None = None) -> Prepared:
        """The next request, reduced by the policy where it is due; with a completer, by a model where the policy has it.
        `system` and `tools` in the format's own values; left out, those last said. `output_cap`: the most output
        tokens that the request asks for; where the window has no room for so many, `request.output_cap` is what is left, 4,096 at
        least, and nothing is compacted for it (requirement CMP-41). Raises `CheckpointFailed` when a reduction
        could not be made durable (memory is as it was), `ContextExhausted` when a policy that compacts once a response would
        have to do it again, `CompactionBlocked` when a hook blocks what the request does not fit without."""
        return self._given_out(self._wait(self._preparing(system, tools, output_cap=output_cap)))

    async def aprepare(
        self, system: Any = None, tools: Any = None, *, output_cap: int | None = None
    ) -> Prepared:
        """As `prepare`; the completer may be async, and an async hook is waited for."""
        return self._given_out(await self._await(self._preparing(system, tools, output_cap=output_cap)))

    def compact(self, to: int | float | None = None, *, focus: str | None = None) -> Report:
        """Reduce the view by hand: to so many tokens of the whole request, or a share of it in (0, 1); left out, to the
        policy's target, at any size. `focus`: what the summary should dwell on. Returns the report. Raises
        `TargetUnreachable`, with the report as `.result`, where that is not possible; nothing has changed then. Raises
        `CheckpointFailed` as `prepare` does, and `CompactionBlocked` when a hook says no. While the model answers, or another
        compaction runs, nothing is done, and the report says so."""
        return self._wait(self._by_hand(to, focus=focus))

    async def acompact(self, to: int | float | None = None, *, focus: str | None = None) -> Report:
        """As `compact`; the completer may be async, and an async hook is waited for."""
        return await self._await(self._by_hand(to, focus=focus))

    def last_resort(self) -> Report:
        """After `prepare` raised `ContextExhausted` in a ladder: keep the newest three messages (`ladder-enterprise`: none) beside
        system prompt, last user message, pins and open round, and sum up the rest, by a model where there is one. Raises
        `InvalidOption` for a policy that has none, and as `compact`."""
        return self._wait(self._last_resort())

    async def alast_resort(self) -> Report:
        """As `last_resort`."""
        return await self._await(self._last_resort())

    def recover(self, error: Any, *, delivered: bool = False, status: int | None = None) -> Prepared:
        """After a provider refused the last request: the one to send once more. `error`: the SDK's exception, or the body of
        the refusal; `delivered`: whether any of an answer had come. A conversation that is too long is compacted once, at
        most once until the next answer is recorded; where signed reasoning was refused, that of closed rounds is left out. Any
        other error is raised as it is. Raises `InvalidRequest` where nothing can save the turn; the view is as it was then."""
        return self._given_out(self._wait(self._recovering(error, delivered=delivered, status=status)))

    async def arecover(self, error: Any, *, delivered: bool = False, status: int | None = None) -> Prepared:
        """As `recover`."""
        return self._given_out(await self._await(self._recovering(error, delivered=delivered, status=status)))

    def preview(self, to: int | float | None = None, *, focus: str | None = None) -> Report:
        """What `compact` would do without a model, and nothing done."""
        refuse_no_text(or_none=True, focus=focus)
        with self._keeper.lock:
            looked = self._looked_for(to)
            work = self._work(looked, reason="preview", asks=False, focus=focus)
            return self._restored_here(work, lambda: made_alone(work)).report

    apreview = twin(preview)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """For a `with` block in which the model answers: a compaction by hand is ignored meanwhile (requirement CMP-33)."""
        with self._keeper.lock:
            self._known.answering += 1
        try:
            yield
        finally:
            with self._keeper.lock:
                self._known.answering -= 1

    @asynccontextmanager
    async def aanswering(self) -> AsyncIterator[None]:
        """As `answering`."""
        with self.answering():
            yield

    def context_use(self) -> dict[str, Any]:
        """What fills the next request, and how far it is from the line of the policy in force: the values of
        `foldline context` (requirements UIX-1, BUD-5, BUD-11). Right after a response `tokens_projected` is what the provider
        said of it."""
        with self._keeper.lock:
            self._weigh()
            setup, policy = self._known.setup, self._policy
            planned, fixed = setup.planned, self._fix(None, None)
            fit, tokens = self._fit(fixed)
            room = self._room(tokens)
            line = policy.threshold.tokens(room)
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
                "tokens_window_whole": planned.window_shared,
                "window_source": planned.source,
                "tokens_threshold": line,
                "percent": percent(tokens.tokens, line),
                **contents(fit.view.items(), setup.counter, fixed=fixed.tokens, tools=fixed.tools),
                "notes": [*planned.notes, *policy.advised(tokens.tokens, room)],
            }

    acontext_use = twin(context_use)
