"""Bounds as types: msgspec holds them where a value is read."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from foldline.core import bounds


@pytest.mark.parametrize(
    ("bound", "sound", "wrong"),
    [
        (bounds.Whole, [0, 1, bounds.NUMBER_MAX], [-1, bounds.NUMBER_MAX + 1, 10**30, 1.5, "1", True]),
        (bounds.Positive, [1, bounds.NUMBER_MAX], [0, -1, bounds.NUMBER_MAX + 1]),
        (bounds.Percent, [0, 100], [-1, 101]),
        (bounds.PositivePercent, [1, 100], [0, 101]),
        (bounds.Share, [0, 0.5, 1], [-0.01, 1.01, float("nan"), float("inf"), True]),
        (bounds.Seconds, [0, 0.5, 5400], [-1, float("nan"), float("inf")]),
    ],
)
def test_a_bound_holds_at_both_ends(bound: Any, sound: list[object], wrong: list[object]) -> None:
    """The two values next to each end, and what is no number at all."""
    for value in sound:
        assert msgspec.convert(value, bound) == value
    for value in wrong:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(value, bound)
