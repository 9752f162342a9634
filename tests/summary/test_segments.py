"""Segments: stretches of five to ten turns, one request and one fold each."""

from __future__ import annotations

import pytest

from foldline.core.completion import Reply
from foldline.core.edit import Fold, apply
from foldline.core.message import Message
from foldline.summary.segments import Segments
from foldline.testing.builders import assistant, user
from tests.summary.talking import GOOD, RULE, Script, planned

SHORT = "<summary>The user asked for several parts of the report, and each was written and checked.</summary>"


def turns(count: int, *, words: int = 60) -> list[Message]:
    opening = user(f"Write part 0 of the report. {RULE}")
    rest = [user(f"Write part {n} of the report. " + f"detail {n} " * words) for n in range(1, count)]
    return [
        one
        for n, said in enumerate([opening, *rest])
        for one in (said, assistant(f"Part {n} is written. " * words))
    ]


@pytest.mark.parametrize(("count", "segments"), [(32, 3), (12, 1), (7, 1), (6, 0), (22, 2)])
def test_stretches_of_five_to_ten_turns_are_one_request_each(count: int, segments: int) -> None:
    """Requirement COL-4: thirty old turns in three segments are three calls; the last two turns stay."""
    script = Script(SHORT)
    view, plan, frame = planned(Segments(), turns(count), 10, script)
    assert len(script.asked) == len(plan.edits) == segments
    assert all(ask.purpose == "segment" and not ask.is_fork for ask in script.asked)
    assert all("100 to 300 tokens" in ask.instruction for ask in script.asked)
    if segments:
        after = apply(view, plan.edits, frame=frame)
        assert [item.message for item in after.items()[-4:]] == [item.message for item in view.items()[-4:]]


def test_each_segment_is_a_fold_of_its_own() -> None:
    """Requirement COL-4: each can be unfolded alone; the rules in it stand word for word."""
    view, plan, frame = planned(Segments(), turns(32), 10, Script(SHORT))
    folds = [edit for edit in plan.edits if isinstance(edit, Fold)]
    assert len({fold.address for fold in folds}) == 3
    assert RULE in folds[0].message.text
    assert RULE not in folds[1].message.text
    assert len(apply(view, folds[1:2], frame=frame)) == len(view) - 19


def test_only_as_many_as_the_target_needs() -> None:
    """From the oldest on, and no more requests than that."""
    view, _, _ = planned(Segments(), turns(32), 10, Script(SHORT))
    script = Script(SHORT)
    planned(Segments(), turns(32), view.tokens - 200, script)
    assert len(script.asked) == 1


def test_the_first_that_fails_ends_it_and_what_was_made_stands() -> None:
    """Each is independent; a provider that is down is not asked on."""
    script = Script(SHORT, Reply(error="APIError: overloaded"))
    _, plan, _ = planned(Segments(), turns(32), 10, script)
    assert (len(script.asked), len(plan.edits)) == (2, 1)
    assert plan.asked is not None
    assert (plan.asked.is_written, [failure.name for failure in plan.asked.failures]) == (
        True,
        ["provider_error"],
    )


def test_a_text_far_over_its_size_is_a_failure() -> None:
    """Requirement COL-4: 100 to 300 tokens each."""
    long = "<summary>" + " ".join(f"Part {n} has {n * 31} words." for n in range(400)) + "</summary>"
    _, plan, _ = planned(Segments(), turns(32), 10, Script(long))
    assert plan.asked is not None
    assert (plan.edits, [failure.name for failure in plan.asked.failures]) == ((), ["too_large"])


def test_what_was_summed_up_is_not_again() -> None:
    """Requirement COL-6: folds are not turns."""
    view, plan, frame = planned(Segments(), turns(32), 10, Script(SHORT))
    after = apply(view, plan.edits, frame=frame)
    script = Script(GOOD)
    _, again, _ = planned(Segments(), [item.message for item in after], 10, script)
    assert (again.edits, script.asked) == ((), [])
