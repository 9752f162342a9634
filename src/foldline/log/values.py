"""The JSON form of messages, parts and edits in a foldline log.

Owns the spelling of `docs/reference/log-format.md` below the level of a line: messages as their wire bytes or in the
neutral form, parts, spans, edits. Defaults are left out, unknown members ignored when read (the log keeps their
bytes). Knows nothing of lines, checksums and files; that is `foldline.log.lines`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias, cast, get_args

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import fields, replace

from foldline.core.address import read_mark
from foldline.core.edit import Drop, Edit, Fold, Mark, Replace
from foldline.core.message import (
    NEW,
    Media,
    Message,
    Meta,
    Opaque,
    Part,
    Reasoning,
    Role,
    Synthetic,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from foldline.core.view import Span
from foldline.log.state import ROOT
from foldline.wire import strict
from foldline.wire.body import KEYS
from foldline.wire.formats import CODECS, codec

Json: TypeAlias = dict[str, Any]

NEUTRAL: Final = "neutral"
"""The `format` of a message that no wire format holds."""

_KINDS: Final[dict[str, type[Part]]] = {
    "text": Text,
    "reasoning": Reasoning,
    "call": ToolCall,
    "result": ToolResult,
    "media": Media,
    "opaque": Opaque,
}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}
_SYSTEM_KEYS: Final = {name: keys.system[0] for name, keys in KEYS.items() if not keys.system_is_message}
"""Wire formats that keep the system prompt outside the messages, and the key of a request body it stands under."""
SLOT_MAX: Final = 1_000_000_000
"""Above any slot: an address has nine digits for it."""
_BESIDE: Final = ("synthetic", "meta", "usage")
"""Members that stand beside a message, whatever its format."""
_SPELT: Final = {f'"{name}"'.encode(): name for name in (*CODECS, NEUTRAL)}
"""Formats by their JSON."""
_ROLES: Final = frozenset(get_args(Role))
_APART: Final = frozenset(("slot", "content", "raw"))
"""Members written by rules of their own, or not at all."""


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────


def message_json(message: Message) -> Json:
    """The body of a message entry. A message of a wire format keeps its bytes; `bytes_json` says how."""
    body: Json
    if message.format:
        data = codec(message.format).encode_bytes(message)
        body = {"format": message.format, **bytes_json("wire", data)}
    else:
        parts = [part_json(part, index) for index, part in enumerate(message.parts)]
        body = {"format": NEUTRAL, "role": message.role, "parts": parts}
    if message.synthetic:
        body["synthetic"] = message.synthetic
    if message.meta is not None:
        body["meta"] = _told(message.meta, frozenset(("usage",)))
        if message.meta.usage is not None:
            body["usage"] = usage_json(message.meta.usage)
    return body


def read_message(data: bytes) -> Message:
    """The message of an entry's body. Raises `ValueError`, `LookupError` or `TypeError` for anything else."""
    pieces = members(data)
    if len(data) != 1 + sum([len(name) + len(piece) + 4 for name, piece in pieces.items()]):
        _object(data)  # not as this program spells it: a member may stand twice
    name = _SPELT.get(pieces["format"]) or strict.loads(pieces["format"])
    if name == NEUTRAL:
        body = _object(data)
        parts = tuple(read_part(part, index) for index, part in enumerate(body["parts"]))
        message = Message(role=_role(body["role"]), parts=parts)
    else:
        body = {key: strict.loads(pieces[key]) for key in _BESIDE if key in pieces}
        message = codec(name).decode(_wire_of(pieces))
    if "synthetic" not in body and "meta" not in body and "usage" not in body:
        return message
    return replace(message, synthetic=read_synthetic(body.get("synthetic")), meta=_read_meta(body))


def _wire_of(pieces: Mapping[str, bytes]) -> bytes:
    text = pieces.get("wire_text")
    return pieces["wire"] if text is None else str(strict.loads(text)).encode("utf-8", "surrogateescape")


def system_json(system: Message) -> Json:
    """The body of a system entry: a wire format that keeps the system prompt apart keeps its value."""
    if system.format in _SYSTEM_KEYS:
        data = dumps(codec(system.format).encode_system(system))
        return {"format": system.format, **bytes_json("wire", data)}
    return message_json(system)


def read_system(data: bytes) -> Message | None:
    """The system prompt of an entry's body. Raises as `read_message` does."""
    name = _object(data)["format"]
    key = _SYSTEM_KEYS.get(name)
    if key is None:
        return read_message(data)
    return codec(name).system_of({key: Raw(read_bytes("wire", data))})


