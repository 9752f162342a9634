"""Gemini generateContent: one `Content` is one message.

Owns the codec of the format, its rules, and the pairing of calls and responses that carry no ids; single parts are
`foldline.wire.gemini_parts`'. Knows nothing of other formats (`foldline.wire.convert` does).

    {"role": "model", "parts": [{"functionCall": read a}, {"functionCall": read b}]}        read#1  read#2
    {"role": "user",  "parts": [{"functionResponse": read A}, {"functionResponse": read B}]} read#1  read#2

Sources: types of the official SDK (google-genai 3.6); an SDK's `Content` object is taken as the dict it sends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from foldline.core.message import NEW, Message, Part, Role, Text, ToolCall, ToolResult, calls_of, results_of
from foldline.core.needs import Needs
from foldline.wire.codec import Rules, WireValue
from foldline.wire.gemini_parts import (
    NAME,
    SIGNATURE_SKIP,
    edit_part,
    is_new_call,
    key_of,
    make_part,
    read_part,
)
from foldline.wire.splice import keyed, object_of, only_value, origin_of, splice, write

RULES = Rules(
    format=NAME,
    needs=Needs(
        first=frozenset({"user"}),  # "Please ensure that multiturn requests … start with a user turn"
        alternates=True,  # "multiturn requests alternate between user and model"
        results_role="user",
        # 400 "the number of function response parts" must equal that "of the function call parts of the function call turn"
        results_follow=True,
        results_match=True,
        blank_text=False,  # "Unable to submit request because it has an empty text parameter"
    ),
    system="apart",
    ids_needed=False,
    # 400 "function call turn comes immediately after a user turn or after a function response turn"
    calls_open=True,
)

_ROLES: dict[str, Role] = {
    "user": "user",
    "model": "assistant",
    "function": "user",
    "tool": "user",
    "system": "system",
}
"""`function` is the older role of a response, still accepted."""


class GeminiCodec:
    """The codec; see `foldline.wire.codec.Codec`."""

    name = NAME
    rules = RULES

    def decode(self, wire: bytes | WireValue) -> Message:
        """Read one content. Calls and responses without an id get one made up from their name and order within
        the content; `pair` settles what spans several contents."""
        wire = _dumped(wire)
        content = object_of(wire)
        role = content.get("role") or "user"  # "If not set, the service will default to 'user'"
        parts = content.get("parts", [] if content == {"role": "model"} else None)  # cut off while it thought
        if not isinstance(role, str) or role not in _ROLES:
            raise ValueError(f"content: key 'role' must be one of {', '.join(_ROLES)}, not {role!r}")
        if not isinstance(parts, list):
            raise ValueError("content: key 'parts' must be a list")
        return Message(role=_ROLES[role], parts=_read(parts), format=NAME, origin=wire)

    def encode(self, message: Message) -> WireValue:
        """The content of a message."""
        origin = origin_of(message)
        if origin is None:
            return {
                "role": "model" if message.role == "assistant" else "user",
                "parts": _make(message.parts),
            }
        return (
            origin
            if not message.edited
            else {**origin, "parts": _write(message.parts, origin.get("parts", []))}
        )

    def encode_bytes(self, message: Message) -> bytes:
        """As `encode`, in JSON bytes."""
        return write(message, self.encode)

    def system_of(self, body: WireValue) -> Message | None:
        """The `systemInstruction` of a body: a content, a string, or a list of strings and parts."""
        key = key_of(body, "systemInstruction")
        origin = keyed(key, _dumped(body.get(key)))
        value = object_of(origin)[key]
        if value is None:
            return None
        return Message(role="system", parts=_read(_system_parts(value)), format=NAME, origin=origin)

    def encode_system(self, system: Message) -> Any:
        """The value of `systemInstruction`; a content, unless it came as a string or a list."""
        origin = origin_of(system) if system.format == NAME else None
        if origin is None or system.origin is None:
            return {"parts": _make(system.parts)}
        if not system.edited:
            return only_value(system.origin)
        value = only_value(origin)
        parts = _write(system.parts, _system_parts(value))
        if isinstance(value, str):
            return "\n\n".join(part.text for part in system.parts if isinstance(part, Text))
        return {**value, "parts": parts} if isinstance(value, dict) and "parts" in value else parts

    def join(self, first: Message, second: Message) -> Message:
        """One content with the parts of both; ids stay as they were paired."""
        one, two = self.encode(first), self.encode(second)
        joined = self.decode({**one, "parts": [*one.get("parts", []), *two.get("parts", [])]})
        parts = tuple(
            _same_id(new, old) for new, old in zip(joined.parts, (*first.parts, *second.parts), strict=True)
        )
        return replace(joined, parts=parts, synthetic=first.synthetic, meta=first.meta)

    def with_output(self, wire: WireValue, output: Any) -> WireValue:
        """As `Codec.with_output`: a response is an object."""
        [part] = wire["parts"]
        told = output if isinstance(output, dict) else {"output": output}
        return {**wire, "parts": [{"functionResponse": {**part["functionResponse"], "response": told}}]}


def pair(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The same history with every response that carries no id given the id of its call: within a round, the first
    unanswered call of its name. Contents are not changed, and neither are pairs that are right already."""
    paired: list[Message] = []
    waiting: list[ToolCall] = []
    for message in messages:
        if message.role == "assistant":
            waiting = [*(waiting if paired and paired[-1].role == "assistant" else []), *calls_of(message)]
        elif results_of(message):
            message = _answer(message, waiting)
        paired.append(message)
    return tuple(paired)


