"""A token counter without a tokenizer: four characters are a token.

For tests that are about structure, not about counts. Implements `foldline.core.ports.TokenCounter`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult

OVERHEAD = 4
MEDIA_TOKENS = 100


class CharacterCounter:
    """Counts a quarter of the characters, rounded up; a flat rate for media."""

    name = "characters/4"

    def text(self, text: str) -> int:
        """Tokens of a text."""
        return -(-len(text) // 4)

    def texts(self, texts: list[str]) -> list[int]:
        """Tokens of each text."""
        return [self.text(text) for text in texts]

    def part(self, part: Part) -> int:
        """Tokens of a part."""
        match part:
            case Text() | Reasoning():
                return self.text(part.text)
            case ToolCall():
                return self.text(part.name) + self.text(part.arguments) + OVERHEAD
            case ToolResult():
                return OVERHEAD + sum(self.part(inner) for inner in part.content)
            case Media():
                return MEDIA_TOKENS
            case Opaque():
                return -(-len(part.raw) // 4)
            case _:
                assert_never(part)

    def weights(self, message: Message) -> tuple[tuple[int, ...], int]:
        """Tokens of each part, and the overhead."""
        return tuple(self.part(part) for part in message.parts), OVERHEAD

    def weights_of(self, messages: Sequence[Message]) -> list[tuple[tuple[int, ...], int]]:
        """`weights` of each message."""
        return [self.weights(message) for message in messages]

    def message(self, message: Message) -> int:
        """Tokens of a message."""
        weights, overhead = self.weights(message)
        return overhead + sum(weights)

    def tools(self, schemas: str) -> int:
        """Tokens of tool schemas."""
        return self.text(schemas)