def bytes_json(key: str, data: bytes) -> Json:
    """JSON bytes as one member: under `key` as they are, or, where they hold a line break or cannot be cut out
    again byte for byte (lone surrogate escapes), under `key_text` as a string."""
    if b"\n" not in data and b"\r" not in data:
        try:
            if bytes(msgspec.json.decode(b"[" + data + b"]", type=list[Raw])[0]) == data:
                return {key: Raw(data)}
        except msgspec.DecodeError:
            pass  # lone surrogates
    return {f"{key}_text": data.decode("utf-8", "surrogateescape")}


def read_bytes(key: str, data: bytes) -> bytes:
    """The bytes that `bytes_json` stored in a body."""
    text = _object(data).get(f"{key}_text")
    return members(data)[key] if text is None else str(text).encode("utf-8", "surrogateescape")


_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])
_ELEMENTS: Final = msgspec.json.Decoder(list[Raw])


def members(data: bytes) -> dict[str, bytes]:
    """The bytes of each member of a JSON object, copied, so that they do not hold the whole."""
    try:
        return {name: bytes(piece) for name, piece in _MEMBERS.decode(data).items()}
    except msgspec.DecodeError:  # lone surrogates somewhere: the values in another spelling
        return {name: dumps(told) for name, told in _object(data).items()}


def elements(data: bytes) -> list[bytes]:
    """The bytes of each element of a JSON list, as `members`."""
    try:
        return [bytes(piece) for piece in _ELEMENTS.decode(data)]
    except msgspec.ValidationError as error:
        raise ValueError("not a list") from error
    except msgspec.DecodeError:
        return [dumps(told) for told in strict.loads(data)]


def _object(data: bytes) -> Json:
    body = strict.loads(data)
    if not isinstance(body, dict):
        raise ValueError("not an object")
    return body


def usage_json(usage: Usage) -> Json:
    """A usage, its members named as in `foldline.core.message.Usage`."""
    return _told(usage)


def read_usage(told: Mapping[str, Any]) -> Usage:
    """The usage of its JSON form; raises `ValueError`."""
    return cast(Usage, _make(Usage, told))


def _read_meta(body: Mapping[str, Any]) -> Meta | None:
    told, usage = body.get("meta"), body.get("usage")
    if told is None and usage is None:
        return None
    meta: Meta = _make(Meta, told or {})
    return meta if usage is None else replace(meta, usage=read_usage(usage))


# ── scopes ───────────────────────────────────────────────────────────────────────────────────────────────────


def scope_json(scope: str) -> Json:
    """What an entry says of the scope that it is of: of the session's own nothing."""
    return {} if scope == ROOT else {"node": scope}


def read_scope(pieces: Mapping[str, bytes]) -> str:
    """The scope that an entry speaks of, from its members: the session's own, or a node's."""
    return str(strict.loads(pieces["node"])) if "node" in pieces else ROOT


# ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────


def part_json(part: Part, place: int) -> Json:
    """A part; its `slot` is written only where it is not `place`, its index."""
    body: Json = {"part": _NAMES[type(part)], **_told(part, _APART)}
    if isinstance(part, ToolResult):
        body["content"] = [part_json(inner, index) for index, inner in enumerate(part.content)]
    if isinstance(part, Opaque):
        body["raw"] = part.raw.decode("utf-8", "surrogateescape")
    if part.slot != place:
        body["slot"] = part.slot
    return body


def read_part(body: Mapping[str, Any], place: int) -> Part:
    """The part of its JSON form; raises `ValueError` for an unknown one."""
    if not isinstance(body, Mapping):
        raise ValueError(f"a part is an object, not {type(body).__name__}")
    kind = _KINDS.get(str(body.get("part")))
    if kind is None:
        raise ValueError(f"there is no part called {body.get('part')!r}")
    slot = body.get("slot", place)
    if not isinstance(slot, int) or not NEW <= slot < SLOT_MAX:
        raise ValueError(f"a part's slot is its index, not {slot!r}")
    extra: Json = {"slot": slot}
    if kind is ToolResult:
        extra["content"] = tuple(
            read_part(inner, index) for index, inner in enumerate(body.get("content", ()))
        )
    if kind is Opaque:
        extra["raw"] = str(body["raw"]).encode("utf-8", "surrogateescape")
    return cast(Part, _make(kind, body, **extra))


# ── edits ────────────────────────────────────────────────────────────────────────────────────────────────────


