"""Policies: tiers in order, each a pass with the condition under which it runs, and the numbers of a window.

A policy is a value. Counterpart: `foldline.core.ports.Pass`, which plans a reduction and knows no condition.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from foldline.core.budget import effective_budget, input_budget
from foldline.core.ports import Pass


class Tier(Struct, frozen=True, kw_only=True):
    """One place in a policy's order."""

    reduce: Pass
    when: Literal["always", "over"] = "over"
    """`always`: before every request, whatever its size. `over`: while the view is over the target."""
    gain_min: int = 1
    """Fewer tokens freed than this, and the plan is dropped (law GAIN)."""


class Line(Struct, frozen=True, kw_only=True, gc=False):
    """A threshold or target as a share of a budget."""

    percent: int
    of: Literal["input", "effective", "window"]
    """`input`: window less output reserve (BUD-1). `effective`: 95 % of the window (TOK-11)."""
    reserved: int = 0
    """Tokens taken off the budget before the share is taken."""

    def tokens(self, tokens_window: int, output_cap: int | None = None) -> int:
        """The line for a window, rounded down."""
        match self.of:
            case "input":
                budget = input_budget(tokens_window, output_cap)
            case "effective":
                budget = effective_budget(tokens_window, self.reserved)
            case "window":
                budget = tokens_window
        return budget * self.percent // 100


class Policy(Struct, frozen=True, kw_only=True):
    """When, in which order, how far."""

    name: str
    sentence: str
    """What it is for, in one sentence."""
    threshold: Line
    """From here on a compaction is due."""
    target: Line
    """Down to here, where the caller names no target."""
    tiers: tuple[Tier, ...]
