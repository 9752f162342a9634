"""The parts of a Gemini `Content`: each read into one part here and written back, in either spelling.

Owns camelCase and snake_case (REST and SDK dicts use either; what came in stays as it came), thought signatures, and
how a function's response is laid out. Knows nothing of messages; `foldline.wire.gemini` does.

Shapes: `Part`, `FunctionCall`, `FunctionResponse` and their neighbours in the official SDK (google-genai 3.6).
A signature may sit on any part and belongs to it byte for byte: it stays in the origin, at the part's slot. Where it
stands alone, or on a text without a visible character, the part is redacted reasoning, so that nobody drops it as blank.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any, assert_never

from foldline.core.message import NEW, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.wire.carry import fit_media
from foldline.wire.media import UNKNOWN_TYPE, base64_of, media_kind, payload_of, type_of_url, usual
from foldline.wire.splice import arguments_object
from foldline.wire.strict import dump, dump_text, parse

NAME = "gemini"
OUTPUT_KEYS = ("output", "error", "result", "content", "text")
"""Keys that, alone in a `response` and with a string, hold the text of a result. The SDK names the first two."""
SIGNATURE_SKIP = "skip_thought_signature_validator"
"""Stands for the signature on a call that no Gemini model made: Gemini 3 refuses the first call of a step without one
(ai.google.dev/gemini-api/docs/thought-signatures; strands-agents/sdk-python#1298). Older models ignore it."""

_HUMP = re.compile(r"(?<!^)([A-Z])")
_OWN_FILES = ("gs://", "files/", "https://generativelanguage.googleapis.com/")


def key_of(value: dict[str, Any], camel: str) -> str:
    """The spelling of a key that `value` uses; the camelCase one where it has neither."""
    if camel in value:
        return camel
    snake = _snake(camel)
    return snake if snake in value else camel


@cache
def _snake(camel: str) -> str:
    return _HUMP.sub(r"_\1", camel).lower()


def get(value: dict[str, Any], camel: str) -> Any:
    """The value of a key in either spelling; `None` where there is none."""
    return value.get(key_of(value, camel))


def _word(value: dict[str, Any], camel: str) -> str | None:
    """As `get`, for a key that holds a string; `None` for anything else."""
    found = get(value, camel)
    return found if isinstance(found, str) else None


def read_part(part: Any, *, slot: int, seen: Counter[str]) -> Part:
    """One part. `seen` counts calls and responses without an id, by tool name, within one content: the n-th call of
    a name gets the id of its n-th response. Raises `ValueError` for a part that is no object."""
    if isinstance(part, str):
        return Text(text=part, slot=slot)
    if not isinstance(part, dict):
        raise ValueError(f"parts[{slot}] must be an object, not {type(part).__name__}")
    for key, value in part.items():
        read = _READERS.get(key)
        if read is not None and isinstance(value, dict):
            found = read(value, slot, seen=seen)
            return found if found is not None else _opaque(part, slot)
    return _read_text(part, slot) or _opaque(part, slot)


def _opaque(part: dict[str, Any], slot: int) -> Opaque:
    return Opaque(type=next(iter(part), "empty"), raw=dump(part), slot=slot)


def _read_text(part: dict[str, Any], slot: int) -> Text | Reasoning | None:
    text, signature = part.get("text"), _word(part, "thoughtSignature")
    if not isinstance(text, str) and not (part.get("thought") or signature):
        return None
    text = text if isinstance(text, str) else ""
    if part.get("thought") or (signature and not text.strip()):
        return Reasoning(
            text=text,
            signature=signature,
            redacted=not text.strip(),
            provider=NAME if signature else None,
            slot=slot,
        )
    return Text(text=text, slot=slot)


def _read_call(value: dict[str, Any], slot: int, *, seen: Counter[str]) -> ToolCall | None:
    name = value.get("name")
    if not isinstance(name, str):
        return None
    args = value.get("args")
    identity = _identity(value, "call", name=name, seen=seen)
    return ToolCall(
        id=identity[0],
        wire_id=identity[1],
        name=name,
        arguments=dump_text(args if args is not None else {}),
        slot=slot,
        edited=not isinstance(value.get("args", {}), dict),
    )


def _identity(value: dict[str, Any], side: str, *, name: str, seen: Counter[str]) -> tuple[str, bool]:
    """The id on the wire, else one made up from the name and how often it came before in this content."""
    if isinstance(value.get("id"), str) and value["id"]:
        return value["id"], True
    seen[f"{side}:{name}"] += 1
    return f"{name}#{seen[f'{side}:{name}']}", False


def _read_response(value: dict[str, Any], slot: int, *, seen: Counter[str]) -> ToolResult | None:
    name = value.get("name")
    if not isinstance(name, str):
        return None
    response = value.get("response")
    content: list[Text | Media | Opaque] = []
    if response:
        key = _output_key(response)
        place = 0 if isinstance(response, dict) else NEW
        content.append(Text(text=response[key] if key else dump_text(response), slot=place))
    parts = value.get("parts")
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        inner = read_part(part, slot=index + 1, seen=seen)
        content.append(
            inner
            if isinstance(inner, (Text, Media, Opaque))
            else Opaque(type="part", raw=dump(part), slot=index + 1)
        )
    identity = _identity(value, "response", name=name, seen=seen)
    return ToolResult(
        call_id=identity[0],
        wire_id=identity[1],
        name=name,
        content=tuple(content),
        is_error=isinstance(response, dict) and bool(response.get("error")),
        interim=bool(get(value, "willContinue")),
        slot=slot,
        edited=not isinstance(response, dict),
    )


def _output_key(response: Any) -> str | None:
    if isinstance(response, dict) and len(response) == 1:
        key = next(iter(response))
        if key in OUTPUT_KEYS and isinstance(response[key], str):
            return str(key)
    return None


def _read_inline(value: dict[str, Any], slot: int, *, seen: Counter[str]) -> Media | Text | None:
    mime, base64 = _word(value, "mimeType"), value.get("data")
    data = payload_of(mime, usual(base64)) if isinstance(base64, str) else None
    if data is None:
        return None
    named = _word(value, "displayName")
    return fit_media(Media(kind=media_kind(mime), mime=mime, data=data, name=named, slot=slot))


def _read_file(value: dict[str, Any], slot: int, *, seen: Counter[str]) -> Media | None:
    mime, uri = _word(value, "mimeType"), _word(value, "fileUri")
    if not uri:
        return None
    own = uri.startswith(_OWN_FILES)
    return Media(
        kind=media_kind(mime),
        mime=mime,
        url=None if own else uri,
        ref=uri if own else None,
        name=_word(value, "displayName"),
        slot=slot,
    )


def _read_code(value: dict[str, Any], slot: int, *, seen: Counter[str]) -> ToolCall:
    identity = _identity(value, "call", name="code_execution", seen=seen)
    code = {key: value[key] for key in ("language", "code") if key in value}
    return ToolCall(
        id=identity[0],
        wire_id=identity[1],
        name="code_execution",
        arguments=dump_text(code),
        server=True,
        slot=slot,
    )


def _read_code_result(value: dict[str, Any], slot: int, *, seen: Counter[str]) -> ToolResult:
    identity = _identity(value, "response", name="code_execution", seen=seen)
    output = value.get("output")
    return ToolResult(
        call_id=identity[0],
        wire_id=identity[1],
        name="code_execution",
        content=(Text(text=output, slot=0),) if isinstance(output, str) and output else (),
        is_error=value.get("outcome") not in (None, "OUTCOME_OK"),
        server=True,
        slot=slot,
    )


def _read_server_call(value: dict[str, Any], slot: int, *, seen: Counter[str]) -> ToolCall:
    name = str(get(value, "toolType") or "server_tool")
    identity = _identity(value, "call", name=name, seen=seen)
    return ToolCall(
        id=identity[0],
        wire_id=identity[1],
        name=name,
        arguments=dump_text(value.get("args") or {}),
        server=True,
        slot=slot,
    )


def _read_server_response(value: dict[str, Any], slot: int, *, seen: Counter[str]) -> ToolResult:
    name = str(get(value, "toolType") or "server_tool")
    identity = _identity(value, "response", name=name, seen=seen)
    response = value.get("response")
    return ToolResult(
        call_id=identity[0],
        wire_id=identity[1],
        name=name,
        content=(Text(text=dump_text(response), slot=0),) if response else (),
        server=True,
        slot=slot,
    )


_CAMEL_READERS = {
    "functionCall": _read_call,
    "functionResponse": _read_response,
    "inlineData": _read_inline,
    "fileData": _read_file,
    "executableCode": _read_code,
    "codeExecutionResult": _read_code_result,
    "toolCall": _read_server_call,
    "toolResponse": _read_server_response,
}
_READERS = {spelt: read for camel, read in _CAMEL_READERS.items() for spelt in (camel, _snake(camel))}


def edit_part(part: Part, old: Any) -> Any:
    """`old` with the new content of `part`; its signature and every other key stay."""
    if isinstance(old, str) or (isinstance(part, Text) and "text" not in old):  # a line of ours for a picture
        return make_part(part)
    match part:
        case Text() | Reasoning():
            return {**old, "text": part.text}
        case ToolCall(server=False):
            named = {"id": part.id} if part.wire_id else {}
            new = {**named, "name": part.name, "args": arguments_object(part.arguments)}
            return _within(old, "functionCall", new=new)
        case ToolResult(server=False):
            key = key_of(old, "functionResponse")
            return {**old, key: _edit_response(old[key], part)}
        case ToolResult() if key_of(old, "codeExecutionResult") in old:
            return _within(old, "codeExecutionResult", new={"output": _text(part)})
        case ToolResult():
            return _within(old, "toolResponse", new={"response": {"output": _text(part)}})
        case ToolCall() if key_of(old, "executableCode") in old:
            return _within(old, "executableCode", new=arguments_object(part.arguments))
        case ToolCall():
            return _within(old, "toolCall", new={"args": arguments_object(part.arguments)})
        case Media() | Opaque():
            return make_part(part)
        case _:
            assert_never(part)


def _within(old: dict[str, Any], camel: str, *, new: dict[str, Any]) -> dict[str, Any]:
    key = key_of(old, camel)
    return {**old, key: {**old[key], **new}}


def _text(result: ToolResult) -> str:
    return "\n".join(piece.text for piece in result.content if isinstance(piece, Text))


def _edit_response(old: dict[str, Any], result: ToolResult) -> dict[str, Any]:
    texts = [piece for piece in result.content if isinstance(piece, Text)]
    fresh = {**old, "id": result.call_id} if result.wire_id else dict(old)
    fresh["name"] = result.name or old["name"]
    if len(texts) != 1 or texts[0].edited or texts[0].slot != 0:
        key = _output_key(old.get("response")) or ("error" if result.is_error else "output")
        fresh["response"] = {key: _text(result)}
    inner = old.get("parts") or []
    kept = [
        inner[piece.slot - 1] if piece.slot > 0 and not piece.edited else make_part(piece)
        for piece in result.content
        if not isinstance(piece, Text)
    ]
    if kept:
        fresh["parts"] = kept
    else:
        fresh.pop("parts", None)
    return fresh


def make_part(part: Part, *, signature: str | None = None) -> dict[str, Any]:
    """The wire form of a part made here, in camelCase."""
    match part:
        case Text():
            return {"text": part.text}
        case Reasoning():
            signed = {"thoughtSignature": part.signature} if part.signature else {}
            return {"text": part.text, "thought": True, **signed}
        case ToolCall():
            named = {"id": part.id} if part.wire_id else {}
            call = {"functionCall": {**named, "name": part.name, "args": arguments_object(part.arguments)}}
            return {**call, "thoughtSignature": signature} if signature else call
        case ToolResult():
            return {"functionResponse": _make_response(part)}
        case Media():
            return _make_media(part)
        case Opaque():
            return dict(parse(part.raw))
        case _:
            assert_never(part)


def _make_response(result: ToolResult) -> dict[str, Any]:
    named = {"id": result.call_id} if result.wire_id else {}
    key = "error" if result.is_error else "output"
    response = {**named, "name": result.name or "unknown", "response": {key: _text(result)}}
    media = [make_part(piece) for piece in result.content if not isinstance(piece, Text)]
    return {**response, "parts": media} if media else response


def _make_media(media: Media) -> dict[str, Any]:
    told = media.mime or type_of_url(media.url or media.ref or "")
    mime = told or ("image/png" if media.kind == "image" else UNKNOWN_TYPE)
    if media.data is not None:
        return {"inlineData": {"mimeType": mime, "data": base64_of(media)}}
    return {"fileData": {"mimeType": mime, "fileUri": media.ref or media.url or ""}}


def is_new_call(part: Part) -> bool:
    """True for a client-side call made here, which carries no signature of a Gemini model."""
    return isinstance(part, ToolCall) and part.slot == NEW and not part.server
