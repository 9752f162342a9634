"""Budgets: from a window to the numbers that a policy compares with."""

from __future__ import annotations

import pytest

from foldline.core.budget import (
    effective_budget,
    input_budget,
    output_cap_left,
    replacement_max,
    reserve_threshold,
    result_limits,
)


@pytest.mark.parametrize(
    ("tokens_window", "budget"),
    [
        (200_000, 180_000),  # a tenth
        (1_000_000, 1_000_000 - 32_768),  # the largest reserve
        (50_000, 50_000 - 8_192),  # the smallest
        (10_000, 5_000),  # never more than half
        (1, 1),
        (0, 0),
    ],
)
def test_the_output_reserve_is_a_tenth_of_the_window_within_bounds(tokens_window: int, budget: int) -> None:
    """The numbers of `balanced`: 8,192 … 32,768, and never more than half of the window."""
    assert input_budget(tokens_window) == budget


def test_a_stated_output_cap_is_the_reserve() -> None:
    """A nonsense cap leaves room for the input (anomalyco/opencode#49965)."""
    assert input_budget(200_000, 64_000) == 136_000
    assert input_budget(200_000, 0) == 200_000
    assert input_budget(200_000, 10**9) == 100_000
    assert input_budget(200_000, -1) == input_budget(200_000)


def test_the_effective_budget_is_95_percent_less_what_is_reserved() -> None:
    """TOK-11: 200,000 → 190,000; with 1,000 reserved 189,000."""
    assert effective_budget(200_000) == 190_000
    assert effective_budget(200_000, 1_000) == 189_000
    assert effective_budget(100, 1_000) == 0


def test_the_reserve_line_leaves_room_for_output_and_a_buffer() -> None:
    """BUD-2: 200,000 with 32,000 of output → 167,000; with 8,000 → 179,000; never below 0."""
    assert reserve_threshold(200_000, 32_000) == 167_000
    assert reserve_threshold(200_000, 8_000) == 179_000
    assert reserve_threshold(200_000) == 167_000
    assert reserve_threshold(20_000) == 0


@pytest.mark.parametrize(
    ("tokens_window", "limits"),
    [
        (200_000, (120_000, 60_000)),
        (None, (200_000, 100_000)),
        (10_000, (20_000, 10_000)),
        (10_000_000, (400_000, 200_000)),
    ],
)
def test_results_of_a_turn_may_take_a_share_of_the_window(
    tokens_window: int | None, limits: tuple[int, int]
) -> None:
    """BUD-8: 15 % of the window at 4 characters a token, a single result half of that, each within bounds."""
    assert result_limits(tokens_window) == limits


def test_what_replaces_a_history_is_bounded() -> None:
    """CMP-10: min(50,000, half the window, max(5,000, 80 % of the source))."""
    assert replacement_max(10_000, 200_000) == 8_000
    assert replacement_max(1_000, 200_000) == 5_000
    assert replacement_max(1_000_000, 200_000) == 50_000
    assert replacement_max(1_000_000, 20_000) == 10_000


@pytest.mark.parametrize(
    ("cap", "tokens", "left"),
    [
        (8_000, 150_000, 8_000),
        (64_000, 150_000, 50_000),
        (64_000, 199_000, 4_096),
        (64_000, 250_000, 4_096),
        (1_000, 250_000, 1_000),
    ],
)
def test_an_output_cap_is_lowered_to_what_is_left_and_never_raised(cap: int, tokens: int, left: int) -> None:
    """CMP-41: never below the stated minimum."""
    assert output_cap_left(cap, tokens, tokens_window=200_000) == left
