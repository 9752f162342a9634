"""LangGraph thread states and LangChain message lists (format `langgraph`).

Owns LangChain's spelling of messages: `type` human, ai, tool or system; calls in `tool_calls` and results in
messages of their own; reasoning in `additional_kwargs.reasoning_content` or in the content list. Takes a thread
state (`values.messages`), a checkpoint (`channel_values.messages`), `{"messages": […]}`, a bare list, and the
three serial forms of a message (plain dict, `messages_to_dict`, `dumpd`). The state has no compaction boundary: what
stands in it is what the model is sent.

Shapes: `langchain_core.messages`, LangGraph `ThreadState`; read only, there is no writer.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from foldline.core.message import Message, Meta, Part, Reasoning, Role, Text, ToolCall, ToolResult
from foldline.transcripts import document
from foldline.transcripts.document import Piece
from foldline.transcripts.neutral import (
    arguments_text,
    content_part,
    content_parts,
    mapping,
    mappings,
    neutral,
    string,
    usage_of,
)
from foldline.transcripts.source import Source, keys
from foldline.transcripts.transcript import Transcript
from foldline.wire.usage import read_usage

_ROLES: Final[dict[str, Role]] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_PLACES: Final = (
    ("values", "messages"),
    ("channel_values", "messages"),
    ("messages",),
    ("output", "messages"),
)
_HEAD_DEPTH = 4
"""Objects around a message's keys in the deepest known form: state, values, message, `data` or `kwargs`."""
_WIRES: Final = {
    "anthropic": "anthropic",
    "google_genai": "gemini",
    "google_vertexai": "gemini",
    "google_anthropic_vertex": "anthropic",
}
"""`response_metadata.model_provider` → wire format; any other provider speaks OpenAI's chat format."""


class _LangGraph:
    name = "langgraph"

    def recognise(self, head: bytes) -> int:
        """100 for a thread state, 90 for bare LangChain messages."""
        found = keys(head, depth=_HEAD_DEPTH)
        for place in ("values.messages.", "channel_values.messages.", "messages.", ""):
            kind = _kind(found.get(place + "type") or "")
            if found.get(place + "type") == "constructor" and place + "kwargs.content" in found:
                return 90
            if kind not in _ROLES or not (place + "content" in found or place + "data.content" in found):
                continue
            if place.count(".") == 2:
                return 100
            if kind in ("human", "ai", "tool") or place + "additional_kwargs" in found:
                return 90
        return 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """The one conversation of a state; empty when the document holds no LangChain messages."""
        root = document.open_document(source)
        place, piece = _find(root)
        messages, skipped = _messages(source, piece, at=place)
        if not messages:
            return ()
        at = _last_usage(messages)
        last = next((m.meta for m in reversed(messages) if m.role == "assistant"), None)
        state = document.fields(root)
        about = document.read(source, state.get("metadata"), at="metadata")
        about = about if isinstance(about, dict) else {}
        return (
            Transcript(
                format=self.name,
                wire=_wire(source, piece, at=place),
                messages=tuple(messages),
                id=string(about.get("thread_id")),
                model=(last.model if last else None) or string(about.get("model_name")),
                usage=usage_of(messages[at]) if at is not None else None,
                usage_at=at,
                skipped=tuple(sorted(skipped.items())),
            ),
        )


READER: Final = _LangGraph()


def _find(root: Piece) -> tuple[str, Piece]:
    """The list of messages and its place in the document."""
    for path in _PLACES:
        piece = root
        for name in path:
            piece = document.fields(piece).get(name)
        if document.items(piece):
            return ".".join(path), piece
    return "", root


def _messages(source: Source, piece: Piece, *, at: str) -> tuple[list[Message], Counter[str]]:
    messages: list[Message] = []
    skipped: Counter[str] = Counter()
    for _, entry in document.objects(source, piece, at=at):
        plain = _plain(entry)
        kind = _kind(str(plain.get("type") or ""))
        role = _ROLES.get(kind)
        if role is None:
            skipped[kind or "message without a type"] += 1
        else:
            messages.append(_message(plain, role))
    return messages, skipped


def _plain(entry: dict[str, Any]) -> dict[str, Any]:
    """One form for the three: `messages_to_dict` keeps the fields in `data`, `dumpd` in `kwargs`."""
    if isinstance(entry.get("data"), dict) and "content" not in entry:
        return {**entry["data"], "type": entry.get("type")}
    if entry.get("type") == "constructor" and isinstance(entry.get("kwargs"), dict):
        path = entry.get("id")
        fallback = path[-1] if isinstance(path, list) and path else ""
        return {**entry["kwargs"], "type": entry["kwargs"].get("type") or fallback}
    return entry


def _kind(name: str) -> str:
    """`ai` for `AIMessageChunk`, `AIMessage` and `ai` alike."""
    return name.removesuffix("Chunk").removesuffix("Message").lower()


