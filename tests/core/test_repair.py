"""Repair of single messages by example: blank texts, torn texts, empty messages, the opening.

What looks across messages stands in `test_pairing.py`; any history in `tests/properties/test_repair.py`.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from foldline.core.laws import check
from foldline.core.mending import mended
from foldline.core.message import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    result_text,
)
from foldline.core.needs import Needs
from foldline.core.repair import APART, NOTHING, OPENING, SILENT, Repaired, repair
from foldline.testing.builders import assistant, call, result, system, thinking, user

STRICT = Needs(blank_text=False, first=frozenset({"user"}), reasoning_may_end=False)
TORN = "a\ud83d"


def kinds(found: Repaired) -> list[str]:
    return [done.kind for done in found.repairs]


def test_a_sound_history_is_not_copied() -> None:
    """Law LOSSLESS: the very messages come back."""
    messages = [system("s"), user("go"), assistant(thinking("so", "c2ln"), call("a")), result("a", "1")]
    found = repair(messages, STRICT)
    assert found.repairs == ()
    assert all(p.message is m for p, m in zip(found.placed, messages, strict=True))


def test_a_blank_text_is_taken_out_where_the_provider_refuses_it() -> None:
    """Law ROLE: Anthropic, "text content blocks must contain non-whitespace text"."""
    messages = [user("go", " \n"), assistant("ok")]
    found = repair(messages, STRICT)
    assert kinds(found) == ["blank-text"]
    assert found.placed[0].message.text == "go"
    assert repair(messages, Needs()).placed[0].message is messages[0]


def test_an_id_that_the_provider_refuses_becomes_another_in_call_and_result() -> None:
    """Law ROLE: Kimi's `functions.Read:0` on Anthropic's wire. Two calls of one id stay two pairs, and no id grows too long."""
    bad = ToolCall(id="functions.Read:0", name="Read", arguments="{}", slot=0)
    twice = [user("go"), assistant(bad, replace(bad, slot=1)), result(bad.id, "1"), result(bad.id, "2")]
    for needs in (Needs(ids_pattern="[a-zA-Z0-9_-]+"), Needs(ids_max=15)):
        found = repair(twice, needs)
        assert kinds(found) == ["refused-id", "refused-id", "duplicate-id"]
        calls = [part for part in found.placed[1].message.parts if isinstance(part, ToolCall)]
        answers = [p.message.parts[0] for p in found.placed[2:]]
        assert [one.id for one in calls] == [one.call_id for one in answers if isinstance(one, ToolResult)]
        assert len({one.id for one in calls}) == 2
        assert all(one.edited and one.slot == at for at, one in enumerate(calls))


def test_what_no_wire_value_holds_and_what_the_provider_runs_itself_keeps_its_id() -> None:
    """Made-up ids of Gemini's wire; a server's tools answer inside the message."""
    made_up = ToolCall(id="a b", name="x", arguments="{}", wire_id=False)
    server = ToolCall(id="a b", name="", arguments="{}", server=True)
    messages = [user("go"), assistant(server, made_up)]
    assert repair(messages, Needs(ids_pattern="[a-z]+")).placed[1].message is messages[1]


def test_a_name_that_the_provider_refuses_becomes_another_unless_the_request_declares_it() -> None:
    """Law ROLE: names that a model made up. Whoever runs a declared tool knows it by its name."""
    named = Message(role="tool", parts=(ToolResult(call_id="c1", name="fs.read", content=(Text(text="r"),)),))
    messages = [user("go"), assistant(call("fs.read", id="c1")), named]
    needs = Needs(names_pattern="[a-z_0-9]+")
    found = repair(messages, needs)
    assert kinds(found) == ["refused-name"]
    (asked,), (answer,) = (placed.message.parts for placed in found.placed[1:])
    assert isinstance(asked, ToolCall)
    assert isinstance(answer, ToolResult)
    assert asked.name == answer.name != "fs.read"
    assert repair(messages, replace(needs, names_kept=frozenset({"fs.read"}))).repairs == ()


THINKS_FIRST = replace(STRICT, reasoning_first=True, alternates=True, results_role="user")


@pytest.mark.parametrize(
    "between",
    [assistant(" "), assistant(), user(""), result("gone", "r")],
    ids=["blank", "empty", "user", "orphan"],
)
def test_no_answer_comes_in_front_of_reasoning_because_a_message_between_goes(between: Message) -> None:
    """Law ROLE: Anthropic, "Expected `thinking`, but found `text`", which the two as one message would be."""
    thought = assistant(thinking("so", "c2ln"), call("a"))
    messages = [user("go"), assistant("ok"), between, thought, result("a", "1")]
    found = repair(messages, THINKS_FIRST)
    assert "kept-apart" in kinds(found)
    assert [placed.message.text for placed in found.placed[:3]] == ["go", "ok", APART]
    assert found.placed[3].message is thought
    came_so = [user("go"), assistant("ok"), thought, result("a", "1")]
    assert kinds(repair(came_so, THINKS_FIRST)) == []
    assert "kept-apart" not in kinds(repair(messages, STRICT))


def test_a_failed_result_without_content_gets_a_line_where_the_provider_refuses_it() -> None:
    """Law ROLE: Anthropic, "content cannot be empty if `is_error` is true"; the same without the mark is accepted."""
    failed = Message(role="tool", parts=(ToolResult(call_id="a", is_error=True),))
    empty = Message(role="tool", parts=(ToolResult(call_id="b"),))
    messages = [user("go"), assistant(call("a"), call("b")), failed, empty]
    found = repair(messages, Needs(empty_failure=False))
    assert kinds(found) == ["empty-failure"]
    mended, same = (placed.message for placed in found.placed[2:])
    assert isinstance(mended.parts[0], ToolResult)
    assert result_text(mended.parts[0]) == SILENT
    assert same is empty
    assert repair([placed.message for placed in found.placed], Needs(empty_failure=False)).repairs == ()
    assert repair(messages, Needs()).repairs == ()


def test_a_failed_result_beside_another_is_the_only_one_that_gets_a_line() -> None:
    """LOSSLESS: of a message with two results one is written anew."""
    beside = Message(
        role="user",
        parts=(
            ToolResult(call_id="a", is_error=True, slot=0),
            ToolResult(call_id="b", content=(Text(text="1"),), slot=1),
        ),
    )
    needs = Needs(empty_failure=False, results_role="user")
    found = repair([user("go"), assistant(call("a"), call("b")), beside], needs)
    assert kinds(found) == ["empty-failure"]
    assert found.placed[2].message.parts[1] is beside.parts[1]


def test_a_result_of_a_shape_that_none_takes_is_named() -> None:
    """What was read is written as it was read; the caller's value is not sent."""
    odd = Message(role="tool", parts=(ToolResult(call_id="a", content=(Text(text="1"),), edited=True),))
    found = repair([user("go"), assistant(call("a")), odd], Needs())
    assert kinds(found) == ["no-output"]
    assert found.placed[2].message.edited


