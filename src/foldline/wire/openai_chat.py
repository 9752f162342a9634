"""The OpenAI Chat Completions wire format, and the dialects of the many servers that speak it.

Owns the codec and the rules; `openai_chat_parts` finds parts under a message's keys, `openai_chat_content` reads the
pieces of `content`. Knows nothing of sessions, budgets or other formats (`convert` does).

A message of role tool or function is one result; any other holds texts, media, reasoning and calls.

Sources: the SDK's types (PyPI `openai` 3.57.0, `types/chat/*_param.py`); `reasoning_content`: DeepSeek and Qwen API
guides, `reasoning`: vLLM and OpenRouter.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from foldline.core.message import Message, Role
from foldline.core.needs import Needs
from foldline.wire import strict
from foldline.wire.codec import Rules, WireValue
from foldline.wire.openai_chat_parts import (
    REASONING,
    edit,
    edit_result,
    make,
    read_parts,
    read_result,
)
from foldline.wire.splice import blocks_of, origin_of, write_own

NAME = "openai-chat"

RULES = Rules(
    format=NAME,
    needs=Needs(
        first=frozenset({"user", "assistant"}),
        # 400 "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"
        results_follow=True,
        # OpenAI takes a blank text, servers of the same wire refuse it: 400 "text content is empty" (kimi-cli#2395)
        blank_text=False,
        ids_max=40,  # 400 "Invalid 'messages[2].tool_calls[0].id': string too long … maximum length 40"
        names_pattern=r"[a-zA-Z0-9_-]{1,64}",  # 400 "tool_calls[0].function.name: does not match '^[a-zA-Z0-9_-]+$'"
    ),
    system="anywhere",
)

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


class OpenAIChat:
    """The codec; stateless, one instance (`CODEC`) serves all."""

    name = NAME
    rules = RULES

    def decode(self, wire: bytes | WireValue) -> Message:
        """Read one message. Bytes must have been through `strict.loads`; an SDK object is taken as its dict.

        Raises `ValueError` that names the key, for what is no chat message.
        """
        origin = wire if isinstance(wire, bytes) else strict.plain(wire)
        value = strict.parse(origin) if isinstance(origin, bytes) else origin
        if not isinstance(value, dict):
            raise ValueError(f"a message must be an object, got {type(value).__name__}")
        name = value.get("role")
        role = _ROLES.get(name) if isinstance(name, str) else None
        if role is None:
            raise ValueError(f"role: expected one of {', '.join(_ROLES)}, got {name!r:.80}")
        parts = (read_result(value),) if role == "tool" else read_parts(value)
        return Message(role=role, parts=parts, format=NAME, origin=origin)

    def encode(self, message: Message) -> WireValue:
        """The message as a dict: the caller's own where nothing was edited.

        Raises `ValueError` for a message made here with several results; `convert` splits them.
        """
        origin = origin_of(message) if message.format == NAME else None
        if origin is None:
            return make(message)
        if not message.edited:
            return origin
        return (edit_result if message.role == "tool" else edit)(message.parts, origin)

    def encode_bytes(self, message: Message) -> bytes:
        """The message as JSON: the bytes it came in where nothing was edited."""
        return write_own(message, self.encode, format=NAME)

    def system_of(self, body: WireValue) -> Message | None:
        """Always `None`: on this wire system text is a message."""
        return None

    def encode_system(self, system: Message) -> Any:
        """The system prompt as a message, for the head of `messages`."""
        return self.encode(system)

    def join(self, first: Message, second: Message) -> Message:
        """One message with the parts of both, under the first one's envelope.

        Raises `ValueError` for results, and where both hold what a message has once (audio, a legacy call).
        """
        if "tool" in (first.role, second.role):
            raise ValueError("results cannot be joined: each is a message of its own")
        joined = self.decode(_join(self.encode(first), self.encode(second)))
        if isinstance(first.origin, bytes) and isinstance(second.origin, bytes):
            joined = replace(joined, origin=strict.dump(joined.origin))
        synthetic = first.synthetic if first.synthetic == second.synthetic else None
        return replace(joined, synthetic=synthetic, meta=first.meta)

    def with_output(self, wire: WireValue, output: Any) -> WireValue:
        """As `Codec.with_output`: a text or content parts."""
        return {**wire, "content": output}


CODEC = OpenAIChat()


def _join(first: WireValue, second: WireValue) -> WireValue:
    """Content pieces and calls one after the other; of every other key the value that is there."""
    joined = {
        **second,
        **{key: value for key, value in first.items() if value is not None or key not in second},
    }
    for key in ("refusal", "audio", "function_call"):
        if first.get(key) is not None and second.get(key) is not None:
            raise ValueError(f"{key}: a message has it once, these two have it twice")
    pieces = [*blocks_of(first), *blocks_of(second)]
    joined["content"] = pieces or first.get("content")
    calls = [*(first.get("tool_calls") or ()), *(second.get("tool_calls") or ())]
    if calls:
        joined["tool_calls"] = calls
    for key in REASONING:
        texts = [value[key] for value in (first, second) if isinstance(value.get(key), str)]
        if texts:
            joined[key] = "\n".join(filter(None, texts))
    return joined
