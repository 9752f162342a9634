"""OpenAI Responses: one input item is one message.

Owns the codec of the format, its rules and the items that are messages or reasoning; tool traffic is in
`foldline.wire.responses_calls`, content pieces in `foldline.wire.responses_content`. Knows nothing of other formats
(`foldline.wire.convert` does) and of the body around the items.

    reasoning rs_1 │ function_call c1 │ function_call_output c1      three items, three messages, one round:
    assistant        assistant          tool                         the reasoning stays with what follows it

Sources: types of the official SDK (openai 3.57, `ResponseInputItemParam`).
"""

from __future__ import annotations

from typing import Any, assert_never

from msgspec.structs import replace

from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from foldline.core.needs import Needs
from foldline.wire.codec import Rules, WireValue
from foldline.wire.responses_calls import (
    CALLS,
    OUTPUTS,
    call_id_of,
    make_output,
    read_call,
    read_output,
    write_call,
    write_output,
    write_server_result,
)
from foldline.wire.responses_content import edit_piece, make_piece, read_pieces, write_pieces
from foldline.wire.splice import keyed, object_of, only_value, origin_of, write
from foldline.wire.strict import dump, parse, plain

NAME = "openai-responses"

RULES = Rules(
    format=NAME,
    needs=Needs(
        first=frozenset({"system", "user", "assistant"}),  # an output item needs its call before it
        items=True,
        reasoning_may_end=False,  # "without its required following item" (continuedev/continue#8933)
        blank_text=False,  # as on the chat endpoint; not confirmed for this one
        ids_once=True,  # 400 "Duplicate item found with id"; an output names its call by id alone
        ids_max=64,  # "Invalid 'input[5].call_id': string too long. Expected … maximum length 64" (decolua/9router#393)
        names_pattern=r"[a-zA-Z0-9_-]{1,128}",  # as on the chat endpoint; at most 128: diegosouzapw/OmniRoute#4317
    ),
    system="anywhere",  # message items take role system and developer at any place
)

_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}

_OPAQUE_ROLES: dict[str, Role] = {
    "compaction_trigger": "user",
    "mcp_approval_response": "user",
    "additional_tools": "system",
    "configuration_update": "system",
}
"""Who speaks in an item that is passed through unread; any other is taken for the model's own."""


class ResponsesCodec:
    """The codec; see `foldline.wire.codec.Codec`."""

    name = NAME
    rules = RULES

    def decode(self, wire: bytes | WireValue) -> Message:
        """Read one input item, or one item of a response's output. An item of unknown type becomes `Opaque`."""
        wire = plain(wire)
        item = object_of(wire)
        role, parts = _read(item)
        return Message(role=role, parts=parts, format=NAME, origin=wire)

    def encode(self, message: Message) -> WireValue:
        """The input item of a message. A message made here must fit one item: raises `ValueError` where it
        holds more than one (`foldline.wire.convert` splits)."""
        origin = origin_of(message) if message.format == NAME else None
        if origin is None:
            return _make(message)
        return origin if not message.edited else _edit(message, origin)

    def encode_bytes(self, message: Message) -> bytes:
        """As `encode`, in JSON bytes."""
        return write(message, self.encode)

    def system_of(self, body: WireValue) -> Message | None:
        """The `instructions` of a body."""
        origin = keyed("instructions", body.get("instructions"))
        value = object_of(origin)["instructions"]
        if value is None:
            return None
        parts = (
            (Text(text=value, slot=0),)
            if isinstance(value, str)
            else (Opaque(type="instructions", raw=dump(value), slot=0),)
        )
        return Message(role="system", parts=parts, format=NAME, origin=origin)

    def encode_system(self, system: Message) -> Any:
        """The value of `instructions`: one string."""
        if system.origin is not None and system.format == NAME and not system.edited:
            return only_value(system.origin)
        return "\n\n".join(part.text for part in system.parts if isinstance(part, Text))

    def join(self, first: Message, second: Message) -> Message:
        """One message item with the content of both. Raises `ValueError` for items that are no messages."""
        one, two = self.encode(first), self.encode(second)
        if _kind(one) != "message" or _kind(two) != "message":
            raise ValueError(f"items of type {_kind(one)} and {_kind(two)} cannot be one item")
        role = one["role"]
        content = [*_as_list(one["content"], role), *_as_list(two["content"], role)]
        joined = self.decode({**one, "content": content})
        return replace(joined, synthetic=first.synthetic, meta=first.meta)

    def with_output(self, wire: WireValue, output: Any) -> WireValue:
        """As `Codec.with_output`: a text or content parts."""
        return {**wire, "output": output}


def _kind(item: WireValue) -> str:
    """The item's type. The SDK lets a message and a reference leave it out (`EasyInputMessageParam`, `ItemReference`)."""
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    return "message" if "role" in item else "item_reference" if "id" in item else "unknown"