def _answer(message: Message, waiting: list[ToolCall]) -> Message:
    """`message` with its results paired, those that name their call first; the calls it answers leave `waiting`."""
    answered: dict[int, ToolCall] = {}
    results = [(at, part) for at, part in enumerate(message.parts) if isinstance(part, ToolResult)]
    for answers in (_names, _answers):
        for at, result in results:
            call = next((c for c in waiting if answers(result, c)), None)
            if at not in answered and not result.server and call is not None:
                waiting.remove(call)
                answered[at] = call
    parts = [
        replace(part, call_id=answered[at].id)
        if isinstance(part, ToolResult) and at in answered and part.call_id != answered[at].id
        else part
        for at, part in enumerate(message.parts)
    ]
    is_same = all(a is b for a, b in zip(parts, message.parts, strict=True))
    return message if is_same else replace(message, parts=tuple(parts))


def _names(result: ToolResult, call: ToolCall) -> bool:
    return result.wire_id and call.wire_id and result.call_id == call.id


def _answers(result: ToolResult, call: ToolCall) -> bool:
    return not (result.wire_id and call.wire_id) and result.name == call.name


def _read(parts: list[Any]) -> tuple[Part, ...]:
    seen: Counter[str] = Counter()
    return tuple(read_part(part, slot=slot, seen=seen) for slot, part in enumerate(parts))


def _write(parts: tuple[Part, ...], old: list[Any]) -> list[Any]:
    """Wire parts in the place of `old` ones. The first call made here says that no Gemini model signed it; its
    neighbours need nothing."""
    first = next((part for part in parts if is_new_call(part)), None)
    return splice(
        parts,
        old,
        edit=edit_part,
        make=lambda part: make_part(part, signature=SIGNATURE_SKIP if part is first else None),
    )


def _make(parts: tuple[Part, ...]) -> list[Any]:
    """Wire parts of a message made here, whose parts may still bear the slots of where they came from."""
    return _write(tuple(replace(part, slot=NEW) for part in parts), [])


def _same_id(new: Part, old: Part) -> Part:
    if isinstance(new, ToolCall) and isinstance(old, ToolCall):
        return replace(new, id=old.id, wire_id=old.wire_id)
    if isinstance(new, ToolResult) and isinstance(old, ToolResult):
        return replace(new, call_id=old.call_id, wire_id=old.wire_id)
    return new


def _system_parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        parts = value.get("parts", [value])
        return parts if isinstance(parts, list) else [parts]
    return value if isinstance(value, list) else [value]


def _dumped(wire: Any) -> Any:
    """An SDK object as the JSON it sends: camelCase, bytes in base64, nothing that was left out."""
    if hasattr(wire, "model_dump"):
        return wire.model_dump(mode="json", by_alias=True, exclude_none=True)
    return wire


CODEC = GeminiCodec()
