"""Opening an origin and putting edited parts back between the untouched ones.

Owns what every codec shares: splice a list of wire parts by slot, and write a message in bytes so that whatever was
not edited keeps the very bytes it came with. Knows nothing of any provider's spelling; its counterparts are the codec
modules beside it.

    origin   {"role": "user", "content": [ P0, P1, P2 ]}          P1 edited, P2 dropped, N new
    spliced  {"role": "user", "content": [ P0, P1', N  ]}         P0 and the envelope: same bytes
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from foldline.core.message import NEW, Media, Message, Opaque, Part, Text
from foldline.wire.codec import WireValue
from foldline.wire.slices import fields, items
from foldline.wire.strict import BadJson, dump, dump_foreign, loads, parse

WRAPPED = "input"
"""Key under which arguments that are no JSON object travel."""
PartT = TypeVar("PartT", bound=Part | Text | Media | Opaque)


def origin_of(message: Message) -> WireValue | None:
    """The wire value a message came from, parsed where it is bytes; `None` for a message made here. Read-only."""
    origin = message.origin
    if isinstance(origin, bytes):
        return object_of(origin)
    return origin


def only_value(origin: bytes | WireValue) -> Any:
    """The value of an object's one key: a `Raw` slice of bytes, the very value of a dict."""
    if not isinstance(origin, bytes):
        return next(iter(origin.values()))
    return next(iter(fields(origin).values()))


def keyed(key: str, value: Any) -> bytes | WireValue:
    """An origin for a value that stands under a key of the body: bytes for a `Raw` slice, else a dict."""
    if isinstance(value, msgspec.Raw):
        return b"{%b:%b}" % (dump(key), bytes(value))
    return {key: value}


def object_of(wire: bytes | WireValue) -> WireValue:
    """The wire value as a JSON object. Raises `ValueError` where it is none."""
    value = parse(wire) if isinstance(wire, bytes) else wire
    if not isinstance(value, dict):
        raise ValueError(f"a message must be a JSON object, not {type(value).__name__}")
    return value


def splice(
    parts: Iterable[PartT],
    old: Sequence[Any],
    *,
    edit: Callable[[PartT, Any], Any],
    make: Callable[[PartT], Any],
) -> list[Any]:
    """Wire parts for `parts`: the old object where nothing changed, `edit(part, old)` where something did,
    `make(part)` for a part no wire value holds yet. Old parts that no slot names are gone."""
    spliced = []
    for part in parts:
        if part.slot == NEW:
            spliced.append(make(part))
        elif part.edited:
            spliced.append(edit(part, old[part.slot]))
        else:
            spliced.append(old[part.slot])
    return spliced


def write(message: Message, encode: Callable[[Message], WireValue]) -> bytes:
    """The bytes of a message, given its codec's `encode`: an unedited origin as it came, an edited one with new
    bytes only where a value is new, a message made here as compact JSON."""
    origin = message.origin
    if not isinstance(origin, bytes):
        return dump(encode(message))
    if not message.edited:
        return origin
    old = object_of(origin)
    return respell(encode(replace(message, origin=old)), old, raw=origin)


def write_own(message: Message, encode: Callable[[Message], WireValue], *, format: str) -> bytes:
    """As `write`, for a codec that takes a caller's own objects: what came in bytes of this format as `write` has it, anything
    else as JSON, its SDK objects opened. Raises `ValueError` for what JSON cannot say."""
    if isinstance(message.origin, bytes) and message.format == format:
        return write(message, encode)
    return dump_foreign(encode(message))


def text_or_none(value: Any) -> str | None:
    """The text that a key of a wire value holds; `None` for anything else."""
    return value if isinstance(value, str) else None


def blocks_of(value: WireValue) -> list[Any]:
    """The content of a wire message as blocks; a text as one."""
    content = value.get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def respell(new: Any, old: Any, *, raw: bytes) -> bytes:
    """JSON of `new`, taking from `raw` (the JSON of `old`) every piece whose value is the same object in both."""
    if new is old:
        return raw
    if isinstance(old, dict) and isinstance(new, dict):
        members = fields(raw)
        pieces = [
            dump(key)
            + b":"
            + (respell(value, old[key], raw=bytes(members[key])) if key in members else dump(value))
            for key, value in new.items()
        ]
        return b"{" + b",".join(pieces) + b"}"
    if isinstance(old, list) and isinstance(new, list):
        slices = [bytes(item) for item in items(raw)]
        return b"[" + b",".join(_respell_items(new, old, slices=slices)) + b"]"
    return dump(new)


def _respell_items(new: list[Any], old: list[Any], *, slices: list[bytes]) -> list[bytes]:
    """Pieces of a list: an untouched item by identity, an edited one against the next item nobody claims."""
    places = {id(item): index for index, item in enumerate(old)}
    claimed = {places[id(item)] for item in new if id(item) in places}
    free = iter([index for index in range(len(old)) if index not in claimed])
    pieces = []
    for item in new:
        at = places[id(item)] if id(item) in places else next(free, None)
        pieces.append(dump(item) if at is None else respell(item, old[at], raw=slices[at]))
    return pieces


def arguments_object(arguments: str) -> dict[str, Any]:
    """A call's arguments as the JSON object that Anthropic and Gemini demand. Text that is no object (free text of a
    custom tool, JSON that a model cut off or nested too deep) is wrapped whole: `{"input": arguments}`; nothing at all
    is `{}`."""
    if not arguments.strip():
        return {}
    try:
        value = loads(arguments.encode("utf-8", "backslashreplace"))
    except BadJson:
        value = None
    return value if isinstance(value, dict) else {WRAPPED: arguments}
