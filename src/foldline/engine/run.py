"""One compaction: the tiers of a policy in turn, each counted before the next.

    view ──► tier 1 plans ──► apply + laws ──► still over? ──► tier 2 … ──► outcome

Each tier runs at most once (law END); a tier with nothing to do passes on. All edits land together in the view that
comes back (law ONCE). Knows no clock: durations are measured by the one that is handed in. A tier that asks a model makes
of the loop a generator that yields what is asked; `foldline.engine.driving` answers it. Closing it between two questions gives
the compaction up: nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.completion import Ask, Asked, Reply
from foldline.core.edit import Edit, Frame, Plan, apply
from foldline.core.errors import LawViolation
from foldline.core.ports import Moment
from foldline.core.view import View
from foldline.engine.policy import Policy, Tier
from foldline.engine.unreached import goes_no_further


class Step(Struct, frozen=True, kw_only=True):
    """What one tier did."""

    name: str
    edits: tuple[Edit, ...]
    tokens_freed: int
    seconds: float
    hints: tuple[str, ...] = ()
    asked: Asked | None = None
    """What a model wrote for it."""


class Unchanged(Struct, frozen=True, kw_only=True):
    """Nothing was done, and why."""

    reason: str
    asked: tuple[Asked, ...] = ()
    """What a model was asked all the same."""


class Compacted(Struct, frozen=True, kw_only=True):
    """The view is smaller."""

    view: View
    steps: tuple[Step, ...]
    asked: tuple[Asked, ...] = ()
    """What a model was asked, those included that came to nothing."""
    rests: bool = False
    """True where the view lies below the line from which the policy's last tier runs: it does no more, though its target be lower."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits, in the order they were made."""
        return tuple(edit for step in self.steps for edit in step.edits)


class Failed(Struct, frozen=True, kw_only=True):
    """A pass planned what a law forbids: a fault of ours. The view is as it was."""

    step: str
    error: LawViolation
    asked: tuple[Asked, ...] = ()


Outcome: TypeAlias = Unchanged | Compacted | Failed
Running: TypeAlias = Generator[Ask, Reply, Outcome]


def running(
    view: View, policy: Policy, *, moment: Moment, frame: Frame, clock: Callable[[], float] = lambda: 0.0
) -> Running:
    """Reduce `view` to `moment.tokens_target` as the policy says, asking a model where `moment.has_model`.
    `moment.tokens_excess` is computed anew for each tier. Whether the target was reached is for the caller to read from the view. A
    compaction by hand goes straight to the model, past the tiers
    before it (requirement BUD-13); where that comes to nothing, all tiers run without it."""
    course = _Course(view, moment=moment, frame=frame, clock=clock)
    try:
        straight, rest = _straight(policy, moment)
        if straight:
            yield from course.go(straight)
            if not course.is_written:
                course = course.afresh(view)
                rest = policy.tiers
        yield from course.go(rest)
    except _Broken as broken:
        return Failed(step=broken.step, error=broken.error, asked=tuple(broken.course.asked))
    asked = tuple(course.asked)
    if not course.steps:
        return Unchanged(reason=_why(view, policy, moment=moment, frame=frame, asked=asked), asked=asked)
    rests = _rests(policy, course.now, moment=moment)
    return Compacted(view=course.now, steps=tuple(course.steps), asked=asked, rests=rests)


def _straight(policy: Policy, moment: Moment) -> tuple[tuple[Tier, ...], tuple[Tier, ...]]:
    """By hand and with a model: the model's own tier (the last that asks; made ahead, from the first that asks to that one)
    with what only marks, and the tiers after it; else nothing, and all tiers."""
    if not (moment.by_hand and moment.has_model and policy.asking):
        return (), policy.tiers
    asking = [number for number, tier in enumerate(policy.tiers) if tier.ask is not None]
    first, last = asking[0] if moment.ahead else asking[-1], asking[-1]
    marks = tuple(tier for tier in policy.tiers[:first] if tier.only_marks)
    return (*marks, *policy.tiers[first : last + 1]), policy.tiers[last + 1 :]


class _Broken(Exception):
    """A law was broken in one step."""

    def __init__(self, step: str, *, error: LawViolation, course: _Course) -> None:
        self.step, self.error, self.course = step, error, course


