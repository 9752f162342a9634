"""The parts of a Chat Completions message: found under its keys, and put back there.

Owns which key holds which part; `openai_chat_content` owns the pieces inside `content`, `openai_chat` the message and
the rules. What makes a part is spread over several keys, so a slot counts through them in this order:

    reasoning_content │ content (text, or each piece) │ refusal │ audio │ tool_calls (each) │ function_call

Every other key stays in the envelope.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any, TypeAlias, assert_never

from msgspec.structs import replace

from foldline.core.message import (
    NEW,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    is_blank,
)
from foldline.wire import strict
from foldline.wire.codec import WireValue
from foldline.wire.openai_chat_content import make_pieces, need_text, read_piece, read_pieces, write_pieces

REASONING = ("reasoning_content", "reasoning")

_HOLDS: dict[str, tuple[type[Part], ...]] = {
    "reasoning_content": (Reasoning,),
    "reasoning": (Reasoning,),
    "content": (Text, Media, Opaque),
    "refusal": (Text,),
    "audio": (Media, Opaque),
    "tool_calls": (ToolCall, Opaque),
    "function_call": (ToolCall,),
}

Place: TypeAlias = tuple[str, int]
"""A key of the message, and an index where its value is a list."""


def places_of(value: WireValue) -> list[Place]:
    """Where each part of a message lies; a part's slot is an index here."""
    places: list[Place] = []
    key = reasoning_key(value)
    if key is not None:
        places.append((key, 0))
    content = value.get("content")
    pieces = len(content) if isinstance(content, (list, tuple)) else 1 if content else 0
    places.extend([("content", index) for index in range(pieces)])
    if isinstance(value.get("refusal"), str) and value["refusal"]:
        places.append(("refusal", 0))
    if value.get("audio") is not None:
        places.append(("audio", 0))
    calls = value.get("tool_calls")
    if calls is not None:
        if not isinstance(calls, (list, tuple)):
            raise ValueError(f"tool_calls: expected a list, got {type(calls).__name__}")
        places.extend([("tool_calls", index) for index in range(len(calls))])
    if value.get("function_call") is not None:
        places.append(("function_call", 0))
    return places


def reasoning_key(value: WireValue) -> str | None:
    """The key that holds the reasoning. An empty text counts: some servers demand the key on turns with calls."""
    for key in REASONING:
        if isinstance(value.get(key), str):
            return key
    return None


def read_parts(value: WireValue) -> tuple[Part, ...]:
    """The parts of a message that holds no result. Raises `ValueError` that names the key."""
    content = value.get("content")
    if content is not None and not isinstance(content, (str, list, tuple)):
        raise ValueError(f"content: expected text or a list of parts, got {type(content).__name__}")
    parts = [_read_part(value, place, slot=slot) for slot, place in enumerate(places_of(value))]
    calls = value.get("tool_calls")
    if calls and isinstance(
        content, (list, tuple)
    ):  # beside calls a string may be blank, no piece (kimi-cli#2395)
        parts = [replace(part, edited=True) if is_blank(part) else part for part in parts]
    elif (
        parts and calls is not None and not calls
    ):  # 400 "Invalid 'messages[1].tool_calls': empty array" (openai-node#1341)
        parts[0] = replace(parts[0], edited=True)
    return tuple(parts)


def _read_part(value: WireValue, place: Place, *, slot: int) -> Part:
    key, index = place
    held = value[key]
    match key:
        case "content":
            if isinstance(held, str):
                return Text(text=held, slot=slot)
            return read_piece(held, index, slot=slot)
        case "tool_calls":
            try:
                return _read_call(_opened(held[index]), slot)
            except ValueError as error:
                raise strict.placed(f"tool_calls[{index}]", error) from None
        case "function_call" | "audio":
            try:
                return (_read_legacy_call if key == "function_call" else _read_audio)(_opened(held), slot)
            except ValueError as error:
                raise strict.placed(f"{key}", error) from None
        case "refusal":
            return Text(text=held, slot=slot)
        case _:
            return Reasoning(text=held, slot=slot)


def _opened(value: Any) -> WireValue:
    opened = strict.plain(value)
    if isinstance(opened, dict):
        return opened
    raise ValueError(f": expected an object, got {type(value).__name__}")


