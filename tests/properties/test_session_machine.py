"""The session machine: any history, any pass, in any order, and every law after each step.

The model is the plain list of messages; the machine grows it, breaks it, reduces it, branches it, and after every step
asks the laws, a recount and the older views whether anything went wrong.
"""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foldline.core.edit import apply
from foldline.core.laws import check
from foldline.core.message import Message, Reasoning, Text, ToolCall, ToolResult, speaks_for_user
from foldline.core.needs import Needs
from foldline.core.pairing import Placed
from foldline.core.view import View
from foldline.engine.run import Compacted
from foldline.passes.bounded_fold import BoundedFold
from foldline.passes.budget_reduction import BudgetReduction
from foldline.passes.collapse import Collapse
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.fold_range import FoldRange
from foldline.passes.microcompact import Microcompact
from foldline.passes.snip import Snip
from foldline.passes.supersession import MarkSuperseded
from foldline.policy_file import AnyPass
from foldline.presets import POLICIES, policy_of
from foldline.testing.builders import frame_for, moment_for, system, user, view_from
from foldline.testing.counting import CharacterCounter
from foldline.testing.strategies import broken_sessions, media, rounds, texts
from tests.engine.alone import run

PASSES = (
    BudgetReduction(limit=200, head=120, tail=80),
    BudgetReduction(name="microcompact", unit="tokens", limit=60, head=30, tail=10, per_turn=80),
    Microcompact(first_calls=3, every_calls=2, keep_results=1),
    Microcompact(idle_from_s=60, keep_results=2),
    Microcompact(idle_over_s=10, keep_rounds=1),
    Microcompact(to_target=True, keep_results=1, keep_share=0.2),
    Snip(unit="messages", over_messages=6, removed_min=2),
    Snip(unit="turns"),
    Snip(unit="tool-rounds", keep_rounds=1, unknown_from=4),
    Collapse(window=3),
    FoldOldest(),
    FoldRange(keep_last=2),
    BoundedFold(),
    MarkSuperseded(),
)
COUNTER = CharacterCounter()


