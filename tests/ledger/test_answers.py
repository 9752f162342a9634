"""What the agent told the user at the end of a turn."""

from __future__ import annotations

import pytest

from foldline.core.message import Message
from foldline.core.view import item_of
from foldline.ledger.answers import ANSWER_CHARS, ANSWERED, answer_in
from foldline.ledger.book import entries_of
from foldline.testing.builders import assistant, call, result, user


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "`drain()` returns before the worker has joined.",
            "`drain()` returns before the worker has joined.",
        ),
        (
            "Good question! `drain()` returns too early. The worker still runs.",
            "`drain()` returns too early. The worker still runs.",
        ),
        ("Done.\n\nRemoved 7 methods and their callers.", "Removed 7 methods and their callers."),
        (
            "## Summary\n\nHere is what I changed:\n- the parser reads tabs now\n- a test",
            "the parser reads tabs now - a test",
        ),
        ("**Result**\nAll 12 tests of it pass.", "All 12 tests of it pass."),
        ("```\nsrc/ the whole tree of it\n```\nThe tree has two folders.", "The tree has two folders."),
        ("好的。根因是 drain() 返回得太早。", "根因是 drain() 返回得太早。"),
        ("213 pages now. The draft is out of it.", "213 pages now. The draft is out of it."),
        ("Done.", ""),
        ("Shall I run the tests as well?", ""),
        ("好的。", ""),
        ("", ""),
    ],
)
def test_an_answer_is_told_by_its_first_words_that_say_something(said: str, told: str) -> None:
    """CMP-8: what users asked stood in view, and nothing of what they were told."""
    assert answer_in(said) == (f"{ANSWERED}{told}" if told else "")


def test_a_long_answer_is_cut_at_a_word() -> None:
    told = answer_in("The worker still runs. " * 60)
    assert len(told) <= len(ANSWERED) + ANSWER_CHARS
    assert told.endswith("…")


def answers(*messages: Message) -> list[tuple[int, str]]:
    items = [item_of(n, m, weights=(1,), overhead=1) for n, m in enumerate(messages)]
    return [(entry.seq, entry.text) for entry in entries_of(items) if entry.text.startswith(ANSWERED)]


def test_only_the_end_of_a_turn_is_an_answer() -> None:
    """CMP-8: what is said between calls is none, nor what was last said, which stands as the next action."""
    turn = (
        user("why does it hang?"),
        assistant("I look at the queue file first.", call("bash", "c", command="cat q.py")),
        result("c", "…"),
        assistant("The queue returns before its worker has joined."),
    )
    told = answers(*turn, user("ok"), assistant("The queue of tomorrow is empty again."))
    assert told == [(3, f"{ANSWERED}The queue returns before its worker has joined.")]
    assert answers(*turn) == []
    assert answers(*turn, assistant("There is another such queue.")) == []


def test_an_answer_that_a_decision_tells_is_told_once() -> None:
    reason = assistant("I chose a queue, because the worker may block for long.")
    assert answers(user("why?"), reason, user("ok"), assistant("Now then.")) == []
