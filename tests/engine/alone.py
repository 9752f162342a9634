"""The tiers of a policy without a model, for tests."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from foldline.core.edit import Frame
from foldline.core.ports import Moment
from foldline.core.view import View
from foldline.engine.driving import drive, unanswered
from foldline.engine.policy import Policy
from foldline.engine.run import Outcome, running


def run(
    view: View, policy: Policy, *, moment: Moment, frame: Frame, clock: Callable[[], float] = lambda: 0.0
) -> Outcome:
    """As `running`, asking nobody."""
    alone = replace(moment, has_model=False)
    return drive(running(view, policy, moment=alone, frame=frame, clock=clock), unanswered)
