"""Entries: the lines of a ledger as values, and the calls that they are told of. Knows neither how they are found (`book`) nor
how they are written (`render`)."""

from __future__ import annotations

from collections.abc import Set
from typing import Literal, TypeAlias

from msgspec import Struct

from foldline.core.message import ToolCall, ToolResult
from foldline.ledger.facts import Origin

Section: TypeAlias = Literal[
    "objective", "decisions", "mutations", "evidence", "tasks", "risks", "next", "read", "index"
]
"""The seven headings of the ledger; `read` stands beside the mutations and `index` below all."""

HEADINGS: tuple[tuple[Section, str], ...] = (
    ("objective", "Objective and constraints"),
    ("decisions", "Decisions and rationale"),
    ("mutations", "Workspace mutations"),
    ("read", "Files read"),
    ("evidence", "Verification evidence"),
    ("tasks", "Active tasks and background work"),
    ("risks", "Open risks or blockers"),
    ("next", "Exact next action"),
)
QUOTING: Set[Section] = frozenset({"objective", "next"})
"""Sections whose lines are somebody's own words and nothing else."""


class Undoing(Struct, frozen=True, kw_only=True, gc=False):
    """What a command may have undone of what was done before it."""

    folder: str = ""
    """Where it ran; empty where that is not known."""
    paths: tuple[str, ...] = ()
    """Files, folders and patterns; none for the whole working tree."""
    is_tree: bool = True
    """Whether files are other than they were, and not commits alone."""
    keeps_commits: bool = False
    """Whether the files that were committed before stand as they were."""
    commits: str = ""
    """Which commits stand no longer: `all` of them, `one` and which, those `since` one; `deleted`: as the answer says."""


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """One line of the ledger."""

    section: Section
    key: str
    """Entries of one key are one: the newest stands."""
    text: str
    """One line, as it will be read; not yet escaped."""
    seq: int
    """Ordinal of the message it comes from."""
    origin: Origin
    times: int = 1
    folder: str = ""
    """Of a commit, where it was made, as far as its line says so. This and what follows is not written, and holds for what is older."""
    to: str = ""
    """The whole path of the place where a file was moved."""
    undoes: tuple[Undoing, ...] = ()
    settles: tuple[str, ...] = ()
    """Keys of commands that it shows to have gone well."""


class Done(Struct, frozen=True, kw_only=True, gc=False):
    """One call with what came of it."""

    seq: int
    call: ToolCall
    result: ToolResult | None
