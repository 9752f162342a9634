"""What shapes the views: the compactions and edits that count, in pages, so that no checkpoint repeats all of them.

    checkpoint A   "applied": 64 rows                    full: the list goes on in a new page
    checkpoint B   "applied": 3 rows, "earlier": A       those since A; A's come before them
    checkpoint C   "applied": 64 rows, "earlier": A
    checkpoint D   "applied": 1 row,  "earlier": C

A policy that edits before every request adds a row each time. The state holds the newest page, and names the checkpoint
that has the one before; only an undo or an unfold of something long ago reads further. Counterparts:
`foldline.log.checkpoint`, which writes a page, and `foldline.log.replay`, which turns it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from foldline.core.entry import Entry
from foldline.core.errors import SessionCorrupt
from foldline.core.ports import Pages
from foldline.log.chain import unreadable
from foldline.log.state import ROOT, Applied, State
from foldline.log.values import Json, members
from foldline.wire import strict

PAGE_ROWS: Final = 64
"""Rows from which on a full checkpoint ends a page."""


def page_json(state: State) -> Json:
    """The members of a checkpoint that say what shapes its views."""
    rows = [
        [one.seq, one.offset, *([one.scope, one.is_edit] if one.scope or one.is_edit else [])]
        for one in state.applied
    ]
    return {"applied": rows, "earlier": state.earlier_at}


def read_page(pieces: Mapping[str, bytes]) -> tuple[tuple[Applied, ...], int | None]:
    """The rows of a checkpoint, given its members, and the byte of the one that has those before. Raises `ValueError`,
    `LookupError` or `TypeError` for anything else."""
    rows = strict.loads(pieces.get("applied", b"[]"))
    earlier = strict.loads(pieces.get("earlier", b"null"))
    return tuple(_read(row) for row in rows), None if earlier is None else int(earlier)


def _read(row: Sequence[Any]) -> Applied:
    seq, offset, *rest = row
    scope, is_edit = rest or (ROOT, False)
    return Applied(seq=int(seq), offset=int(offset), scope=str(scope), is_edit=bool(is_edit))


def turned(state: State, pieces: Mapping[str, bytes], *, at: int) -> State:
    """The state behind a full checkpoint whose line begins at byte `at`: on a new page, where its own was full. A checkpoint
    that says something else than the state does, since what it counts was taken back later, ends no page."""
    if len(state.applied) < PAGE_ROWS or read_page(pieces) != (state.applied, state.earlier_at):
        return state
    return replace(state, applied=(), earlier_at=at)


def newest_first(state: State, pages: Pages) -> Iterator[Applied]:
    """All that shapes the views of a state, the newest first; costs what is taken of it. Raises `SessionCorrupt`."""
    rows, earlier = state.applied, state.earlier_at
    while True:
        yield from reversed(rows)
        if earlier is None:
            return
        entry = pages.entry(earlier)
        rows, before = _page_of(entry)
        if before is not None and before >= earlier:
            raise SessionCorrupt(earlier, "the checkpoint names a later one as earlier than itself")
        earlier = before


def _page_of(entry: Entry) -> tuple[tuple[Applied, ...], int | None]:
    try:
        if entry.kind != "checkpoint":
            raise ValueError("a full checkpoint should stand here")
        return read_page(members(entry.body))
    except (ValueError, LookupError, TypeError) as error:
        raise unreadable(entry, error) from error
