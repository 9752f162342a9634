"""Entries for tests of a log, written as a session writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.core.address import part_address
from foldline.core.edit import Edit, Fold, Replace
from foldline.core.entry import Draft
from foldline.core.message import Message, Text, ToolResult
from foldline.core.view import Span
from foldline.log.values import dumps, edit_json, message_json


def said(message: Message, **more: Any) -> Draft:
    """A message entry."""
    return Draft(kind="message", body=dumps({**message_json(message), **more}))


def draft(kind: str, **body: Any) -> Draft:
    """An entry of any kind."""
    return Draft(kind=kind, body=dumps(body))


def compaction(*edits: Edit, kind: str = "compaction", **more: Any) -> Draft:
    """A compaction of these edits."""
    return Draft(kind=kind, body=dumps({"edits": [edit_json(e, lambda seq: seq) for e in edits], **more}))


def fold(first: int, last: int, text: str = "folded") -> Fold:
    """A fold of messages `first` to `last`."""
    message = Message(role="user", parts=(Text(text=text, slot=0),), synthetic="fold")
    address = f"m{first}-{last}@00000000"
    return Fold(spans=(Span(start=first, end=last + 1),), message=message, address=address)


def cleared(seq: int, message: Message) -> Replace:
    """The result in a message, cleared."""
    part = message.parts[0]
    assert isinstance(part, ToolResult)
    content = (Text(text="[cleared]", slot=0, edited=True),)
    new = ToolResult(call_id=part.call_id, content=content, slot=0, edited=True)
    return Replace(seq=seq, slot=0, part=new, address=part_address(seq, part))


def texts(items: Sequence[Any]) -> list[str]:
    """What the items of a view say, results too."""
    out: list[str] = []
    for item in items:
        for part in item.message.parts:
            if isinstance(part, ToolResult):
                out.extend(inner.text for inner in part.content if isinstance(inner, Text))
            elif isinstance(part, Text):
                out.append(part.text)
    return out
