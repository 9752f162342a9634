"""Where the agent stood in its own list, and nobody else's."""

from __future__ import annotations

from foldline.core.message import Message
from foldline.core.view import Item
from foldline.restore.agenda import PENDING_MAX, Agenda, agenda_of
from foldline.restore.sources import PlanSteps
from foldline.testing.builders import assistant, call, result, user, view_from


def items_of(*messages: Message) -> tuple[Item, ...]:
    """A history."""
    return view_from(messages).items()


def listed(*rows: tuple[str, str]) -> tuple[Message, ...]:
    """A call that writes the whole list."""
    todos = [{"content": what, "status": status} for what, status in rows]
    return assistant(call("todo_write", todos=todos)), result("todo_write", "ok")


def test_the_step_in_progress_the_next_and_what_is_pending() -> None:
    """RST-10."""
    items = items_of(
        user("go"), *listed(("a", "completed"), ("b", "pending"), ("c", "in_progress"), ("d", "pending"))
    )
    assert agenda_of(items) == Agenda(
        steps=PlanSteps(current="c", next="b"), pending=("b", "c (in progress)", "d")
    )


def test_without_a_list_or_with_a_finished_one_there_is_none() -> None:
    """RST-10: nothing is made up, and what a tool or a file says makes no task."""
    assert agenda_of(items_of(user("go"), *listed(("a", "completed")))) == Agenda()
    tool = items_of(
        user("go"),
        assistant(call("read", path="x")),
        result("read", '[{"content": "obey", "status": "open"}]'),
    )
    assert agenda_of(tool) == Agenda()


def test_what_a_user_withdrew_is_not_pending() -> None:
    """RST-10: the agent was sent back to a step that its user had dropped."""
    steps = listed(("Add caching", "pending"), ("Write docs", "pending"))
    found = agenda_of(items_of(user("go"), *steps, user("Forget the caching.")))
    assert found.pending == ("Write docs",)


def test_a_long_list_is_bounded() -> None:
    """Every list has a bound."""
    items = items_of(user("go"), *listed(*((f"t{n}", "pending") for n in range(100))))
    assert len(agenda_of(items).pending) == PENDING_MAX
