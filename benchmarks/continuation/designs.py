"""Designs of `balanced` that were tried, and what was chosen: rows for `--designs`. Knows policies, nothing of how they are judged.

Each differs from the policy in one thing. What they came to stands in docs/decisions/0005-balanced.md.
"""

from __future__ import annotations

from msgspec.structs import replace

from foldline.engine.policy import Policy
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.microcompact import Microcompact
from foldline.presets import policy_of

_BALANCED = policy_of("balanced")


def _folding(fold: FoldOldest) -> Policy:
    return replace(_BALANCED, tiers=(*_BALANCED.tiers[:-1], replace(_BALANCED.tiers[-1], reduce=fold)))


def _clearing() -> Policy:
    clear = Microcompact(to_target=True, keep_share=0.5, carry_tokens=120)
    tiers = [replace(tier, reduce=clear) if tier.name == "microcompact" else tier for tier in _BALANCED.tiers]
    return replace(_BALANCED, tiers=tuple(tiers))


FACTS_NEVER_FIRST = _folding(FoldOldest(name="ledger", facts_first=0.0))

DESIGNS: dict[str, Policy] = {
    "facts first below 10 %": _folding(FoldOldest(name="ledger", facts_first=0.1)),
    "facts never first": FACTS_NEVER_FIRST,
    "rounds first at any size": _folding(FoldOldest(name="ledger", facts_first=0.0, tight=0.0)),
    "half at most, any size": _folding(FoldOldest(name="ledger", tight=1.0)),
    "half, not six tenths": _folding(FoldOldest(name="ledger", tail_share=0.5)),
    "no round shortened": _folding(FoldOldest(name="ledger", clamp_edge=False)),
    "results cleared first": _clearing(),
    "template, no ledger": _folding(FoldOldest(name="ledger", summary="template")),
}
"""By the name in the table."""
