"""How OpenAI's Responses spell an answer: output items, usage, and the events of a stream.

Counterpart of `foldline.testing.twin.openai_responses`, which decides what is said. Sources: SDK types/responses/response.py,
response_output_item.py, response_usage.py and response_*_event.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from foldline.testing.twin import seal
from foldline.testing.twin.answering import Said, arguments, deltas, frame, overridden
from foldline.testing.twin.cache import Cached
from foldline.testing.twin.desk import Response
from foldline.testing.twin.openai_chat import error_of
from foldline.testing.twin.refused import Refused
from foldline.testing.twin.script import Delivery, Stop

CREATED: Final = 1_700_000_000
INCOMPLETE: Final[Mapping[Stop, str]] = {
    "length": "max_output_tokens",
    "window": "max_output_tokens",
    "filter": "content_filter",
}

Item = dict[str, Any]


class Spent(NamedTuple):
    """What a compaction cost."""

    input: int
    output: int


def output(said: Said, *, id: Callable[[str], str], encrypts: bool) -> list[Item]:
    """The items of an answer."""
    items: list[Item] = []
    if said.thinking:
        summary = [] if said.redacted else [{"type": "summary_text", "text": said.thinking}]
        item: Item = {"type": "reasoning", "id": id("rs_"), "summary": summary}
        if encrypts:
            item["encrypted_content"] = seal.sealed({"reasoning": said.thinking})
        items.append(item)
    if said.text or not said.calls:
        items.append(_message(said, said.text, id=id("msg_")))
    for call in said.calls:
        items.append(
            {
                "type": "function_call",
                "id": id("fc_"),
                "call_id": call.id,
                "name": call.name,
                "arguments": arguments(call),
                "status": "completed",
            }
        )
    if said.behind:
        items.append(_message(said, said.behind, id=id("msg_")))
    return items


def _message(said: Said, text: str, *, id: str) -> Item:
    spoken: Item = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    if said.stop == "refusal":
        spoken = {"type": "refusal", "refusal": text}
    status = "incomplete" if said.stop in INCOMPLETE else "completed"
    return {"type": "message", "id": id, "role": "assistant", "status": status, "content": [spoken]}


def as_output(item: Item) -> Item:
    """A user's message as the compact endpoint gives it back: its content a list."""
    content = item["content"]
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
    return {"type": "message", **item, "content": parts}


def usage(cached: Cached, total: int, *, said: Said) -> dict[str, Any]:
    """One count of the input; what was cached is a part of it."""
    counted: dict[str, Any] = {
        "input_tokens": total,
        "input_tokens_details": {
            "cached_tokens": min(cached.read, total),
            "cache_write_tokens": cached.written,
        },
        "output_tokens": said.tokens,
        "output_tokens_details": {"reasoning_tokens": said.tokens_thinking},
        "total_tokens": total + said.tokens,
    }
    return overridden(counted, said.usage)


def spent(cost: Spent) -> dict[str, Any]:
    """The usage of a compaction alone."""
    return {
        "input_tokens": cost.input,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": cost.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": cost.input + cost.output,
    }


def envelope(
    body: Mapping[str, Any], *, id: str, output: list[Item], usage: dict[str, Any] | None, stop: Stop
) -> dict[str, Any]:
    """A response, and what it repeats of its request."""
    reason = INCOMPLETE.get(stop)
    return {
        "id": id,
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "model": body.get("model"),
        "output": output,
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
        "store": body.get("store", True),
        "temperature": body.get("temperature", 1.0),
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p", 1.0),
        "truncation": body.get("truncation") or "disabled",
        "usage": usage,
        "metadata": body.get("metadata") or {},
    }


def response(whole: dict[str, Any], *, delivery: Delivery, stream: bool) -> Response:
    """The answer, whole or as a stream."""
    if not stream:
        return Response(body=whole, delivery=delivery)
    told = {"type": "error", "sequence_number": delivery.end_after, "error": error_of(delivery.error)}
    return Response(frames=tuple(_numbered(_events(whole))), error=frame(told, "error"), delivery=delivery)


def refused_in_stream(body: Mapping[str, Any], refusal: Refused) -> Response:
    """A refusal that arrives as an event of a stream."""
    opening = {
        **envelope(body, id="resp_refused", output=[], usage=None, stop="end"),
        "status": "in_progress",
    }
    error = {
        "type": refusal.kind,
        "code": refusal.more.get("code"),
        "message": refusal.message,
        "param": refusal.param,
    }
    begun = [_event("response.created", response=opening), _event("response.in_progress", response=opening)]
    return Response(frames=tuple(_numbered([*begun, _event("error", error=error)])))


def _event(type: str, **values: Any) -> dict[str, Any]:
    return {"type": type, **values}


def _numbered(events: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> Iterator[bytes]:
    for number, event in enumerate(events):
        yield frame({"type": event["type"], "sequence_number": number, **event}, event["type"])


def _events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    opening = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield _event("response.created", response=opening)
    yield _event("response.in_progress", response=opening)
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        yield _event("response.output_item.added", output_index=index, item=_empty(item))
        yield from _inside(item, place)
        yield _event("response.output_item.done", output_index=index, item=item)
    yield _event(f"response.{whole['status']}", response=whole)


def _empty(item: Item) -> Item:
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "function_call":
            return {**item, "status": "in_progress", "arguments": ""}
        case "reasoning":
            return {**item, "summary": []}
        case _:
            return item


def _inside(item: Item, place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    match item["type"]:
        case "message":
            yield from _spoken(item["content"][0], {**place, "content_index": 0})
        case "function_call":
            for piece in deltas(item["arguments"]):
                yield _event("response.function_call_arguments.delta", delta=piece, **place)
            done = {"arguments": item["arguments"], "name": item["name"], **place}
            yield _event("response.function_call_arguments.done", **done)
        case "reasoning":
            for part in item["summary"]:
                yield from _thought(part, {**place, "summary_index": 0})
        case "compaction":
            yield _event("response.compaction.compacting", **place)
        case _:
            return


def _spoken(part: Item, place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    key, name = ("refusal", "refusal") if part["type"] == "refusal" else ("text", "output_text")
    more: dict[str, Any] = {} if name == "refusal" else {"logprobs": []}
    yield _event("response.content_part.added", part={**part, key: ""}, **place)
    for piece in deltas(part[key]):
        yield _event(f"response.{name}.delta", delta=piece, **more, **place)
    yield _event(f"response.{name}.done", **{key: part[key]}, **more, **place)
    yield _event("response.content_part.done", part=part, **place)


def _thought(part: Item, place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield _event("response.reasoning_summary_part.added", part={**part, "text": ""}, **place)
    for piece in deltas(part["text"]):
        yield _event("response.reasoning_summary_text.delta", delta=piece, **place)
    yield _event("response.reasoning_summary_text.done", text=part["text"], **place)
    yield _event("response.reasoning_summary_part.done", part=part, **place)
