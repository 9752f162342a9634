"""The estimate: what the provider said, and what we count since, kept apart.

Requirements TOK-3 and TOK-8: a projection is the last response's usage plus the count of what was appended after it;
without usage, everything is counted. Knows weights that come in, never a counter.
"""

from __future__ import annotations

from msgspec import Struct

from foldline.core.message import Usage


class Estimate(Struct, frozen=True, kw_only=True, gc=False):
    """Tokens of the next request, by origin."""

    tokens_anchored: int
    """What the provider reported: input and output of the last response."""
    tokens_estimated: int
    """What was counted here, for messages after that response; everything where nothing was reported."""

    @property
    def tokens(self) -> int:
        """Both together."""
        return self.tokens_anchored + self.tokens_estimated


class Counting(Struct, frozen=True, kw_only=True, gc=False):
    """How a policy projects; a switch of it (requirements TOK-5, TOK-6 and TOK-8)."""

    growth: bool = True
    """True: system prompt and tools that have grown since the baseline are added. Shrinking subtracts nothing."""
    fixed: bool = True
    """True: without a baseline system prompt and tools count too."""
    latest: bool = True
    """True: the last response's usage is the baseline, and where it has none everything is counted. False: the last usage there is."""


def project(
    tokens: int, *, fixed: int, counting: Counting, usage: Usage | None = None, fixed_then: int | None = None
) -> Estimate:
    """Project the next request by a policy's counting. `tokens`: of the messages after the response that `usage` belongs to, whose
    own output the provider has counted already (TOK-3), of all where there is none. `fixed`: of system prompt and tool schemas;
    `fixed_then`: as they were counted for that response; `None`: nobody did, and no growth is known."""
    if usage is None:
        return Estimate(tokens_anchored=0, tokens_estimated=tokens + (fixed if counting.fixed else 0))
    grown = max(0, fixed - fixed_then) if counting.growth and fixed_then is not None else 0
    return Estimate(tokens_anchored=usage.tokens_context, tokens_estimated=tokens + grown)
