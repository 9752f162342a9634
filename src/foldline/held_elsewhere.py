"""Conversations of which the provider holds a part: an item of OpenAI Responses that stands in the list by reference alone.

What it says is not here: it cannot be weighed, folded or read again, and a result that stands behind it looks as if it had no call.
So the doors that reduce a list of their own refuse such a one. Counterpart: `foldline.clients.references`, for requests that pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from foldline.core.errors import InvalidTranscript
from foldline.core.message import Message, Opaque

REFERENCE: Final = "item_reference"


def refuse_held_elsewhere(messages: Sequence[Message], *, path: str) -> None:
    """Raise `InvalidTranscript` for a list with an item that stands there by reference. `path`: what it is called there."""
    for place, message in enumerate(messages):
        if any(isinstance(part, Opaque) and part.type == REFERENCE for part in message.parts):
            why = (
                f"item {place} stands there by reference ({REFERENCE}): the provider holds what it says, so it cannot be reduced here; "
                "put the items themselves into the list"
            )
            raise InvalidTranscript(path, None, why)
