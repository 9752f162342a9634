"""Lineage: in which logs the messages of a session stand. A fork goes on from its parent's, which goes on from another's.

    fork     parent messages 0–41 │ own messages 42, 43, …

Knows first lines of logs and the port of a store. Counterpart: `docs/reference/log-format.md`, "Forks".
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from foldline.core.errors import SessionCorrupt
from foldline.core.ports import Pages, Store

FORKS_MAX: Final = 64
"""Forks of forks that are followed."""


class Ancestor(Struct, frozen=True, kw_only=True):
    """One log that a session's messages stand in."""

    name: str
    pages: Pages
    byte: int | None = None
    """Byte of this log at which its part of the session ends; `None`: it is the session's own."""


def lineage(store: Store, session: str) -> tuple[Ancestor, ...]:
    """The logs of a session, its own last. Raises `UnknownSession`, `SessionCorrupt`."""
    found: list[Ancestor] = []
    name, end = session, None
    while len(found) < FORKS_MAX:
        pages = store.read(name)
        cut = _cut_of(pages)
        start = cut[1] if cut is not None else 0
        found.append(Ancestor(name=name, pages=pages, byte=None if end is None else max(0, end - start)))
        if cut is None:
            return tuple(reversed(found))
        name, end = cut[0], start if end is None else min(end, start)
    raise SessionCorrupt(0, f"session {session!r} is a fork of more than {FORKS_MAX} others, or of itself")


def _cut_of(pages: Pages) -> tuple[str, int] | None:
    """The log that another goes on from, and the byte, counted through all logs before, at which it does."""
    try:
        parent = msgspec.json.decode(pages.about).get("parent")
    except (msgspec.DecodeError, AttributeError):
        return None
    if not isinstance(parent, dict):
        return None
    name, byte = parent.get("name"), parent.get("byte")
    return (name, byte) if isinstance(name, str) and isinstance(byte, int) else None
