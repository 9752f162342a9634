"""Words that would take something back are read as a person means them where they stand.

Negated, quoted, asked or told of somebody else, they take nothing back.
"""

from __future__ import annotations

import pytest

from foldline.ledger.cues import is_meant, is_turned
from tests.ledger.taking_back import supersedes
from tests.linear import slowness

TASK = [(0, "Fix the login bug.")]
TASK_IN_CHINESE = [(0, "实现登录功能。")]


@pytest.mark.parametrize(
    "later",
    [
        "Don't forget that.",
        "You must not ignore that.",
        "You can't just ignore this.",
        "Don't forget everything we discussed.",
        "Add a button that says 'cancel that request'.",
        'She wrote "forget it".',
        "We decided to forget it.",
        "Do not cancel the last request.",
        "The linter will ignore it.",
        "Why did you ignore everything I said?",
        "No total reset please.",
    ],
)
def test_what_is_negated_quoted_asked_or_told_takes_nothing_back(later: str) -> None:
    """Kind stale-instruction: a task that stands was marked as withdrawn."""
    assert supersedes(later, TASK) == ()


@pytest.mark.parametrize(
    "later",
    [
        "之前说的都不要忘。",
        "不要取消登录功能。",
        "我没有改主意。",
        "别忘了之前说的。",
        "不要忘记前面说的全部要求,都不要改。",
    ],
)
def test_so_it_is_in_chinese(later: str) -> None:
    """The same, where no blank divides words."""
    assert supersedes(later, TASK_IN_CHINESE) == ()


@pytest.mark.parametrize(
    "later",
    [
        "Forget that.",
        "Can you forget that?",
        "You can ignore that.",
        "Hmm, no, scratch that.",
        "I want you to ignore that.",
        "Sorry, scratch that - do the other one.",
        "Cancel that request.",
        "Ignore everything we said.",
        "算了",
        "之前说的都不算",
        "之前的都不要了",
    ],
)
def test_what_is_meant_takes_back(later: str) -> None:
    """A guard that lets nothing pass is none."""
    assert supersedes(later, TASK) != ()


def test_a_not_before_a_cue_turns_it_round_and_one_far_away_does_not() -> None:
    """It has to stand near."""
    far = "not" + " x" * 20 + " "
    assert is_turned("do not forget that", 7)
    assert not is_turned(far + "forget that", len(far))
    assert is_meant("please forget that", 7)
    assert not is_meant("they forget that", 5)


@pytest.mark.parametrize("piece", ["scratch that ", "please ", "'", '"', "not ", "ok, ", "忘"])
def test_hostile_text_takes_time_in_proportion(piece: str) -> None:
    """Whatever stands in it."""
    assert slowness(lambda text: supersedes(text, TASK), piece, size=30_000, scans_max=100) == ""
