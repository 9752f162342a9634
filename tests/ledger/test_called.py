"""The calls of a history, put together once."""

from __future__ import annotations

from typing import Any

from foldline.core.message import Message, Meta, Text, result_text
from foldline.core.view import Item, item_of
from foldline.ledger.called import Called, called_in
from foldline.ledger.entries import Done
from foldline.testing.builders import assistant, call, result, user

SPOKEN = "<function=terminal>\n<parameter=command>make</parameter>\n</function>"


def host(said: str) -> Message:
    """A text with role user that no user wrote."""
    return Message(role="user", parts=(Text(text=said),), meta=Meta(injected=True))


def told(calls: list[Done]) -> list[tuple[int, str, str]]:
    """Ordinal, name and result of each."""
    return [(c.seq, c.call.name, "" if c.result is None else result_text(c.result)) for c in calls]


HISTORY = [
    user("Fix it."),
    assistant(call("read", "c1"), call("run", "c2")),
    result("c2", "2 failed"),
    result("c1", "text"),
    user("And?"),
    assistant(call("read", "c1")),
    result("c1", "text again"),
    assistant(call("write", "c3")),
]


def items_of(messages: list[Message]) -> list[Item]:
    """Items of a view that shows all."""
    return [item_of(n, m, weights=(1,) * len(m.parts), overhead=1) for n, m in enumerate(messages)]


def test_calls_come_in_their_order_each_with_what_answers_it() -> None:
    """CMP-8: results may come in any order, and an id again in a later round."""
    assert told(Called(enumerate(HISTORY)).every) == [
        (1, "read", "text"),
        (1, "run", "2 failed"),
        (5, "read", "text again"),
        (7, "write", ""),
    ]


def test_those_within_some_of_the_messages_are_what_these_give_alone() -> None:
    """CMP-8: of a result that stays in the view a ledger does not speak."""
    for seqs in ({1, 2, 3}, {1, 2}, {5, 6, 7}, {0, 4}, set(range(8))):
        alone = Called((n, message) for n, message in enumerate(HISTORY) if n in seqs)
        assert told(Called(enumerate(HISTORY)).within(seqs)) == told(alone.every), seqs


def test_a_spoken_call_is_answered_by_what_stands_behind_it_among_them() -> None:
    """CMP-8: as OpenHands drives models without calls of their own."""
    answer = "EXECUTION RESULT of [terminal]:\nok"
    history = [assistant(SPOKEN), host(answer), user("Now?"), assistant(SPOKEN), host(answer)]
    for seqs in ({0, 1}, {0, 2, 3}, {0, 2, 3, 4}, {0, 1, 2, 3, 4}):
        alone = Called((n, message) for n, message in enumerate(history) if n in seqs)
        assert told(Called(enumerate(history)).within(seqs)) == told(alone.every), seqs


def test_the_calls_of_the_same_items_are_put_together_once() -> None:
    """CMP-8: each draft of a ledger and the report ask for them."""
    memo: dict[str, Any] = {}
    items = items_of(HISTORY)
    first = called_in(items, memo)
    assert called_in(list(items), memo) is first
    grown = called_in(items_of([*HISTORY, result("c3", "ok")]), memo)
    assert told(grown.every)[-1] == (7, "write", "ok")
    moved = [item_of(item.seq + 1, item.message, weights=item.weights, overhead=1) for item in items]
    assert called_in(moved, memo).every[0].seq == 2
