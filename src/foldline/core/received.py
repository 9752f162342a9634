"""A message as it is taken into a history: every part with a slot, folds of ours known for what they are.

Shared by the pure function, which takes all messages at once, and by a log's replay, which takes them one by one, so that
an address means the same in both. Knows nothing of where messages come from.
"""

from __future__ import annotations

from msgspec.structs import replace

from foldline.core.address import read_block
from foldline.core.message import NEW, Message, Text


def received(message: Message) -> Message:
    """The message with slots, and known as a fold of ours where it is one."""
    return recognised(slotted(message))


def slotted(message: Message) -> Message:
    """The message with a slot for every part, so that each has an address; messages of a wire have them already."""
    if NEW not in [part.slot for part in message.parts]:
        return message
    return replace(
        message, parts=tuple(replace(part, slot=index) for index, part in enumerate(message.parts))
    )


def recognised(message: Message) -> Message:
    """The message, known as a fold of ours where that is all it holds: a summary is carried on, not summarised. So is one
    that a file of another tool's keeps as that tool keeps its own summaries."""
    if message.role != "user" or message.synthetic not in (None, "summary") or len(message.parts) != 1:
        return message
    part = message.parts[0]
    found = read_block(part.text) if isinstance(part, Text) and part.text.startswith("<foldline-") else None
    if found is None:
        return message
    return replace(message, synthetic="fold" if found[0] == "fold" else "notice")
