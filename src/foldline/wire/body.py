"""Request bodies: the part of one that carries the conversation, read into a `Request` and written back.

Owns which key of a body holds what, for each format; the values under the keys are the codecs' business. Keys that do
not carry the conversation (model, limits, sampling) are not read. Neighbours of one role are not joined here.

    {"model": …, "system": S, "messages": [A, B], "tools": T}  ⇄  Request(system=S, messages=(A, B), tools=T)

Each message keeps its own copy of its bytes: a slice would keep the whole body in memory for as long as one message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct

from foldline.core.errors import InvalidTranscript
from foldline.core.message import Message
from foldline.core.spelling import is_fit_name
from foldline.wire import strict
from foldline.wire.codec import Codec, Request, WireValue
from foldline.wire.formats import codec, detect, settle
from foldline.wire.slices import fields, items


class Keys(Struct, frozen=True, kw_only=True):
    """Where a format's body keeps the conversation."""

    messages: str
    system: tuple[str, ...]
    """The key of the system prompt, and its other spellings."""
    system_is_message: bool = False
    """True where the system prompt is written as the first of the messages; the key is understood all the same."""


KEYS = {
    "anthropic": Keys(messages="messages", system=("system",)),
    "openai-chat": Keys(messages="messages", system=("system",), system_is_message=True),
    "openai-responses": Keys(messages="input", system=("instructions",)),
    "gemini": Keys(messages="contents", system=("systemInstruction", "system_instruction")),
}


def read_body(
    body: bytes | dict[str, Any] | list[Any], *, format: str = "auto", path: str = "request body"
) -> Request:
    """The conversation of a request body, or of a bare list of messages.

    With a `format` given, `messages` and `system` are understood beside the format's own keys. Bytes are read
    strictly and cut so that every message keeps the very bytes it came in; a caller's dicts stay the caller's. Raises
    `InvalidTranscript` that names `path` and the message, `UnknownFormat` for what is no body.
    """
    try:
        value = strict.loads(body) if isinstance(body, bytes) else body
        name = detect(value) if format == "auto" else format
        del value  # everything is read from the bytes again, piece by piece
        top = _top(body)
        return _read(top, codec(name))
    except ValueError as error:
        raise InvalidTranscript(path, None, f"{error}; correct it, or name another format") from error


def write_body(request: Request) -> bytes:
    """The body as JSON: one object with the format's own keys, each only where there is something."""
    reading, keys = codec(request.format), KEYS[request.format]
    messages = [reading.encode_bytes(message) for message in request.messages]
    pairs: WireValue = {}
    if request.system is not None:
        if keys.system_is_message:
            messages.insert(0, reading.encode_bytes(request.system))
        else:
            pairs[keys.system[0]] = reading.encode_system(request.system)
    pairs[keys.messages] = Raw(b"[%b]" % b",".join(messages))
    if request.tools is not None:
        pairs["tools"] = Raw(request.tools)
    return strict.dump(pairs)


def body_value(request: Request) -> WireValue:
    """The body as a dict; messages that were not edited are the caller's own."""
    reading, keys = codec(request.format), KEYS[request.format]
    messages = [reading.encode(message) for message in request.messages]
    value: WireValue = {}
    if request.system is not None:
        system = reading.encode_system(request.system)
        if keys.system_is_message:
            messages.insert(0, system)
        else:
            value[keys.system[0]] = strict.parse(bytes(system)) if isinstance(system, Raw) else system
    value[keys.messages] = messages
    if request.tools is not None:
        value["tools"] = strict.parse(request.tools)
    return value


def declared_limits(tools: bytes | None) -> tuple[tuple[str, int], ...]:
    """Token limits for results that tools declare themselves, by tool name (requirement BUD-7).

    A declaration may carry `"meta": {"outputProfile": 8000}`, or `{"outputProfile": {"maxTokens": 8000}}`; MCP's
    spelling `_meta` counts too. Limits that are no positive integer are passed over.
    """
    found = [
        (tool.get("name"), _limit_of(tool)) for tool in _declarations(strict.parse(tools) if tools else ())
    ]
    return tuple((name, limit) for name, limit in found if isinstance(name, str) and limit is not None)


