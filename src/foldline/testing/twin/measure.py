"""Exact token counts of requests, piece by piece, by foldline's own counters.

The counts are those that foldline makes of the same request, so that a usage anchors an estimate without drift. A message is
decoded and counted once, however often it is sent. Knows formats by their codecs; which pieces a prompt cache sees is each
dialect's to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple

from foldline.testing.twin.cache import Piece
from foldline.tokens.choose import counter_for
from foldline.tokens.counter import MESSAGE_OVERHEAD, Counter
from foldline.wire.codec import Codec
from foldline.wire.formats import codec

MARK: Final = "cache_control"


class Weight(NamedTuple):
    """Tokens of one message."""

    parts: Mapping[int, int]
    """By the place of the part in its message."""
    overhead: int

    @property
    def total(self) -> int:
        return self.overhead + sum(self.parts.values())


class Scales:
    """Weighs what one model is sent in one format."""

    def __init__(self, format: str, model: str) -> None:
        self.counter: Counter = counter_for(model, wire=format)
        self._codec: Codec = codec(format)
        self._known: dict[bytes, Weight] = {}

    def text(self, text: str) -> int:
        """Tokens of a text."""
        return self.counter.text(text) if text else 0

    def message(self, wire: dict[str, Any]) -> Weight:
        """Tokens of a message, or of an input item."""
        name = digest(wire)
        if name not in self._known:
            self._known[name] = self._weighed(wire)
        return self._known[name]

    def system(self, body: dict[str, Any]) -> int:
        """Tokens of the system prompt that the format keeps apart."""
        system = self._codec.system_of(body)
        return self.counter.message(system) if system is not None else 0

    def tools(self, tools: Any) -> int:
        """Tokens of the tool schemas."""
        return self.counter.tools(compact(tools)) if tools else 0

    def pieces(self, wires: list[dict[str, Any]]) -> list[Piece]:
        """One piece a message."""
        return [Piece(digest(wire), self.message(wire).total) for wire in wires]

    def _weighed(self, wire: dict[str, Any]) -> Weight:
        message = self._codec.decode(wire)
        weights, overhead = self.counter.weights(message)
        parts: dict[int, int] = {}
        for part, tokens in zip(message.parts, weights, strict=True):
            parts[part.slot] = parts.get(part.slot, 0) + tokens
        return Weight(parts, overhead)


def plain(tokens: int) -> Weight:
    """The weight of something that is one text."""
    return Weight({0: tokens}, MESSAGE_OVERHEAD)


def compact(value: Any) -> str:
    """A JSON value as the SDKs write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def digest(value: Any) -> bytes:
    """The name of a JSON value by its content: no cache marks, envelope keys in any order. Keys inside arguments and schemas
    stay in theirs, since a model sees that order."""
    return sha256(json.dumps(_canonical(value), separators=(",", ":")).encode()).digest()


_FREE: Final = frozenset({"input", "args", "response", "input_schema", "parameters"})
"""Keys whose values are the client's own; their order is content."""


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: value[key] if key in _FREE else _canonical(value[key])
            for key in sorted(value)
            if key != MARK
        }
    return [_canonical(item) for item in value] if isinstance(value, list) else value