def test_a_blank_text_beside_calls_stays_where_results_have_a_role_of_their_own() -> None:
    """How a chat message says that it only calls tools."""
    messages = [user("go"), assistant("", call("a")), result("a", "1")]
    assert kinds(repair(messages, Needs(blank_text=False))) == []
    assert kinds(repair(messages, Needs(blank_text=False, results_role="user"))) == ["blank-text"]


@pytest.mark.parametrize("message", [user(), user("  "), assistant(""), assistant()])
def test_a_message_without_content_is_taken_out(message: Message) -> None:
    """Law ROLE: every provider refuses it."""
    found = repair([user("go"), assistant("ok"), message], Needs())
    assert kinds(found) == ["empty-message"]
    assert [p.seq for p in found.placed] == [0, 1]


def test_a_history_of_which_nothing_is_left_says_so_and_no_history_stays_none() -> None:
    """Law ROLE: a request without a message is refused by every provider."""
    found = repair([user("  "), assistant("")], STRICT)
    assert [(p.seq, p.message.role, p.message.text) for p in found.placed] == [(1, "user", NOTHING)]
    assert found.repairs[-1].why == "nothing of the history is left to send"
    assert kinds(found) == ["empty-message"] * 3
    assert repair([], STRICT) == Repaired(placed=(), repairs=())


def test_reasoning_that_nothing_follows_is_taken_out_where_the_provider_refuses_it() -> None:
    """Anthropic: the final block of an assistant message cannot be thinking."""
    found = repair([user("go"), assistant("ok", thinking("a"), thinking("b"))], STRICT)
    assert kinds(found) == ["trailing-reasoning", "trailing-reasoning"]
    assert found.placed[1].message.parts == assistant("ok").parts
    alone = repair([user("go"), assistant(thinking("a"))], STRICT)
    assert kinds(alone) == ["trailing-reasoning", "empty-message"]
    assert kinds(repair([user("go"), assistant("ok", thinking("a"))], Needs())) == []


