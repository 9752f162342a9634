"""Pairing by example: every call meets its result, in its own round, and every repair is named.

Property tests over any history stand in `tests/properties/test_repair.py`.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from foldline.core.laws import check
from foldline.core.message import (
    Message,
    Text,
    ToolCall,
    ToolResult,
    result_text,
    results_of,
    speaks_for_user,
)
from foldline.core.needs import Needs
from foldline.core.pairing import INTERRUPTED, STATUS_MAX_CHARS, WAITING, Placed
from foldline.core.repair import Repaired, repair
from foldline.testing.builders import assistant, call, result, user

OPEN = Needs()
OVER = Needs(tail_stays_open=False)
ON_ANTHROPIC = Needs(results_role="user", first=frozenset({"user"}))


def repaired(*messages: Message, needs: Needs = OPEN) -> Repaired:
    return repair(messages, needs)


def placed(messages: tuple[Message, ...]) -> list[Placed]:
    return [Placed(seq=seq, message=message) for seq, message in enumerate(messages)]


def kinds(found: Repaired) -> list[str]:
    return [done.kind for done in found.repairs]


def answers(found: Repaired) -> list[tuple[str, str]]:
    """Every result as (call id, text), in order."""
    return [(r.call_id, result_text(r)) for p in found.placed for r in results_of(p.message)]


def by_user(*parts: Message | str) -> Message:
    """A user message of results and texts, as the Anthropic wire has them."""
    pieces = [p for m in parts for p in ((Text(text=m),) if isinstance(m, str) else m.parts)]
    return Message(role="user", parts=tuple(replace(p, slot=n) for n, p in enumerate(pieces)))


def test_a_call_that_the_conversation_left_behind_is_answered_as_interrupted() -> None:
    """Law PAIR, google/adk-python#7236: the result that never came is put in, as an error, in its round."""
    found = repaired(user("go"), assistant(call("bash")), user("and?"))
    assert kinds(found) == ["interrupted-call"]
    assert [p.message.role for p in found.placed] == ["user", "assistant", "tool", "user"]
    (stand_in,) = results_of(found.placed[2].message)
    assert (stand_in.call_id, stand_in.name, stand_in.is_error) == ("bash", "bash", True)
    assert result_text(stand_in) == INTERRUPTED
    assert found.placed[2].message.synthetic == "repair"


def test_a_call_that_waits_for_a_person_is_answered_as_waiting() -> None:
    """google/adk-python#4740: an approval that is still to come is no error."""
    found = repaired(user("go"), assistant(call("request_approval")), user("and?"))
    assert kinds(found) == ["waiting-call"]
    (stand_in,) = results_of(found.placed[2].message)
    assert (result_text(stand_in), stand_in.is_error, stand_in.interim) == (WAITING, False, True)


def test_the_last_round_may_wait_for_its_results() -> None:
    """Law TAIL: in a request body a result may still come; in a finished session's file none will."""
    messages = (user("go"), assistant(call("a"), call("b")), result("b", "2"))
    assert kinds(repaired(*messages)) == []
    closed = repaired(*messages, needs=OVER)
    assert kinds(closed) == ["interrupted-call"]
    assert [id for id, _ in answers(closed)] == ["a", "b"]


@pytest.mark.parametrize(
    "last",
    [by_user("stop"), by_user(result("a", "1"), "stop"), by_user(result("gone", "?"), "stop")],
    ids=["words", "words beside a result", "words beside a result without a call"],
)
def test_a_round_is_over_once_anything_but_results_follows(last: Message) -> None:
    """Law PAIR: no provider takes a result behind the next words."""
    found = repaired(user("go"), assistant(call("a"), call("b")), last)
    assert "interrupted-call" in kinds(found)
    assert {id for id, _ in answers(found)} == {"a", "b"}
    assert found.placed[-1].message.text == "stop"


def test_a_late_result_moves_to_its_round() -> None:
    """Law PAIR: pairs stand in one round; the result keeps its ordinal, so its address opens the file."""
    late = result("a", "1")
    found = repaired(user("go"), assistant(call("a")), user("and?"), late)
    assert kinds(found) == ["moved-result"]
    assert [p.seq for p in found.placed] == [0, 1, 3, 2]
    assert found.placed[2].message is late


