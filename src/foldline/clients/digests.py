"""What a message says, as a digest: equal for two spellings of one message.

A caller who sends back what a model answered spells it in its own way, moves cache marks along, leaves out keys that are null.
So messages are compared by what they say. `loose` leaves out what callers may drop: reasoning, and the block of a provider's compaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import groupby
from typing import Any, assert_never

from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.wire import strict
from foldline.wire.formats import codec
from foldline.wire.splice import arguments_object

CACHE_MARK = "cache_control"


def said(message: Message) -> bytes:
    """A digest of all that it says."""
    return _digest(message, message.parts)


def said_in(wire: bytes, format: str) -> bytes:
    """The same of a message in its bytes, without the caller's cache marks."""
    return said(codec(format).decode(unmarked(wire)))


def loose(message: Message) -> bytes:
    """The same without reasoning, a provider's own compaction and white space, texts beside each other as one: a caller that put an
    answer together from a stream parts and joins its texts as it likes."""
    kept = [part for part in message.parts if not (isinstance(part, Reasoning) or _is_compaction(part))]
    parts: list[Part] = []
    for is_text, run in groupby(kept, key=lambda part: isinstance(part, Text)):
        if not is_text:
            parts += run
        elif letters := "".join(map(_letters, run)):
            parts.append(Text(text=letters))
    return _digest(message, parts)


def _letters(part: Part) -> str:
    return "".join(part.text.split()) if isinstance(part, Text) else ""


def _is_compaction(part: Part) -> bool:
    return isinstance(part, Opaque) and part.type == "compaction"


def unmarked(wire: bytes) -> bytes:
    """A message without the caller's cache marks: they belong to one request, and a provider takes but a few."""
    if CACHE_MARK.encode() not in wire:
        return wire
    return strict.dump(_without_marks(strict.parse(wire)))


def _without_marks(value: Any) -> Any:
    """Arguments of a call and a tool's own objects are no content, so a key of that name in them stays."""
    if isinstance(value, list):
        return [_without_marks(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_marks(told) if key == "content" else told
        for key, told in value.items()
        if key != CACHE_MARK
    }


def _digest(message: Message, parts: Any) -> bytes:
    told = [message.role, [piece for part in parts for piece in _pieces(part)]]
    return sha256(strict.dump(told)).digest()[:16]


def _pieces(part: Part) -> Iterator[Any]:
    match part:
        case Text():
            yield part.text
        case Reasoning():
            yield ["reasoning", part.text, part.signature]
        case ToolCall():
            yield [
                "call",
                part.id if part.wire_id else "",
                part.name,
                _sorted(arguments_object(part.arguments)),
            ]
        case ToolResult():
            told = [piece for inner in part.content for piece in _pieces(inner)]
            yield ["result", part.call_id if part.wire_id else "", part.is_error, told]
        case Media():
            yield ["media", part.kind, part.mime, part.data, part.url, part.ref]
        case Opaque():
            yield ["opaque", part.type, _sorted(_without_marks(strict.parse(part.raw)))]
        case _:
            assert_never(part)


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value
