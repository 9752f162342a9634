"""Progress: compactions that leave the request due are counted, stopped and explained."""

from __future__ import annotations

import pytest

from foldline.engine.progress import Sizes, cause_of, why_stopped, why_too_little


@pytest.mark.parametrize(
    ("before", "after", "line", "too_little"),
    [
        (19_000, 18_990, 15_000, True),  # 1jehuang/jcode#170: 29 attempts save 0.4 %
        (1_058_724, 1_040_000, 1_048_576, False),  # google-gemini/gemini-cli#14766: it fits afterwards
        (20_000, 18_000, 15_000, False),
    ],
)
def test_what_frees_too_little_and_does_not_fit_is_not_worth_making(
    before: int, after: int, line: int, *, too_little: bool
) -> None:
    """Over the limit any saving that makes the request fit is worth it; else it has to be one."""
    assert Sizes(before=before, after=after, line=line).is_too_little is too_little


def test_what_misses_its_target_and_leaves_room_for_one_round_at_most_is_no_progress() -> None:
    """anomalyco/opencode#27924: due again with the next round, at full price each time; a policy whose target is its line gets
    where it wants to."""
    assert not Sizes(before=805, after=790, line=800, target=500).is_progress
    assert Sizes(before=805, after=790, line=800, target=800).is_progress
    assert Sizes(before=805, after=700, line=800, target=500).is_progress


def test_a_request_that_fits_the_window_again_is_worth_it_above_the_line_too() -> None:
    """google-gemini/gemini-cli#14766: with a line of 80 %, from over the window to just under it."""
    sizes = Sizes(before=1_058_724, after=1_040_000, line=838_860, window=1_048_576)
    assert sizes.makes_fit
    assert not sizes.is_too_little
    assert Sizes(before=1_058_724, after=1_050_000, line=838_860, window=1_048_576).is_too_little


def test_the_cause_names_what_is_too_large_and_what_helps() -> None:
    """anomalyco/opencode#48188: the fixed part alone is over the limit, and no compaction can help."""
    tools = cause_of(Sizes(before=33_200, after=33_200, line=28_000, fixed=33_000))
    assert "system prompt and tools alone take 33,000" in tools
    message = cause_of(Sizes(before=40_000, after=39_000, line=28_000, fixed=1_000, largest=30_000))
    assert "one message that has to stay takes 30,000" in message
    assert "pin less" in cause_of(Sizes(before=40_000, after=39_000, line=28_000))


def test_a_refusal_says_what_would_have_been_freed_of_what_and_why_that_is_too_little() -> None:
    """1jehuang/jcode#170: a person sees the numbers; a compaction that adds would free nothing, and not less."""
    sizes = Sizes(before=19_000, after=18_990, line=15_000, fixed=16_000)
    said = "it would free 10 of 19,000 tokens and leave the request due: " + cause_of(sizes)
    assert why_too_little(sizes) == said
    grown = Sizes(before=19_000, after=19_100, line=15_000)
    assert why_too_little(grown).startswith("it would free 0 of 19,000 tokens ")


def test_a_stop_says_after_how_many_and_why() -> None:
    """anomalyco/opencode#27924: a stop with a clear error."""
    assert why_stopped("the tools are too large") == (
        "stopped after 3 compactions in a row that did not help: the tools are too large"
    )
