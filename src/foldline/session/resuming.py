"""Going on with a session whose policy begins again at its last summary (requirement JRN-8).

    before   [summary 1–40] 41 42 43 │ 44 45        41–43: kept whole by the compaction, older than it
    resumed  [summary 1–43]          │ 44 45        what followed it stays; so do the last user message and an open round

The tail is ended by an edit of its own in the log, once, so that the view of the log is the view of the session (law REPLAY);
what it takes out stands behind the summary's address. A policy that says nothing of it resumes with the same view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from foldline.core.address import read_block
from foldline.core.edit import Fold, Frame, apply
from foldline.core.errors import LawViolation
from foldline.core.message import is_fold
from foldline.core.rounds import outline_of
from foldline.core.view import Item, View
from foldline.engine.report import Report, covers_of
from foldline.log.state import Places
from foldline.log.values import timeless
from foldline.passes.folding import fold_of

NOTE: Final = "resumed: what the last compaction had kept whole stands behind the summary's address"


def kept_tail(view: View, *, places: Places, boundary: int, kept: frozenset[int]) -> tuple[Item, ...]:
    """The last summary of a view and what its compaction kept behind it, units whole; empty where there is none of either.
    `boundary`: byte of the compaction; `kept`: ordinals that no edit may take."""
    structure = outline_of(view)
    items = structure.items
    at = max((n for n, item in enumerate(items) if is_fold(item.message)), default=None)
    if at is None or read_block(items[at].message.text) is None:
        return ()
    tail: list[Item] = []
    for unit in structure.units:
        members = items[unit.start : unit.end]
        older = all(item.seq in places and places[item.seq][0] < boundary for item in members)
        free = not any(item.seq in kept or item.covers for item in members)
        if unit.start > at and unit.kind != "system" and older and free:
            tail += members
    return (items[at], *tail) if tail else ()


def ended(gone: Sequence[Item], view: View, *, frame: Frame) -> tuple[Fold, View] | None:
    """The edit that puts the summary in the place of itself and its tail, and the view behind it; `None` where a law
    forbids it."""
    found = read_block(gone[0].message.text)
    assert found is not None, "only a summary in a block begins a tail"
    kind, _, body = found
    fold = fold_of(gone, body, frame=frame, kind=kind)
    try:
        after = apply(view, (fold,), frame=frame)
    except LawViolation:
        return None
    return fold, after


def told(fold: Fold, view: View, *, after: View, blank: Report) -> dict[str, Any]:
    """The report of the edit, for the log."""
    report = replace(
        blank,
        outcome="compacted",
        messages_before=len(view),
        messages_after=len(after),
        tokens_before=view.tokens,
        tokens_after=after.tokens,
        covers=covers_of((fold,), after),
        notes=(*blank.notes, NOTE),
    )
    value: dict[str, Any] = timeless(report.to_dict())
    return value
