"""Half surrogate pairs in messages: found, and mended part by part.

Counterpart: `foldline.core.surrogates`, which owns what "mended" means for a text. Signed reasoning is left as it is: to touch it
is to lose it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from msgspec.structs import replace

from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.core.surrogates import is_torn, whole, whole_json


def mended_part(part: Part) -> Part:
    """The part with U+FFFD for every half of a pair; the same one where there are none."""
    match part:
        case Text():
            return replace(part, text=whole(part.text), edited=True) if is_torn(part.text) else part
        case ToolResult():
            return mended_result(part)
        case ToolCall():
            arguments = whole_json(part.arguments)
            return part if arguments is part.arguments else replace(part, arguments=arguments, edited=True)
        case Reasoning():
            torn = part.signature is None and is_torn(part.text)
            return replace(part, text=whole(part.text), edited=True) if torn else part
        case Media() | Opaque():
            return part
        case _:
            assert_never(part)


def mended_result(result: ToolResult) -> ToolResult:
    """As `mended_part`, of a result."""
    if not any(isinstance(inner, Text) and is_torn(inner.text) for inner in result.content):
        return result
    return replace(result, content=tuple(map(_mended_inner, result.content)), edited=True)


def _mended_inner(inner: Text | Media | Opaque) -> Text | Media | Opaque:
    if isinstance(inner, Text) and is_torn(inner.text):
        return replace(inner, text=whole(inner.text), edited=True)
    return inner


def mended(message: Message) -> Message:
    """The message without half surrogate pairs; the same one where there are none."""
    parts = tuple(map(mended_part, message.parts))
    if all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return replace(message, parts=parts, edited=True)


def torn(messages: Sequence[Message]) -> Iterator[int]:
    """The place of each message that holds half a pair."""
    return (at for at, message in enumerate(messages) if mended(message) is not message)