def test_reasoning_is_put_in_front_where_the_provider_takes_it_there_alone() -> None:
    """Anthropic: no thinking behind a call, and none behind other content of the newest answer (`doctor`: repair)."""
    first = replace(STRICT, reasoning_first=True)
    between = assistant(thinking("a"), call("x", id="1"), thinking("b"), call("x", id="2"))
    found = repair([user("go"), between, result("1"), result("2"), assistant("ok"), user("next")], first)
    assert kinds(found) == ["late-reasoning"]
    assert [type(part).__name__ for part in found.placed[1].message.parts] == ["Reasoning"] * 2 + [
        "ToolCall"
    ] * 2
    behind = assistant("x", thinking("a"), call("x", id="1"))
    assert kinds(repair([user("go"), behind, result("1")], first)) == ["late-reasoning"]
    assert kinds(repair([user("go"), behind, result("1"), assistant("ok")], first)) == []


def test_reasoning_without_a_signature_goes_where_it_is_refused() -> None:
    """Anthropic: 400 "Invalid `signature` in `thinking` block"; a stream that broke off leaves one behind."""
    history = [user("go"), assistant(Reasoning(text="a"), "ok"), user("next")]
    found = repair(history, replace(STRICT, reasoning_signed=True))
    assert kinds(found) == ["refused-part"]
    assert [type(part).__name__ for part in found.placed[1].message.parts] == ["Text"]
    assert kinds(repair(history, STRICT)) == []


def test_what_only_the_model_may_write_goes_from_the_messages_of_others() -> None:
    """`tool_use` blocks can only be in assistant messages; the result that it had is told as an orphan's is."""
    odd = Message(role="user", parts=(Text(text="x"), ToolCall(id="1", name="f", arguments="{}")))
    found = repair([odd, assistant("k"), user("n")], STRICT)
    assert kinds(found) == ["refused-part"]
    assert found.placed[0].message.parts == (Text(text="x"),)


ITEMS = replace(STRICT, items=True)


@pytest.mark.parametrize(
    "messages",
    [
        [assistant(thinking("a")), assistant(call("c")), result("c", "1")],
        [assistant(thinking("a")), assistant(thinking("b")), assistant("ok")],
        [
            assistant(call("c")),
            assistant(thinking("a")),
            assistant(call("d")),
            result("c", "1"),
            result("d", "2"),
        ],
        [
            assistant(thinking("a")),
            Message(role="assistant", parts=(ToolCall(id="w", name="search", arguments="{}", server=True),)),
        ],
    ],
    ids=[
        "before a call",
        "before reasoning and a message",
        "between calls",
        "before the provider's own call",
    ],
)
def test_reasoning_that_is_an_item_of_its_own_stays_with_what_follows_it(messages: list[Message]) -> None:
    """OpenAI Responses: the item after it is the one it is required with (continuedev/continue#8933)."""
    given = [user("go"), *messages]
    found = repair(given, ITEMS)
    assert found.repairs == ()
    assert all(p.message is m for p, m in zip(found.placed, given, strict=True))
    assert check(found.placed, ITEMS) == ()


@pytest.mark.parametrize(
    "after",
    [
        [],
        [user("on")],
        [system("s"), assistant("ok")],
        [result("c", "1"), assistant("ok")],
        [assistant(thinking("b"))],
        [assistant(" "), user("on")],
    ],
    ids=["the end", "the user", "the host", "a result", "more reasoning", "nothing that can be seen"],
)
def test_reasoning_in_an_item_of_its_own_goes_where_nothing_of_its_turn_follows(after: list[Message]) -> None:
    """The rule is the turn's, not the item's."""
    found = repair([user("go"), assistant(call("c")), assistant(thinking("a")), *after], ITEMS)
    assert "trailing-reasoning" in kinds(found)
    assert not any(isinstance(part, Reasoning) for p in found.placed for part in p.message.parts)
    assert check(found.placed, ITEMS) == ()


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Text(text=TORN), Text(text="a\ufffd", edited=True)),
        (Reasoning(text=TORN), Reasoning(text="a\ufffd", edited=True)),
        (
            ToolCall(id="c", name="x", arguments=r'{"a":"\ud83d"}'),
            ToolCall(id="c", name="x", arguments=r'{"a":"\ufffd"}', edited=True),
        ),
    ],
)
def test_half_a_surrogate_pair_becomes_the_replacement_character(part: Part, expected: Part) -> None:
    """anthropics/claude-code#69927: one half makes every later request invalid."""
    found = repair(
        [user("go"), Message(role="assistant", parts=(part,)), *([result("c")] * isinstance(part, ToolCall))],
        Needs(),
    )
    assert kinds(found) == ["lone-surrogate"]
    assert found.placed[1].message.parts == (expected,)
    assert found.placed[1].message.edited


