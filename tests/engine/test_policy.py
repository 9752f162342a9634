"""Policies as values: lines of a window, tiers in an order."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.core.budget import Room
from foldline.engine.policy import Line


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        (Line(percent=80, of="input"), 144_000),
        (Line(percent=50, of="input"), 90_000),
        (Line(percent=100, of="effective"), 190_000),
        (Line(percent=100, of="effective", reserved=1_000), 189_000),
        (Line(percent=90, of="window"), 180_000),
        (Line(percent=100, of="reserve"), 167_000),
    ],
)
def test_a_line_is_a_share_of_the_budget_it_names(line: Line, tokens: int) -> None:
    """TOK-11: the effective budget is 95 % of the window, less a reserve; the input budget leaves the output room."""
    assert line.tokens(Room(200_000)) == tokens


@pytest.mark.parametrize("of", ["input", "effective", "window", "reserve"])
@pytest.mark.parametrize("tokens_window", [1, 2, 900, 8_192, 20_000, 33_000, 33_001, 200_000])
def test_a_line_asks_for_no_less_than_a_token(of: Any, tokens_window: int) -> None:
    """A reserve larger than the window would have every request compacted down to nothing."""
    line = Line(percent=85, of=of, reserved=1_000)
    assert 1 <= line.tokens(Room(tokens_window)) <= tokens_window
    if of == "reserve" and tokens_window <= 33_000:
        assert line.tokens(Room(tokens_window)) == tokens_window


def test_a_line_is_rounded_down_and_heeds_an_output_cap() -> None:
    """A threshold is never above its share."""
    assert Line(percent=33, of="window").tokens(Room(10)) == 3
    assert Line(percent=50, of="input").tokens(Room(200_000, output_cap=100_000)) == 50_000
    assert Line(percent=50, of="input").tokens(Room(0)) == 0
