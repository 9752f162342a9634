"""When a message was said: as its own record says, else when it was appended.

A session brought in from another tool is appended in one moment; its messages say their own times.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from foldline.core.entry import Entry
from foldline.core.message import Message

TIME_S_MAX: Final = 1e11
"""A later time is no time."""


def own_time_of(message: Message | None) -> int | None:
    """What a message says of its own time, Unix milliseconds; `None` where it says none."""
    told = message.meta.time_s if message is not None and message.meta is not None else None
    return int(told * 1000) if told is not None and 0 <= told < TIME_S_MAX else None


def time_of(entry: Entry, message: Message | None) -> int | None:
    """When a message was said, Unix milliseconds."""
    own = own_time_of(message)
    if own is not None:
        return own
    return entry.time_ms if entry.time_ms is not None and entry.time_ms < TIME_S_MAX * 1000 else None


def time_told(time_ms: int) -> str:
    """A time to the minute, UTC, for people and models."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
