"""The estimate: what the provider said, and what we count since, kept apart.

Requirements TOK-3 and TOK-8: a projection is the last response's usage plus the count of what was appended after it;
without usage, everything is counted. Knows weights that come in, never a counter.
"""

from __future__ import annotations

from collections.abc import Sequence

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


def estimate(
    weights: Sequence[int], *, fixed: int, usage: Usage | None = None, usage_at: int | None = None
) -> Estimate:
    """Project the next request. `weights`: tokens of each message in order; `fixed`: tokens of system prompt and tool
    schemas; `usage_at`: index of the response that `usage` belongs to, whose own output the provider has counted
    already and which is therefore not added again (TOK-3)."""
    if usage is None or usage_at is None:
        return Estimate(tokens_anchored=0, tokens_estimated=fixed + sum(weights))
    return Estimate(tokens_anchored=usage.tokens_context, tokens_estimated=sum(weights[usage_at + 1 :]))