class SessionMachine(RuleBasedStateMachine):
    """Laws PAIR, ROUND, CUT, TAIL, ROLE, PIN, PREFIX, GAIN, TRACE and SAME, for every pass in every order."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[Message] = []
        self.view = View()
        self.pins: set[int] = set()
        self.older: list[tuple[View, tuple[int, ...]]] = []
        self.number = 100
        self.reduced = False

    @initialize(messages=broken_sessions())
    def begin(self, messages: list[Message]) -> None:
        self.messages = messages
        self.view = view_from(messages)

    def grow(self, *messages: Message) -> None:
        """Append messages; before the first reduction the whole list is projected again, so that repairs see it."""
        self.messages.extend(messages)
        if not self.reduced:
            self.view = view_from(self.messages)
            return
        for message in messages:
            weights, overhead = COUNTER.weights(message)
            from foldline.core.view import item_of

            self.view = self.view.append(
                item_of(self.view.next_seq, message, weights=weights, overhead=overhead)
            )

    @rule(text=texts)
    def user_speaks(self, text: str) -> None:
        self.close()
        self.grow(user(text))

    @rule(image=media())
    def user_sends_media(self, image: object) -> None:
        self.close()
        self.grow(user("look", image))  # type: ignore[arg-type]

    @rule(data=st.data())
    def assistant_works(self, data: st.DataObject) -> None:
        self.close()
        self.number += 1
        self.grow(*data.draw(rounds(self.number)))

    @rule(data=st.data())
    def assistant_asks_and_waits(self, data: st.DataObject) -> None:
        self.close()
        self.number += 1
        self.grow(*data.draw(rounds(self.number, answered=False)))

    @rule()
    def system_interrupts(self) -> None:
        self.close()
        self.grow(system("a rule in the middle"))

    @rule(data=st.data(), times=st.integers(1, 2))
    @precondition(lambda self: not self.reduced)
    def a_result_comes_again(self, data: st.DataObject, times: int) -> None:
        answers = [p for m in self.messages for p in m.parts if isinstance(p, ToolResult)]
        if answers:
            one = data.draw(st.sampled_from(answers))
            self.grow(*[Message(role="tool", parts=(one,))] * times)

    def close(self) -> None:
        """Results for the calls that wait, so that the conversation may go on."""
        waiting: dict[str, None] = {}
        for item in self.view:
            for part in item.message.parts:
                if isinstance(part, ToolCall):
                    waiting[part.id] = None
                elif isinstance(part, ToolResult):
                    waiting.pop(part.call_id, None)
        if self.reduced:
            for id in waiting:
                part = ToolResult(call_id=id, content=(Text(text="done"),), slot=0)
                self.grow(Message(role="tool", parts=(part,)))

    @rule(data=st.data())
    def pin(self, data: st.DataObject) -> None:
        seqs = sorted({item.seq for item in self.view if not item.covers and item.message.synthetic is None})
        if seqs:
            self.pins.add(data.draw(st.sampled_from(seqs)))

    @rule(
        chosen=st.sampled_from(PASSES), share=st.floats(0.01, 0.99), idle=st.sampled_from((None, 5.0, 90.0))
    )
    def reduce_by_a_pass(self, chosen: object, share: float, idle: float | None) -> None:
        frame = frame_for(self.view, pins=sorted(self.pins))
        moment = moment_for(self.view, int(self.view.tokens * share), idle_s=idle)
        plan = chosen.plan(self.view, moment, frame)  # type: ignore[attr-defined]
        assert plan == chosen.plan(self.view, moment, frame), "law SAME: the same plan twice"  # type: ignore[attr-defined]
        self.remember()
        self.view = apply(self.view, plan.edits, frame=frame)
        self.reduced = self.reduced or bool(plan.edits)

    @rule(policy=st.sampled_from(sorted(POLICIES)), share=st.floats(0.01, 0.9))
    def compact_by_a_policy(self, policy: str, share: float) -> None:
        frame = frame_for(self.view, pins=sorted(self.pins))
        moment = moment_for(self.view, int(self.view.tokens * share))
        outcome = run(self.view, policy_of(policy, 1_000), moment=moment, frame=frame)
        if isinstance(outcome, Compacted):
            assert outcome.view.tokens < self.view.tokens, "law GAIN"
            self.remember()
            self.view, self.reduced = outcome.view, True

    @rule()
    def branch_and_drop_the_branch(self) -> None:
        weights, overhead = COUNTER.weights(user("elsewhere"))
        from foldline.core.view import item_of

        self.view.append(item_of(self.view.next_seq, user("elsewhere"), weights=weights, overhead=overhead))

    def remember(self) -> None:
        self.older.append((self.view, tuple(id(item) for item in self.view)))

    @invariant()
    def every_law_holds(self) -> None:
        history = [Placed(seq=item.seq, message=item.message) for item in self.view]
        assert check(history, Needs()) == ()

    @invariant()
    def the_running_total_is_a_recount(self) -> None:
        assert self.view.tokens == sum(COUNTER.message(item.message) for item in self.view)

    @invariant()
    def older_views_never_change(self) -> None:
        for view, items in self.older:
            assert tuple(id(item) for item in view) == items

    @invariant()
    def pinned_messages_stand(self) -> None:
        seqs = {item.seq for item in self.view if not item.covers}
        if self.reduced:
            assert self.pins <= seqs

    @invariant()
    def reasoning_is_whole_or_gone(self) -> None:
        for item in self.view:
            for part in item.message.parts:
                assert not (isinstance(part, Reasoning) and part.edited)

    @invariant()
    def the_last_user_message_stands(self) -> None:
        last = next((m for m in reversed(self.messages) if speaks_for_user(m)), None)
        if last is not None and not any("\ud800" <= char <= "\udfff" for char in last.text):
            assert sum(item.message.text == last.text for item in self.view) >= 1


TestSessionMachine = SessionMachine.TestCase


def test_the_machine_reduces_by_every_pass_that_a_policy_may_name() -> None:
    """Laws hold for every pass in every order; superseded words are marked before every policy's tiers, by no tier."""
    assert {type(one) for one in PASSES} == {*get_args(AnyPass), MarkSuperseded}
