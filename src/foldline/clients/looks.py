"""What one look at the bytes of a message says of it, and what is read of it once somebody asks.

A list is sent again and again, and nearly always the bytes say enough. So what a message says, and the digest of its bytes, are made when
they are asked for; until then somebody has to hold the bytes. `proxy.bodies` does, for as many bodies as it remembers; whoever else
keeps a look lets the bytes go first. Knows nothing of lists. Counterpart: `foldline.clients.chains`, whose links keep looks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from foldline.clients.digests import said_in
from foldline.core.message import Message, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.wire import strict

NATIVE_ITEMS: Final = (b'"compaction"', b'"compaction_trigger"')
NAMING: Final = (b'"url"', b'"image_url"', b'"file_url"', b'"file_id"', b'"fileUri"', b'"file_uri"')
"""Keys under which the formats name a picture, a file or a film in place of its bytes. In a text they stand with backslashes."""
NAMED: Final = (b'"image', b'"input_image', b'"document"', b'"file', b'"input_file"')
"""Kinds of what is named so; a call of a tool has its URLs without them."""
TOLD: Final = re.compile(rb'"(?:compaction|image|input_image|document"|file|input_file")')
"""Stands in each message that holds one of `NATIVE_ITEMS` or `NAMED`, and in few others: one search in place of seven."""
DIGEST_BYTES: Final = 16


class Look(Struct, gc=False):
    """At one message."""

    wire: bytes | None
    """Its bytes, until they are let go."""
    format: str
    named: int = 0
    """So many pictures, files and films are named in it, at most."""
    is_native: bool = False
    """True for an item, or a message with a block, of the provider's own compaction."""
    is_readable: bool = False
    """True once it is known that its codec reads it."""
    is_held: bool = False
    """True where somebody holds its bytes and will have them let go."""
    tokens: int = 0
    """At most so many, by the counter of that name (`due`)."""
    counter: str = ""
    _raw: bytes = b""
    _said: bytes = b""

    # Threads that meet in here make a digest twice, and find the same: the bytes go last.

    @property
    def digest(self) -> bytes:
        """Of its bytes."""
        wire = self.wire
        if wire is not None and not self._raw:
            self._raw = blake2b(wire, digest_size=DIGEST_BYTES).digest()
        return self._raw

    def says(self) -> bytes:
        """As `digests.said`. Asked only of what can be read."""
        wire = self.wire
        if wire is not None and not self._said:
            self._said = said_in(wire, self.format)
        return self._said

    def let_go(self, said: bytes = b"") -> None:
        """Do without its bytes from here on. `said`: what it says, where that is known."""
        if self.wire is None:
            return
        self._raw = self.digest
        if self.is_readable:
            self._said = said or self.says()
        self.wire = None


def looked_at(wires: Sequence[bytes], format: str) -> list[Look]:
    """A look at each of some messages."""
    return [
        Look(wire, format)
        if TOLD.search(wire) is None
        else Look(wire, format, _named(wire), _is_native(wire))
        for wire in wires
    ]


def look_at(wire: bytes, format: str, *, read: Message | None) -> Look:
    """A look at one, and what it was read to; `None` for one that cannot be read. A message of texts and calls names nothing."""
    look = Look(wire, format) if read is not None and is_text(read) else looked_at([wire], format)[0]
    look.is_readable = read is not None
    return look


def is_text(message: Message) -> bool:
    """True for a message of texts, thoughts, calls of tools, and results that are texts."""
    return all(map(_is_text, message.parts))


def _is_text(part: Part) -> bool:
    if isinstance(part, ToolResult):
        return all(map(_is_text, part.content))
    return isinstance(part, (Text, ToolCall, Reasoning))


def holding(messages: Sequence[bytes], marks: Sequence[bytes]) -> list[bytes]:
    """The messages that hold one of some marks. Nearly always none does, which one look at all of them says."""
    whole = b"\n".join(messages)
    found = [mark for mark in marks if mark in whole]
    return [wire for wire in messages if any(mark in wire for mark in found)] if found else []


def _named(wire: bytes) -> int:
    return max(map(wire.count, NAMING)) if any(mark in wire for mark in NAMED) else 0


def _is_native(wire: bytes) -> bool:
    """True for an item, or a message with a block, of the provider's own compaction."""
    if not any(mark in wire for mark in NATIVE_ITEMS):
        return False
    value = strict.parse(wire)
    content = value.get("content") if isinstance(value, dict) else None
    told = [value, *content] if isinstance(content, list) else [value]
    return any(isinstance(one, dict) and str(one.get("type")).startswith("compaction") for one in told)
