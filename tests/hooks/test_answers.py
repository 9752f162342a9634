"""What a hook's answer means, word for word, and that it stays in its bounds."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.hooks.answers import NOTE_CHARS_MAX, Answer, of_command, of_value
from foldline.hooks.occasion import EVENTS, Event
from foldline.hooks.running import End, Ran


def says(text: str, event: Event = "PreCompact", **more: Any) -> Answer:
    """What this on stdout means."""
    return of_command(Ran(exit_code=0, stdout=text, **more), event, name="h")


def test_text_on_stdout_is_for_the_model() -> None:
    """HOK-1: merged as further instructions; SessionStart adds it."""
    assert says(" keep the ids \n") == Answer(added="keep the ids")
    assert says("the branch is main", "SessionStart") == Answer(added="the branch is main")
    assert says("done", "PostCompact") == Answer()
    assert says("  \n") == Answer()


def test_an_explicit_block_blocks_before_and_is_shown_after() -> None:
    """CMP-17: `decision` or `continue`; at SessionStart and PostCompact there is nothing left to block."""
    for text, why in (
        ('{"decision": "block", "reason": "tests are red"}', "tests are red"),
        ('{"continue": false, "stopReason": "not now"}', "not now"),
        ('{"decision": "block"}', "no reason given"),
    ):
        assert says(text) == Answer(blocked=f"hook h: {why}")
        for event in ("SessionStart", "PostCompact"):
            answer = says(text, event)
            assert answer.blocked is None
            assert why in answer.notes[0]
    assert says('{"decision": "approve"}') == Answer()
    assert says('{"continue": true}') == Answer()


def test_additional_text_and_a_message_of_the_object_are_told_apart() -> None:
    """The fields of Claude Code: `hookSpecificOutput.additionalContext` is for the model, `systemMessage` for the person."""
    text = json.dumps(
        {
            "systemMessage": "looked it up",
            "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "branch: main"},
        }
    )
    assert says(text, "SessionStart") == Answer(added="branch: main", notes=("hook h: looked it up",))
    meant_for_another = says(text, "PreCompact")
    assert meant_for_another.added == ""
    assert "for SessionStart, not for PreCompact" in meant_for_another.notes[0]


@pytest.mark.parametrize("event", EVENTS)
def test_exit_code_2_is_shown_and_does_not_block(event: Event) -> None:
    """HOK-2: of either. What stands on stdout then counts for nothing."""
    ran = Ran(exit_code=2, stdout='{"decision": "block"}', stderr="no\nway")
    assert of_command(ran, event, name="h") == Answer(notes=("hook h: exit code 2: no way",))


def test_exit_code_2_blocks_where_the_settings_say_so() -> None:
    """CMP-17: as Claude Code has it, for scripts that were written for it."""
    ran = Ran(exit_code=2, stderr="tests are red")
    assert of_command(ran, "PreCompact", name="h", blocks_on_exit_2=True) == Answer(
        blocked="hook h: tests are red"
    )
    assert of_command(ran, "PostCompact", name="h", blocks_on_exit_2=True).blocked is None


@pytest.mark.parametrize("end", [end for end in get_args(End) if end])
def test_a_hook_that_did_not_end_well_is_shown_and_nothing_else(end: End) -> None:
    """The compaction goes on: what fails is a note."""
    answer = of_command(Ran(end=end, stdout='{"decision": "block"}', why="because"), "PreCompact", name="h")
    assert (answer.added, answer.blocked, len(answer.notes)) == ("", None, 1)
    assert "because" in answer.notes[0]


def test_a_signal_and_a_code_are_named() -> None:
    """So that a person can look for the cause."""
    assert "signal 9" in of_command(Ran(exit_code=-9), "PreCompact", name="h").notes[0]
    assert of_command(Ran(exit_code=1), "PreCompact", name="h").notes == ("hook h: exit code 1",)


@pytest.mark.parametrize("text", ['{"a": 1', '{"a": 1, "a": 2}', "{" * 300, '{"a": NaN}'])
def test_what_begins_as_json_and_is_none_is_left_out_and_said(text: str) -> None:
    """Half an object could be half a block decision; it is no instruction either."""
    answer = says(text)
    assert (answer.added, answer.blocked) == ("", None)
    assert "is none" in answer.notes[0]


def test_what_is_too_long_is_cut_and_said() -> None:
    """Bounds, with our tags escaped before they are counted."""
    answer = says("<foldline-fold>" * 10_000)
    assert 3_980 < len(answer.added) <= 4_000
    assert "<foldline" not in answer.added
    assert "the rest is left out" in answer.notes[0]
    assert "the rest is left out" in says("short", is_cut=True).notes[0]


def test_a_callable_answers_as_a_command_does() -> None:
    """One protocol for both."""
    assert of_value(None, "PreCompact", name="h") == Answer()
    assert of_value("keep X", "PreCompact", name="h") == Answer(added="keep X")
    assert of_value({"decision": "block", "reason": "no"}, "PreCompact", name="h").blocked == "hook h: no"
    assert "answered a int" in of_value(3, "PreCompact", name="h").notes[0]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "decision": st.sampled_from(["block", "approve"]) | JSON,
        "reason": JSON,
        "continue": JSON,
        "stopReason": JSON,
        "systemMessage": JSON,
        "hookSpecificOutput": JSON
        | st.fixed_dictionaries({"additionalContext": JSON}, optional={"hookEventName": JSON}),
    },
)


@given(FIELDS | JSON, st.sampled_from(EVENTS))
def test_whatever_is_answered_stays_in_its_bounds(value: object, event: Event) -> None:
    """No answer raises, none is longer than it may be, none opens or closes a block of ours, none has a line too many."""
    answer = of_value(value, event, name="h")
    assert len(answer.added) <= 4_000
    assert "<foldline" not in answer.added.lower()
    for shown in (*answer.notes, answer.blocked or ""):
        assert "\n" not in shown
        assert len(shown) <= NOTE_CHARS_MAX + 10
    if event != "PreCompact":
        assert answer.blocked is None
