"""Why a target was not reached, and what would help: what stands fast in the history, or the policy's own end.

Counterpart: `foldline.engine.run`, which says why nothing was done at all.
"""

from __future__ import annotations

from collections.abc import Set

from foldline.core.view import View
from foldline.engine.policy import Policy

FOLDED = "what is left is no larger than what would stand in its place; raise the target"
"""The end of a policy that folds until nothing is left to gain."""


def why_unreached(view: View, *, kept: Set[int], tokens_fixed: int, target: int, policy_end: str) -> str:
    """Why the smallest `view` that a policy comes to is above `target`. `kept`: ordinals that no pass may edit; `tokens_fixed`: of
    system prompt and tools; `policy_end`: what the policy's own end is (`goes_no_further`)."""
    if tokens_fixed >= target:
        return f"system prompt and tools alone take {tokens_fixed:,} tokens; shorten them or raise the target"
    if any(item.seq not in kept and not item.covers for item in view):
        return policy_end
    largest = max(view, key=lambda item: item.tokens, default=None)
    rest = "" if largest is None else f"; the largest message (m{largest.seq}) has {largest.tokens:,}"
    return (
        "system prompt, tools, pins, the last user message and the open round take more than that"
        f"{rest}; raise the target or pin less"
    )


def goes_no_further(policy: Policy, *, has_model: bool) -> str:
    """Why a policy leaves messages that may go: what its tiers are, and what those lack that stand still."""
    lacking = [
        f"{tier.name} needs a {tier.needs}"
        for tier in policy.tiers
        if tier.reduce is None and not tier.done and not (has_model and tier.ask is not None)
    ]
    still = f" ({', '.join(lacking)})" if lacking else ""
    return f"policy {policy.name} goes no further with what is at hand{still}; one that ends in a fold does, as balanced"
