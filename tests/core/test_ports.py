"""Strangers' implementations of the ports: what satisfies the protocol works, with nothing to inherit from."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from foldline.core.edit import Frame, Plan, apply
from foldline.core.ports import Moment, Pass, TokenCounter
from foldline.core.view import View
from foldline.passes.microcompact import Microcompact
from foldline.testing.builders import assistant, call, frame_for, image, result, thinking, user, view_from
from foldline.testing.counting import CharacterCounter
from foldline.tokens.choose import counter_for

MESSAGES = [
    user("Find why login fails.", image()),
    assistant(thinking("Let me look."), "Reading.", call("read", path="src/login.py")),
    result("read", "def login(name):\n    return None  # 登录\n" * 20),
    assistant("It returns None."),
]


class Nothing:
    """A pass by somebody else: plans no edit."""

    name = "nothing"

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """Nothing."""
        return Plan()


def counters() -> list[TokenCounter]:
    """The counter of the testing kit, the estimator and an exact one."""
    return [CharacterCounter(), counter_for(counter="estimate"), counter_for(counter="o200k_base")]


@pytest.mark.parametrize("count", counters(), ids=lambda count: count.name)
def test_a_counter_counts_parts_that_add_up_to_messages(count: TokenCounter) -> None:
    """TOK-1; port TokenCounter: the sum of parts is the message, one by one or many at once."""
    for message in MESSAGES:
        weights, overhead = count.weights(message)
        assert list(weights) == [count.part(part) for part in message.parts]
        assert count.message(message) == sum(weights) + overhead
    assert count.weights_of(MESSAGES) == [count.weights(message) for message in MESSAGES]


@pytest.mark.parametrize("count", counters(), ids=lambda count: count.name)
def test_a_counter_counts_nothing_for_nothing_and_many_texts_as_it_counts_one(count: TokenCounter) -> None:
    """TOK-1; port TokenCounter: lone surrogates count too, and one call for many gives the same numbers."""
    texts = ["", "a", "hello world", "登录失败", "\ud800", "x" * 10_000]
    assert count.text("") == count.tools("") == 0
    assert count.texts(texts) == [count.text(text) for text in texts]
    assert all(tokens > 0 for tokens in count.texts(texts)[1:])


def test_any_value_with_a_name_and_a_plan_is_a_pass() -> None:
    """Port Pass: structural, so that a user's own pass needs no import of ours to inherit from."""
    stranger: Pass = Nothing()
    view = view_from(MESSAGES)
    plan = stranger.plan(view, Moment(tokens_excess=1), frame_for(view))
    assert apply(view, plan.edits, frame=frame_for(view)).tokens == view.tokens


def test_what_a_caller_does_not_know_of_the_moment_is_never_taken_for_zero() -> None:
    """Port Pass: nobody is idle of whom that is not known (MIC-10), and where calls were not counted those in view are."""
    messages = [user("go")]
    for n in range(9):
        messages += [assistant(call("read", f"c{n}")), result(f"c{n}", f"line {n} " * 200)]
    view = view_from([*messages, assistant("done"), user("on")])

    def clears(by: Microcompact, moment: Moment) -> bool:
        return bool(by.plan(view, moment, frame_for(view)).edits)

    unknown = Moment(tokens_excess=1)
    idle, counted = Microcompact(idle_from_s=60.0), Microcompact(first_calls=9)
    assert not clears(idle, unknown)
    assert clears(idle, replace(unknown, idle_s=60.0))
    assert clears(counted, unknown)
    assert not clears(counted, replace(unknown, calls=0))
