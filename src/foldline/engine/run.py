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
from foldline.engine.policy import Line, Policy, Tier


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
    view: View, policy: Policy, *, moment: Moment, frame: Frame, clock: Callable[[], float] = lambda: 0.0
) -> Outcome:
    """Reduce `view` to `moment.tokens_target` as the policy says. `moment.tokens_excess` is recomputed for each tier.
    Whether the target was reached is for the caller to read from the view."""
    steps: list[Step] = []
    now = view
    for tier in policy.tiers:
        goal = _goal_of(tier, moment)
        excess = now.tokens - goal
        if tier.reduce is None or not _is_due(tier, now, moment=moment, excess=excess):
            continue
        at = replace(moment, tokens_excess=excess, tokens_target=goal)
        try:
            now, step = _run_tier(now, tier, moment=at, frame=frame, clock=clock)
        except LawViolation as error:
            return Failed(step=tier.name, error=error)
        if step is not None:
            steps.append(step)
    if not steps:
        return Unchanged(reason=_why(view, policy, moment=moment))
    return Compacted(view=now, steps=tuple(steps))


def _goal_of(tier: Tier, moment: Moment) -> int:
    """The tier's own target for the messages, or the one the caller named."""
    if moment.by_hand or tier.target is None:
        return moment.tokens_target
    return max(0, int(_tokens(tier.target, moment) / moment.scale) - moment.tokens_fixed)


def _tokens(line: Line, moment: Moment) -> int:
    return line.tokens(moment.tokens_window or 0, moment.output_cap, output_max=moment.output_max)


def _is_due(tier: Tier, view: View, *, moment: Moment, excess: int) -> bool:
    if tier.when == "always":
        return True
    if not moment.is_due or excess <= 0:
        return False
    if moment.by_hand or tier.due is None:
        return True
    return tier.due.is_reached(
        round((view.tokens + moment.tokens_fixed) * moment.scale),
        moment.tokens_window or 0,
        output_cap=moment.output_cap,
        output_max=moment.output_max,
    )


def _run_tier(
    view: View, tier: Tier, *, moment: Moment, frame: Frame, clock: Callable[[], float]
) -> tuple[View, Step | None]:
    assert tier.reduce is not None, "an inactive tier is never due"
    started = clock()
    plan = tier.reduce.plan(view, moment, frame)
    if not plan.edits:
        return view, None
    after = apply(view, plan.edits, frame=frame)
    freed = view.tokens - after.tokens
    if freed < tier.gain_min:
        return view, None
    step = Step(
        name=tier.name, edits=plan.edits, tokens_freed=freed, seconds=clock() - started, hints=plan.hints
    )
    return after, step


def _why(view: View, policy: Policy, *, moment: Moment) -> str:
    if not moment.is_due:
        return "below the threshold"
    if view.tokens <= moment.tokens_target:
        return "within the target"
    if policy.inactive and all(tier.reduce is None for tier in policy.tiers if tier.when == "over"):
        names = ", ".join(f"{tier.name} needs a {tier.needs}" for tier in policy.inactive)
        return f"{policy.name} reduces by what is not at hand here: {names}"
    return (
        "nothing may be reduced: what is left is pinned, the last user message, or a round that is still open"
    )
