"""The Anthropic Messages wire format: one message of `messages`, and the `system` prompt.

Owns the message around the blocks and the provider's rules; `anthropic_blocks` reads and writes the blocks. Knows
nothing of sessions, budgets or other formats; its siblings `openai_chat`, `openai_responses` and `gemini` do the same
for theirs, `convert` carries messages between them.

Sources: the SDK's types (PyPI `anthropic` 2.14.0, `types/message_param.py`, `types/message_create_params.py` and their
`types/beta` twins) and the API reference of `POST /v1/messages`.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from foldline.core.message import Message, Role, Text
from foldline.core.needs import Needs
from foldline.wire import strict
from foldline.wire.anthropic_blocks import NAME, make_block, read_content, write_content
from foldline.wire.codec import Rules, WireValue
from foldline.wire.slices import fields, items
from foldline.wire.splice import blocks_of, origin_of, write_own

RULES = Rules(
    format=NAME,
    needs=Needs(
        first=frozenset({"user"}),
        # The API joins neighbours of one role itself (`message_create_params.py`: "will be combined into a single turn"),
        # and then refuses signed reasoning that ends up inside a joined turn (claude-code#13479); Bedrock refuses them.
        alternates=True,
        # 400 "`tool_use` ids were found without `tool_result` blocks immediately after"
        results_follow=True,
        results_role="user",
        # "Mid-conversation system messages", limitations (as quoted in maximhq/bifrost#3945, langchain4j#5604)
        system_between=True,
        blank_text=False,  # 400 "text content blocks must contain non-whitespace text"
        empty_failure=False,  # 400 "tool_result: content cannot be empty if `is_error` is true"
        ids_once=True,  # 400 "tool_use ids must be unique"
        reasoning_may_end=False,  # 400 "The final block in an assistant message cannot be `thinking`"
        ids_pattern=r"[a-zA-Z0-9_-]+",  # 400 "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        names_pattern=r"(?s:.{1,200})",  # 400 "tool_use.name: String should have at most 200 characters"
        reasoning_signed=True,  # 400 "Invalid `signature` in `thinking` block"
        reasoning_first=True,  # 400 "must start with a thinking block"; "Expected `thinking`, but found `text`"
    ),
    system="apart",
)

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


class _Input(msgspec.Struct, gc=False):
    input: Raw = Raw(b"{}")


class _Inputs(msgspec.Struct, gc=False):
    content: list[_Input]


_inputs = msgspec.json.Decoder(_Inputs).decode


class Anthropic:
    """The codec; stateless, one instance (`CODEC`) serves all."""

    name = NAME
    rules = RULES

    def decode(self, wire: bytes | WireValue) -> Message:
        """Read one message. Bytes must have been through `strict.loads`. Of an SDK's response object, role and content
        are taken, as its own `to_param` does: the API refuses a message with the response's other keys.

        Raises `ValueError` that names the key, for what is no Anthropic message.
        """
        origin = _origin(wire)
        value = strict.parse(origin) if isinstance(origin, bytes) else origin
        if not isinstance(value, dict):
            raise ValueError(f"a message must be an object, got {type(value).__name__}")
        name = value.get("role")
        role = _ROLES.get(name) if isinstance(name, str) else None
        if role is None:
            raise ValueError(f"role: expected user, assistant or system, got {name!r:.80}")
        exact = _exact_inputs(origin) if isinstance(origin, bytes) and b'"input"' in origin else None
        parts = read_content(value.get("content"), inputs=exact)
        return Message(role=role, parts=parts, format=NAME, origin=origin)

    def encode(self, message: Message) -> WireValue:
        """The message as a dict: the caller's own where nothing was edited."""
        origin = origin_of(message) if message.format == NAME else None
        if origin is None:
            return _make(message)
        if not message.edited:
            return origin
        return {**origin, "content": write_content(message.parts, origin.get("content"))}

    def encode_bytes(self, message: Message) -> bytes:
        """The message as JSON: the bytes it came in where nothing was edited."""
        return write_own(message, self.encode, format=NAME)

    def system_of(self, body: WireValue) -> Message | None:
        """The `system` prompt of a body, a string or text blocks; `None` when it is missing or null."""
        system = body.get("system")
        if isinstance(system, Raw):
            return (
                None
                if bytes(system) == b"null"
                else self.decode(b'{"role":"system","content":%b}' % bytes(system))
            )
        return None if system is None else self.decode({"role": "system", "content": system})

    def encode_system(self, system: Message) -> Any:
        """The value for the body's `system` key; a `Raw` slice where the prompt came as bytes."""
        if isinstance(system.origin, bytes):
            return fields(self.encode_bytes(system))["content"]
        return self.encode(system)["content"]

    def join(self, first: Message, second: Message) -> Message:
        """One message with the blocks of both, in order, under the first one's envelope."""
        if isinstance(first.origin, bytes) and isinstance(second.origin, bytes):
            joined = self.decode(_join(self.encode_bytes(first), self.encode_bytes(second)))
        else:
            envelope = self.encode(first)
            joined = self.decode(
                {**envelope, "content": [*blocks_of(envelope), *blocks_of(self.encode(second))]}
            )
        synthetic = first.synthetic if first.synthetic == second.synthetic else None
        return replace(joined, synthetic=synthetic, meta=first.meta)

    def with_output(self, wire: WireValue, output: Any) -> WireValue:
        """As `Codec.with_output`: a text or content blocks."""
        [block] = wire["content"]
        return {**wire, "content": [{**block, "content": output}]}


CODEC = Anthropic()


def _origin(wire: Any) -> Any:
    if isinstance(wire, (bytes, dict)):
        return wire
    response = strict.plain(wire)
    sent = ("role", "content")
    return {key: response[key] for key in sent if key in response} if isinstance(response, dict) else response


def _exact_inputs(origin: bytes) -> list[bytes] | None:
    """The `input` of every block in the very text that came; `None` where content is text."""
    try:
        return [bytes(block.input) for block in _inputs(origin).content]
    except msgspec.MsgspecError:  # text, or a lone surrogate somewhere
        content = bytes(fields(origin).get("content", b""))
    if not content.startswith(b"["):
        return None
    blocks = [bytes(block) for block in items(content)]
    return [bytes(fields(block).get("input", b"{}")) if block[:1] == b"{" else b"" for block in blocks]


def _join(first: bytes, second: bytes) -> bytes:
    content = b"[%b]" % b",".join(filter(None, (_inside(first), _inside(second))))
    return strict.dump({**fields(first), "content": Raw(content)})


def _inside(message: bytes) -> bytes:
    """What stands between the brackets of `content`; text content as one text block."""
    content = bytes(fields(message).get("content", b"null"))
    if content.startswith(b"["):
        return content[1:-1].strip()
    return b'{"type":"text","text":%b}' % content if content[:1] == b'"' and content != b'""' else b""


def _make(message: Message) -> WireValue:
    role = "user" if message.role == "tool" else message.role
    if len(message.parts) == 1 and isinstance(message.parts[0], Text):
        return {"role": role, "content": message.parts[0].text}
    return {"role": role, "content": [make_block(part) for part in message.parts]}
