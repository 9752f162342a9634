"""What is measured of a compacted history besides facts: its text, and how much of it is whole recent rounds.

Knows views and items; nothing of how they were made.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.continuation.session import words_of_item
from foldline.core.rounds import outline_of
from foldline.core.view import Item, View


def text_of(items: Sequence[Item]) -> str:
    """All that can be read in these items."""
    return "\n".join(words_of_item(item).text for item in items)


def recent_rounds_tokens(before: View, after: Sequence[Item]) -> int:
    """Tokens of the rounds in the unbroken run of untouched units that ends both histories: from the newest unit back
    to the first that is missing, folded or shortened."""
    structure = outline_of(before)
    whole = {item.message.parts for item in after}
    tokens = 0
    for unit in reversed(structure.units):
        if not all(item.message.parts in whole for item in structure.items[unit.start : unit.end]):
            break
        tokens += unit.tokens if unit.kind == "round" else 0
    return tokens
