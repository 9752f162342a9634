"""The session machine: whatever is said, reduced, taken back, forked or broken off, in any order, a session that is opened
again is the one that was live, byte for byte; and each request extends the one before unless an entry says otherwise.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from foldline.core.errors import ContextExhausted, TargetUnreachable
from foldline.core.message import ToolCall, ToolResult
from foldline.core.ports import Pages
from foldline.engine.policy import Line, Policy
from foldline.log import applied
from foldline.log.applied import newest_first
from foldline.log.lineage import read_lineage
from foldline.log.replay import Replay, resume
from foldline.log.state import ROOT, Applied, State
from foldline.presets import POLICIES, policy_of
from foldline.session.conversation import Conversation
from foldline.session.hosting import Host
from foldline.session.nodes import RunningNode
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from tests.judges.panel import violations
from tests.session.making import FORMATS, answer, opened
from tests.session.remembering import check_scope

WINDOW = 3_000
TEXTS = st.sampled_from(
    (
        "go on",
        "use pytest, never nose",
        "错误 in src/main.py",
        "x" * 900,
        "<foldline-fold id=",
        "the port is 8080\n" * 20,
        "The port is 8443 now.",
        "Never push to main. The retry limit is 5.",
        "You may push to main now, and scratch what I said about the port.",
        "不要删除 backup.sql。",
        "现在可以删除 backup.sql 了。",
    )
)
EXAMPLES, NIGHTLY = 300, 5_000
RESUMING = "balanced that resumes at its summary"
NAMES = (*sorted(POLICIES), RESUMING)
ASKING = tuple(name for name in sorted(POLICIES) if policy_of(name, WINDOW).asking)
MEANWHILE = ("nothing", "nothing", "words", "rollback", "clear", "model", "given up", "failure", "second")
SUMMARY = (
    "<summary>The files were read and the error stands in src/main.py. The port was looked up, the tests were run, and what is "
    "left is to mend the error, to run the tests again and to say what was found.</summary>"
)
STEPS = 25


def small(name: str) -> Policy:
    """A preset for a window in which it has something to do."""
    whole = policy_of("balanced" if name == RESUMING else name, WINDOW)

    def line(one: Line) -> Line:
        return Line(percent=one.percent, of="window", over=one.over)

    return Policy(
        **{
            **{field: getattr(whole, field) for field in whole.__struct_fields__},
            "threshold": line(whole.threshold),
            "target": Line(percent=40, of="window"),
            "handoff": whole.handoff and Line(percent=25, of="window"),
            "resumes_at_summary": whole.resumes_at_summary or name == RESUMING,
        }
    )


class SessionMachine(RuleBasedStateMachine):
    """Laws REPLAY, LOG, TRACE and ONCE, and the prefix net, over sessions, their forks and their nodes."""

    outcomes: ClassVar[Counter[tuple[str, str]]] = Counter()
    """What came of compactions by a model, by what happened meanwhile."""
    page_rows = applied.PAGE_ROWS
    """Compactions and edits on a page: so many that no history here turns one."""

    def __init__(self) -> None:
        super().__init__()
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(applied, "PAGE_ROWS", self.page_rows)
        self.store = MemoryStore()
        self.clock = 1_000
        self.number = 0
        self.nodes: list[RunningNode] = []
        self.last: list[Any] = []
        self.shaped: tuple[int, ...] = ()
        self.seen: dict[int, Any] = {}

    @initialize(
        format=st.sampled_from(FORMATS), policy=st.sampled_from(NAMES), rounds=st.sampled_from((0, 4, 9))
    )
    def begin(self, format: str, policy: str, rounds: int) -> None:
        self.store = MemoryStore(clock=lambda: self.clock)
        self.asked: dict[str, Any] = {"policy": small(policy), "clock": lambda: self.clock}
        self.session = opened(self.store, "s0", format=format, **self.asked)
        self.session._known.setup = self.narrow(self.session)
        self.session.user("begin")
        self.work_goes_on(rounds, "read it", talks=True)

    def teardown(self) -> None:
        self.patched.undo()

    def counting(self) -> list[Applied]:
        """What shapes the views, oldest first."""
        return [*newest_first(self.session._keeper.state, self.session._keeper.log)][::-1]

    def narrow(self, session: Session) -> Any:
        setup = session._known.setup
        return replace(setup, planned=replace(setup.planned, window=WINDOW, is_window_known=True))

    def where(self, data: st.DataObject) -> Conversation:
        alive = [node for node in self.nodes if node.id in self.session._keeper.state.nodes]
        return data.draw(st.sampled_from([self.session, self.session, *alive]))

    # ── what is said ─────────────────────────────────────────────────────────────────────────────────────────

    @rule(data=st.data(), text=TEXTS)
    def user_speaks(self, data: st.DataObject, text: str) -> None:
        self.where(data).user(text)

    @rule(data=st.data(), calls=st.integers(0, 3), text=TEXTS, usage=st.sampled_from((None, 40, 900, 2_600)))
    def assistant_answers(self, data: st.DataObject, calls: int, text: str, usage: int | None) -> None:
        where = self.where(data)
        self.number += 1
        ids = [
            (f"c{self.number}_{n}", data.draw(st.sampled_from(("read_file", "bash")))) for n in range(calls)
        ]
        where.record(answer(text, *ids, format=self.session.format, tokens=usage))

    @rule(data=st.data(), text=TEXTS)
    def a_tool_gives_its_result(self, data: st.DataObject, text: str) -> None:
        where = self.where(data)
        if waiting := waiting_in(where):
            where.tool_result(data.draw(st.sampled_from(waiting)), text * 3)

    @rule(rounds=st.integers(3, 8), text=TEXTS, talks=st.booleans())
    def work_goes_on(self, rounds: int, text: str, talks: bool) -> None:
        """So many rounds with results of some hundred tokens: enough of them and the window is full."""
        for _ in range(rounds):
            self.number += 1
            name = f"w{self.number}"
            self.session.record(answer(f"step {name}", (name, "read_file"), format=self.session.format))
            self.session.tool_result(name, f"{text}\nline of src/part_{name}.py says so " * 12)
        if talks:
            self.session.record(answer("so far", format=self.session.format))
            self.session.user(f"go on after {self.number}; {text[:80]}")

    @rule(seconds=st.integers(1, 9_000))
    def time_passes(self, seconds: int) -> None:
        self.clock += seconds * 1000

    # ── what reduces ─────────────────────────────────────────────────────────────────────────────────────────

    @rule(data=st.data(), system=st.sampled_from((None, "be kind", "be brief")))
    def a_request_is_prepared(self, data: st.DataObject, system: str | None) -> None:
        where = self.where(data)
        if not len(where._view().view):
            return
        prompt: Any = {"parts": [{"text": system}]} if system and self.session.format == "gemini" else system
        try:
            request = where.prepare(system=prompt)
        except ContextExhausted:
            return
        assert request.report.valid, request.report.violations
        if not waiting_in(where):
            wrong = violations(request.body, format=self.session.format, open_tail=True)
            assert wrong == [], wrong
        if where is self.session:
            self.hold_the_net(request)

    def hold_the_net(self, request: Any) -> None:
        shaped = tuple(one.seq for one in self.counting() if one.scope == ROOT)
        messages = request.messages
        if self.session.format == "openai-chat" and messages and messages[0].get("role") == "system":
            messages = messages[1:]
        closed = self.last[: self.closed]
        if shaped == self.shaped and not request.report.repairs and not self.broken:
            different = [(was, now) for was, now in zip(closed, messages, strict=False) if was != now]
            assert not different, f"a request extends the one before it: {different[0]}"
            assert len(messages) >= len(closed), "a request extends the one before it"
        self.last, self.shaped, self.broken = messages, shaped, bool(request.report.repairs)
        grows = bool(waiting_in(self.session)) or (bool(messages) and messages[-1].get("role") == "model")
        self.closed = (
            len(messages) - grows
        )  # results of an open round join it; Gemini's calls join the words before

    closed = 0
    broken = False

    @rule(share=st.floats(0.05, 0.9), policy=st.sampled_from(NAMES))
    def a_person_compacts(self, share: float, policy: str) -> None:
        setup = self.session._known.setup
        self.session._known.setup = replace(setup, policy=small(policy))
        try:
            foreseen = self.session.preview(to=share)
            seq = self.session.seq
            report = self.session.compact(to=share)
        except TargetUnreachable:
            return
        assert report.tokens_after == foreseen.tokens_after
        if report.outcome == "compacted":
            assert self.session.seq == seq + 3, "intent, result, commit"
            assert report.tokens_after < report.tokens_before, "law GAIN"

    @rule(
        data=st.data(),
        policy=st.sampled_from(ASKING),
        meanwhile=st.sampled_from(MEANWHILE),
        again=st.integers(0, 2),
    )
    def a_model_compacts(self, data: st.DataObject, policy: str, meanwhile: str, again: int) -> None:
        """The completer writes; meanwhile, at the first to the third question, something happens in the session, or it fails or is
        given up."""
        session, known = self.session, self.session._known
        known.setup = replace(known.setup, policy=small(policy))
        where = data.draw(st.integers(0, session.seq))
        asked: list[Any] = []

        def completer(request: Any) -> str:
            asked.append(request)
            if len(asked) == again + 1:
                self.happens(meanwhile, where)
            return SUMMARY

        known.host = Host(completer=completer)
        is_unmoved = (told(session._keeper.state, session._keeper.log)[0], session.seq)
        try:
            report = session.compact()
            outcome: str = report.outcome if report.summary.form is not None else "none written"
        except TargetUnreachable:
            outcome = "unreachable"
        except KeyboardInterrupt:
            outcome = "given up"
            assert told(session._keeper.state, session._keeper.log)[0] == is_unmoved[0]
        finally:
            known.host = Host()
        if asked:
            self.outcomes[(meanwhile if len(asked) > again else "nothing", outcome)] += 1
        assert known.work is None
        assert session._keeper.state.open_begin is None, "an intent is settled"
        self.last, self.closed = [], 0

    def happens(self, meanwhile: str, where: int) -> None:
        """What may come between a question to the model and its answer."""
        session = self.session
        match meanwhile:
            case "words":
                session.user("said meanwhile")
            case "rollback":
                session.rollback(to=where)
            case "clear":
                session.clear()
            case "model":
                session.use("gpt-5")
                session._known.setup = self.narrow(session)
            case "given up":
                raise KeyboardInterrupt
            case "failure":
                raise RuntimeError("down")
            case "second":
                assert session.compact().outcome == "unchanged", "one at a time"
            case _:
                assert meanwhile == "nothing"

    # ── what takes back ──────────────────────────────────────────────────────────────────────────────────────

    @rule(data=st.data())
    @precondition(lambda self: self.counting())
    def a_compaction_is_undone(self, data: st.DataObject) -> None:
        self.session.undo(data.draw(st.sampled_from([one.seq for one in self.counting()])))

    @rule(data=st.data())
    def a_span_is_unfolded(self, data: st.DataObject) -> None:
        addresses = [
            address
            for made in self.session.compactions
            if made.counts
            for address in made.report["covers"]["addresses"]
        ]
        if addresses:
            address = data.draw(st.sampled_from(addresses))
            assert self.session.show(address).title
            self.session.unfold(address)
            self.last, self.closed = [], 0

    @rule(data=st.data())
    def it_is_rolled_back(self, data: st.DataObject) -> None:
        to = data.draw(st.integers(0, self.session.seq))
        running = self.session._keeper.state.nodes
        self.session.rollback(to=to)
        if to in self.seen and self.seen[to].keys() - {ROOT} <= running.keys():
            assert told(self.session._keeper.state, self.session._keeper.log)[0] == self.seen[to]
        self.last, self.closed = [], 0

    @rule(data=st.data(), goes_on=st.booleans())
    def it_is_forked(self, data: st.DataObject, goes_on: bool) -> None:
        if len(self.store.names()) > 4:
            return
        at = data.draw(st.one_of(st.none(), st.integers(0, self.session.seq)))
        fork = self.session.fork(f"s{len(self.store.names())}", at=at)
        if at is None and not self.session._keeper.state.nodes:
            assert (
                told(fork._keeper.state, fork._keeper.log)[0]
                == told(self.session._keeper.state, self.session._keeper.log)[0]
            )
        if goes_on:
            self.session.close()
            self.session, self.nodes, self.last, self.closed = fork, [], [], 0
            self.seen = {}
        else:
            fork.user("elsewhere")
            fork.close()

    # ── nodes, crashes ───────────────────────────────────────────────────────────────────────────────────────

    @rule(data=st.data(), expose=st.sampled_from(("io", "full", "hidden")), input=TEXTS)
    def a_node_begins(self, data: st.DataObject, expose: Any, input: str) -> None:
        where: Any = self.where(data)
        if len(self.nodes) < 4:
            self.nodes.append(where.node("research", input=input, expose=expose))

    @rule(data=st.data(), text=TEXTS)
    def a_node_ends(self, data: st.DataObject, text: str) -> None:
        alive = [node for node in self.nodes if node.id in self.session._keeper.state.nodes]
        if alive:
            data.draw(st.sampled_from(alive)).finish(text)

    @rule(model=st.sampled_from(("claude-sonnet-4-5", "gpt-5")))
    def the_model_changes(self, model: str) -> None:
        self.session.use(model)
        self.session._known.setup = self.narrow(self.session)

    @rule()
    def the_process_dies(self) -> None:
        log = self.store._logs[self.session.name]
        log.writer = None
        running = [node.name for node in self.session._keeper.state.nodes.values()]
        self.session = opened(self.store, self.session.name, **self.asked)
        self.session._known.setup = self.narrow(self.session)
        assert len(self.session.interrupted) == len(running)
        self.nodes = []

    # ── what always holds ────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def a_reopened_view_is_the_live_one(self) -> None:
        if not hasattr(self, "session"):
            return
        pages = read_lineage(self.store, self.session.name)
        live = told(self.session._keeper.state, pages)
        self.seen[self.session.seq] = live[0]
        assert told(resume(pages).state, pages) == live
        whole = Replay()
        whole.run(pages.entries())
        assert told(whole.state, pages) == live
        running = self.session._keeper.state.nodes
        held = [node for node in self.nodes if node.id in running]
        assert {node.id for node in held} == running.keys(), "a node runs that nobody goes on with"
        for where in (self.session, *held):
            check_scope(where)


def waiting_in(where: Conversation) -> list[str]:
    """Calls of a view that no result answers yet."""
    waiting: dict[str, None] = {}
    for item in where._view().view:
        for part in item.message.parts:
            if isinstance(part, ToolCall):
                waiting[part.id] = None
            elif isinstance(part, ToolResult):
                waiting.pop(part.call_id, None)
    return sorted(waiting)


def told(state: State, pages: Pages) -> tuple[Any, ...]:
    views = {
        name: [
            (i.seq, i.message.role, i.message.parts, i.message.synthetic, i.message.origin, i.covers)
            for i in scope.view
        ]
        for name, scope in state.scopes.items()
    }
    anchors = {name: (scope.anchor, scope.unsaid) for name, scope in state.scopes.items()}
    shaped = [*newest_first(state, pages)]
    rest = (state.seq, state.ordinals, state.nodes, state.system, state.tools, state.model, shaped)
    epoch = (state.epoch, state.handoff, state.open_begin)
    return views, anchors, rest, epoch, state.calls, state.compacted, state.revision, state.full_at


def test_a_session_survives_anything_in_any_order() -> None:
    """D13, laws REPLAY, LOG, TRACE, ONCE; JRN-6, JRN-8, JRN-9, JRN-10, JRN-16, SNP-4: live view == reopened view, byte for byte,
    with compactions by a model that writes, fails, is given up, or comes too late."""
    run_state_machine_as_test(
        SessionMachine, settings=settings(max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None)
    )
    came = {outcome for _, outcome in SessionMachine.outcomes}
    assert came >= {"compacted", "none written", "given up"}, "a model wrote, failed and was interrupted"


class TurningMachine(SessionMachine):
    """The same where a page of what counts is full with the second row."""

    page_rows = 2


def test_a_session_survives_anything_with_what_counts_on_many_pages() -> None:
    """Laws REPLAY and LOG; JRN-1, JRN-6, JRN-8: no checkpoint repeats all that ever counted, and an undo reaches it all."""
    run_state_machine_as_test(
        TurningMachine,
        settings=settings(max_examples=EXAMPLES // 3, stateful_step_count=STEPS, deadline=None),
    )


@pytest.mark.nightly
def test_a_session_survives_anything_in_any_order_for_long() -> None:
    """D13: the same, 5,000 histories."""
    run_state_machine_as_test(
        SessionMachine, settings=settings(max_examples=NIGHTLY, stateful_step_count=STEPS, deadline=None)
    )
