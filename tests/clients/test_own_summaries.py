"""An agent that sums up its own conversation is known by its instruction, and by nothing that quotes one."""

from __future__ import annotations

import json

import pytest

from foldline.clients.calls import call_of
from foldline.clients.chains import ReadList
from foldline.clients.own_summaries import BEGINNING_CHARS, CUES, is_own_summary, sums_up
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


def read(*said: tuple[str, str], is_escaped: bool = False) -> ReadList:
    told = [{"role": role, "content": text} for role, text in said]
    body = json.dumps({"model": "m", "messages": told}, ensure_ascii=is_escaped).encode()
    if is_escaped:
        body = body.replace(b"<state", b"\\u003cstate").replace(b"CRITICAL", b"\\u0043RITICAL")
    made = call_of(body, format="openai-chat")
    assert made is not None, "it is a request of chat"
    return ReadList(made)


@pytest.mark.parametrize("cue", CUES)
@pytest.mark.parametrize("is_escaped", [False, True])
def test_a_request_is_known_by_the_bytes_of_its_last_message(cue: str, is_escaped: bool) -> None:
    """However its letters are written, and behind whatever the agent adds; what rules one out is never read."""
    assert sums_up(read(("assistant", "done"), ("user", cue), is_escaped=is_escaped))
    assert sums_up(read(("user", cue), ("system", "a reminder"), is_escaped=is_escaped))
    assert sums_up(read(("user", cue), ("developer", "a reminder"), is_escaped=is_escaped))
    assert not sums_up(read(("user", cue), ("assistant", "done"), ("user", "go on"), is_escaped=is_escaped))
    assert not sums_up(read(("user", "go on"), ("assistant", cue), is_escaped=is_escaped))


def test_a_last_message_without_a_mark_is_not_read() -> None:
    """A request of any agent pays for that look: one decoding of its newest message."""
    unread = read(("user", "go on"))
    assert not sums_up(unread)
    assert not unread.looks[0].is_readable
    assert not sums_up(read())
