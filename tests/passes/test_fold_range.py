"""The smallest oldest range: as little is folded as reaches the target, and the newest messages never are."""

from __future__ import annotations

from foldline.core.edit import Fold
from foldline.core.message import Message
from foldline.passes.fold_range import CANNOT, FoldRange
from foldline.testing.builders import (
    assistant,
    call,
    frame_for,
    moment_for,
    result,
    system,
    user,
    view_from,
)
from tests.passes.planning import planned, talk, work

RANGE = FoldRange(keep_last=10)


def test_no_more_is_folded_than_reaches_the_target() -> None:
    """CMP-25: the smallest oldest part; the fold stands where the first message stood."""
    messages = [*work(40), user("next")]
    done = planned(RANGE, messages, target=6_000)
    assert done.after.tokens <= 6_000
    assert done.folded == list(range(len(done.folded)))
    one_less = done.before.tokens - sum(item.tokens for item in done.before.items()[: len(done.folded) - 2])
    assert one_less > 6_000 - 400, "a round less would not have been enough"
    assert [item.message for item in done.after][1:] == messages[len(done.folded) :]


def test_a_view_that_fits_is_left_alone() -> None:
    """Law GAIN."""
    assert planned(RANGE, work(20), target=10**6).edits == ()


def test_the_ten_newest_messages_are_never_in_it() -> None:
    """CMP-25: at the smallest target they can leave, all but the last ten are folded."""
    messages: list[Message] = [*talk(40, chars=400), user("next")]
    smallest = sum(item.tokens for item in view_from(messages).items()[-10:]) + 400
    done = planned(RANGE, messages, target=smallest)
    assert done.after.tokens <= smallest
    assert [item.message for item in done.after][-10:] == messages[-10:]


def test_where_no_range_frees_enough_nothing_is_changed() -> None:
    """CMP-25: "cannot free enough"."""
    view = view_from([*talk(40, chars=400), user("next")])
    plan = RANGE.plan(view, moment_for(view, 300), frame_for(view))
    assert plan.edits == ()
    assert plan.hints == (CANNOT,)


def test_a_range_grows_until_its_rules_have_room() -> None:
    """CMP-16: the smallest part that reaches the target left no room for a rule of an earlier fold."""
    messages = [
        user("Never push to main. Do not log card numbers, whatever the ticket says."),
        *work(40),
        user("next"),
    ]
    before = planned(RANGE, messages, target=10**9).before
    for target in range(2_000, before.tokens, 97):
        done = planned(RANGE, messages, target=target)
        if done.edits:
            assert "Never push to main." in done.texts[0]
            assert "Do not log card numbers" in done.texts[0]
            assert done.after.tokens <= target


def test_what_must_stay_stays_within_the_range() -> None:
    """Laws TAIL and PIN: a pinned message between two folded ones, a leading system message, the last user message."""
    messages = [system("rules"), *work(30), assistant("done")]
    done = planned(RANGE, messages, target=4_000, pins=[4])
    assert 4 in [item.seq for item in done.after if not item.covers]
    assert done.after.items()[0].message == messages[0]
    assert 1 not in done.folded, "the one user message is the last"


def test_a_round_that_begins_among_the_newest_messages_stays_whole() -> None:
    """Law ROUND: the stated tail is a minimum."""
    messages = [*work(40), user("next")]
    done = planned(FoldRange(keep_last=2), messages, target=700)
    assert [item.message for item in done.after][-3:] == messages[-3:]


def test_without_a_tail_to_keep_every_unit_is_asked() -> None:
    """The end of the history ends the search, too."""
    view = view_from([*talk(12, chars=400), user("next")])
    plan = FoldRange(keep_last=0).plan(view, moment_for(view, 5), frame_for(view))
    assert plan.hints == (CANNOT,)


def test_the_ledger_is_of_what_came_in_whatever_an_earlier_tier_made_of_it() -> None:
    """Requirement CMP-8: what a run showed is told of its output, not of what an earlier tier left of that."""
    said = "FAILED tests/test_pool.py::test_size - AssertionError: 5 != 8\n1 failed in 0.12s"
    first = [user("fix it"), assistant(call("bash", "c", command="pytest"))]
    rest = [*work(40), user("next")]
    view = view_from([*first, result("c", "[cut]"), *rest])
    frame = frame_for(view, originals=[*first, result("c", said), *rest])
    (fold,) = RANGE.plan(view, moment_for(view, 6_500), frame).edits
    assert isinstance(fold, Fold)
    assert (
        "- `pytest` → shows: 1 failed in 0.12s: FAILED tests/test_pool.py::test_size - AssertionError: 5 != 8 (m1 tool)"
        in fold.message.text
    )
