"""What a message says, as a digest: equal for two spellings of one message.

A caller who sends back what a model answered spells it in its own way, moves cache marks along, leaves out keys that are null.
So messages are compared by what they say. `loose` leaves out what callers may drop: reasoning, and the block of a provider's compaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, assert_never

from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.wire import strict
from foldline.wire.splice import arguments_object

CACHE_MARK = "cache_control"


def said(message: Message) -> bytes:
    """A digest of all that it says."""
    return _digest(message, message.parts)


def loose(message: Message) -> bytes:
    """The same without reasoning, a provider's own compaction and the white space around texts."""
    parts = [part for part in message.parts if not (isinstance(part, Reasoning) or _is_compaction(part))]
    return _digest(message, [_stripped(part) for part in parts if not _is_empty(part)])


def said_and_loose(message: Message) -> tuple[bytes, bytes]:
    """Both; nearly always one digest is the other."""
    whole = said(message)
    is_strict = all(isinstance(part, Text) and _is_plain(part.text) for part in message.parts)
    return whole, whole if is_strict else loose(message)


def _is_plain(text: str) -> bool:
    """True for a text that stands in both as it is."""
    return bool(text) and text == text.strip()


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


def _stripped(part: Part) -> Part:
    return Text(text=part.text.strip()) if isinstance(part, Text) else part


def _is_empty(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip()