def test_a_result_behind_words_moves_before_them() -> None:
    """Law ROLE: results first. What came after the words of the user is put into the round they end."""
    found = repaired(
        user("go"), assistant(call("a"), call("b")), by_user(result("a"), "and?"), by_user(result("b"))
    )
    assert kinds(found) == ["moved-result"]
    assert [[type(p).__name__ for p in placed.message.parts] for placed in found.placed[2:]] == [
        ["ToolResult"],
        ["ToolResult", "Text"],
    ]


@pytest.mark.parametrize("needs", [OPEN, ON_ANTHROPIC])
def test_a_result_in_a_system_message_moves_to_where_results_stand(needs: Needs) -> None:
    """No provider takes a result from a system message, nor moves with it where that one must go."""
    told = replace(result("bash", "ok"), role="system")
    found = repaired(user("go"), assistant(call("bash")), told, assistant("done"), needs=needs)
    assert kinds(found) == ["moved-result"]
    assert [p.message.role for p in found.placed] == ["user", "assistant", needs.results_role, "assistant"]
    assert answers(found) == [("bash", "ok")]


def test_a_late_result_among_others_leaves_its_message() -> None:
    """What else the message says stays where it was said."""
    found = repaired(user("go"), assistant(call("a")), user("x"), by_user("late:", result("a", "1")))
    assert kinds(found) == ["moved-result"]
    assert [p.message.text for p in found.placed if p.message.role == "user"] == ["go", "x", "late:"]
    assert answers(found) == [("a", "1")]


def test_a_result_before_its_call_moves_behind_it() -> None:
    """Writers that sort by time of arrival put fast results first."""
    found = repaired(user("go"), result("a", "1"), assistant(call("a")), user("on"))
    assert kinds(found) == ["moved-result"]
    assert [p.message.role for p in found.placed] == ["user", "assistant", "tool", "user"]


def test_a_result_without_any_call_is_told_where_it_is_the_newest() -> None:
    """Law TAIL: what the next answer is about is not dropped. It is a text of ours, in front of what the user says beside it, and no
    word of the user's; a round that is still open keeps its results together."""
    found = repaired(user("go"), assistant("ok"), by_user(result("gone", "42 files")))
    assert kinds(found) == ["orphan-result"]
    last = found.placed[-1].message
    assert (last.role, last.synthetic) == ("user", "repair")
    assert "42 files" in last.text
    assert not speaks_for_user(last)
    gone, there = result("gone", "42 files"), result("a", "1")
    found = repaired(user("go"), assistant(call("a")), gone, there)
    assert [p.message.role for p in found.placed] == ["user", "assistant", "tool", "user"]
    assert repair([p.message for p in found.placed], OPEN).repairs == ()
    found = repaired(user("go"), assistant("ok"), by_user(gone, "and now?"))
    assert [p.message.text for p in found.placed][-1] == "and now?"
    assert "42 files" in found.placed[-2].message.text


def test_a_result_without_any_call_does_not_end_a_round_that_waits() -> None:
    """Laws PAIR and TAIL: a text behind a call that has no result yet would leave it without one for ever."""
    waiting, gone = assistant(call("a")), result("gone", "42 files")
    found = repaired(user("go"), waiting, gone)
    assert kinds(found) == ["orphan-result"]
    assert [p.message.role for p in found.placed] == ["user", "assistant"]
    assert check([Placed(seq=p.seq, message=p.message) for p in found.placed], OPEN) == ()


def test_a_result_without_any_call_is_nothing_once_the_user_has_gone_on() -> None:
    """A16, pydantic/pydantic-ai#4728: a late result of another run."""
    found = repaired(user("go"), assistant("ok"), result("gone", "42 files"), user("try again"))
    assert kinds(found) == ["orphan-result"]
    assert [p.message.text for p in found.placed] == ["go", "ok", "try again"]


def test_a_result_without_any_call_is_taken_out() -> None:
    """pydantic/pydantic-ai#4728: providers refuse it, and it answers nothing."""
    found = repaired(user("go"), result("gone", "?"), assistant("ok"))
    assert kinds(found) == ["orphan-result"]
    assert answers(found) == []
    assert [p.seq for p in found.placed] == [0, 2]


