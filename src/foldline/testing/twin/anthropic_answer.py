"""How Anthropic spells an answer: the message, its usage, and the events of a stream.

Counterpart of `foldline.testing.twin.anthropic`, which decides what is said. Sources: SDK types/message.py, types/usage.py,
types/raw_*_event.py and types/beta/beta_compaction_*.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from foldline.testing.twin.answering import Said, arguments_value, deltas, frame, overridden
from foldline.testing.twin.anthropic_edits import Edited
from foldline.testing.twin.cache import Cached
from foldline.testing.twin.desk import Response
from foldline.testing.twin.measure import compact
from foldline.testing.twin.script import Delivery, Stop

KINDS: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""Types of errors by status (API overview, "Errors")."""
MESSAGES: Final[Mapping[int, str]] = {
    413: "Request exceeds the maximum size",
    429: "Number of request tokens has exceeded your per-minute rate limit",
    500: "Internal server error",
    529: "Overloaded",
}
STOPS: Final[Mapping[Stop, str]] = {
    "end": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "filter": "refusal",
    "pause": "pause_turn",
    "stop_sequence": "stop_sequence",
    "window": "model_context_window_exceeded",
}
_COUNTS: Final = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation",
)


def message(said: Said, *, id: str, model: str, seal: Callable[[Any], str]) -> dict[str, Any]:
    """The response without its usage. `seal` signs thinking."""
    content: list[dict[str, Any]] = []
    if said.thinking and said.redacted:
        content.append({"type": "redacted_thinking", "data": seal("")})
    elif said.thinking:
        content.append({"type": "thinking", "thinking": said.thinking, "signature": seal(said.thinking)})
    if said.text:
        content.append({"type": "text", "text": said.text})
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_value(call)}
        for call in said.calls
    ]
    if said.behind:
        content.append({"type": "text", "text": said.behind})
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": STOPS[said.stop],
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": None, "explanation": None}
        if STOPS[said.stop] == "refusal"
        else None,
    }


def stopped_by_window(said: Said) -> Said:
    """An answer that the window ended."""
    return msgspec.structs.replace(said, stop="window")


def usage(cached: Cached, *, total: int, said: Said, edited: Edited) -> dict[str, Any]:
    """Input, cache reads and cache writes are three counts apart. `total` is what was read of the input."""
    counted: dict[str, Any] = {
        "input_tokens": max(total - cached.read - cached.written, 0),
        "cache_read_input_tokens": cached.read,
        "cache_creation_input_tokens": cached.written,
        "cache_creation": {
            "ephemeral_5m_input_tokens": cached.written - cached.written_1h,
            "ephemeral_1h_input_tokens": cached.written_1h,
        },
        "output_tokens": said.tokens,
        "service_tier": "standard",
    }
    if edited.spent is not None:
        before, written = edited.spent
        spent = {
            "type": "compaction",
            "input_tokens": before,
            "output_tokens": written,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
        }
        counted["iterations"] = [spent, {"type": "message", **counts(counted)}]
    return overridden(counted, said.usage)


def counts(usage: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of one iteration."""
    return {key: usage[key] for key in _COUNTS if key in usage}


def response(message: dict[str, Any], *, delivery: Delivery, stream: bool) -> Response:
    """The answer, whole or as a stream."""
    if not stream:
        return Response(body=message, delivery=delivery)
    error = delivery.error
    told = {"type": error.kind or KINDS.get(error.status, "api_error")}
    told["message"] = error.message or MESSAGES.get(error.status, "")
    return Response(
        frames=tuple(events(message)),
        ping=frame({"type": "ping"}, "ping"),
        error=frame({"type": "error", "error": told}, "error"),
        delivery=delivery,
    )


def events(message: dict[str, Any]) -> Iterator[bytes]:
    """The events of a stream, in order."""
    told = message["usage"]
    opening = {**message, "content": [], "stop_reason": None, "stop_details": None}
    opening["usage"] = {**told, "output_tokens": min(1, told.get("output_tokens", 1))}
    yield _event({"type": "message_start", "message": opening})
    for index, block in enumerate(message["content"]):
        yield _event({"type": "content_block_start", "index": index, "content_block": _empty(block)})
        for delta in _deltas(block):
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    ending: dict[str, Any] = {
        "type": "message_delta",
        "delta": {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details")},
        "usage": {key: value for key, value in told.items() if key not in ("service_tier", "cache_creation")},
    }
    if "context_management" in message:
        ending["context_management"] = message["context_management"]
    yield _event(ending)
    yield _event({"type": "message_stop"})


def _event(data: dict[str, Any]) -> bytes:
    return frame(data, data["type"])


def _empty(block: dict[str, Any]) -> dict[str, Any]:
    """A block as it is announced."""
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case "tool_use":
            return {**block, "input": {}}
        case "compaction":
            return {**block, "content": None, "encrypted_content": None}
        case _:
            return block


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    match block["type"]:
        case "text":
            yield from ({"type": "text_delta", "text": piece} for piece in deltas(block["text"]))
        case "thinking":
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in deltas(block["thinking"]))
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use":
            text = compact(block["input"])
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in ("", *deltas(text)))
        case "compaction":
            yield {
                "type": "compaction_delta",
                "content": block["content"],
                "encrypted_content": block["encrypted_content"],
            }
        case _:
            return
