"""What a fold says where its target leaves it no room: something, as far as the window has it."""

from __future__ import annotations

from typing import Any

from foldline.core.message import Message
from foldline.passes.fold_oldest import FoldOldest
from foldline.testing.builders import system, user
from tests.passes.planning import planned, work

LAST = FoldOldest()


def test_a_fold_that_misses_its_target_anyway_says_what_was_done() -> None:
    """Law END: the whole ledger of a session was `46 earlier messages, folded`, and the target was missed by thousands all the same."""
    done = planned(LAST, [system("rules"), *work(60), user("n " * 800)], target=100)
    assert "## Files read" in done.texts[1]
    [item] = [item for item in done.after if item.message.synthetic == "fold"]
    assert 150 < item.tokens <= 500
    assert done.again == ()


def test_the_window_goes_before_what_a_missed_target_would_say() -> None:
    """Law END: what would pass the model's window is not said, and of little that is folded only a part."""
    messages = [system("rules"), *work(60), user("n " * 800)]

    def tokens(messages: list[Message], **more: Any) -> int:
        after = planned(LAST, messages, target=100, **more).after
        return sum(item.tokens for item in after if item.message.synthetic == "fold")

    assert tokens(messages, tokens_window=800) < tokens(messages, tokens_window=20_000) <= 500
    few = [system("rules"), *work(3), user("n " * 800)]
    assert tokens(few) < tokens(messages)
