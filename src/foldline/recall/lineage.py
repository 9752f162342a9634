"""Lineage: in which logs the messages of a session stand. A fork goes on from its parent's, which goes on from another's.

    fork     parent messages 0–41 │ own messages 42, 43, …

Knows first lines of logs and the port of a store. Counterpart: `docs/reference/log-format.md`, "Forks".
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from foldline.core.errors import SessionCorrupt
from foldline.core.ports import Pages, Store
from foldline.log.lineage import DEPTH_MAX, Cut, Lineage, cut_of, refuse_moved

FORKS_MAX: Final = DEPTH_MAX + 1
"""Logs of one session."""


class Ancestor(Struct, frozen=True, kw_only=True):
    """One log that a session's messages stand in."""

    name: str
    pages: Pages
    byte: int | None = None
    """Byte of this log at which its part of the session ends; `None`: it is the session's own."""


def lineage(store: Store, session: str) -> tuple[Ancestor, ...]:
    """The logs of a session, its own last. Raises `UnknownSession`, `SessionCorrupt`."""
    found: list[Ancestor] = []
    cuts: list[Cut] = []
    name, end = session, None
    while len(found) < FORKS_MAX:
        pages = store.read(name)
        cut = cut_of(pages)
        start = cut.byte if cut is not None else 0
        found.append(Ancestor(name=name, pages=pages, byte=None if end is None else max(0, end - start)))
        if cut is None:
            _refuse_moved(found, cuts)
            return tuple(reversed(found))
        cuts.append(cut)
        name, end = cut.name, start if end is None else min(end, start)
    raise SessionCorrupt(0, f"session {session!r} is a fork of more than {DEPTH_MAX} others, or of itself")


def _refuse_moved(found: list[Ancestor], cuts: list[Cut]) -> None:
    """Raise `SessionCorrupt` where a parent lost the end that a fork goes on from; both newest first."""
    above = Lineage(found[-1].pages)
    for ancestor, cut in zip(found[-2::-1], reversed(cuts), strict=True):
        refuse_moved(above, cut)
        above = Lineage(ancestor.pages, above, cut=cut)
