"""Anthropic's content blocks: each one read into a part, and written back.

Owns the spelling of blocks, inside messages and inside results; `foldline.wire.anthropic` owns the message around
them. Every block is one part, so a part's slot is the index of its block. Blocks this version does not read
(`compaction`, `container_upload`, `fallback`, …) are `Opaque` and pass through.

Sources: the SDK's types (PyPI `anthropic` 2.14.0, `types/content_block_param.py`, `types/tool_result_block_param.py`
and their `types/beta` twins).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar, assert_never

from foldline.core.message import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.wire import strict
from foldline.wire.carry import IMAGES, fit_media
from foldline.wire.codec import WireValue
from foldline.wire.media import MediaKind, payload_of
from foldline.wire.splice import arguments_object, splice, text_or_none

NAME = "anthropic"

_CALLS = {"tool_use": False, "server_tool_use": True, "mcp_tool_use": True}
_MEDIA: dict[str, MediaKind] = {"image": "image", "document": "document"}
_RESULT = "_tool_result"  # web_search_tool_result, mcp_tool_result, …: the provider ran the tool

Inner: TypeAlias = Text | Media | Opaque
PartT = TypeVar("PartT", bound=Part)


def read_content(content: Any, *, inputs: Sequence[bytes] | None = None) -> tuple[Part, ...]:
    """The parts of a message's content. `inputs` holds the text of each block's `input`, where the bytes are known.

    Raises `ValueError` that names the key, as in `content[3].text: expected text`.
    """
    if isinstance(content, str):
        return (Text(text=content, slot=0),) if content else ()
    if isinstance(content, (list, tuple)):
        return _each(content, partial(_read_block, inputs=inputs))
    if content is None:
        return ()
    raise ValueError(f"content: expected text or a list of blocks, got {type(content).__name__}")


def _each(blocks: Sequence[Any], read: Callable[[WireValue, int], PartT]) -> tuple[PartT, ...]:
    """Every block read; each error gets the block's place in front, so that nested ones spell out a path."""
    parts = []
    for slot, block in enumerate(blocks):
        try:
            parts.append(read(_opened(block), slot))
        except ValueError as error:
            raise strict.placed(f"content[{slot}]", error) from None
    return tuple(parts)


def _read_block(block: WireValue, slot: int, *, inputs: Sequence[bytes] | None) -> Part:
    kind: str = block["type"]
    if kind == "text":
        return Text(text=_text(block, "text"), slot=slot)
    if kind in _CALLS:
        arguments = inputs[slot] if inputs else strict.dump_foreign(block.get("input", {}))
        call_id, name, server = _text(block, "id"), _text(block, "name"), _CALLS[kind]
        unfit = not arguments.lstrip().startswith(b"{")  # null or a text: the provider wants an object
        text = "{}" if arguments.strip() == b"null" else arguments.decode()
        return ToolCall(id=call_id, name=name, arguments=text, server=server, slot=slot, edited=unfit)
    if kind == "tool_result" or (kind.endswith(_RESULT) and isinstance(block.get("tool_use_id"), str)):
        return _read_result(block, slot)
    if kind == "thinking":
        signature = text_or_none(block.get("signature")) or None
        provider = NAME if signature else None
        return Reasoning(text=_text(block, "thinking"), signature=signature, provider=provider, slot=slot)
    if kind == "redacted_thinking":
        return Reasoning(signature=_text(block, "data"), redacted=True, provider=NAME, slot=slot)
    return _read_inner(block, slot)


def _read_inner(block: WireValue, slot: int) -> Inner:
    """A block that may stand inside a result."""
    kind: str = block["type"]
    if kind == "text":
        return Text(text=_text(block, "text"), slot=slot)
    media = _read_media(block, slot) if kind in _MEDIA else None
    return media or Opaque(type=kind, raw=strict.dump_foreign(block), slot=slot)


def _read_result(block: WireValue, slot: int) -> ToolResult:
    content = block.get("content")
    inner: tuple[Inner, ...] = ()
    if isinstance(content, str):
        inner = (Text(text=content, slot=0),) if content else ()
    elif content is not None:  # the result of a server's tool may be one object
        try:
            inner = _each(content if isinstance(content, (list, tuple)) else [content], _read_inner)
        except ValueError as error:
            raise ValueError(f".{error}") from None
    server = block["type"] != "tool_result"
    failed = server and any(isinstance(part, Opaque) and part.type.endswith("_error") for part in inner)
    is_error = block.get("is_error") is True or failed
    return ToolResult(
        call_id=_text(block, "tool_use_id"), content=inner, is_error=is_error, server=server, slot=slot
    )