def edit_json(edit: Edit, ordinal: Callable[[int], int]) -> Json:
    """An edit, its ordinals translated by `ordinal`."""
    match edit:
        case Replace():
            return {
                "edit": "replace",
                "message": ordinal(edit.seq),
                "slot": edit.slot,
                "part": part_json(edit.part, edit.slot),
                "address": edit.address,
            }
        case Mark():
            return {
                "edit": "mark",
                "message": ordinal(edit.seq),
                "slot": edit.slot,
                "part": part_json(edit.part, NEW),
                "address": edit.address,
            }
        case Drop():
            return {"edit": "drop", "messages": _spans_json((edit.span,), ordinal)}
        case Fold():
            return {
                "edit": "fold",
                "messages": _spans_json(edit.spans, ordinal),
                "into": message_json(edit.message),
                "address": edit.address,
            }


def read_edit(data: bytes) -> tuple[Edit, ...]:
    """The edits of one JSON form (a drop of several ranges is several). Raises as `read_message` does."""
    body = _object(data)
    match body.get("edit"):
        case "replace":
            slot = int(body["slot"])
            part = replace(read_part(body["part"], slot), edited=True)
            return (Replace(seq=int(body["message"]), slot=slot, part=part, address=str(body["address"])),)
        case "mark":
            mark = read_part(body["part"], NEW)
            if not isinstance(mark, Text) or read_mark(mark.text) is None:
                raise ValueError("a mark's part says what supersedes the words before it")
            seq, slot = int(body["message"]), int(body["slot"])
            return (Mark(seq=seq, slot=slot, part=mark, address=str(body["address"])),)
        case "drop":
            return tuple(Drop(span=span) for span in _read_spans(body["messages"]))
        case "fold":
            message = read_message(members(data)["into"])
            return (Fold(spans=_read_spans(body["messages"]), message=message, address=str(body["address"])),)
        case other:
            raise ValueError(f"there is no edit called {other!r}")


def read_edits(data: bytes) -> tuple[Edit, ...]:
    """All edits of an entry, from its member `edits`. Raises as `read_message` does."""
    return tuple(edit for one in elements(data) for edit in read_edit(one))


def _spans_json(spans: Sequence[Span], ordinal: Callable[[int], int]) -> list[list[int]]:
    """`[first, last]` pairs, both included."""
    out: list[list[int]] = []
    for seq in sorted({ordinal(index) for span in spans for index in range(span.start, span.end)}):
        if out and out[-1][1] == seq - 1:
            out[-1][1] = seq
        else:
            out.append([seq, seq])
    return out


def _read_spans(pairs: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple(Span(start=int(first), end=int(last) + 1) for first, last in pairs)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────


def _told(value: Struct, apart: frozenset[str] = frozenset()) -> Json:
    """The members that say something: those that differ from their default."""
    return {
        name: told
        for name, default in _defaults(type(value))
        if name not in apart and (told := getattr(value, name)) != default
    }


@cache
def _defaults(kind: type[Struct]) -> tuple[tuple[str, Any], ...]:
    """The members of a struct with their defaults. Kept, since msgspec reads the annotations anew each time (0.3 ms)."""
    return tuple((field.name, field.default) for field in fields(kind))


def _make(kind: type[Struct], body: Mapping[str, Any], **extra: Any) -> Any:
    """A value of `kind` from the members it knows and those already read; raises `ValueError` for a wrong type."""
    known = kind.__struct_fields__
    try:
        return msgspec.convert(
            {name: told for name, told in {**body, **extra}.items() if name in known}, kind
        )
    except msgspec.ValidationError as error:
        raise ValueError(f"{kind.__name__}: {error}") from error


def _role(name: Any) -> Role:
    if name not in _ROLES:
        raise ValueError(f"there is no role called {name!r}")
    return cast(Role, name)


def read_synthetic(name: Any) -> Synthetic | None:
    """The kind of a message that foldline wrote; `None` for any other word."""
    return cast(Synthetic, name) if name in get_args(Synthetic) else None


def timeless(value: Any) -> Any:
    """A report without how long things took: the same history and settings give the same log (law SAME)."""
    if isinstance(value, dict):
        return {key: timeless(told) for key, told in value.items() if key != "seconds"}
    return [timeless(told) for told in value] if isinstance(value, (list, tuple)) else value


def dumps(body: Any) -> bytes:
    """Compact JSON of a body; `Raw` members as they are."""
    return strict.dump(body)