def _message(entry: dict[str, Any], role: Role) -> Message:
    extra = mapping(entry.get("additional_kwargs"))
    meta = _meta(entry, role)
    match role:
        case "tool":
            return neutral("tool", (_result(entry),), meta=meta)
        case "assistant":
            return neutral("assistant", _assistant_parts(entry, extra, ended=meta.stop_reason), meta=meta)
        case "user" | "system":
            return neutral(role, content_parts(entry.get("content")), meta=meta)


def _assistant_parts(entry: dict[str, Any], extra: dict[str, Any], *, ended: str | None) -> list[Part]:
    """Reasoning at which a model ended its turn, with nothing else, is what it answered: so DeepSeek's reply comes now and then."""
    calls = _calls(entry, extra)
    known = {call.id for call in calls}
    parts: list[Part] = []
    content = entry.get("content")
    for item in content if isinstance(content, list) else [content] if content else []:
        parts.extend(_content(item, known))
    told = string(extra.get("reasoning_content"))
    if told and not any(isinstance(part, Reasoning) for part in parts):
        is_answer = not (parts or calls) and ended == "stop"
        parts.insert(0, Text(text=told) if is_answer else Reasoning(text=told))
    return [*parts, *calls]


def _content(item: Any, known: set[str]) -> tuple[Part, ...]:
    """The parts of one content item; a call that `tool_calls` repeats is left to it."""
    if not isinstance(item, dict):
        return (content_part(item),)
    match item.get("type"):
        case "thinking":
            signature = string(item.get("signature"))
            text = string(item.get("thinking")) or ""
            return (Reasoning(text=text, signature=signature, provider="anthropic" if signature else None),)
        case "redacted_thinking":
            return (Reasoning(signature=string(item.get("data")), redacted=True, provider="anthropic"),)
        case "reasoning" | "reasoning_content":
            return (Reasoning(text=_reasoning_text(item)),)
        case "tool_use" | "tool_call" | "function_call" if (item.get("id") or item.get("call_id")) in known:
            return ()
        case "tool_use" | "tool_call":
            arguments = item.get("input", item.get("args"))
            return (
                ToolCall(
                    id=str(item.get("id")), name=str(item.get("name")), arguments=arguments_text(arguments)
                ),
            )
        case _:
            return (content_part(item),)


def _reasoning_text(item: dict[str, Any]) -> str:
    summary = item.get("summary")
    if isinstance(summary, list):
        return "\n".join(str(piece.get("text", "")) for piece in summary if isinstance(piece, dict))
    inner = item.get("reasoning_content", item.get("reasoning", item.get("text")))
    return str(inner.get("text", "")) if isinstance(inner, dict) else str(inner or "")


def _calls(entry: dict[str, Any], extra: dict[str, Any]) -> list[ToolCall]:
    """Calls LangChain could read, then those whose arguments are no JSON; raw OpenAI calls where it read none."""
    read = [*mappings(entry.get("tool_calls")), *mappings(entry.get("invalid_tool_calls"))]
    if not read:
        raw = mappings(extra.get("tool_calls"))
        read = [
            {"id": call.get("id"), "name": inner.get("name"), "args": inner.get("arguments")}
            for call in raw
            if (inner := mapping(call.get("function")))
        ]
    return [_call(call, index) for index, call in enumerate(read)]


def _call(call: dict[str, Any], index: int) -> ToolCall:
    known = string(call.get("id"))
    return ToolCall(
        id=known or f"call_{index}",
        name=str(call.get("name") or "unknown"),
        arguments=arguments_text(call.get("args")),
        wire_id=known is not None,
    )


def _result(entry: dict[str, Any]) -> ToolResult:
    return ToolResult(
        call_id=str(entry.get("tool_call_id") or entry.get("name") or ""),
        content=content_parts(entry.get("content")),
        name=string(entry.get("name")),
        is_error=entry.get("status") == "error",
    )


def _meta(entry: dict[str, Any], role: Role) -> Meta:
    extra = mapping(entry.get("additional_kwargs"))
    about = mapping(entry.get("response_metadata"))
    return Meta(
        id=string(entry.get("id")),
        response_id=string(about.get("id")),
        model=string(about.get("model_name")) or string(about.get("model")),
        usage=read_usage(mapping(entry.get("usage_metadata")), format="langgraph"),
        stop_reason=string(about.get("finish_reason")) or string(about.get("stop_reason")),
        # set by LangChain's summarisation middleware and by hosts that hide a message from the person
        injected=role == "user" and bool(extra.get("lc_source") or extra.get("hide_from_ui")),
    )


def _last_usage(messages: list[Message]) -> int | None:
    return next((n for n in range(len(messages) - 1, -1, -1) if usage_of(messages[n])), None)


def _wire(source: Source, piece: Piece, *, at: str) -> str:
    """The wire format of the provider that answered last."""
    pieces = document.items(piece)
    for index in range(len(pieces) - 1, -1, -1):
        entry = document.read(source, pieces[index], at=f"{at}[{index}]")
        if isinstance(entry, dict) and _kind(str(_plain(entry).get("type") or "")) == "ai":
            provider = mapping(_plain(entry).get("response_metadata")).get("model_provider")
            return _WIRES.get(str(provider), "openai-chat")
    return "openai-chat"
