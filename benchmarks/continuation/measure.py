"""What is measured of a compacted history besides facts: its text, and how much of it is recent rounds.

Knows views and items; nothing of how they were made.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from benchmarks.continuation.session import words_of_item
from foldline.core.message import Message, ToolCall, ToolResult
from foldline.core.rounds import Unit, outline_of
from foldline.core.view import Item, View


class Rounds(Struct, frozen=True, kw_only=True):
    """The rounds that end a compacted history, in tokens."""

    whole: int
    """From the newest unit back to the first that is missing, folded or shortened. A round is whole when each of its
    messages is what it was; what stands between rounds has to stand too, though a mark behind it changes nothing."""
    standing: int
    """The same with rounds whose results were shortened or cleared, at what they take now: every call stands, and a
    result of each."""
    next: int
    """What one further round would take: from where the whole ones end back to where a round begins; 0 where all are
    whole."""


def text_of(items: Sequence[Item]) -> str:
    """All that can be read in these items."""
    return "\n".join(words_of_item(item).text for item in items)


def recent_rounds(before: View, after: Sequence[Item]) -> Rounds:
    """What is left of the newest rounds."""
    structure = outline_of(before)
    whole = {item.message.parts for item in after}
    marked = {item.message.parts[:-1] for item in after if len(item.message.parts) > 1}
    standing = {_outline(item.seq, item.message): item.tokens for item in after}

    def is_whole(unit: Unit) -> bool:
        items = structure.items[unit.start : unit.end]
        held = whole if unit.kind == "round" else whole | marked
        return all(item.message.parts in held for item in items)

    def left(unit: Unit) -> list[int | None]:
        items = structure.items[unit.start : unit.end]
        return [standing.get(_outline(item.seq, item.message)) for item in items]

    units = list(reversed(structure.units))
    end = next((n for n, unit in enumerate(units) if not is_whole(unit)), len(units))
    stand = next((n for n, unit in enumerate(units[end:], end) if None in left(unit)), len(units))
    further = next((n for n, unit in enumerate(units[end:], end) if unit.kind == "round"), None)
    tokens = sum(unit.tokens for unit in units[:end] if unit.kind == "round")
    shortened = sum(sum(filter(None, left(unit))) for unit in units[end:stand] if unit.kind == "round")
    return Rounds(
        whole=tokens,
        standing=tokens + shortened,
        next=sum(unit.tokens for unit in units[end : further + 1]) if further is not None else 0,
    )


def _outline(seq: int, message: Message) -> tuple[object, ...]:
    """What stays of a message when its results are shortened or a mark is put behind it."""
    calls = [
        part.id if isinstance(part, ToolCall) else part.call_id
        for part in message.parts
        if isinstance(part, ToolCall | ToolResult)
    ]
    return seq, message.role, message.synthetic, *calls
