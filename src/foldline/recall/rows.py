"""Rows: what the index keeps of each part beside its words, and which of them are wanted.

Values and SQL conditions; no database is opened here. Counterpart: `foldline.recall.index`.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from foldline.core.address import DIGEST_CHARS
from foldline.core.message import Role
from foldline.recall.texts import KINDS, ROLES, Kind

BATCH_SESSIONS_MAX: Final = 400
"""Sessions that one condition names; SQLite takes 999 values in all."""


class Row(Struct, frozen=True, kw_only=True, gc=False):
    """One part of one message of one session."""

    id: int
    """Newer rows have higher numbers."""
    session: str
    ordinal: int
    slot: int
    role: Role
    kind: Kind
    tool: str
    time_ms: int | None
    offset: int
    """Byte of the session's log at which the message's entry begins."""
    size: int
    """Characters of its words."""
    digest: int
    """The digest in the part's address, as a number: parts that have the same say the same."""

    @property
    def address(self) -> str:
        """Opens on the session's log."""
        return f"m{self.ordinal}.{self.slot}@{self.digest:0{DIGEST_CHARS}x}"


class Reach(Struct, frozen=True, kw_only=True):
    """A session, or the beginning of one that a fork goes on from."""

    session: str
    ordinals: int | None = None
    """Messages before this ordinal alone; `None`: all."""


class Filters(Struct, frozen=True, kw_only=True):
    """Which rows are wanted; what is `None` or empty does not matter."""

    reach: tuple[Reach, ...] | None = None
    """Sessions; `None`: all."""
    role: Role | None = None
    tool: str | None = None
    kind: Kind | None = None
    """`result` takes in `error`, which is a result too."""
    since_ms: int | None = None
    until_ms: int | None = None
    """Both ends included. A message whose time nobody knows is in no range of time."""


def marks_of(*, role: Role, kind: Kind, tool: int) -> str:
    """What stands beside a part's words in the index, so that a filter costs what it finds."""
    told = f"role{role} kind{kind}"
    if kind == "error":
        told += " kindresult"
    return f"{told} tool{tool}" if tool else told


def marked(filters: Filters, tool: int | None) -> list[str]:
    """The marks that rows must have, as `marks_of` writes them."""
    marks = [f"role{filters.role}"] if filters.role else []
    if filters.kind:
        marks.append(f"kind{filters.kind}")
    if tool is not None:
        marks.append(f"tool{tool}")
    return marks


def condition(filters: Filters, sessions: dict[str, int]) -> tuple[str, list[Any]]:
    """SQL for what marks do not say: sessions and times. `sessions`: their numbers by name."""
    parts: list[str] = []
    values: list[Any] = []
    if filters.reach is not None:
        told: list[str] = []
        for reach in filters.reach[:BATCH_SESSIONS_MAX]:
            if reach.session not in sessions:
                continue
            values.append(sessions[reach.session])
            told.append("r.session = ?")
            if reach.ordinals is not None:
                told[-1] = "(r.session = ? AND r.ordinal < ?)"
                values.append(reach.ordinals)
        parts.append(f"({' OR '.join(told)})" if told else "0")
    for name, sign in (("since_ms", ">="), ("until_ms", "<=")):
        time = getattr(filters, name)
        if time is not None:
            parts.append(f"r.time {sign} ?")
            values.append(time)
    return " AND ".join(parts), values


def role_of(number: int) -> Role:
    """A role by its number in `ROLES`."""
    return ROLES[number]


def kind_named(number: int) -> Kind:
    """A kind by its number in `KINDS`."""
    return KINDS[number]
