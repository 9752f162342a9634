"""Repair of a history that grows: what of it stands alone, and what reaches back.

That it is the repair of the whole, whatever arrives, is `tests/properties/test_repair.py`'s to show; here stands when it spares
looking at the whole, which is what it is for.
"""

from __future__ import annotations

from functools import partial

import pytest
from msgspec.structs import replace

from foldline.core.growing import Growing, last_cut
from foldline.core.message import Message, Reasoning, Text, ToolCall, ToolResult
from foldline.core.needs import Needs
from foldline.core.repair import repair
from foldline.testing.builders import assistant, call, result, system, user

STRICT = Needs(blank_text=False, first=frozenset({"user"}), ids_once=True, system_between=True)


def talk(*ids: str) -> list[Message]:
    """A round for each id, and a word behind it."""
    return [
        message for id in ids for message in (assistant(call("f", id=id)), result(id, "x"), user(f"on {id}"))
    ]


def settled(messages: list[Message], needs: Needs = STRICT) -> list[tuple[int, bool]]:
    """At each length: how many messages are of the beginning, and whether the rest was repaired alone."""
    growing, found = Growing(needs), []
    for end in range(1, len(messages) + 1):
        given = messages[:end]
        grown = growing.grown(given[growing.count :], whole=partial(list, given))
        found.append((growing.count, grown.rest is not None))
    return found


def test_all_but_the_last_round_is_settled() -> None:
    """Law ROUND: what comes next may still belong to the last one, and to no other."""
    messages = [user("go"), *talk("a", "b", "c")]
    assert settled(messages) == [
        *[(0, False), (1, True), (1, True), (1, True), (4, True), (4, True), (4, True)],
        *[(7, True), (7, True), (7, True)],
    ]
    assert last_cut(messages) == 7
    assert last_cut([user("go"), user("on")]) == 0
    assert last_cut([assistant("so"), assistant("on")]) == 0


def test_an_id_that_comes_again_in_a_later_round_reaches_nowhere() -> None:
    """Law PAIR: pairs are made by round; where an id may stand for one call alone, the later one gets another."""
    messages = [user("go"), *talk("a", "a", "a")]
    assert settled(messages)[-1] == (7, True)
    growing = Growing(STRICT)
    growing.grown(messages[:8], whole=list)
    rest = growing.grown(messages[7:], whole=list).rest
    assert rest is not None
    assert rest.repairs == tuple(one for one in repair(messages, STRICT).repairs if one.seq >= 7)


@pytest.mark.parametrize(
    "reaching",
    [
        [result("a", "late")],
        [result("early", "x"), *talk("b"), assistant(call("f", id="early"))],
        [assistant(replace(call("f", id="a"), kind="custom"))],
        [assistant(call("f", id="a")), Message(role="tool", parts=(ToolResult(call_id="a", kind="other"),))],
        [assistant(ToolResult(call_id="z"), Text(text="so"))],
    ],
    ids=[
        "a result that is late",
        "a call behind its result",
        "another kind",
        "a result of another kind",
        "no one's",
    ],
)
def test_what_reaches_back_is_repaired_as_a_whole(reaching: list[Message]) -> None:
    """Law PAIR: nothing is remembered that would be otherwise, had all been looked at."""
    messages = [user("go"), *talk("a", "c"), *reaching]
    assert settled(messages)[-1][1] is False


def test_a_history_goes_on_from_a_result_that_came_late() -> None:
    """The beginning is made anew with it, once."""
    messages = [user("go"), *talk("a", "c"), result("a", "late"), user("ah"), *talk("d", "e")]
    assert settled(messages)[-1] == (12, True)


def test_an_id_of_two_kinds_is_looked_at_each_time() -> None:
    """Responses: a function's call and a custom tool's with one id."""
    both = [
        Message(role="assistant", parts=(call("f", id="a"), replace(call("g", id="a"), kind="custom"))),
        Message(role="tool", parts=(ToolResult(call_id="a"), ToolResult(call_id="a", kind="custom"))),
    ]
    messages = [user("go"), *both, user("on"), *talk("b", "a")]
    assert settled(messages, Needs())[-1] == (7, False)


@pytest.mark.parametrize(
    "first",
    [[result("gone")], [system("s")], [user("  ")], [assistant(call("f", id="a")), user(" ")]],
    ids=["a result of no call", "system", "blank", "an open call before what is taken out"],
)
def test_a_beginning_that_says_nothing_yet_is_none(first: list[Message]) -> None:
    """What opens a history is not decided before somebody speaks, nor where a round ends that nothing stands behind."""
    messages = [*first, *talk("b", "c")]
    assert settled(messages)[len(first)] == (0, False)
    assert settled(messages)[-1][1]


def test_a_beginning_that_is_none_is_tried_again_when_there_is_twice_as_much() -> None:
    """Each time costs as much as the whole."""
    asked: list[int] = []
    growing = Growing(STRICT)
    messages = [user("go"), assistant("so"), system("x"), *talk("a", "b", "c", "d", "e", "f")]
    for end in range(1, len(messages) + 1):
        given = messages[:end]

        def whole(given: list[Message] = given) -> list[Message]:
            asked.append(len(given))
            return given

        growing.grown(given[growing.count :], whole=whole)
    assert asked == [4, 7, 13]


def test_a_system_message_is_where_it_may_stand_or_all_is_looked_at() -> None:
    """Law ROLE, Anthropic: it follows a user and comes before the assistant, or moves to where it may."""
    right = [user("go"), *talk("a"), system("s"), *talk("b"), user("well"), system("t"), *talk("c", "d")]
    assert settled(right)[-1][1]
    wrong = [user("go"), *talk("a"), assistant("so"), system("s"), user("well"), *talk("b", "c")]
    assert settled(wrong)[-1] == (4, False)
    assert settled(wrong, replace(STRICT, system_between=False))[-1][1]


def test_what_a_repair_leaves_nothing_of_begins_no_rest() -> None:
    """Law ROLE: reasoning that nothing follows goes, and the results before it are the end of the history again."""
    needs = Needs(reasoning_may_end=False)
    messages = [user("go"), *talk("a"), assistant(call("f", id="b"), call("f", id="c")), result("b", "x")]
    thinking = Message(role="assistant", parts=(Reasoning(text="hm"),))
    assert settled([*messages, thinking], needs)[-1] == (6, False)
    assert settled([*messages, thinking, assistant("so")], replace(needs, items=True))[-1] == (6, True)


def test_a_server_side_call_is_no_ones_to_answer() -> None:
    """Anthropic: call and result stand in one message."""
    search = ToolCall(id="a", name="web_search", arguments="{}", server=True)
    answered = Message(
        role="assistant", parts=(search, ToolResult(call_id="a", server=True), Text(text="so"))
    )
    messages = [user("go"), answered, user("on"), answered, user("on"), *talk("a")]
    assert settled(messages)[-1] == (5, True)
