"""What was restored, put behind a summary: further parts of the summary's own message, each a block of its own.

    user   <foldline-fold …>…</foldline-fold> · <foldline-…>working folder …</…> · <foldline-…>file …</…>

So it stands right behind the summary, is committed with it, is never system-level, and leaves with the next compaction, which
restores anew. Counterpart: `foldline.restore`, which makes it.
"""

from __future__ import annotations

from msgspec.structs import replace

from foldline.core.edit import Fold
from foldline.core.message import Text
from foldline.core.ports import TokenCounter
from foldline.reduce import Reduced
from foldline.restore.restorer import Restored


def folds_in(reduced: Reduced) -> list[Fold]:
    """What stands for what went, oldest first."""
    return [edit for edit in reduced.edits if isinstance(edit, Fold)]


def summary_in(reduced: Reduced) -> str:
    """The newest text of it."""
    folds = folds_in(reduced)
    return folds[-1].message.text if folds else ""


def with_restored(reduced: Reduced, restored: Restored, *, counter: TokenCounter) -> Reduced:
    """The compaction with it behind the newest fold, and counted as it stands there."""
    report = replace(reduced.report, notes=(*reduced.report.notes, *_notes(restored)))
    if restored.message is None:
        return replace(reduced, report=report)
    fold = folds_in(reduced)[-1]
    more = tuple(Text(text=part.text) for part in restored.message.parts if isinstance(part, Text))
    message = replace(fold.message, parts=(*fold.message.parts, *more))
    made = replace(fold, message=message)
    grown = counter.message(message) - counter.message(fold.message)
    report = replace(report, tokens_after=report.tokens_after + grown)
    edits = tuple(made if edit is fold else edit for edit in reduced.edits)
    return replace(reduced, edits=edits, report=report)


def _notes(restored: Restored) -> tuple[str, ...]:
    said = [f"restored: {row.kind} {row.name} ({row.tokens:,} tokens)" for row in restored.rows]
    gone = [f"not restored: {row.kind} {row.name}: {row.why}" for row in restored.left_out]
    return (*said, *gone, *restored.notes)
