"""One compaction: the tiers of a policy in turn, each counted before the next.

    view ──► tier 1 plans ──► apply + laws ──► still over? ──► tier 2 … ──► outcome

Each tier runs at most once (law END); a tier with nothing to do passes on. All edits land together in the view that
comes back (law ONCE). Knows no clock: durations are measured by the one that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.edit import Edit, Frame, apply
from foldline.core.errors import LawViolation
from foldline.core.ports import Moment
from foldline.core.view import View
from foldline.engine.policy import Policy, Tier


class Step(Struct, frozen=True, kw_only=True):
    """What one tier did."""

    name: str
    edits: tuple[Edit, ...]
    tokens_freed: int
    seconds: float
    hints: tuple[str, ...] = ()


class Unchanged(Struct, frozen=True, kw_only=True):
    """Nothing was done, and why."""

    reason: str


class Compacted(Struct, frozen=True, kw_only=True):
    """The view is smaller."""

    view: View
    steps: tuple[Step, ...]

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits, in the order they were made."""
        return tuple(edit for step in self.steps for edit in step.edits)


class Failed(Struct, frozen=True, kw_only=True):
    """A pass planned what a law forbids: a fault of ours. The view is as it was."""

    step: str
    error: LawViolation


Outcome: TypeAlias = Unchanged | Compacted | Failed


def run(
    view: View, policy: Policy, moment: Moment, *, frame: Frame, clock: Callable[[], float] = lambda: 0.0
) -> Outcome:
    """Reduce `view` to `moment.tokens_target` as the policy says. `moment.tokens_excess` is recomputed for each tier.
    Whether the target was reached is for the caller to read from the view."""
    steps: list[Step] = []
    now = view
    for tier in policy.tiers:
        excess = now.tokens - moment.tokens_target
        if tier.when == "over" and excess <= 0:
            continue
        try:
            now, step = _run_tier(now, tier, replace(moment, tokens_excess=excess), frame=frame, clock=clock)
        except LawViolation as error:
            return Failed(step=tier.reduce.name, error=error)
        if step is not None:
            steps.append(step)
    if not steps:
        return Unchanged(reason=_why(view, moment))
    return Compacted(view=now, steps=tuple(steps))


def _run_tier(
    view: View, tier: Tier, moment: Moment, *, frame: Frame, clock: Callable[[], float]
) -> tuple[View, Step | None]:
    started = clock()
    plan = tier.reduce.plan(view, moment, frame)
    if not plan.edits:
        return view, None
    after = apply(view, plan.edits, frame)
    freed = view.tokens - after.tokens
    if freed < tier.gain_min:
        return view, None
    step = Step(
        name=tier.reduce.name, edits=plan.edits, tokens_freed=freed, seconds=clock() - started, hints=plan.hints
    )
    return after, step


def _why(view: View, moment: Moment) -> str:
    if view.tokens <= moment.tokens_target:
        return "within the target"
    return "nothing may be reduced: what is left is pinned, the last user message, or a round that is still open"