def test_half_a_pair_inside_a_result_is_mended_and_its_neighbours_are_the_same_objects() -> None:
    """Bytes are kept by part: mending one text does not touch the image beside it."""
    image, other = Media(kind="image", mime="image/png", data="iVBORw0K"), Text(text="ok")
    part = ToolResult(call_id="c", content=(Text(text=TORN), image, other), slot=0)
    found = repair([user("go"), assistant(call("x", id="c")), Message(role="tool", parts=(part,))], Needs())
    assert kinds(found) == ["lone-surrogate"]
    (whole,) = found.placed[2].message.parts
    assert isinstance(whole, ToolResult)
    assert whole.content == (Text(text="a\ufffd", edited=True), image, other)
    assert whole.content[1] is image


@pytest.mark.parametrize(
    "part",
    [Reasoning(text=TORN, signature="c2ln", provider="anthropic"), Opaque(type="x", raw=b'"\\ud83d"')],
)
def test_what_is_signed_or_unknown_is_never_mended(part: Part) -> None:
    """Signed reasoning stays byte for byte or goes whole; an unknown part passes through."""
    messages = [user("go"), Message(role="assistant", parts=(part, Text(text="ok")))]
    assert repair(messages, Needs()).placed[1].message is messages[1]


def test_a_history_that_opens_with_the_assistant_gets_a_line_before_it() -> None:
    """Law ROLE: the first role is the provider's to say; system text stays in front."""
    found = repair([system("s"), assistant("hello"), user("go")], STRICT)
    assert kinds(found) == ["first-role"]
    assert [p.message.role for p in found.placed] == ["system", "user", "assistant", "user"]
    assert found.placed[1].message.text == OPENING
    assert found.placed[1].message.synthetic == "repair"
    assert kinds(repair([assistant("hello")], Needs())) == []
    assert kinds(repair([system("only")], STRICT)) == []
    assert repair([], STRICT).placed == ()


def test_nothing_is_put_in_front_of_a_providers_own_compaction() -> None:
    """`compaction_block_misplaced` of Anthropic's SDK: the block is the first of the conversation."""
    block = Opaque(type="compaction", raw=b'{"type":"compaction","content":"x"}', slot=0)
    messages = [Message(role="assistant", parts=(block,)), user("go")]
    found = repair(messages, STRICT)
    assert found.repairs == ()
    assert found.placed[0].message is messages[0]
    assert not list(check(found.placed, STRICT))


def test_a_call_that_was_read_otherwise_than_it_stands_is_sent_as_it_was_read() -> None:
    """Null for the arguments of a call, as saved sessions have it: every provider wants a text."""
    torn = replace(call("a"), edited=True)
    found = repair([user("go"), Message(role="assistant", parts=(torn,)), result("a", "x")], STRICT)
    assert kinds(found) == ["no-arguments"]
    assert found.placed[1].message.edited
    assert repair([p.message for p in found.placed], STRICT).repairs == ()


def test_repairs_are_told_in_the_order_of_the_history() -> None:
    """A person reads them beside the file."""
    found = repair([assistant("hi"), user(TORN), result("gone"), assistant(), user("on")], STRICT)
    assert [done.seq for done in found.repairs] == [0, 1, 2, 3]
    assert all(done.why for done in found.repairs)


def test_a_system_prompt_apart_from_the_history_is_mended_like_a_message() -> None:
    """It travels with every request; a sound one is the same object."""
    assert mended(system(TORN)).text == "a\ufffd"
    sound = system("be kind")
    assert mended(sound) is sound


def test_a_text_that_is_blank_beside_one_that_is_torn_is_told_as_both() -> None:
    """Every repair has its own line."""
    found = repair([user(TORN, " "), assistant("ok")], STRICT)
    assert sorted(kinds(found)) == ["blank-text", "lone-surrogate"]


def test_mending_one_part_leaves_its_siblings_the_very_objects() -> None:
    """Law LOSSLESS: a torn text is no reason to copy a result or reasoning beside it."""
    sound, torn = (
        ToolResult(call_id=name, content=(Text(text=text),)) for name, text in (("a", "1"), ("b", TORN))
    )
    answered = Message(role="tool", parts=(sound, torn))
    said = Message(role="assistant", parts=(Reasoning(text="so"), Text(text=TORN)))
    opening = [user("go"), assistant(call("a"), call("b"))]
    found = repair([*opening, answered, said, user("and?")], Needs())
    assert kinds(found) == ["lone-surrogate", "lone-surrogate"]
    kept = {id(part) for placed in found.placed for part in placed.message.parts}
    assert {id(sound), id(said.parts[0])} <= kept
