"""How many messages a log holds, without reading them all: a checkpoint says how many there were before it.

Counterpart: `foldline.log.checkpoint`, which writes that.
"""

from __future__ import annotations

from collections.abc import Iterable

from foldline.core.entry import Entry
from foldline.wire import strict


def messages_in(newest_first: Iterable[Entry]) -> int:
    """Messages of a log: those since the last checkpoint, and what that one says there were."""
    messages = 0
    for entry in newest_first:
        if (before := ordinals_in(entry)) is not None:
            return before + messages
        messages += entry.kind == "message"
    return messages


def ordinals_in(entry: Entry) -> int | None:
    """Messages before a checkpoint, as it says; `None` for any other entry."""
    told = strict.loads(entry.body) if entry.kind == "checkpoint" else None
    ordinals = told.get("ordinals") if isinstance(told, dict) else None
    return ordinals if isinstance(ordinals, int) else None