@pytest.mark.parametrize(
    ("first", "second", "text", "kind"),
    [
        (result("a", "x"), result("a", "x"), "x", "duplicate-result"),
        (result("a", "pending"), result("a", "x"), "x", "interim-result"),
        (result("a", "whatever", interim=True), result("a", "x"), "x", "interim-result"),
        (result("a", "x"), result("a", "y"), "x\ny", "merged-result"),
        (result("a", "s" * STATUS_MAX_CHARS + " running"), result("a", "y"), None, "merged-result"),
        (result("a", "x"), result("a", "x", is_error=True), "x\nx", "merged-result"),
    ],
)
def test_two_results_of_one_call_become_one(
    first: Message, second: Message, text: str | None, kind: str
) -> None:
    """A status gives way to what came of it, a copy goes, and nothing that a tool said is lost."""
    found = repaired(user("go"), assistant(call("a")), first, second, user("on"))
    assert kinds(found) == [kind]
    ((_, said),) = answers(found)
    assert said == text if text is not None else said.endswith("y")


def test_a_status_that_comes_after_the_result_says_nothing_new() -> None:
    """A late "running" does not undo an answer."""
    found = repaired(user("go"), assistant(call("a")), result("a", "x"), result("a", "running"), user("on"))
    assert answers(found) == [("a", "x")]


def test_one_id_for_two_calls_of_a_round_is_told_apart() -> None:
    """Law PAIR: ids are unique within a round; the second pair gets a name that nobody has."""
    found = repaired(
        user("go"),
        assistant(call("x", id="a"), call("x", id="a_2"), call("y", id="a")),
        result("a", "1"),
        result("a_2", "2"),
        result("a", "3"),
    )
    assert kinds(found) == ["duplicate-id"]
    assert answers(found) == [("a", "1"), ("a_2", "2"), ("a_3", "3")]


def test_an_id_may_come_again_in_a_later_round() -> None:
    """Real histories use an id again; pairs are made by round, never by id alone."""
    messages = (user("go"), assistant(call("a")), result("a", "1"), assistant(call("a")), result("a", "2"))
    assert kinds(repaired(*messages)) == []
    once = repaired(*messages, needs=Needs(ids_once=True))
    assert kinds(once) == ["duplicate-id"]
    assert answers(once) == [("a", "1"), ("a_2", "2")]


def test_results_stand_before_words_where_the_wire_wants_it() -> None:
    """Law ROLE: Anthropic refuses a result behind a text of the same message; other wires have no such message."""
    messages = (user("go"), assistant(call("a")), by_user("here:", result("a", "1")))
    found = repaired(*messages, needs=ON_ANTHROPIC)
    assert kinds(found) == ["moved-result"]
    assert [type(p) for p in found.placed[2].message.parts] == [ToolResult, Text]
    assert kinds(repaired(*messages)) == []


def test_words_beside_a_result_end_the_round() -> None:
    """Law PAIR: a call that was not answered before them is not answered any more."""
    found = repaired(user("go"), assistant(call("a"), call("b")), by_user(result("a", "1"), "stop"))
    assert kinds(found) == ["interrupted-call"]


def test_two_results_keep_what_both_say() -> None:
    """Nothing that a tool said is lost."""
    found = repaired(user("go"), assistant(call("a")), result("a", "x"), result("a", "y"), user("on"))
    assert answers(found) == [("a", "x\ny")]


def custom(id: str) -> ToolCall:
    """A call that only an output of its own kind answers."""
    return ToolCall(id=id, name="patch", arguments="x", kind="custom_tool_call")


def custom_result(id: str, text: str) -> Message:
    return Message(
        role="tool", parts=(ToolResult(call_id=id, content=(Text(text=text),), kind="custom_tool_call"),)
    )


def test_a_stand_in_is_of_the_kind_that_its_call_asks_for() -> None:
    """OpenAI Responses: "No tool output found" where a custom call is answered as a function's."""
    found = repaired(user("go"), assistant(custom("c"), call("d")), user("x"))
    stand_ins = [part for placed in found.placed for part in results_of(placed.message)]
    assert [(part.call_id, part.kind) for part in stand_ins] == [("c", "custom_tool_call"), ("d", "")]


@pytest.mark.parametrize(
    "results",
    [
        [custom_result("dup", "mine"), result("dup", "plain")],
        [result("dup", "plain"), custom_result("dup", "mine")],
        [custom_result("dup", "mine"), custom_result("dup", "mine"), result("dup", "plain")],
    ],
    ids=["the second call first", "in order", "one of them twice"],
)
@pytest.mark.parametrize("early", [False, True])
def test_a_result_goes_to_the_call_of_its_kind_where_one_id_stands_for_two(
    results: list[Message], early: bool
) -> None:
    """Law PAIR: a call that gets an id of its own takes its result along."""
    calls = [assistant(call("dup"), custom("dup"))]
    found = repaired(user("go"), *(results + calls if early else calls + results), user("on"))
    texts = {
        part.call_id: (part.kind, result_text(part))
        for placed in found.placed
        for part in results_of(placed.message)
    }
    assert texts == {"dup": ("", "plain"), "dup_2": ("custom_tool_call", "mine")}


