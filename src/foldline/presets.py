"""The named policies: values made of passes, thresholds and targets.

The numbers come from the documents that `docs/reference/policies.md` names; `balanced` is ours. Counterpart:
`foldline.engine.policy`, which says what a policy is.
"""

from __future__ import annotations

from foldline.core.errors import UnknownPolicy
from foldline.engine.policy import Line, Policy, Tier
from foldline.passes.budget_reduction import BudgetReduction
from foldline.passes.collapse import Collapse
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.microcompact import Microcompact

BALANCED = Policy(
    name="balanced",
    sentence="Shrinks to a target at the least loss: oversized results, then old tool output, then talk, then old rounds.",
    threshold=Line(percent=80, of="input"),
    target=Line(percent=50, of="input"),
    tiers=(
        Tier(
            reduce=BudgetReduction(
                unit="tokens", limit=4000, head=1500, tail=500, per_tool=(("file_read", 8000), ("shell", 2000))
            )
        ),
        Tier(reduce=Microcompact(to_target=True, keep_share=0.4)),
        Tier(reduce=Collapse()),
        Tier(reduce=FoldOldest()),
    ),
)
"""Start values of requirement PRE-7: limits of BUD-7, head and tail of MIC-1, newest results of MIC-8."""

POLICIES: dict[str, Policy] = {policy.name: policy for policy in (BALANCED,)}


def policy_of(name: str) -> Policy:
    """The policy of that name. Raises `UnknownPolicy`, which lists what there is."""
    try:
        return POLICIES[name]
    except KeyError:
        raise UnknownPolicy(name, tuple(POLICIES)) from None
