"""Anthropic content read with types: the blocks that nearly every message of a long session is made of.

Owns a second, four times faster reading of text, thinking, calls and results without anything around them. Gives the
parts that `anthropic_blocks`, its counterpart, gives for the same bytes, and declines whatever it does not know whole;
`tests/wire/test_anthropic_plain.py` holds the two together.

Nothing is lost unseen: a typed value knows every key of its block, so writing it again gives as many bytes as came in,
and fewer when a key was given twice or a text was spelt in another way. Such content is declined as well.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from foldline.core.message import Part, Reasoning, Text, ToolCall, ToolResult
from foldline.wire import strict
from foldline.wire.anthropic_blocks import NAME


class _Text(Struct, tag_field="type", tag="text", forbid_unknown_fields=True, gc=False):
    text: str


class _Thinking(Struct, tag_field="type", tag="thinking", forbid_unknown_fields=True, gc=False):
    thinking: str
    signature: str


class _Call(Struct, tag_field="type", tag="tool_use", forbid_unknown_fields=True, gc=False):
    id: str
    name: str
    input: Raw


class _Result(Struct, tag_field="type", tag="tool_result", forbid_unknown_fields=True):
    tool_use_id: str
    content: str | list[_Text]
    is_error: bool | UnsetType = UNSET


_Block: TypeAlias = _Text | _Thinking | _Call | _Result

_decode = msgspec.json.Decoder(str | list[_Block]).decode
_encode = msgspec.json.Encoder().encode


def read_plain(content: bytes) -> tuple[Part, ...] | None:
    """The parts of a message's content in JSON; `None` for content with anything out of the ordinary in it, which is
    then for `anthropic_blocks` to read or refuse. Unlike there the bytes need not have been through `strict.loads`."""
    try:
        value = _decode(content)
        if len(_encode(value)) != len(content):
            return None
        if isinstance(value, str):
            return _texts(value)
        return tuple([_part(block, slot) for slot, block in enumerate(value)])
    except (msgspec.MsgspecError, RecursionError, strict.BadJson, UnicodeDecodeError):
        return None


def _texts(content: str | list[_Text]) -> tuple[Text, ...]:
    if isinstance(content, str):
        return (Text(text=content, slot=0),) if content else ()
    return tuple([Text(text=block.text, slot=slot) for slot, block in enumerate(content)])


def _part(block: _Block, slot: int) -> Part:
    match block:
        case _Text():
            return Text(text=block.text, slot=slot)
        case _Call():
            arguments = bytes(block.input)
            strict.loads(arguments)
            return ToolCall(id=block.id, name=block.name, arguments=arguments.decode(), slot=slot)
        case _Result():
            content, failed = _texts(block.content), block.is_error is True
            return ToolResult(call_id=block.tool_use_id, content=content, is_error=failed, slot=slot)
        case _Thinking():
            signature = block.signature or None
            provider = NAME if signature else None
            return Reasoning(text=block.thinking, signature=signature, provider=provider, slot=slot)
    assert_never(block)
