"""Anthropic's content blocks: each one read into a part, and written back.

Owns the spelling of blocks, inside messages and inside results; `foldline.wire.anthropic` owns the message around
them. Every block is one part, so a part's slot is the index of its block. Blocks this version does not read
(`compaction`, `container_upload`, `fallback`, …) are `Opaque` and pass through.

Sources: the SDK's types (PyPI `anthropic` 2.14.0, `types/content_block_param.py`, `types/tool_result_block_param.py`
and their `types/beta` twins).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

from foldline.core.message import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.wire import strict
from foldline.wire.codec import WireValue
from foldline.wire.media import MediaKind, payload_of
from foldline.wire.splice import splice

NAME = "anthropic"

_CALLS = {"tool_use": False, "server_tool_use": True, "mcp_tool_use": True}
_MEDIA: dict[str, MediaKind] = {"image": "image", "document": "document"}
_RESULT = "_tool_result"  # web_search_tool_result, mcp_tool_result, …: the provider ran the tool
_UNREADABLE = "arguments"
"""Key under which arguments that are no JSON object are sent; `input` must be an object."""

Inner: TypeAlias = Text | Media | Opaque


def read_content(content: Any, at: str, exact: Sequence[bytes | None] | None = None) -> tuple[Part, ...]:
    """The parts of a message's content. `exact` holds the text of each block's `input`, where the bytes are known.

    Raises `ValueError` that names the key under `at`, for content that is none.
    """
    if isinstance(content, str):
        return (Text(text=content, slot=0),) if content else ()
    if isinstance(content, (list, tuple)):
        inputs = exact if exact is not None else [None] * len(content)
        return tuple([_read_block(block, slot, at, inputs[slot]) for slot, block in enumerate(content)])
    if content is None:
        return ()
    raise ValueError(f"{at}: expected text or a list of blocks, got {type(content).__name__}")


def _read_block(block: Any, slot: int, at: str, exact: bytes | None) -> Part:
    block = _as_block(block, slot, at)
    kind = block["type"]
    if kind == "text":
        return Text(text=_need(block, "text", at, slot), slot=slot)
    if kind in _CALLS:
        arguments = exact or strict.dump_foreign(block.get("input", {}))
        call, name = _need(block, "id", at, slot), _need(block, "name", at, slot)
        return ToolCall(id=call, name=name, arguments=arguments.decode(), server=_CALLS[kind], slot=slot)
    if kind == "tool_result" or (kind.endswith(_RESULT) and isinstance(block.get("tool_use_id"), str)):
        return _read_result(block, slot, at)
    if kind == "thinking":
        signature = block.get("signature") or None
        text = _need(block, "thinking", at, slot)
        return Reasoning(text=text, signature=signature, provider=NAME if signature else None, slot=slot)
    if kind == "redacted_thinking":
        return Reasoning(signature=_need(block, "data", at, slot), redacted=True, provider=NAME, slot=slot)
    return _read_inner(block, slot, at)


def _read_inner(block: dict[str, Any], slot: int, at: str) -> Inner:
    """A block that may stand inside a result."""
    kind = block["type"]
    if kind == "text":
        return Text(text=_need(block, "text", at, slot), slot=slot)
    media = _read_media(block, _MEDIA[kind], slot, at) if kind in _MEDIA else None
    return media or Opaque(type=kind, raw=strict.dump_foreign(block), slot=slot)


def _read_result(block: dict[str, Any], slot: int, at: str) -> ToolResult:
    content, inside = block.get("content"), f"{at}[{slot}].content"
    inner: tuple[Inner, ...]
    if isinstance(content, str):
        inner = (Text(text=content, slot=0),) if content else ()
    elif isinstance(content, (list, tuple)):
        inner = tuple([_read_inner(_as_block(item, i, inside), i, inside) for i, item in enumerate(content)])
    elif content is None:
        inner = ()
    else:  # server tools: one object, a result or an error
        inner = (_read_inner(_as_block(content, 0, inside), 0, inside),)
    server = block["type"] != "tool_result"
    failed = server and any(isinstance(part, Opaque) and part.type.endswith("_error") for part in inner)
    return ToolResult(
        call_id=_need(block, "tool_use_id", at, slot),
        content=inner,
        is_error=block.get("is_error") is True or failed,
        server=server,
        slot=slot,
    )


def _as_block(item: Any, slot: int, at: str) -> dict[str, Any]:
    """`item` as a block: an object whose `type` is a string."""
    if not isinstance(item, dict):
        item = strict.plain(item)
    if isinstance(item, dict) and isinstance(item.get("type"), str):
        return item
    raise ValueError(f"{at}[{slot}]: expected a block with a type, got {type(item).__name__}")


def _read_media(block: dict[str, Any], kind: MediaKind, slot: int, at: str) -> Media | None:
    """An image or document; `None` for a source of a kind we do not read."""
    source = _as_block(block.get("source"), slot, f"{at}.source")
    at, name = f"{at}[{slot}].source", _text_or_none(block.get("title"))
    match source["type"]:
        case "base64":
            mime = _text_or_none(source.get("media_type"))
            data = payload_of(mime, _text_of(source.get("data"), f"{at}.data"))
            return Media(kind=kind, mime=mime, data=data, name=name, slot=slot) if data is not None else None
        case "text":
            data = _text_of(source.get("data"), f"{at}.data")
        case "content":
            inner = read_content(source.get("content"), f"{at}.content")
            if not all(isinstance(part, Text) for part in inner):
                return None
            data = "\n".join(part.text for part in inner if isinstance(part, Text))
        case "url":
            return Media(kind=kind, url=_text_of(source.get("url"), f"{at}.url"), name=name, slot=slot)
        case "file":
            return Media(
                kind=kind, ref=_text_of(source.get("file_id"), f"{at}.file_id"), name=name, slot=slot
            )
        case _:
            return None
    return Media(kind=kind, mime="text/plain", data=data, name=name, slot=slot)


def _need(block: dict[str, Any], key: str, at: str, slot: int) -> str:
    value = block.get(key)
    if isinstance(value, str):
        return value
    return _text_of(value, f"{at}[{slot}].{key}")


def _text_of(value: Any, at: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        raise ValueError(f"{at}: got bytes; give base64 text")
    raise ValueError(f"{at}: expected text, got {'nothing' if value is None else type(value).__name__}")


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _as_input(arguments: str) -> WireValue:
    """`arguments` as the object that `input` must be. Models write arguments that are cut off or no JSON at all:
    those travel as text under a key of their own."""
    try:
        value = strict.loads(arguments.encode("utf-8", "backslashreplace")) if arguments.strip() else {}
    except strict.BadJson:
        value = None
    return value if isinstance(value, dict) else {_UNREADABLE: arguments}


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
            arguments = _as_input(part.arguments)
            if arguments != block.get("input"):
                block["input"] = arguments
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
            return {"type": kind, "id": part.id, "name": part.name, "input": _as_input(part.arguments)}
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