def _read_audio(audio: WireValue, slot: int) -> Media | Opaque:
    if isinstance(audio.get("id"), str):
        return Media(kind="audio", ref=audio["id"], slot=slot)
    return Opaque(type="audio", raw=strict.dump_foreign(audio), slot=slot)


def _read_call(call: WireValue, slot: int) -> ToolCall | Opaque:
    kind, given = call.get("type", "function"), call.get("id")
    inner = strict.plain(call.get(kind)) if isinstance(kind, str) else None
    if not isinstance(inner, dict):
        if kind in ("function", "custom"):
            raise ValueError(f".{kind}: expected an object, got {type(inner).__name__}")
        return Opaque(type=str(kind), raw=strict.dump_foreign(call), slot=slot)
    try:
        name = need_text(inner, "name")
    except ValueError as error:
        raise strict.placed(f".{kind}", error) from None
    told = inner.get("input" if kind == "custom" else "arguments")
    wired = given if isinstance(given, str) else None
    return ToolCall(
        id=_made_up_id(name) if wired is None else wired,
        name=name,
        arguments=_arguments_text(told),
        wire_id=wired is not None,
        slot=slot,
        edited=not isinstance(
            told, str if kind == "custom" else (str, dict)
        ),  # Ollama takes an object, no server anything else
    )


def _read_legacy_call(call: WireValue, slot: int) -> ToolCall:
    name = need_text(call, "name")
    arguments = _arguments_text(call.get("arguments"))
    return ToolCall(id=_made_up_id(name), name=name, arguments=arguments, wire_id=False, slot=slot)


def _arguments_text(arguments: Any) -> str:
    """The text as given; some servers (Ollama) send an object instead."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else strict.dump_foreign(arguments).decode()


def _made_up_id(name: str) -> str:
    """An id for a call without one, as in `function_call` and on Ollama: the result that follows repeats the name."""
    return f"function:{name}"


def read_result(value: WireValue) -> ToolResult:
    """The result that a message of role tool or function is. Raises `ValueError` that names the key."""
    name, given = value.get("name") or value.get("tool_name"), value.get("tool_call_id")
    name = name if isinstance(name, str) else None
    wired = given if isinstance(given, str) else None
    if wired is None and name is None:
        raise ValueError(f"tool_call_id: expected text, got {given!r:.80}")
    content = tuple(read_pieces(value.get("content")))
    call_id = _made_up_id(name or "") if wired is None else wired
    no_text = value.get("content") is None
    return ToolResult(
        call_id=call_id, content=content, name=name, wire_id=wired is not None, slot=0, edited=no_text
    )


def edit(parts: Sequence[Part], origin: WireValue) -> WireValue:
    """The origin with the parts' new values; keys that hold no part stay."""
    value, places = dict(origin), places_of(origin)
    if value.get("tool_calls") is not None and not value["tool_calls"]:
        del value["tool_calls"]
    by_key: dict[str, list[tuple[Part, int]]] = {}
    reasoning = reasoning_key(origin) or REASONING[0]
    for part in parts:
        key, index = _place_for(part, places, reasoning=reasoning)
        by_key.setdefault(key, []).append((part, index))
    calls = "tool_calls" in by_key
    if "content" in by_key or any(key == "content" for key, _ in places):
        content = write_pieces(_slotted(by_key.pop("content", [])), origin.get("content"))
        value["content"] = content or (None if calls else "")
    for key in {key: None for key, _ in places if key != "content" and key not in by_key}:
        _drop(value, key, calls=calls)
    for key, members in by_key.items():
        value[key] = _edit_key(key, members, old=origin.get(key))
    return value


def _place_for(part: Part, places: list[Place], *, reasoning: str) -> Place:
    """Where a part goes: to its slot while that can hold it, else behind what its kind's key holds."""
    if 0 <= part.slot < len(places) and isinstance(part, _HOLDS[places[part.slot][0]]):
        return places[part.slot]
    match part:
        case Reasoning():
            return reasoning, NEW
        case ToolCall():
            return "tool_calls", NEW
        case ToolResult():
            raise ValueError("a result is a message of its own on this wire; split the message first")
        case Text() | Media() | Opaque():
            return "content", NEW
        case _:
            assert_never(part)