def tool_names(tools: Any) -> tuple[str, ...]:
    """The names of the tools that a request declares, in any format."""
    names = [tool.get("name") for tool in _declarations(tools)]
    return tuple(name for name in names if isinstance(name, str))


def refused_names(tools: bytes | None, pattern: str) -> frozenset[str]:
    """Of the tools that a request declares, the names that do not match the pattern whole: the caller's own, who knows whether
    the server takes them."""
    if tools is None:
        return frozenset()
    return frozenset(
        name for name in tool_names(strict.parse(tools)) if not is_fit_name(name, pattern=pattern)
    )


def _top(body: bytes | dict[str, Any] | list[Any]) -> WireValue:
    """The body's values by key, still raw where it came as bytes; a bare list stands under `messages`."""
    if not isinstance(body, bytes):
        return body if isinstance(body, dict) else {"messages": body}
    data = body.removeprefix(b"\xef\xbb\xbf")
    return {"messages": Raw(data)} if data.lstrip()[:1] == b"[" else dict(fields(data))


def _read(top: WireValue, reading: Codec) -> Request:
    own = KEYS[reading.name].messages
    key = own if own in top else "messages"
    messages = []
    for index, wire in enumerate(_wires(top.get(key), key)):
        try:
            messages.append(reading.decode(wire))
        except ValueError as error:
            raise ValueError(f"{key}[{index}]: {error}") from None
    tools = _tools(top.get("tools"))
    return Request(
        format=reading.name,
        messages=settle(reading.name, messages),
        system=_system(top, reading),
        tools=tools,
    )


def _wires(value: Any, key: str) -> Iterator[bytes | WireValue]:
    """The wire values of the messages. The Responses API takes a bare text for a single user message."""
    if isinstance(value, Raw):
        if key == "input" and bytes(memoryview(value)[:1]) == b'"':
            yield b'{"role":"user","content":%b}' % bytes(value)
        else:
            yield from (bytes(item) for item in items(value))
    elif isinstance(value, str) and key == "input":
        yield {"role": "user", "content": value}
    elif isinstance(value, (list, tuple)):
        yield from value
    else:
        raise ValueError(f"{key}: expected a list of messages, got {type(value).__name__}")


def _system(top: WireValue, reading: Codec) -> Message | None:
    keys = KEYS[reading.name]
    given = next((key for key in (*keys.system, "system") if not _is_null(top.get(key))), None)
    if given is None:
        return None
    value = top[given]
    if not keys.system_is_message:
        key = given if given in keys.system else keys.system[0]
        return reading.system_of({key: value})
    if isinstance(value, Raw):
        return reading.decode(b'{"role":"system","content":%b}' % bytes(value))
    return reading.decode({"role": "system", "content": value})


def _tools(value: Any) -> bytes | None:
    """The tools as JSON; `None` for none, spelt in any way."""
    if _is_null(value):
        return None
    data = bytes(value) if isinstance(value, Raw) else strict.dump_foreign(value)
    return data if data[1:-1].strip() else None


def _is_null(value: Any) -> bool:
    return value is None or (isinstance(value, Raw) and bytes(value) == b"null")


def _declarations(tools: Any) -> Iterator[WireValue]:
    for tool in tools if isinstance(tools, (list, tuple)) else ():
        if isinstance(tool, dict):
            inner = tool.get("function", tool.get("custom"))
            yield {**tool, **inner} if isinstance(inner, dict) else tool
            yield from _declarations(
                tool.get("functionDeclarations", tool.get("function_declarations")) or ()
            )


def _limit_of(tool: WireValue) -> int | None:
    for key in ("meta", "_meta"):
        meta = tool.get(key)
        profile = meta.get("outputProfile") if isinstance(meta, dict) else None
        limit = profile.get("maxTokens") if isinstance(profile, dict) else profile
        if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
            return limit
    return None
