"""Ids on another wire: kept where accepted, else one new id a call, the same for its result."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from foldline.core.message import ToolCall, ToolResult
from foldline.core.needs import Needs
from foldline.wire.call_ids import CallIds
from foldline.wire.codec import Rules
from tests.wire.histories import IDS


def rules(*, once: bool, longest: int | None = 40, pattern: str | None = r"[a-zA-Z0-9_-]+") -> Rules:
    """A target's rules, as far as ids go."""
    return Rules(
        format="test",
        needs=Needs(ids_once=once, ids_max=longest, ids_pattern=pattern),
        system="anywhere",
    )


def a_call(id: str, *, wire_id: bool = True) -> ToolCall:
    return ToolCall(id=id, name="read", arguments="{}", wire_id=wire_id)


# "call_1" is what a call without an id would get first
rounds = st.lists(
    st.lists(st.tuples(st.sampled_from((*IDS, "call_1")) | st.text(max_size=3), st.booleans()), max_size=4),
    max_size=4,
)


@given(rounds=rounds, once=st.booleans())
def test_every_call_has_an_id_of_its_own_and_its_result_has_it_too(
    rounds: list[list[tuple[str, bool]]], once: bool
) -> None:
    """Law PAIR: unique within a round, and in the whole history where the target asks for it."""
    ids = CallIds(rules(once=once))
    history: list[str] = []
    for calls in rounds:
        ids.open_round()
        given_ids = [ids.of_call(a_call(old, wire_id=wire_id)) for old, wire_id in calls]
        answered = [ids.of_result(ToolResult(call_id=old)) for old, _ in calls]

        assert len(set(given_ids)) == len(given_ids)
        assert answered == given_ids
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", new) for new in given_ids)
        history += given_ids
    assert not once or len(set(history)) == len(history)


@given(old=st.sampled_from(IDS))
def test_a_target_without_demands_leaves_every_id(old: str) -> None:
    """`interface.md`: ids are rewritten only where the target refuses them."""
    ids = CallIds(rules(once=False, longest=None, pattern=None))
    ids.open_round()

    assert ids.of_call(a_call(old)) == old
    assert ids.renamed == {}


def test_two_long_ids_that_begin_alike_stay_two() -> None:
    """A cut alone would make them one (diegosouzapw/OmniRoute#4317 cuts)."""
    ids = CallIds(rules(once=True))
    ids.open_round()

    assert ids.of_call(a_call("x" * 50 + "a")) != ids.of_call(a_call("x" * 50 + "b"))


def test_a_result_whose_call_is_nowhere_gets_an_id_the_target_accepts() -> None:
    """Repair takes it out; until then it must not break the request in another way."""
    ids = CallIds(rules(once=True))

    assert ids.of_result(ToolResult(call_id="known")) == "known"
    assert re.fullmatch(r"[a-zA-Z0-9_-]+", ids.of_result(ToolResult(call_id="a|b")))


def test_a_new_id_is_never_one_that_the_history_has() -> None:
    """Law PAIR: even where somebody gave a call the very id that another would get."""
    made = CallIds(rules(once=True)).of_call(a_call("a b"))
    ids = CallIds(rules(once=True))
    assert ids.of_call(a_call(made)) == made
    assert ids.of_call(a_call("a b")) != made
