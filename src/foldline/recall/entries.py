"""Entries as recall reads them: the message, and which tools wait for a result.

Forgiving where the rest of foldline refuses: a message that this version cannot read is passed over, and all others are
found. Shared by the index and by the scan.
"""

from __future__ import annotations

from typing import Final

from foldline.core.entry import Entry
from foldline.core.errors import UnknownFormat
from foldline.core.message import Message, ToolCall
from foldline.core.received import slotted
from foldline.log.values import read_message

CALLS_MAX: Final = 4_096
"""Calls without a result that are remembered by name, the newest of each session."""


def message_of(entry: Entry) -> Message | None:
    """The message of an entry, with slots; `None` for one that this version cannot read."""
    try:
        return slotted(read_message(entry.body))
    except (ValueError, LookupError, TypeError, OverflowError, UnknownFormat):
        return None


def note_calls(calls: dict[str, str], message: Message) -> None:
    """Remember the names of the tools a message calls, by call id."""
    for part in message.parts:
        if type(part) is ToolCall:
            calls.pop(part.id, None)
            calls[part.id] = part.name
    while len(calls) > CALLS_MAX:
        del calls[next(iter(calls))]
