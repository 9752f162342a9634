"""The agent's list of things to do: the newest state, and nothing from a call that was refused."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.message import Message
from foldline.ledger.book import calls_of
from foldline.ledger.render import key_of
from foldline.ledger.tasks import tasks_of
from foldline.testing.builders import assistant, call, result


def told(*calls: tuple[str, dict[str, Any], str, bool]) -> list[str]:
    """The tasks after calls, each a tool with its arguments, its result and whether that is an error."""
    messages: list[Message] = []
    for n, (name, arguments, said, is_error) in enumerate(calls):
        messages += [assistant(call(name, f"c{n}", **arguments)), result(f"c{n}", said, is_error=is_error)]
    return [entry.text for entry in tasks_of(calls_of(enumerate(messages)))]


def rows(**states: str) -> dict[str, Any]:
    """Arguments of a call that writes the whole list."""
    return {"todos": [{"content": what, "status": state} for what, state in states.items()]}


PENDING = ("TodoWrite", rows(docs="pending", login="in_progress"), "ok", False)


def test_a_call_that_reads_the_list_changes_nothing() -> None:
    """CMP-8: all open tasks vanished behind a `TodoRead`."""
    assert told(PENDING, ("TodoRead", {}, "[]", False)) == ["[open] docs", "[open] login (in progress)"]


def test_a_list_that_was_rejected_changes_nothing() -> None:
    """CMP-8: tasks were told as served that the user did not let be."""
    done = rows(docs="completed", login="completed")
    for said, is_error in (("no", True), ("The user doesn't want to proceed with this tool use.", False)):
        assert told(PENDING, ("TodoWrite", done, said, is_error)) == told(PENDING)


def test_a_task_that_the_agent_dropped_is_open_no_more() -> None:
    """CMP-8: it stayed open for ever; what was served stays told."""
    assert told(PENDING, ("TodoWrite", rows(login="completed"), "ok", False)) == ["[done] login"]
    assert told(
        ("TodoWrite", rows(a="completed"), "ok", False), ("TodoWrite", rows(b="pending"), "ok", False)
    ) == [
        "[done] a",
        "[open] b",
    ]


def test_tasks_made_and_changed_one_by_one_are_told() -> None:
    """CMP-8: `TaskCreate` and `TaskUpdate` gave nothing."""
    made = (
        "TaskCreate",
        {"subject": "write docs", "description": "d"},
        "Task #1 created: fix what failed",
        False,
    )
    other = ("TaskCreate", {"subject": "fix login"}, "Task #2 created successfully", False)
    assert told(made, other) == ["[open] #1 write docs", "[open] #2 fix login"]
    assert told(
        made, other, ("TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1", False)
    ) == [
        "[open] #2 fix login",
        "[done] #1 write docs",
    ]
    assert told(made, ("TaskUpdate", {"taskId": "1", "owner": "me"}, "ok", False)) == ["[open] #1 write docs"]
    assert told(("TaskUpdate", {"taskId": "7", "status": "completed"}, "ok", False)) == []


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({"done": True}, "[done] docs"),
        ({"completed": False}, "[open] docs"),
        ({"state": "completed"}, "[done] docs"),
        ({"status": "完成"}, "[done] docs"),
        ({"status": "✅"}, "[done] docs"),
        ({"status": "已取消"}, "[withdrawn] docs"),
        ({"status": "skipped"}, "[withdrawn] docs"),
        ({"status": "not completed"}, "[open] docs (status: not completed)"),
        ({"status": "blocked"}, "[open] docs (status: blocked)"),
        ({"status": "valmis"}, "[open] docs (status: valmis)"),
        ({"status": "进行中"}, "[open] docs (in progress)"),
        ({"status": "未完成"}, "[open] docs"),
    ],
)
def test_a_state_is_told_however_it_is_said(state: dict[str, Any], text: str) -> None:
    """CMP-8: done and dropped tasks were told as open; a word that no list knows stands with the task."""
    assert told(("TodoWrite", {"todos": [{"content": "docs", **state}]}, "ok", False)) == [text]
    assert key_of("tasks", text) == "docs"
