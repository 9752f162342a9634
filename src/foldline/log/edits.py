"""The edits of one entry: whether they name what is there, and which of them can be made at once.

They were judged against the laws when they were made; a log's reader makes them again (`foldline.log.replay`). How they are
spelt is `foldline.log.values`'s to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foldline.core.edit import Drop, Edit, Fold, Mark, Replace
from foldline.core.view import Span


def refuse_nowhere(edit: Edit, *, messages: int) -> None:
    """Raise `ValueError` for an edit that names no message, or one that the log does not have."""
    match edit:
        case Replace() | Mark():
            spans: tuple[Span, ...] = (Span(start=edit.seq, end=edit.seq + 1),)
        case Drop():
            spans = (edit.span,)
        case Fold():
            spans = edit.spans
    if not spans or any(not 0 <= span.start < span.end <= messages for span in spans):
        raise ValueError("an edit of messages that are not there")


def batches(edits: Sequence[Edit]) -> Iterator[Sequence[Edit]]:
    """The edits of one entry in runs that can be made at once: each sees what the earlier ones left, which only
    matters where it names the place of a fold made before it."""
    batch: list[Edit] = []
    folds: list[int] = []
    for edit in edits:
        if any(_names(edit, seq) for seq in folds):
            yield batch
            batch, folds = [], []
        batch.append(edit)
        if isinstance(edit, Fold):
            folds.append(min(span.start for span in edit.spans))
    yield batch


def _names(edit: Edit, seq: int) -> bool:
    match edit:
        case Replace() | Mark():
            return edit.seq == seq
        case Drop():
            return edit.span.start <= seq < edit.span.end
        case Fold():
            return any(span.start <= seq < span.end for span in edit.spans)


def first_named(edits: Sequence[Edit]) -> int:
    """The first message that edits touch."""
    firsts = []
    for edit in edits:
        match edit:
            case Replace() | Mark():
                firsts.append(edit.seq)
            case Drop():
                firsts.append(edit.span.start)
            case Fold():
                firsts.append(min(span.start for span in edit.spans))
    return min(firsts)
