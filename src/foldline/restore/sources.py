"""What a host may know that a history does not say, and how it is asked: small callbacks, each of which may be left out.

    Sources(cwd=lambda: os.getcwd(), plan_mode=lambda: PlanMode(path=plan, exists=plan.exists()))

They are called at the moment of the compaction, since that is when what they say must hold. Values alone; what is made of them
is `foldline.restore.restorer`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct


class Touched(Struct, frozen=True, kw_only=True):
    """A file that was read or changed."""

    path: str
    """Absolute, or relative to the workspace."""
    session: str = ""
    """Whose work it was; empty: this session's."""


class PlanMode(Struct, frozen=True, kw_only=True):
    """The agent plans and changes nothing but its plan."""

    path: str
    """Of the plan."""
    exists: bool
    """Whether there is such a file now."""
    reminder: str = ""
    """The host's own words on plan mode, in full; empty: ours."""


class PlanSteps(Struct, frozen=True, kw_only=True):
    """Where the agent stands in its plan."""

    current: str = ""
    next: str = ""


class Skill(Struct, frozen=True, kw_only=True):
    """A skill that was used."""

    name: str
    folder: str
    """Its folder, absolute."""
    description: str = ""
    text: str = ""
    """What the model saw of it; empty: it is rendered again from `file`."""
    file: str = "SKILL.md"
    """In its folder."""
    values: Mapping[str, str] = {}
    """What stands for further placeholders (`$ARGUMENTS`), by their spelling."""


class BackgroundTask(Struct, frozen=True, kw_only=True):
    """Something that runs beside the conversation."""

    description: str
    status: str = "running"


class SubAgent(Struct, frozen=True, kw_only=True):
    """A sub-agent that has not answered yet."""

    name: str
    task: str = ""
    status: str = "running"


Files: TypeAlias = Callable[[], Iterable[Touched]]


class Sources(Struct, frozen=True, kw_only=True):
    """The callbacks. `None`: what the history says, where it says anything, and else nothing."""

    files: Files | None = None
    """Recent files, oldest first; left out, those that the calls of the history name."""
    cwd: Callable[[], str] | None = None
    """The working folder; left out, the workspace."""
    plan_mode: Callable[[], PlanMode | None] | None = None
    """`None` outside plan mode."""
    plan: Callable[[], PlanSteps | None] | None = None
    """Left out, the first task in progress and the next open one of the agent's own list."""
    tasks: Callable[[], Iterable[str]] | None = None
    """Pending tasks; left out, the open ones of the agent's own list."""
    skills: Callable[[], Iterable[Skill]] | None = None
    """Skills used, the one used last first."""
    background: Callable[[], Iterable[BackgroundTask]] | None = None
    nodes: Callable[[], Iterable[SubAgent]] | None = None
