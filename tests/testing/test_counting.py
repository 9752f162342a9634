"""The counter without a tokenizer: a quarter of the characters, and sums that add up as the port demands."""

from __future__ import annotations

import pytest

from foldline.core.message import Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.core.ports import TokenCounter
from foldline.testing.builders import image
from foldline.testing.counting import MEDIA_TOKENS, OVERHEAD, CharacterCounter

COUNTER: TokenCounter = CharacterCounter()
PARTS: tuple[tuple[Part, int], ...] = (
    (Text(text="x" * 9), 3),
    (Text(text=""), 0),
    (Reasoning(text="xxxx"), 1),
    (ToolCall(id="a", name="read", arguments="{}"), 2 + OVERHEAD),
    (ToolResult(call_id="a", content=(Text(text="xxxx"), image())), 1 + MEDIA_TOKENS + OVERHEAD),
    (image(500), MEDIA_TOKENS),
    (Opaque(type="x", raw=b"12345"), 2),
)


@pytest.mark.parametrize(("part", "tokens"), PARTS, ids=lambda value: type(value).__name__)
def test_a_part_weighs_a_quarter_of_its_characters(part: Part, tokens: int) -> None:
    """Media have a flat rate: never base64 as text, and never zero."""
    assert COUNTER.part(part) == tokens


def test_parts_add_up_to_messages() -> None:
    """The port: counts of parts add up to the count of their message."""
    message = Message(role="assistant", parts=tuple(part for part, _ in PARTS))
    weights, overhead = COUNTER.weights(message)
    assert weights == tuple(tokens for _, tokens in PARTS)
    assert COUNTER.message(message) == sum(weights) + overhead
    assert COUNTER.weights_of([message]) == [(weights, overhead)]
    assert COUNTER.texts(["x" * 9, ""]) == [3, 0]
    assert COUNTER.tools("x" * 8) == 2
    assert COUNTER.tools("") == 0
    assert COUNTER.name == "characters/4"
