"""A completion request as the body that goes to a provider: the conversation as it is, the caller's parameters, streaming.

The fork of a conversation must begin with the bytes that the provider has cached, so nothing is added, left out or put in
another order: system prompt, tools and messages are those of the request, the instruction stands last (requirement CMP-2).
Where the provider speaks another format than the conversation, it is converted, and the notes say what could not go along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from foldline.tokens.models import looked_up
from foldline.wire.body import KEYS, body_value, read_body
from foldline.wire.completion import CompletionRequest
from foldline.wire.convert import convert

CAPS: Final = {
    "anthropic": ("max_tokens",),
    "openai-chat": ("max_completion_tokens", "max_tokens"),
    "openai-responses": ("max_output_tokens",),
    "gemini": ("max_output_tokens", "maxOutputTokens"),
}
"""By format, the parameters that cap the output; the first is what is written where a cap is wanted."""
OF_TOOLS: Final = ("tool_choice", "parallel_tool_calls", "tool_config")
"""Parameters that providers refuse where there are no tools: a call that is no fork has none."""
OUTPUT_DEFAULT: Final = 8_192
"""Output tokens where a provider demands a cap and nobody knows the model: what every Claude since 3.5 can write."""


class Body(Struct, frozen=True, kw_only=True):
    """What is sent."""

    format: str
    value: dict[str, Any]
    """Conversation and parameters, under the format's own keys."""
    notes: tuple[str, ...] = ()
    """What a conversion could not take along."""


def body_for(request: CompletionRequest, *, format: str, model: str, parameters: Mapping[str, Any]) -> Body:
    """The body for a provider that speaks `format`. `parameters` go in as they are."""
    spoken, notes = _conversation(request, format)
    given = {"model": model, **parameters}
    if "tools" not in spoken:
        given = {key: told for key, told in given.items() if key not in OF_TOOLS}
    value: dict[str, Any] = {**given, **spoken, **_cap(request, format, given=given)}
    if format != "gemini":
        value["stream"] = True
    if format == "openai-chat":
        value.setdefault("stream_options", {"include_usage": True})
    return Body(format=format, value=value, notes=notes)


def _conversation(request: CompletionRequest, format: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """System prompt, tools and messages under the keys of `format`."""
    keys = KEYS[request.format]
    body: dict[str, Any] = {keys.messages: request.wire()}
    if request.system is not None:
        if request.format == "openai-chat":
            told = request.system
            first = told if isinstance(told, dict) else {"role": "system", "content": told}
            body[keys.messages].insert(0, first)
        elif request.format == "gemini" and isinstance(request.system, str):
            body[keys.system[0]] = {"parts": [{"text": request.system}]}
        else:
            body[keys.system[0]] = request.system
    if request.tools:
        body["tools"] = request.tools
    if request.format == format:
        return body, ()
    converted = convert(read_body(body, format=request.format), format)
    notes = list(converted.notes)
    if converted.reasoning_dropped:
        notes.append(f"reasoning of another provider left out ({converted.reasoning_dropped} ×)")
    said = f"the conversation was converted from {request.format} to {format} for the model that was asked"
    return body_value(converted.request), (said, *notes)


def _cap(request: CompletionRequest, format: str, *, given: Mapping[str, Any]) -> dict[str, int]:
    """The cap on the output: the caller's own where there is one; else what was wanted; else what must be said."""
    names = CAPS[format]
    if any(name in given for name in names):
        return {}
    most = _output_max(given["model"])
    if request.output_cap is not None:
        return {names[0]: min(request.output_cap, most or request.output_cap)}
    return {names[0]: most or OUTPUT_DEFAULT} if format == "anthropic" else {}


def _output_max(model: str) -> int | None:
    """What the model that is asked can write; the conversation's own may be able to write more."""
    known, _ = looked_up(model)
    return known.max_output if known.source != "default" else None
