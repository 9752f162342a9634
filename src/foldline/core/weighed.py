"""Weighed: new parts and messages whose tokens are known, by identity.

A pass that makes the same part again, because it remembers what it made of a part that never changes, has it weighed once; and
a fold that was weighed to see whether it shrinks anything is not weighed again when it is put into the view. Knows any counter.
"""

from __future__ import annotations

from collections.abc import Sequence

from foldline.core.message import Message, Part
from foldline.core.ports import TokenCounter, Weights

WEIGHED_MAX = 2_000
"""Parts and messages that are remembered before all are forgotten."""


class Weighed:
    """Tokens of parts and of messages."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, int], tuple[Part, int]] = {}
        """Name of what counts and identity of a part → the part, held so that no other has its identity, and its tokens."""
        self._messages: dict[tuple[str, int], tuple[Message, Weights]] = {}

    def parts(self, parts: Sequence[Part], counter: TokenCounter) -> list[int]:
        """Tokens of each; those that are not known are counted in one call."""
        known = self._parts
        new = [part for part in parts if (counter.name, id(part)) not in known]
        if new:
            if len(known) + len(new) > WEIGHED_MAX:
                known.clear()
                new = list(parts)
            [(weights, _)] = counter.weights_of([Message(role="user", parts=tuple(new))])
            known.update(
                {(counter.name, id(part)): (part, tokens) for part, tokens in zip(new, weights, strict=True)}
            )
        return [known[counter.name, id(part)][1] for part in parts]

    def message(self, message: Message, counter: TokenCounter) -> Weights:
        """What a message weighs."""
        known = self._messages.get((counter.name, id(message)))
        if known is None:
            if len(self._messages) >= WEIGHED_MAX:
                self._messages.clear()
            known = self._messages[counter.name, id(message)] = (message, counter.weights(message))
        return known[1]
