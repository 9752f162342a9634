"""Readings: what the parts of messages say, as far as facts are looked for in it.

A message never changes, so it is read once. What foldline wrote of itself is left out: the addresses in a shortened
result, and what a fold says of what it covers. Knows nothing of facts. Counterparts: `compose` and `retention`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import read_block, without_notices
from foldline.core.message import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    result_text,
)
from foldline.ledger.edit_arguments import in_time, without_new

MESSAGES_MAX = 8_000
"""Messages that are remembered as they were read: about as many as two views have that fill a window."""


class Reading(Struct, frozen=True, kw_only=True, gc=False):
    """One message, read."""

    message: Message
    texts: tuple[str, ...]
    """Of each part what facts are looked for in."""
    folds: tuple[int, ...]
    """Places of the parts that are folds of ours."""


class Readings:
    """Messages, each read once. Those asked for longest ago are forgotten, half of all at once."""

    def __init__(self, *, messages_max: int = MESSAGES_MAX) -> None:
        self._messages_max = messages_max
        self._young: dict[int, Reading] = {}
        """By the identity of the message, which the reading holds."""
        self._old: dict[int, Reading] = {}

    def of(self, message: Message) -> Reading:
        """What a message says."""
        found = self._young.get(id(message))
        if found is None:
            found = self._old.get(id(message)) or read(message)
            if len(self._young) >= self._messages_max // 2:
                self._young, self._old = {}, self._young
            self._young[id(message)] = found
        return found

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())


def readings_in(memo: dict[str, Any]) -> Readings:
    """The messages that were read so far."""
    readings: Readings = memo.setdefault("read", Readings())
    return readings


def read(message: Message) -> Reading:
    """A message, read now."""
    parts = message.parts
    folds = tuple([place for place, part in enumerate(parts) if fold_in(part) is not None])
    return Reading(message=message, texts=tuple(map(text_of, parts)), folds=folds)


def fold_in(part: Part) -> str | None:
    """The body of the fold that a part is; `None` for any other part."""
    found = read_block(part.text) if isinstance(part, Text) and part.text.startswith("<foldline-") else None
    return found[2] if found is not None and found[0] == "fold" else None


def unmade_text_of(call: ToolCall) -> str:
    """What a call says without what it was to bring, of an edit that was not made."""
    return text_of(replace(call, arguments=without_new(call.arguments)))


def text_of(part: Part) -> str:
    """The text of a part that facts are looked for in: not what a fold or a notice says of itself."""
    if type(part) is Text and "<foldline-" in part.text and (found := read_block(part.text)) is not None:
        return without_notices(found[2].partition("\n")[2])
    return without_notices(whole_text_of(part))


def whole_text_of(part: Part) -> str:
    """All that a part says, with the addresses that foldline wrote into it."""
    match part:
        case Text() | Reasoning():
            return part.text
        case ToolCall():
            said = in_time(part.arguments)
            return said.replace("\\n", "\n").replace('\\"', '"') if "\\" in said else said
        case ToolResult():
            return result_text(part)
        case Media():
            return part.name or part.url or ""
        case Opaque():
            return ""
