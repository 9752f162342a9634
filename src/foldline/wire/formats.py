"""Which wire formats there are, which one a list of messages is in, and where two of them look the same.

Owns the registry of codecs and the recognition by content, never by a file's name. Knows of the formats only what
tells them apart; a codec's module is imported when it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from foldline.core.errors import UnknownFormat
from foldline.core.message import Message
from foldline.core.needs import Needs
from foldline.wire import strict
from foldline.wire.codec import Codec, Rules

_MODULES = {
    "anthropic": "anthropic",
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
    "gemini": "gemini",
}
CODECS = tuple(_MODULES)
"""Names of the wire formats."""
DEFAULT = "openai-chat"
"""What plain text messages count as."""

PLAIN = Rules(
    format=DEFAULT,
    needs=Needs(
        first=frozenset({"user"}),
        alternates=True,
        blank_text=False,
        ids_once=True,
        ids_max=40,
        ids_pattern=r"[a-zA-Z0-9_-]+",
        reasoning_may_end=False,
    ),
    system="leading",
)
"""The stricter rule of OpenAI chat and Anthropic in every row, for messages that may be sent to either."""

_CHAT_ROLES = ("tool", "function")
_CHAT_KEYS = frozenset(
    {"tool_calls", "function_call", "tool_call_id", "reasoning_content", "refusal", "audio"}
)
_BLOCKS = {
    "anthropic": {
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "image",
        "document",
        "search_result",
    }
    | {"server_tool_use", "mcp_tool_use", "container_upload", "compaction"},
    "openai-chat": {"image_url", "input_audio", "file", "video_url"},
    "openai-responses": {"input_text", "output_text", "input_image", "input_file", "summary_text"},
}
_BY_BLOCK = {kind: name for name, kinds in _BLOCKS.items() for kind in kinds}
_BODY_KEYS = {
    "contents": "gemini",
    "systemInstruction": "gemini",
    "system_instruction": "gemini",
    "input": "openai-responses",
    "instructions": "openai-responses",
}


@cache
def codec(name: str) -> Codec:
    """The codec of a wire format, asked for with every message that is read. Raises `UnknownFormat` for any other name."""
    module = _MODULES.get(name)
    if module is None:
        raise UnknownFormat(name, CODECS, why=f"no wire format is called {name!r}")
    found: Codec = importlib.import_module(f"foldline.wire.{module}").CODEC
    return found


def settle(name: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages of one history as they belong together, once each has been decoded alone: on Gemini's wire, where
    ids may be missing, a response is paired with its call."""
    if name != "gemini":
        return tuple(messages)
    from foldline.wire.gemini import pair

    return pair(messages)


def detect(value: Sequence[Any] | dict[str, Any]) -> str:
    """The format of a list of messages, or of a request body.

    The first message that only one format could hold decides; then, for a body, its tools and its system prompt.
    Messages of plain text count as `openai-chat`. Raises `UnknownFormat` for what is neither list nor body.
    """
    if isinstance(value, dict):
        return _detect_body(value)
    if not isinstance(value, (list, tuple)):
        raise UnknownFormat(None, CODECS, why=f"expected a list of messages, got {type(value).__name__}")
    return _first_mark(value) or DEFAULT


def is_plain(messages: Iterable[Any]) -> bool:
    """True for messages of user and assistant that hold text and nothing else, as both OpenAI chat and Anthropic take
    them: such a history must obey `PLAIN`."""
    return all(_is_plain(strict.plain(message)) for message in messages)


def _is_plain(message: Any) -> bool:
    if not isinstance(message, dict) or message.keys() - {"role", "content"}:
        return False
    content = message.get("content")
    if message.get("role") not in ("user", "assistant"):
        return False
    if isinstance(content, str):
        return True
    return isinstance(content, (list, tuple)) and all(
        isinstance(block, dict) and block.keys() == {"type", "text"} and block["type"] == "text"
        for block in content
    )


def _detect_body(body: dict[str, Any]) -> str:
    for key, name in _BODY_KEYS.items():
        if body.get(key) is not None:
            return name
    messages = body.get("messages")
    if not isinstance(messages, (list, tuple)):
        raise UnknownFormat(None, CODECS, why="expected a body with messages, input or contents")
    found = _first_mark(messages) or _mark_of_tools(body.get("tools"))
    return found or ("anthropic" if body.get("system") is not None else DEFAULT)


def _first_mark(messages: Sequence[Any]) -> str | None:
    """The format that the first unmistakable message is in, else the one that a mere habit speaks for."""
    habit = None
    for index, given in enumerate(messages):
        message = strict.plain(given)
        if not isinstance(message, dict):
            raise UnknownFormat(None, CODECS, why=f"message {index} is no object but {type(given).__name__}")
        mark = _mark(message)
        if mark is not None:
            return mark
        habit = habit or _habit(message)
    return habit


def _mark(message: dict[str, Any]) -> str | None:
    """The one format that could hold this message; `None` when several could."""
    role, kind, content = message.get("role"), message.get("type"), message.get("content")
    if "parts" in message or role == "model":
        return "gemini"
    if role is None and isinstance(kind, str):
        return "openai-responses"
    if role in _CHAT_ROLES or not _CHAT_KEYS.isdisjoint(message):
        return "openai-chat"
    if kind == "message" and not isinstance(content, (list, tuple)):
        return "openai-responses"
    if isinstance(content, (list, tuple)):
        for block in content:
            mark = _mark_of_block(strict.plain(block))
            if mark is not None:
                return mark
    return None


def _mark_of_block(block: Any) -> str | None:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        return None
    return _BY_BLOCK.get(kind, "anthropic" if kind.endswith("_tool_result") else None)


def _habit(message: dict[str, Any]) -> str | None:
    """Anthropic's cache marks and citations on texts; gateways take them on chat messages too."""
    content = message.get("content")
    if not isinstance(content, (list, tuple)):
        return None
    blocks = [strict.plain(block) for block in content]
    marked = any(
        isinstance(block, dict) and ("cache_control" in block or "citations" in block) for block in blocks
    )
    return "anthropic" if marked else None


def _mark_of_tools(tools: Any) -> str | None:
    for tool in tools if isinstance(tools, (list, tuple)) else ():
        opened = strict.plain(tool)
        if isinstance(opened, dict):
            if "input_schema" in opened:
                return "anthropic"
            if "function" in opened:
                return "openai-chat"
            if "functionDeclarations" in opened or "function_declarations" in opened:
                return "gemini"
    return None
