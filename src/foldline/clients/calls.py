"""A request on its way to a provider: the part that carries the conversation, message by message, and how it is written again.

Takes the body as bytes, or as the dict that an SDK is about to write, and never changes either. Requests whose history is kept by
the provider, or compacted by it, are no conversation of ours: they pass (`why_passed`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from msgspec import Raw, Struct
from msgspec.structs import replace

from foldline.clients import references
from foldline.clients.looks import Look, looked_at
from foldline.core.message import Message
from foldline.recall.tool import NAME, recall_tool
from foldline.wire import strict
from foldline.wire.body import KEYS
from foldline.wire.formats import codec
from foldline.wire.slices import fields, items

LEADING: Final = ("system", "developer")
"""Roles of OpenAI's formats that stand for the system prompt at the beginning of the list."""
SERVER_HELD: Final = ("previous_response_id", "conversation", "thread", "cachedContent")
"""Keys that say that the provider keeps the history, or a part of it."""
NATIVE: Final = ("context_management", "compaction")
"""Keys that say that the provider reduces it."""
PASSED: Final = {
    **dict.fromkeys(SERVER_HELD, "the provider keeps the history"),
    **dict.fromkeys(NATIVE, "the provider reduces the history"),
}
"""Why a request with one of these keys is none of ours."""
RECALL_NAMED: Final = re.compile(rb'"name"\s*:\s*"%b"' % NAME.encode())
OUTPUT_CAPS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
CALLS_NOTHING: Final[Mapping[str, Mapping[str, Any]]] = {
    "anthropic": {"tool_choice": {"type": "none"}},
    "openai-chat": {"tool_choice": "none"},
    "openai-responses": {"tool_choice": "none"},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
}
"""By format, what forbids every call."""
KEEPS_ALL: Final = {"type": "clear_thinking_20251015", "keep": "all"}
BETAS: Final = ("anthropic-beta", "openai-beta")
"""Headers that name features a request makes use of."""


Encoded: TypeAlias = Mapping[int, tuple[Message, bytes]]
"""Messages in their bytes, by identity: each is held, so that its number is no other's."""
NOTHING_YET: Final[Encoded] = MappingProxyType({})


class Call(Struct, kw_only=True):
    """One request."""

    format: str
    model: str | None
    body: Mapping[str, Any]
    """By key; values may be raw JSON."""
    messages: list[bytes]
    """Each in its own bytes."""
    leading: int = 0
    """So many of them are the system prompt."""
    beside: dict[str, Any] = {}
    """What goes along beside the body and decides what the provider makes of it: `extra_headers`, `extra_query`."""
    before_recall: Call | None = None
    """The request as it was, where the tool `recall` was put behind its own; a tool of the caller's with that name is the caller's."""
    has_recall: bool = False
    """True where the tool `recall` was added, and may be called."""
    seen: list[Look] = []
    """Of the messages that were looked at so far."""
    tried: list[Message | None] = []
    """Of each message what came of trying whether it can be read, where that was done: to be counted, and to be held no longer."""

    @property
    def looks(self) -> list[Look]:
        """Of each message."""
        if len(self.seen) < len(self.messages):
            self.seen = [*self.seen, *looked_at(self.messages[len(self.seen) :], self.format)]
        return self.seen

    @property
    def key(self) -> str:
        """Of the messages."""
        return KEYS[self.format].messages

    @property
    def system(self) -> Any:
        """The system prompt, in the format's own shape; `None` for none."""
        if self.leading:
            texts = [_content(strict.parse(wire)) for wire in self.messages[: self.leading]]
            return texts[0] if len(texts) == 1 else [part for text in texts for part in _parts(text)]
        return next((plain(self.body[key]) for key in KEYS[self.format].system if self.body.get(key)), None)

    @property
    def tools(self) -> list[Any] | None:
        """The tool schemas."""
        tools = plain(self.body.get("tools"))
        return tools if isinstance(tools, list) and tools else None

    @property
    def parameters(self) -> dict[str, Any]:
        """What a summary asked of the same model is asked with: everything but the conversation and the stream."""
        keys = KEYS[self.format]
        apart = {keys.messages, *keys.system, "tools", "model", "stream", "stream_options"}
        told = {
            key: plain(value)
            for key, value in self.body.items()
            if key not in apart and not key.startswith("_")  # what google-genai tells itself
        }
        return {**told, **self.beside}

    @property
    def output_cap(self) -> int | None:
        """Most output tokens that the request asks for; `None` where it does not say."""
        config = plain(self.body.get("generationConfig"))
        told: Mapping[str, Any] = {**config, **self.body} if isinstance(config, dict) else self.body
        caps = [plain(told[key]) for key in OUTPUT_CAPS if key in told]
        return next((cap for cap in caps if isinstance(cap, int) and not isinstance(cap, bool)), None)

    def with_output_cap(self, tokens: int) -> Call:
        """The request with a lower cap, under the key that it has it; as it is where it must think for longer than that."""
        thinking = plain(self.body.get("thinking"))
        budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
        if isinstance(budget, int) and budget >= tokens:
            return self
        named = next((key for key in OUTPUT_CAPS if plain(self.body.get(key)) is not None), None)
        config = plain(self.body.get("generationConfig"))
        changed = (
            {"generationConfig": {**(config or {}), OUTPUT_CAPS[-1]: tokens}}
            if named is None
            else {named: tokens}
        )
        return replace(self, body={**self.body, **changed})

    def written(
        self, shown: Iterable[int | Message], *, known: Encoded = NOTHING_YET
    ) -> tuple[list[bytes], Encoded]:
        """Messages in bytes behind the system prompt's: the caller's own by their places, and others, which are given beside them.
        `known`: others that were written before, and need not be written again."""
        writer, own = codec(self.format), self.messages[self.leading :]
        encoded: dict[int, tuple[Message, bytes]] = {}
        said = self.messages[: self.leading]
        for one in shown:
            if isinstance(one, int):
                said.append(own[one])
            else:
                encoded[id(one)] = known.get(id(one)) or (one, writer.encode_bytes(one))
                said.append(encoded[id(one)][1])
        return said, encoded

    def with_messages(self, shown: Sequence[bytes]) -> dict[str, Any]:
        """The body with other messages, each in its own bytes."""
        return {**self.body, self.key: Raw(b"[%b]" % b",".join(shown))}

    def with_recall(self) -> Call:
        """The request with the tool `recall` behind its own, each of which keeps its bytes; as it is where one has that name."""
        own, tool = self.body.get("tools"), recall_tool(self.format)
        written = bytes(own) if isinstance(own, Raw) else strict.dump(own or [])
        if RECALL_NAMED.search(written) or not written.startswith(b"["):
            return self
        inside = written.strip()[1:-1].strip()
        tools = b"[%b]" % b",".join([*([inside] if inside else []), strict.dump(tool)])
        return replace(self, body={**self.body, "tools": Raw(tools)}, before_recall=self, has_recall=True)

    def without_recall(self) -> Call:
        """The request of a model that is to call `recall` no more: with the caller's own tools, or, where it has none, with the
        tool declared, since its calls stand in the history, and not to be called."""
        own = self.before_recall
        if own is None:
            return self
        if own.tools is not None:
            return own
        return replace(self, body={**self.body, **CALLS_NOTHING[self.format]}, has_recall=False)

    def why_passed(self, *, is_native: bool = False) -> str:
        """Why the request is none of ours; empty where it is. `is_native`: a session of ours asks for the provider's compaction, so its blocks may stand in it."""
        for key, why in PASSED.items():
            if key in self.body and _does(key, plain(self.body[key])):
                return f"{why} ({key})"
        elsewhere = references.kept_elsewhere(self.messages) if self.format == references.FORMAT else ""
        if elsewhere:
            return f"the provider keeps the history ({elsewhere})"
        if not is_native and any(look.is_native for look in self.looks):
            return "the provider has reduced the history (compaction)"
        return "" if len(self.messages) > self.leading else "it has no messages"


