"""Responses: what a provider answered, as the messages that go into a history.

Owns one table: for each wire format, where in a response the message stands, where its usage, its id and why it ended. Takes
the official SDKs' objects as the JSON they stand for, without importing one. Counterpart: `foldline.wire.body`, requests.

    anthropic          {"role", "content", "usage", "stop_reason", "model", "id"}
    openai-chat        {"choices": [{"message": …, "finish_reason"}], "usage", …}
    openai-responses   {"output": [item, …], "usage", …}                            one message an item
    gemini             {"candidates": [{"content": …, "finishReason"}], "usageMetadata", …}

A bare message of the format, or for Responses a list of items, is taken as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.errors import InvalidOption
from foldline.core.message import Message, Meta, Usage
from foldline.wire import native, strict
from foldline.wire.formats import codec
from foldline.wire.usage import UsageReading, judge_usage


class Shape(Struct, frozen=True, kw_only=True):
    """Where a format's response keeps what."""

    usage: str
    stop: tuple[str, ...]
    model: tuple[str, ...]
    id: tuple[str, ...]


SHAPES: Final = {
    "anthropic": Shape(usage="usage", stop=("stop_reason",), model=("model",), id=("id",)),
    "openai-chat": Shape(usage="usage", stop=("finish_reason",), model=("model",), id=("id",)),
    "openai-responses": Shape(usage="usage", stop=("status",), model=("model",), id=("id",)),
    "gemini": Shape(
        usage="usageMetadata",
        stop=("finishReason", "finish_reason"),
        model=("modelVersion", "model_version"),
        id=("responseId", "response_id"),
    ),
}


class Response(Struct, frozen=True, kw_only=True):
    """What was answered."""

    messages: tuple[Message, ...]
    """In order; id, model, reason and usage are with the last."""
    done: native.Done = native.Done()
    """What the provider's service says it did."""
    is_open: bool = False
    """True for a whole response that does not say why it ended: it broke off. A bare message has no place for that."""
    tokens_claimed: int = 0
    """The input that its usage claims, where that is above the window; such a usage is not read."""


def read_response(response: object, *, format: str, tokens_window: int | None = None) -> Response:
    """The messages of a response, each with bytes of its own, and what it says beside them. `response`: an SDK object or a dict, whole
    or the message alone. Raises `InvalidOption` for what holds no message of `format`."""
    opened = _opened(response)
    messages = _read_messages(opened, response, format=format)
    reading = _usage(opened, format=format, tokens_window=tokens_window)
    messages[-1] = replace(messages[-1], meta=_meta(opened, reading.usage, format=format))
    meta = messages[-1].meta
    return Response(
        messages=tuple(messages),
        done=native.done(opened),
        is_open=_is_whole(opened, format) and (meta is None or meta.stop_reason is None),
        tokens_claimed=reading.tokens_claimed,
    )


def _read_messages(opened: Mapping[str, Any], response: object, *, format: str) -> list[Message]:
    found = _messages(opened, format=format)
    reader = codec(format)
    messages: list[Message] = []
    for wire in found:
        try:
            message = reader.decode(strict.dump_foreign(wire))
        except ValueError as error:
            raise _refused(response, f"{error}; give a response of {format}") from error
        if message.role != "assistant":
            raise _refused(response, f"its role is {message.role}; record what the model answered")
        messages.append(message)
    if not messages:
        raise _refused(response, f"it holds no message of {format}; record what the model answered")
    return messages


def plain_value(value: object) -> Any:
    """A value as JSON has it: an SDK's object as the dict it stands for, a list element by element."""
    try:
        return _plain(value)
    except RecursionError as error:
        raise InvalidOption("value", "…", why="it is nested too deep; give a flatter value") from error


def _plain(value: object) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return dump(mode="json", by_alias=True, exclude_none=True)
    return strict.plain(value)


def _opened(response: object) -> Any:
    opened = plain_value(response)
    if isinstance(opened, list):
        return {"output": opened}
    if not isinstance(opened, dict):
        raise _refused(response, "give the response as the SDK returned it, or as a dict")
    return opened