def _read_media(block: WireValue, slot: int) -> Media | Text | None:
    """An image or document; `None` for a source of a kind we do not read."""
    kind, name = _MEDIA[block["type"]], text_or_none(block.get("title"))
    try:
        source = _opened(block.get("source"))
        match source["type"]:
            case "url":
                return Media(kind=kind, url=_text(source, "url"), name=name, slot=slot)
            case "file":
                return Media(kind=kind, ref=_text(source, "file_id"), name=name, slot=slot)
            case "base64":
                mime = text_or_none(source.get("media_type"))
                data = payload_of(mime, _text(source, "data"))
            case _:
                mime, data = "text/plain", _plain_text(source)
    except ValueError as error:
        raise strict.placed(".source", error) from None
    if data is None:
        return None
    media = Media(kind=kind, mime=mime, data=data, name=name, slot=slot)
    return fit_media(media, types=IMAGES if kind == "image" else None)


def _plain_text(source: WireValue) -> str | None:
    """The text of a document whose source is text, or blocks that are all text."""
    if source["type"] == "text":
        return _text(source, "data")
    if source["type"] != "content":
        return None
    try:
        parts = read_content(source.get("content"))
    except ValueError as error:
        raise ValueError(f".{error}") from None
    texts = [part.text for part in parts if isinstance(part, Text)]
    return "\n".join(texts) if len(texts) == len(parts) else None


def _opened(item: Any) -> WireValue:
    """`item` as a block: an object whose `type` is a string."""
    if not isinstance(item, dict):
        item = strict.plain(item)
    if isinstance(item, dict) and isinstance(item.get("type"), str):
        return item
    raise ValueError(f": expected a block with a type, got {type(item).__name__}")


def _text(block: WireValue, key: str) -> str:
    value = block.get(key)
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        raise ValueError(f".{key}: got bytes; give base64 text")
    raise ValueError(f".{key}: expected text, got {'nothing' if value is None else type(value).__name__}")


def write_content(parts: Sequence[Part], content: Any) -> Any:
    """Content in the shape it had: text stays text while it is one part, untouched blocks stay what they were."""
    if isinstance(content, (list, tuple)):
        return splice(parts, content, edit=_edit_block, make=make_block)
    match parts:
        case ():
            return content if not content else ""
        case (Text() as only,) if not isinstance(content, dict):
            return only.text
        case (only,) if only.slot == 0 and not only.edited:
            return content
    block = {"type": "text", "text": content} if isinstance(content, str) else content
    return splice(parts, [block], edit=_edit_block, make=make_block)


def _edit_block(part: Part, old: Any) -> WireValue:
    """The block with the part's new values; every other key stays."""
    block: WireValue = dict(strict.plain(old))
    if isinstance(part, (Text, Media)) and (made := make_block(part))["type"] != block["type"]:
        return made | {key: block[key] for key in ("cache_control",) if key in block}  # a notice for an image
    match part:
        case Text():
            if block.get("text") != part.text:
                block.pop("citations", None)  # they quote the text that is gone
            block["text"] = part.text
        case Reasoning():
            block |= make_block(part)
        case ToolCall():
            block |= {"id": part.id, "name": part.name}
            arguments = arguments_object(part.arguments)
            came = block.get("input")
            block["input"] = came if came == arguments else arguments
        case ToolResult():
            _edit_result(part, block)
        case Media():
            block["source"] = _source(part)
        case Opaque():
            return make_block(part)
        case _:
            assert_never(part)
    return block


def _edit_result(part: ToolResult, block: WireValue) -> None:
    block["tool_use_id"] = part.call_id
    if not part.server and (part.is_error or block.get("is_error") is not None):
        block["is_error"] = part.is_error
    if part.content or "content" in block:
        block["content"] = write_content(part.content, block.get("content"))


def make_block(part: Part) -> WireValue:
    """A block made from the part alone, keys in the order of the API reference."""
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Reasoning():
            if part.redacted:
                return {"type": "redacted_thinking", "data": part.signature or ""}
            return {"type": "thinking", "thinking": part.text, "signature": part.signature or ""}
        case ToolCall():
            kind = "server_tool_use" if part.server else "tool_use"
            return {"type": kind, "id": part.id, "name": part.name, "input": arguments_object(part.arguments)}
        case ToolResult():
            return _make_result(part)
        case Media():
            titled = {"title": part.name} if part.kind != "image" and part.name else {}
            return {
                "type": "image" if part.kind == "image" else "document",
                "source": _source(part),
                **titled,
            }
        case Opaque():
            return dict(strict.parse(part.raw))
        case _:
            assert_never(part)


def _make_result(part: ToolResult) -> WireValue:
    block: WireValue = {"type": "tool_result", "tool_use_id": part.call_id}
    if len(part.content) == 1 and isinstance(part.content[0], Text):
        block["content"] = part.content[0].text
    elif part.content:
        block["content"] = [make_block(inner) for inner in part.content]
    return {**block, "is_error": True} if part.is_error else block


def _source(part: Media) -> WireValue:
    if part.url is not None:
        return {"type": "url", "url": part.url}
    if part.ref is not None:
        return {"type": "file", "file_id": part.ref}
    plain = part.kind != "image" and part.mime == "text/plain"
    return {"type": "text" if plain else "base64", "media_type": part.mime, "data": part.data or ""}