def call_of(
    body: bytes | Mapping[str, Any], *, format: str, model: str | None = None, known: Sequence[bytes] = ()
) -> Call | None:
    """A request read; `None` for a body that is none of this format. `known`: messages in whose place the first one of the body's
    list stands."""
    try:
        told: Mapping[str, Any] = fields(body) if isinstance(body, bytes) else body
        key = KEYS[format].messages
        messages = _messages(told.get(key), key=key)
        messages = [*known, *messages[1:]] if known else messages
    except (ValueError, TypeError):
        return None
    named = plain(told.get("model")) if model is None else model
    return Call(
        format=format,
        model=named if isinstance(named, str) else None,
        body=told,
        messages=messages,
        leading=_leading(messages) if format.startswith("openai") else 0,
    )


def beside(headers: Mapping[str, Any], query: Mapping[str, Any]) -> dict[str, Any]:
    """Of a request's headers and query, what switches features on: a fork without it is another request, whose parameters may be
    refused and whose prefix is not the cached one."""
    told = {
        name: value for name, value in headers.items() if name.lower() in BETAS and isinstance(value, str)
    }
    asked = {name: value for name, value in query.items() if name == "beta"}
    return {key: value for key, value in (("extra_headers", told), ("extra_query", asked)) if value}


def _messages(value: Any, *, key: str) -> list[bytes]:
    if isinstance(value, Raw):
        value = bytes(value)
        if key == "input" and value[:1] == b'"':
            return [b'{"role":"user","content":%b}' % value]
        return [bytes(one) for one in items(value)]
    if isinstance(value, str) and key == "input":
        return [strict.dump({"role": "user", "content": value})]
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{key}: no list")
    return [strict.dump(one) for one in value]


def _leading(messages: list[bytes]) -> int:
    """How many messages at the beginning are the system prompt."""
    count = 0
    for wire in messages:
        try:
            role = plain(fields(wire).get("role"))
        except ValueError:  # no object; who reads it says so
            break
        if role not in LEADING:
            break
        count += 1
    return count


def _does(key: str, value: Any) -> bool:
    """True for a key that says something; keeping all thinking, which Claude Code always asks for, reduces nothing."""
    edits = value.get("edits") if key == "context_management" and isinstance(value, dict) else None
    if isinstance(edits, list):
        return any(one != KEEPS_ALL for one in edits)
    return value is not None


def plain(value: Any) -> Any:
    """The value of a key, read where it is still JSON."""
    return strict.parse(bytes(value)) if isinstance(value, Raw) else value


def _content(message: Any) -> Any:
    return message.get("content") if isinstance(message, dict) else message


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]