def _messages(opened: Mapping[str, Any], *, format: str) -> list[Any]:
    """The wire messages in a response, or the one that it is."""
    shown = _format_of(opened)
    if shown is not None and shown != format:
        why = f"it is a response of {shown}, and the session speaks {format}; open a session of that format"
        raise _refused(opened, why)
    match format:
        case "openai-chat" if "choices" in opened:
            return [_without_nulls(choice.get("message")) for choice in _first(opened["choices"])]
        case "openai-responses" if "output" in opened:
            return [_without_nulls(item) for item in _listed(opened["output"])]
        case "gemini" if _is_whole(opened, format):
            return [_content(next(iter(_first(opened.get("candidates"))), {}))]
        case "openai-responses" if _is_event(opened):
            raise _refused(opened, "it is an event of a stream; record the response that the stream comes to")
        case "anthropic":
            return [{key: opened[key] for key in ("role", "content") if key in opened}]
        case _:
            return [opened]


def _content(candidate: Mapping[str, Any]) -> dict[str, Any]:
    """What the model said; with no part of it where a thought took the whole output, or a filter the answer."""
    content = candidate.get("content")
    return {"role": "model", "parts": [], **(content if isinstance(content, Mapping) else {})}


def _is_event(opened: Mapping[str, Any]) -> bool:
    """True for an event of a Responses stream (SDK types/responses/response_stream_event.py), which has a type as an item has."""
    kind = opened.get("type")
    return kind == "error" or "sequence_number" in opened or str(kind).startswith("response.")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _first(choices: Any) -> list[Mapping[str, Any]]:
    """The first of several answers, which is the one a conversation goes on from."""
    return [choice for choice in _listed(choices) if isinstance(choice, Mapping)][:1]


def _format_of(opened: Mapping[str, Any]) -> str | None:
    """The format whose response this is, where it is a whole one."""
    if "choices" in opened:
        return "openai-chat"
    if "candidates" in opened:
        return "gemini"
    if "output" in opened and "role" not in opened and "call_id" not in opened:
        return "openai-responses"
    return "anthropic" if "stop_reason" in opened and "content" in opened else None


def _is_whole(opened: Mapping[str, Any], format: str) -> bool:
    """True for a response, which says why it ended; false for a message alone."""
    if format == "anthropic":
        return "usage" in opened or "stop_reason" in opened
    if format == "openai-responses":
        return "output" in opened and len(opened) > 1
    return any(key in opened for key in ("choices", "candidates", "promptFeedback", "prompt_feedback"))


def _without_nulls(wire: Any) -> Any:
    """A message without the keys that a response fills with null and a request need not have."""
    if not isinstance(wire, dict):
        return wire
    return {key: value for key, value in wire.items() if value is not None or key == "content"}


def _usage(opened: Mapping[str, Any], *, format: str, tokens_window: int | None) -> UsageReading:
    usage = opened.get(SHAPES[format].usage, opened.get("usage_metadata"))
    told = usage if isinstance(usage, Mapping) else None
    return judge_usage(told, format=format, tokens_window=tokens_window)


def _meta(opened: Mapping[str, Any], usage: Usage | None, *, format: str) -> Meta:
    shape = SHAPES[format]
    ended = next(iter(_first(opened.get("choices") or opened.get("candidates"))), opened)
    return Meta(
        response_id=_text(opened, shape.id),
        model=_text(opened, shape.model),
        stop_reason=_incomplete(ended) or _blocked(ended) or _text(ended, shape.stop),
        usage=usage,
    )


def _incomplete(told: Mapping[str, Any]) -> str | None:
    """Why a response of OpenAI Responses is incomplete, where it says; its status says no more than that."""
    details = told.get("incomplete_details")
    return _text(details, ("reason",)) if isinstance(details, Mapping) else None


def _blocked(told: Mapping[str, Any]) -> str | None:
    """Why Gemini answered a prompt with no candidate at all."""
    feedback = told.get("promptFeedback", told.get("prompt_feedback"))
    return _text(feedback, ("blockReason", "block_reason")) if isinstance(feedback, Mapping) else None


def _text(told: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((told[key] for key in keys if isinstance(told.get(key), str)), None)


def _refused(response: object, why: str) -> InvalidOption:
    return InvalidOption("response", response, why=why)
