"""The agent's list of things to do: the newest state, and nothing from a call that was refused."""

from __future__ import annotations

import cProfile
from typing import Any

import pytest

from foldline.core.message import Message
from foldline.ledger.book import calls_of
from foldline.ledger.entries import Entry
from foldline.ledger.render import key_of
from foldline.ledger.tasks import tasks_of, withdrawn
from foldline.testing.builders import assistant, call, result, user
from tests.ledger.test_compose import ledger, section


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


def after(said: str, *tasks: str) -> list[str]:
    """The open tasks of message 1 after a user's words."""
    entries = [Entry(section="tasks", key=t, text=f"[open] {t}", seq=1, origin="assistant") for t in tasks]
    return [entry.text for entry in withdrawn(entries, [(2, said)])]


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("Add caching", "Forget the caching, we don't need it."),
        ("Add caching", 'Drop "Add caching" from the list.'),
        ("Add caching", "Add caching is no longer needed."),
        ("Add caching", "Don't add caching."),
        ("Add caching", "No caching please."),
        ("Add caching to the API layer", "Forget the caching."),
        ("#3 Add caching", "You don't need to add caching."),
        ("Drop the users table", "Don't drop the users table."),
        ("Write the README", "I don't want the README."),
        ("README", "I don't want the README."),
        ("Add a README", "We don't want a README."),
        ("Review the README", "I don't want to review the README."),
        ("添加缓存", "不用加缓存了。"),
        ("添加缓存", "缓存不用做了"),
        ("添加缓存", "取消“添加缓存”这个任务"),
        ("Cache hinzufügen", "Vergiss Cache hinzufügen."),
    ],
)
def test_a_task_that_a_user_gives_up_by_its_words_is_withdrawn(task: str, said: str) -> None:
    """CMP-8: it stood as open, and was done."""
    assert after(said, task, "Write docs") == [f"[withdrawn] {task}", "[open] Write docs"]


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("Add caching", "Don't forget the caching."),
        ("Add caching", "Don't add caching yet."),
        ("Add caching", "Remove the caching from the tests."),
        ("Add caching", "Forget it."),
        ("Add caching and logging", "Forget the caching."),
        ("Write tests for the API", "Forget the API."),
        ("Check the order", "Cancel the order."),
        ("Drop the users table", "Drop the users table."),
        ("Drop the users table", "Forget the users table."),
        ("Delete the old log", "Delete the old log."),
        ("Remove the old cache", "Get rid of the old cache."),
        ("Remove the old cache", "We no longer need the old cache."),
        ("Remove the old cache", "The old cache is obsolete."),
        ("Remove the old cache", "Don't need the old cache, so remove it."),
        ("Update the README", "README is obsolete."),
        ("Read the README", "I don't want the README."),
        ("Move the README to docs", "I don't want the README."),
        ("Add badges to the README", "I don't want the README."),
        ("Delete the README", "I don't want the README."),
        ("Update the README", "Not the README, the tests first."),
        ("Update the README", "First the tests, not the README."),
        ("Update the README", "Never mind the README, I was confused about the text."),
        ("Run the linter", "We can't run the linter."),
        ("Add caching to the API", "The cache is no longer used."),
        ("Write changelog", "The changelog is wrong."),
        ("Write changelog", "I can't write changelog."),
        ("Write changelog", "Don't touch the changelog."),
        ("添加缓存", "不要改缓存"),
        ("添加缓存", "取消缓存"),
    ],
)
def test_a_task_that_may_still_be_wanted_is_open(task: str, said: str) -> None:
    """CMP-8: what a user orders, judges or forbids beside it withdraws nothing."""
    assert after(said, task) == [f"[open] {task}"]


def test_words_that_may_mean_two_tasks_or_came_before_one_withdraw_none() -> None:
    """CMP-8: the newest list says what is open; a task that the words cannot tell from another stays."""
    assert after("Forget the tests.", "Write tests", "Fix tests") == [
        "[open] Write tests",
        "[open] Fix tests",
    ]
    entry = Entry(section="tasks", key="Add caching", text="[open] Add caching", seq=5, origin="assistant")
    assert withdrawn([entry], [(2, "Forget the caching.")]) == (entry,)
    [gone] = withdrawn([entry], [(7, "Forget the caching.")])
    assert (gone.text, gone.seq, gone.origin) == ("[withdrawn] Add caching", 7, "user")


def test_a_task_that_is_given_up_twice_in_one_breath_can_be_asked_for_again() -> None:
    """CMP-8: it came back as withdrawn, since the second word took the withdrawal for the task."""
    entry = Entry(section="tasks", key="Add caching", text="[open] Add caching", seq=1, origin="assistant")
    said = [(2, "Forget the caching. We don't need the caching."), (3, "Please add the caching after all.")]
    assert withdrawn([entry], said) == (entry,)


def test_more_tasks_cost_nothing_for_each_text_that_names_none() -> None:
    """CMP-8: each text took the words of each task apart anew, 0.6 s for 40 tasks and 2,000 texts at each draft."""

    def cost(*, tasks: int, texts: int) -> int:
        entries = [
            Entry(section="tasks", key=f"Add part{n}", text=f"[open] Add part{n}", seq=1, origin="assistant")
            for n in range(tasks)
        ]
        profile = cProfile.Profile()
        profile.runcall(withdrawn, entries, [(n + 2, "Forget the rest.") for n in range(texts)])
        return sum(row.callcount for row in profile.getstats())

    few, many = (cost(tasks=tasks, texts=200) - cost(tasks=tasks, texts=100) for tasks in (1, 40))
    assert many <= 2 * few


def test_texts_before_the_first_task_are_not_read() -> None:
    """CMP-8: they can withdraw none."""

    class Unread(str):
        def lower(self) -> str:
            raise AssertionError(self)

    entry = Entry(section="tasks", key="Add caching", text="[open] Add caching", seq=5, origin="assistant")
    assert withdrawn([entry], [(2, Unread("Forget the caching."))]) == (entry,)


def test_a_withdrawal_stands_in_the_ledger_and_in_the_next_one() -> None:
    """CMP-8, CMP-25: with the address of the words that say it, wherever they stand; a list written after them says more."""
    listed = [user("go"), assistant(call("todo_write", "a", todos=[{"content": "Add caching"}])), result("a")]
    drops = user("Forget the caching.")
    heading, line = "Active tasks and background work", "- [withdrawn] Add caching (m3 user)"
    for gone, kept in (([*listed, drops], []), (listed, [drops])):
        first = ledger(gone, kept).text
        assert section(first, heading) == line
        assert section(ledger([assistant("On.")], earlier=first, start=4).text, heading) == line
    anew = [assistant(call("todo_write", "b", todos=[{"content": "Add caching"}])), result("b")]
    again = ledger([*listed, drops, *anew]).text
    assert section(again, heading) == "- [open] Add caching (m4 assistant)"
    for wanted in ("Please add the caching after all.", "ok, add caching again"):
        changed = ledger([*listed, drops, user(wanted)]).text
        assert section(changed, heading) == "- [open] Add caching (m1 assistant)"