class _Course:
    """One way through a policy's tiers: the view as it is now, and what was done and asked."""

    def __init__(self, view: View, *, moment: Moment, frame: Frame, clock: Callable[[], float]) -> None:
        self.now = view
        self.moment, self.clock = moment, clock
        self.frame = replace(frame, live=view.items()) if moment.has_model else frame
        self.steps: list[Step] = []
        self.asked: list[Asked] = []
        self._folds = False
        """True from the first tier that would ask a model on."""

    @property
    def is_written(self) -> bool:
        """Whether a text of the model's is in the view."""
        return any(step.asked is not None and step.asked.is_written for step in self.steps)

    def afresh(self, view: View) -> _Course:
        """From the beginning again, asking nobody; what was asked is not forgotten."""
        alone = replace(self.moment, has_model=False)
        course = _Course(view, moment=alone, frame=self.frame, clock=self.clock)
        course.asked = self.asked
        return course

    def go(self, tiers: Iterable[Tier]) -> Generator[Ask, Reply, None]:
        """Each tier that is due, in turn."""
        for tier in tiers:
            self._folds = self._folds or tier.ask is not None
            goal = _goal_of(tier, self.moment)
            excess = self.now.tokens - goal
            asks = self.moment.has_model and tier.ask is not None
            if not (asks or tier.reduce) or not self._is_due(tier, excess=excess, asks=asks):
                continue
            beside = min(self.moment.beside, goal) if self._folds and self.moment.is_due else 0
            moment = replace(self.moment, tokens_excess=excess + beside, tokens_target=goal - beside)
            try:
                yield from self._step(tier, moment)
            except LawViolation as error:
                raise _Broken(tier.name, error=error, course=self) from error

    def _is_due(self, tier: Tier, *, excess: int, asks: bool) -> bool:
        if self.moment.at_once and asks and not self.is_written:
            return True
        return _is_due(tier, self.now, moment=self.moment, excess=excess)

    def _step(self, tier: Tier, moment: Moment) -> Generator[Ask, Reply, None]:
        started = self.clock()
        if self.moment.has_model and tier.ask is not None:
            plan = yield from tier.ask.asking(self.now, moment, frame=self.frame)
        else:
            assert tier.reduce is not None, "an inactive tier is never due"
            plan = tier.reduce.plan(self.now, moment, self.frame)
        if plan.asked is not None:
            self.asked.append(plan.asked)
        self._make(tier, plan, started=started)

    def _make(self, tier: Tier, plan: Plan, *, started: float) -> None:
        """Make the edits of a plan that frees enough."""
        after = _made(self.now, plan, tier=tier, frame=self.frame)
        if after is None:
            return
        self.steps.append(
            Step(
                name=tier.name,
                edits=plan.edits,
                tokens_freed=self.now.tokens - after.tokens,
                seconds=self.clock() - started,
                hints=plan.hints,
                asked=plan.asked,
            )
        )
        self.now = after


def _made(view: View, plan: Plan, *, tier: Tier, frame: Frame) -> View | None:
    """The view with a plan's edits; `None` where they free less than the tier demands."""
    if not plan.edits:
        return None
    after = apply(view, plan.edits, frame=frame)
    return after if tier.only_marks or view.tokens - after.tokens >= tier.gain_min else None


def _goal_of(tier: Tier, moment: Moment) -> int:
    """The tier's own target for the messages, or the one the caller named."""
    if moment.by_hand or tier.target is None:
        return moment.tokens_target
    return max(0, int(tier.target.tokens(moment.room) / moment.scale) - moment.tokens_fixed)


def _is_due(tier: Tier, view: View, *, moment: Moment, excess: int) -> bool:
    if tier.when == "always" or (tier.when == "blind" and not moment.usage_known):
        return True
    if not moment.is_due or excess <= 0:
        return False
    if moment.by_hand or tier.due is None:
        return True
    return tier.due.is_reached(round((view.tokens + moment.tokens_fixed) * moment.scale), moment.room)


def _rests(policy: Policy, view: View, *, moment: Moment) -> bool:
    able = [tier for tier in policy.tiers if tier.reduce or (moment.has_model and tier.ask)]
    return bool(able) and not _is_due(able[-1], view, moment=moment, excess=1)


def why_failed(asked: Iterable[Asked]) -> str:
    """Why a model was asked and nothing came of it; empty where it did not fail."""
    failures = [failure for one in asked for failure in one.failures]
    if not failures:
        return ""
    return f"the model's summary came to nothing: {failures[-1].name} ({failures[-1].why})"


def _why(view: View, policy: Policy, *, moment: Moment, frame: Frame, asked: tuple[Asked, ...]) -> str:
    failed = why_failed(asked)
    if failed:
        return failed
    if not moment.is_due:
        return "below the threshold"
    if view.tokens <= moment.tokens_target:
        return "within the target"
    if any(item.seq not in frame.kept and not item.covers for item in view):
        return goes_no_further(policy, has_model=moment.has_model)
    return "nothing may be reduced, for what is left is pinned, the last user message, or a round that is still open"