def _slotted(members: list[tuple[Part, int]]) -> list[Text | Media | Opaque]:
    """Content pieces with slots that count within `content`."""
    return [replace(part, slot=i) for part, i in members if isinstance(part, (Text, Media, Opaque))]


def _drop(value: WireValue, key: str, *, calls: bool) -> None:
    """Take a key's value away. Reasoning beside calls becomes empty instead: servers in thinking mode demand the key
    there and take an empty text (qwen-code#3579)."""
    if key in REASONING:
        for name in REASONING:
            if calls and isinstance(value.get(name), str):
                value[name] = ""
            else:
                value.pop(name, None)
    elif key == "refusal":
        value[key] = None
    else:
        value.pop(key, None)


def _edit_key(key: str, members: list[tuple[Part, int]], *, old: Any) -> Any:
    """The value of a key other than `content`."""
    if key == "tool_calls":
        calls = [_edit_call(part, None if index == NEW else old[index]) for part, index in members]
        same = isinstance(old, list) and len(calls) == len(old) and all(map(is_, calls, old))
        return old if same else calls
    part, index = members[0]
    if index != NEW and not part.edited:
        return old
    match part:
        case Text() | Reasoning():
            return part.text
        case ToolCall():
            return {**strict.plain(old), "name": part.name, "arguments": part.arguments}
        case Media():
            return {**strict.plain(old), "id": part.ref}
        case Opaque():
            return strict.parse(part.raw)
        case _:  # `_place_for` has refused a result
            raise AssertionError(f"{key} holds no {type(part).__name__}")


def _edit_call(part: Part, old: Any) -> Any:
    if isinstance(part, Opaque):
        return strict.parse(part.raw) if old is None or part.edited else old
    if not isinstance(part, ToolCall):
        raise AssertionError(f"tool_calls holds no {type(part).__name__}")
    if old is None:
        return _make_call(part)
    if not part.edited:
        return old
    call = dict(strict.plain(old))
    kind = call.get("type", "function")
    key = "input" if kind == "custom" else "arguments"
    inner = dict(strict.plain(call[kind]))
    inner["name"] = part.name
    if kind == "custom" or not isinstance(inner.get(key), dict):
        inner[key] = part.arguments
    elif _arguments_text(inner[key]) != part.arguments:
        inner[key] = _as_value(part.arguments)
    call[kind] = inner
    return {**call, "id": part.id} if part.wire_id else call


def _as_value(arguments: str) -> Any:
    """Arguments for a server that takes objects; text where they are none."""
    try:
        return strict.loads(arguments.encode("utf-8", "backslashreplace"))
    except strict.BadJson:
        return arguments


def edit_result(parts: Sequence[Part], origin: WireValue) -> WireValue:
    """The origin of a result with new values."""
    part = _only_result(parts)
    content = write_pieces(part.content, origin.get("content")) if part.edited else origin.get("content")
    value = {**origin, "content": "" if content is None else content}
    if part.edited and part.wire_id:
        value["tool_call_id"] = part.call_id
    if part.edited and part.name is not None:
        value["name" if value.get("name") else "tool_name"] = part.name
    return value


def _only_result(parts: Sequence[Part]) -> ToolResult:
    if len(parts) == 1 and isinstance(parts[0], ToolResult):
        return parts[0]
    raise ValueError("a message of role tool holds exactly one result; split the message first")


def make(message: Message) -> WireValue:
    """A message made from its parts alone, keys in the order of the API reference."""
    if any(isinstance(part, ToolResult) for part in message.parts):
        result = _only_result(message.parts)
        pieces = make_pieces(result.content)
        return {"role": "tool", "tool_call_id": result.call_id, "content": pieces}
    pieces = make_pieces([part for part in message.parts if isinstance(part, (Text, Media, Opaque))])
    calls = [_make_call(part) for part in message.parts if isinstance(part, ToolCall)]
    value: WireValue = {"role": message.role, "content": pieces or (None if calls else "")}
    reasoning = [
        part.text for part in message.parts if isinstance(part, Reasoning) and part.signature is None
    ]
    if reasoning:
        value["reasoning_content"] = "\n".join(reasoning)
    return {**value, "tool_calls": calls} if calls else value


def _make_call(part: ToolCall) -> WireValue:
    function = {"name": part.name, "arguments": part.arguments}
    return {"id": part.id, "type": "function", "function": function}
