"""Budgets: from a window to the numbers that a policy compares with."""

from __future__ import annotations

import pytest

from foldline.core.budget import effective_budget, input_budget


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


def test_the_effective_budget_is_95_percent_less_what_is_reserved() -> None:
    """TOK-11: 200,000 → 190,000; with 1,000 reserved 189,000."""
    assert effective_budget(200_000) == 190_000
    assert effective_budget(200_000, 1_000) == 189_000
    assert effective_budget(100, 1_000) == 0
