"""Clamping what has to stay: results, the assistant's words, a host's words, strings in arguments; never the user's."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from foldline.core.edit import Replace, apply
from foldline.core.message import Message, Meta, Reasoning, Text, ToolCall, ToolResult, result_text
from foldline.core.rounds import outline_of
from foldline.passes.clamping import Clamped, clamp
from foldline.testing.builders import assistant, call, image, result, system, thinking, user, view_from
from foldline.testing.counting import CharacterCounter
from tests.passes.planning import framed


def clamped(messages: list[Message], excess: int, *, pins: tuple[int, ...] = ()) -> Clamped:
    """What clamping every unit does; the edits are applied with all laws."""
    view = view_from(messages)
    frame = framed(view, messages, pins=pins)
    structure = outline_of(view)
    done = clamp(structure, structure.units, excess=excess, frame=frame)
    assert view.tokens - apply(view, done.edits, frame=frame).tokens == done.tokens_freed
    return done


def parts(done: Clamped) -> list[Text | Reasoning | ToolCall | ToolResult]:
    """The new parts."""
    return [edit.part for edit in done.edits if isinstance(edit, Replace)]  # type: ignore[misc]


def test_the_largest_part_is_cut_first_and_only_as_far_as_needed() -> None:
    """Two results: one is enough."""
    messages = [
        user("go"),
        assistant(call("a"), call("b")),
        result("a", "x" * 40_000),
        result("b", "y" * 20_000),
        user("on"),
    ]
    done = clamped(messages, 3000)
    assert [edit.seq for edit in done.edits if isinstance(edit, Replace)] == [2]
    assert 3000 <= done.tokens_freed <= 3360


def test_head_and_tail_are_three_quarters_and_one_quarter() -> None:
    """The head is what comes first in a log, and worth more; marked."""
    text = "".join(f"{n:07} " for n in range(5000))
    [edit] = parts(clamped([user("go"), assistant(call("a")), result("a", text), user("on")], 8000))
    assert isinstance(edit, ToolResult)
    head, _, rest = result_text(edit).partition("\n[foldline: ")
    tail = rest.partition("]\n")[2]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) == pytest.approx(3 * len(tail), rel=0.05)


def test_the_assistants_words_are_cut_with_an_address() -> None:
    """Law TRACE."""
    messages = [user("go"), assistant("so " * 9000), user("on")]
    [text] = parts(clamped(messages, 3000))
    assert isinstance(text, Text)
    assert text.text.startswith("so so")
    assert " tokens omitted · m1.0@" in text.text


def test_the_users_words_are_never_cut() -> None:
    """User text is never rewritten; what a host wrote under the user's name may be."""
    mine = user("mine " * 9000)
    assert clamped([mine, assistant("ok"), user("on")], 3000).edits == ()
    hosts = replace(mine, meta=Meta(injected=True))
    assert len(clamped([user("go"), hosts, assistant("ok"), user("on")], 3000).edits) == 1


def test_arguments_keep_their_keys_and_stay_json() -> None:
    """Fault report L04: a call cut as a string poisons the session (NousResearch/hermes-agent#13574)."""
    given = call("write_file", path="notes.md", mode=420, content="x" * 40_000, flags=["a"] * 9)
    [new] = parts(clamped([user("go"), assistant(given), result("write_file", "ok"), user("on")], 5000))
    assert isinstance(new, ToolCall)
    kept = json.loads(new.arguments)
    assert list(kept) == ["path", "mode", "content", "flags"]
    assert (kept["path"], kept["mode"], kept["flags"]) == ("notes.md", 420, ["a"] * 9)
    assert "tokens omitted" in kept["content"]


def test_arguments_that_are_no_json_stay() -> None:
    """They pass unchanged; there is no safe way to cut them."""
    broken = replace(call("write_file"), arguments='{"content": "' + "x" * 40_000)
    assert clamped([user("go"), assistant(broken), result("write_file", "ok"), user("on")], 5000).edits == ()


def test_of_an_open_round_only_results_are_cut() -> None:
    """Law TAIL."""
    given = call("a", content="x" * 9000)
    messages = [user("go"), assistant("so " * 3000, given, call("b")), result("a", "y" * 9000)]
    [new] = parts(clamped(messages, 10**6))
    assert isinstance(new, ToolResult)


def test_reasoning_media_system_text_and_pins_are_never_cut() -> None:
    """Signed reasoning is atomic; pins stay (law PIN)."""
    messages = [
        system("s" * 9000),
        user("go", image(9000)),
        assistant(thinking("t" * 9000, "c2ln"), call("a")),
        result("a", "y" * 9000),
        user("on"),
    ]
    assert clamped(messages, 10**6, pins=(3,)).edits == ()
    assert len(clamped(messages, 10**6).edits) == 1


def test_what_a_repair_wrote_and_what_is_small_is_left_alone() -> None:
    """Twice the 120 tokens that a clamp leaves at least are too few to gain."""
    small = 4 * 240 - 16
    messages = [user("go"), assistant(call("a"), call("b")), result("a", "y" * small), user("on")]
    assert clamped(messages, 10**6).edits == ()
    larger = [user("go"), assistant(call("a")), result("a", "y" * (small + 4)), user("on")]
    [cut] = parts(clamped(larger, 10**6))
    assert 120 <= CharacterCounter().part(cut) <= 180


def test_nothing_is_cut_when_nothing_is_over() -> None:
    """Law GAIN."""
    assert clamped([user("go"), assistant("so " * 9000), user("on")], 0).edits == ()
