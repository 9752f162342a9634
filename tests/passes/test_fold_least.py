"""What a fold says where its target leaves it no room: something, as far as the window has it."""

from __future__ import annotations

from typing import Any

from foldline.core.message import Message
from foldline.passes.fold_least import least_tokens
from foldline.passes.fold_oldest import FoldOldest
from foldline.testing.builders import system, user
from tests.passes.planning import framed, planned, work

LAST = FoldOldest()


def test_a_fold_that_misses_its_target_anyway_says_what_was_done() -> None:
    """Law END: the whole ledger of a session was `46 earlier messages, folded`, and the target was missed by thousands all the same."""
    done = planned(LAST, [system("rules"), *work(60), user("n " * 3_200)], target=100)
    assert "## Files read" in done.texts[1]
    [item] = [item for item in done.after if item.message.synthetic == "fold"]
    assert 150 < item.tokens <= 500
    assert done.again == ()


def test_the_window_goes_before_what_a_missed_target_would_say() -> None:
    """Law END: what would pass the model's window is not said, and of little that is folded only a part."""
    messages = [system("rules"), *work(60), user("n " * 3_200)]

    def tokens(messages: list[Message], **more: Any) -> int:
        after = planned(LAST, messages, target=100, **more).after
        return sum(item.tokens for item in after if item.message.synthetic == "fold")

    assert tokens(messages, tokens_window=1_800) < tokens(messages, tokens_window=20_000) <= 500
    few = [system("rules"), *work(3), user("n " * 3_200)]
    assert tokens(few) < tokens(messages)


def test_a_missed_target_comes_to_no_multiple_of_the_least() -> None:
    """Law END: with 5 tokens that stand fast a fold said 300 of what was done, and the target to be raised to was said to be that."""
    for last in (1, 100, 600, 2_000):
        messages = [*work(60), user("n " * last)]
        done = planned(LAST, messages, target=1)
        frame = framed(done.after, messages)
        fast = list(done.after)[-1].tokens
        assert done.after.tokens <= least_tokens(done.after, frame) + fast // 4
        assert done.again == ()


def test_a_fold_that_says_more_than_a_missed_target_leaves_it_is_folded_again() -> None:
    """Law END: a fold of an earlier compaction with more room is not the least."""
    messages = [*work(60), user("go on")]
    before = planned(LAST, messages, target=400).after
    after = planned(LAST, [item.message for item in before], target=1).after
    assert after.tokens < before.tokens