def test_a_result_of_another_kind_answers_a_call_that_has_no_other() -> None:
    """Codex answers a local shell's call as a function's: what a tool said is not lost over its kind."""
    found = repaired(user("go"), assistant(custom("c")), result("c", "done"), user("on"))
    assert kinds(found) == []
    early = repaired(user("go"), result("c", "done"), assistant(custom("c")), user("on"))
    assert kinds(early) == ["moved-result"]
    twice = repaired(user("go"), assistant(custom("c")), custom_result("c", "done"), result("c", "done"))
    assert kinds(twice) == ["duplicate-result"]


BEHIND_THE_CALL = Needs(results_follow=True)


def in_order(found: Repaired) -> list[str]:
    """Ids of calls and results as they stand."""
    return [
        f"{part.id}?" if isinstance(part, ToolCall) else f"{part.call_id}!"
        for placed in found.placed
        for part in placed.message.parts
        if isinstance(part, (ToolCall, ToolResult))
    ]


def test_results_stand_behind_the_one_message_that_calls_where_the_provider_wants_them_there() -> None:
    """Law PAIR: a session that broke off at a call and went on has two messages with calls in a row; OpenAI's chat wire
    and Gemini's refuse a call that another message follows."""
    messages = (user("go"), assistant(call("a")), assistant(call("b")), result("a"), result("b"), user("on"))
    found = repaired(*messages, needs=BEHIND_THE_CALL)
    assert (kinds(found), in_order(found)) == (["moved-result"], ["a?", "a!", "b?", "b!"])
    assert [v.law for v in check(placed(messages), BEHIND_THE_CALL)] == ["PAIR"] * 2
    assert check(found.placed, BEHIND_THE_CALL) == ()
    assert repaired(*messages).repairs == ()


def test_a_call_that_the_assistant_itself_went_on_from_is_answered_before_it_goes_on() -> None:
    """Law PAIR: the stand-in stands behind the call, not behind what was said after it; the newest may still wait."""
    found = repaired(user("go"), assistant(call("a")), assistant("done"), needs=BEHIND_THE_CALL)
    assert kinds(found) == ["interrupted-call"]
    assert [p.message.role for p in found.placed] == ["user", "assistant", "tool", "assistant"]
    found = repaired(user("go"), assistant(call("a")), assistant(call("b")), needs=BEHIND_THE_CALL)
    assert (kinds(found), in_order(found)) == (["interrupted-call"], ["a?", "a!", "b?"])


def test_one_id_for_calls_of_two_messages_in_a_row_still_gives_each_its_result() -> None:
    """Law PAIR: results come in the order of their calls."""
    messages = (assistant(call("a")), assistant(call("a")), result("a", "one"), result("a", "two"))
    found = repaired(*messages, needs=BEHIND_THE_CALL)
    assert in_order(found) == ["a?", "a!", "a_2?", "a_2!"]
    assert answers(found) == [("a", "one"), ("a_2", "two")]


def test_a_late_result_finds_the_call_of_its_kind_behind_one_of_another_kind_with_its_id() -> None:
    """Law PAIR: an id that came again in a later round does not take a result that it cannot take."""
    late = custom_result("c", "late")
    messages = (user("go"), assistant(custom("c")), user("x"), assistant(call("b", id="c")), late, user("on"))
    found = repaired(*messages)
    assert kinds(found) == ["interrupted-call", "moved-result"]
    assert found.placed[2].message is late


def test_of_two_calls_with_one_id_a_result_answers_the_one_of_its_name() -> None:
    """Law PAIR: Gemini's responses say a name beside the id, and the provider compares both."""
    (part,) = result("d", "two").parts
    answer = Message(role="tool", parts=(replace(part, name="second"),))
    found = repaired(user("go"), assistant(call("first", "d"), call("second", "d")), answer, user("on"))
    assert kinds(found) == ["interrupted-call", "duplicate-id"]
    (_, asked, *given, _) = found.placed
    names = {c.id: c.name for c in asked.message.parts if isinstance(c, ToolCall)}
    assert [(r.name, names[r.call_id]) for p in given for r in results_of(p.message)] == [
        ("first", "first"),
        ("second", "second"),
    ]
