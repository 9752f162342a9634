"""An agent that sums up its own conversation is known by its instruction, and by nothing that quotes one."""

from __future__ import annotations

import pytest

from foldline.clients.own_summaries import BEGINNING_CHARS, CUES, is_own_summary
from foldline.core.message import Message, Text, ToolResult
from foldline.testing.builders import assistant, user


@pytest.mark.parametrize("cue", CUES)
def test_an_instruction_is_known_where_it_begins(cue: str) -> None:
    """Claude Code, Codex, Gemini CLI, opencode."""
    assert is_own_summary([user(f"First, think. {cue} and so on.")])
    assert is_own_summary([user("the last result", f"{cue}.")])
    assert not is_own_summary([user(f"{'x' * BEGINNING_CHARS} {cue}")])
    assert not is_own_summary([assistant(cue), user(cue)])


def test_a_reminder_of_the_systems_may_stand_behind_it() -> None:
    """Claude Code 2.1.332, seen on the wire: the last message says how many tokens are left."""
    reminder = Message(
        role="system", parts=(Text(text="<system-reminder>14990229 tokens left</system-reminder>"),)
    )
    assert is_own_summary([reminder, user(CUES[0]), assistant("done")])
    assert not is_own_summary([reminder, assistant("done"), user(CUES[0])])
    assert not is_own_summary([reminder])


def test_a_tool_that_quotes_one_says_nothing() -> None:
    """What tools say stays data."""
    result = ToolResult(call_id="c", content=(Text(text=CUES[0]),))
    assert not is_own_summary([Message(role="user", parts=(result,))])
    assert not is_own_summary([Message(role="tool", parts=(result,))])