def _read(item: WireValue) -> tuple[Role, tuple[Part, ...]]:
    kind = _kind(item)
    if kind == "message":
        return _read_message(item)
    if kind == "reasoning":
        return "assistant", (_read_reasoning(item),)
    if kind in CALLS:
        return "assistant", read_call(item)
    if kind in OUTPUTS and (call_id_of(item) is not None or kind == "program_output"):
        result = read_output(item)
        return "assistant" if result.server else "tool", (result,)
    if kind == "unknown" and not item:
        raise ValueError("an item needs a 'type' or a 'role'")
    role = _OPAQUE_ROLES.get(kind, "user" if kind in OUTPUTS else "assistant")
    return role, (Opaque(type=kind, raw=dump(item), slot=0),)


def _read_message(item: WireValue) -> tuple[Role, tuple[Part, ...]]:
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str) or role not in _ROLES:
        raise ValueError(f"message: key 'role' must be one of {', '.join(_ROLES)}, not {role!r}")
    if not isinstance(content, (str, list)):
        raise ValueError("message: key 'content' must be a string or a list of parts")
    return _ROLES[role], read_pieces(content)


def _read_reasoning(item: WireValue) -> Reasoning:
    encrypted = item.get("encrypted_content")
    pieces = [*read_pieces(item.get("summary")), *read_pieces(item.get("content"))]
    text = "\n".join(piece.text for piece in pieces if isinstance(piece, Text))
    return Reasoning(
        text=text,
        signature=encrypted if isinstance(encrypted, str) else None,
        redacted=not text,
        # an item with an id refers to what the provider stored, so it is as bound to it as an encrypted one
        provider=NAME if encrypted or item.get("id") else None,
        slot=0,
    )


def _edit(message: Message, origin: WireValue) -> WireValue:
    """The origin with what is new in `message`."""
    if _kind(origin) == "message":
        kind = "output_text" if message.role == "assistant" else "input_text"
        pieces = tuple(part for part in message.parts if isinstance(part, (Text, Media, Opaque)))
        return {**origin, "content": write_pieces(pieces, origin["content"], text_type=kind)}
    item = origin
    for part in message.parts:
        if part.edited:
            item = _edit_item(item, part)
    return item


def _edit_item(item: WireValue, part: Part) -> WireValue:
    match part:
        case ToolCall():
            return write_call(item, part)
        case ToolResult(slot=0):
            return write_output(item, part)
        case ToolResult():
            return write_server_result(item, part)
        case Reasoning():
            return _write_reasoning(item, part)
        case Opaque():
            return dict(parse(part.raw))
        case Text() | Media():
            raise ValueError(f"an item of type {_kind(item)} holds no {type(part).__name__.lower()}")
        case _:
            assert_never(part)


def _write_reasoning(item: WireValue, part: Reasoning) -> WireValue:
    """Unsigned reasoning with another text; signed reasoning is never edited."""
    if item.get("content"):
        return {
            **item,
            "content": [edit_piece(Text(text=part.text), item["content"][0], text_type="reasoning_text")],
        }
    return {**item, "summary": [{"type": "summary_text", "text": part.text}]}


def _make(message: Message) -> WireValue:
    """The item of a message made here."""
    pieces = tuple(part for part in message.parts if isinstance(part, (Text, Media)))
    if len(pieces) == len(message.parts):
        return _make_message(message.role, pieces)
    if len(message.parts) != 1:
        raise ValueError("a Responses item holds one call, result or reasoning; split the message first")
    match message.parts[0]:
        case ToolCall() as call:
            return {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
            }
        case ToolResult() as result:
            return make_output(result)
        case Reasoning() as reasoning:
            summary = [{"type": "summary_text", "text": reasoning.text}] if reasoning.text else []
            return {"type": "reasoning", "summary": summary, "encrypted_content": reasoning.signature}
        case Opaque() as opaque:
            return dict(parse(opaque.raw))
        case _:  # texts and media have become a message item above
            raise AssertionError(f"no item is made of {type(message.parts[0]).__name__}")


def _make_message(role: Role, pieces: tuple[Text | Media, ...]) -> WireValue:
    if role == "assistant" and len(pieces) == 1 and isinstance(pieces[0], Text):
        # without the provider's id only the easy form, a string, is a valid message of the assistant
        return {"type": "message", "role": role, "content": pieces[0].text}
    kind = "output_text" if role == "assistant" else "input_text"
    content = [make_piece(piece, text_type=kind) for piece in pieces]
    return {"type": "message", "role": "user" if role == "tool" else role, "content": content}


def _as_list(content: Any, role: str) -> list[Any]:
    if not isinstance(content, str):
        return list(content)
    return [make_piece(Text(text=content), text_type="output_text" if role == "assistant" else "input_text")]


CODEC = ResponsesCodec()
