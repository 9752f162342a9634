"""What is sound of a fork, with what it goes on from, as one log that can be brought in again.

    parent   e0 e1 ✗ e3 │ e4          salvaged    e0 e1 ✗ e3 e0′ e1′       one log, numbers go on
    fork              └ e0 e1                     ✗ ✗ ✗ ✗ e0′ e1′          the parent is gone

A fork alone names messages that it does not hold. Of a parent that is gone, or that says something else by now, as many entries
stand there as there were, messages among them, so that every number and address of the fork stays good. What is sound of one
log is `foldline.stores.salvage`'s to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Final

from msgspec import Struct

from foldline.core.entry import Draft, Entry
from foldline.core.errors import UNREADABLE, InvalidOption, UnknownSession
from foldline.log.lineage import Cut, cut_of, refuse_deeper
from foldline.log.lines import parse_log
from foldline.log.ordinals import ordinals_in
from foldline.session.library import unplaced, whole_log
from foldline.stores.disk import DiskStore
from foldline.stores.disk_log import DiskPages
from foldline.stores.salvage import DAMAGED, Gap

LOST: Final = Draft(kind="lost", body=b"{}")
UNREAD: Final = Draft(kind="message", body=DAMAGED + b"}")


class Sound(Struct, frozen=True, kw_only=True):
    """What is sound of a session."""

    data: bytes
    """A log."""
    entries: int
    """Sound ones in it."""
    gaps: tuple[Gap, ...] = ()
    """What is not, each by the log it is missing from."""


def sound_fork(store: DiskStore, own: DiskPages) -> Sound:
    """What is sound of a log that goes on from another, with that."""
    levels = [_level(own)]
    while (cut := levels[-1].cut) is not None:
        refuse_deeper(len(levels))
        pages = _parent(store, cut)
        if pages is None:
            break
        with closing(pages):
            levels.append(_level(pages))
    gaps = [gap for level in levels for gap in level.gaps]
    drafts = _joined(levels, gaps)
    count = sum(level.sound for level in levels)
    return Sound(data=whole_log(own, drafts), entries=count, gaps=tuple(gaps))


class _Level(Struct, frozen=True, kw_only=True):
    """One of the logs."""

    cut: Cut | None
    """Where it leaves its parent."""
    entries: Sequence[Entry]
    sound: int
    gaps: Sequence[Gap]


def _level(pages: DiskPages) -> _Level:
    first, found = pages.salvage()
    entries = parse_log(b"".join((first, *found.lines()))).entries
    return _Level(cut=cut_of(pages), entries=entries, sound=found.entries, gaps=found.gaps)


def _parent(store: DiskStore, cut: Cut) -> DiskPages | None:
    """What a fork goes on from; `None` where nothing can be read of it."""
    try:
        return store.read(cut.name)
    except (UnknownSession, InvalidOption, *UNREADABLE):
        return None


def _joined(levels: Sequence[_Level], gaps: list[Gap]) -> list[tuple[Draft, int | None]]:
    """The entries of a fork and all it goes on from, the oldest first; what is missing of those is put among `gaps`."""
    drafts: list[tuple[Draft, int | None]] = []
    for level in reversed(levels):
        if level.cut is not None:
            drafts = _up_to(level.cut, drafts, ordinals=_ordinals_before(level.entries), gaps=gaps)
        drafts += [(unplaced(entry), entry.time_ms) for entry in level.entries]
    return drafts


def _up_to(
    cut: Cut, drafts: Sequence[tuple[Draft, int | None]], *, ordinals: int, gaps: list[Gap]
) -> list[tuple[Draft, int | None]]:
    """What a fork goes on from, in as many entries as there were, with as many messages."""
    wanted = cut.seq + 1
    kept = list(drafts[:wanted])
    if len(kept) == wanted and cut.time_ms is not None and wanted and kept[-1][1] != cut.time_ms:
        kept = []  # it went on otherwise, from wherever it did: another history
    missing = wanted - len(kept)
    if missing:
        said = sum(draft.kind == "message" for draft, _ in kept)
        unread = min(missing, max(0, ordinals - said))
        kept += [(UNREAD, None)] * unread + [(LOST, None)] * (missing - unread)
        why = f"session {cut.name!r}, which this is a fork of, no longer holds it"
        gaps.insert(0, Gap(offset=0, size=cut.byte, first=wanted - missing, count=missing, why=why))
    return kept


def _ordinals_before(entries: Sequence[Entry]) -> int:
    """How many messages a fork goes on from, as its first checkpoint has it; 0 where it has none."""
    said = 0
    for entry in entries:
        if (ordinals := ordinals_in(entry)) is not None:
            return ordinals - said
        said += entry.kind == "message"
    return 0
