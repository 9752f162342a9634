"""Why a target was not reached, and what would help: what stands fast in the history, or the policy's own end.

Counterpart: `foldline.engine.run`, which says why nothing was done at all.
"""

from __future__ import annotations

from collections.abc import Set

from foldline.core.view import View
from foldline.engine.policy import Policy

FOLDED = "what is left is no larger than what would stand in its place"
"""The end of a policy that folds until nothing is left to gain."""


def why_unreached(view: View, *, kept: Set[int], tokens_fixed: int, target: int, end: str | int) -> str:
    """Why the smallest `view` that a policy comes to is above `target`, and at which it would not be. `kept`: ordinals that no
    pass may edit; `tokens_fixed`: of system prompt and tools; `end`: what the policy's own end is (`goes_no_further`), or, of one
    that folds to the last, what the view comes to where its fold says nothing."""
    left = tokens_fixed + view.tokens
    named = left if isinstance(end, str) else min(left, tokens_fixed + end)
    comes = "it comes to" if isinstance(end, str) else "the least that can be is"
    more = f"; what is returned also says what was done, and has {left:,}" if named < left else ""
    if tokens_fixed >= target:
        return (
            f"system prompt and tools alone take {tokens_fixed:,} tokens; with the rest {comes} {named:,}; "
            f"shorten them or raise the target to that{more}"
        )
    if any(item.seq not in kept and not item.covers for item in view):
        return f"{end if isinstance(end, str) else FOLDED}; {comes} {named:,} tokens: raise the target to that{more}"
    fast = [item for item in view if not item.covers]
    largest = max(fast, key=lambda item: item.tokens, default=None)
    rest = "" if largest is None else f"; the largest message (m{largest.seq}) has {largest.tokens:,}"
    return (
        "system prompt, tools, pins, the last user message and the open round take "
        f"{tokens_fixed + sum([item.tokens for item in fast]):,} tokens{rest}; with the rest {comes} {named:,}: "
        f"raise the target to that, or pin less{more}"
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
