"""Restore: what an agent needs to go on after a compaction, read again at that moment and put behind the summary.

Owns what is restored, its order, words and budgets. Knows no session: the view comes in as items, what the history does not say
by small callbacks of the host (`foldline.restore.sources.Sources`).
"""

from foldline.restore.restorer import LADDER, Limits, Restored, Restorer
from foldline.restore.sources import (
    BackgroundTask,
    PlanMode,
    PlanSteps,
    Skill,
    Sources,
    SubAgent,
    Touched,
)

__all__ = [
    "LADDER",
    "BackgroundTask",
    "Limits",
    "PlanMode",
    "PlanSteps",
    "Restored",
    "Restorer",
    "Skill",
    "Sources",
    "SubAgent",
    "Touched",
]
