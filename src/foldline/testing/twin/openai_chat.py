"""The Chat Completions dialect: `/v1/chat/completions`, as OpenAI and the servers compatible with it answer it.

A request goes the way it goes there: key, JSON, parameters, the rules of a history (`foldline.testing.judges.openai_chat`), the
window in the words of the twin's `provider`, the script, the cache. Reasoning is sent as `reasoning_content`, as DeepSeek and
others do; OpenAI's own models show none here. Sources: SDK `openai` 3.57, types/chat; the guide on prompt caching.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from foldline.testing.judges import openai_chat as judge
from foldline.testing.judges.rule import findings
from foldline.testing.twin import parameters, refused
from foldline.testing.twin.answering import Said, arguments, deltas, frame, overridden, said
from foldline.testing.twin.cache import OPENAI_STEP, Cached, Piece
from foldline.testing.twin.desk import Arrival, Desk, Response
from foldline.testing.twin.measure import digest
from foldline.testing.twin.overflow import Sizes
from foldline.testing.twin.refused import Refused
from foldline.testing.twin.script import Delivery, Fault, Stop

FORMAT: Final = "openai-chat"
KEYS: Final = frozenset(
    {
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
    }
    | {"max_tokens", "messages", "metadata", "modalities", "model", "moderation", "n", "parallel_tool_calls"}
    | {"prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"}
    | {
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
    }
    | {"stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity"}
    | {"web_search_options"}
)
KINDS: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    404: "invalid_request_error",
    413: "invalid_request_error",
    429: "requests",
    500: "server_error",
    503: "server_error",
}
MESSAGES: Final[Mapping[int, str]] = {
    429: "Rate limit reached for requests. Please try again later.",
    500: "The server had an error while processing your request. Sorry about that!",
    503: "The server is currently overloaded with other requests. Sorry about that! Please retry your request.",
}
CODES: Final[Mapping[int, str]] = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
STOPS: Final[Mapping[Stop, str]] = {
    "end": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "refusal": "stop",
    "filter": "content_filter",
    "pause": "stop",
    "stop_sequence": "stop",
    "window": "length",
}
CREATED: Final = 1_700_000_000
"""The time that every answer gives: the same script, the same bytes."""


def completions(desk: Desk, arrival: Arrival) -> Response:
    """`POST /v1/chat/completions`."""
    body = arrival.parsed
    check_key(arrival)
    check_keys(body, KEYS, required=("model", "messages"))
    parameters.check(body, parameters.Chat, words=parameters.openai)
    for found in findings(judge.RULES, body, open_tail=False):
        raise refused.refusal_of(found, body, words=refused.OPENAI_CHAT)
    name = str(body["model"])
    scales = desk.scales(FORMAT, name)
    tools = scales.tools(body.get("tools"))
    pieces = [Piece(digest(body["tools"]), tools)] if body.get("tools") else []
    pieces += scales.pieces(body["messages"])
    total = sum(piece.tokens for piece in pieces)
    desk.note(arrival.number, tokens=total)
    wanted, limit = output_wanted(desk, body, keys=("max_completion_tokens", "max_tokens")), desk.window(name)
    sizes = Sizes(input=total, tools=tools, output=wanted or 0, limit=limit)
    read = desk.fit(sizes, provider="openai")
    heard = said(
        desk.step(arrival.number), scales, cap=min(wanted or limit, limit - read), id=lambda: desk.id("call_")
    )
    cached = accounted(desk, arrival, pieces=pieces)
    return _response(body, heard, id=desk.id("chatcmpl-"), usage=_usage(cached, read, said=heard))


def error_body(refusal: Refused) -> dict[str, Any]:
    """An error in this dialect."""
    error = {
        "message": refusal.message,
        "type": refusal.kind or KINDS.get(refusal.status, "api_error"),
        "param": refusal.param,
        "code": refusal.code if refusal.code is not None else CODES.get(refusal.status),
    }
    return {"error": {**error, **refusal.more}}


def check_key(arrival: Arrival) -> None:
    """Raises `Refused` for a request without a key."""
    if not arrival.headers.get("authorization") and not arrival.headers.get("api-key"):
        raise Refused(401, "You didn't provide an API key.", code="invalid_api_key")


def check_keys(body: Mapping[str, Any], known: frozenset[str], *, required: Sequence[str]) -> None:
    """Raises `Refused` for parameters that are missing or unknown."""
    for key in required:
        if body.get(key) is None:
            raise Refused(
                400, f"Missing required parameter: '{key}'.", param=key, code="missing_required_parameter"
            )
    for key in body:
        if key not in known:
            raise Refused(400, f"Unknown parameter: '{key}'.", param=key, code="unknown_parameter")


def output_wanted(desk: Desk, body: Mapping[str, Any], *, keys: Sequence[str]) -> int | None:
    """Tokens of output that a request wants; `None` where it says nothing. Raises `Refused` beyond the model's own cap."""
    key = next((key for key in keys if body.get(key) is not None), None)
    if key is None:
        return None
    wanted = int(body[key])
    most = desk.settings.output_max or desk.model(str(body["model"])).max_output
    if most is not None and wanted > most:
        why = f"This model supports at most {most} completion tokens, whereas you provided {wanted}."
        raise Refused(400, f"{key} is too large: {wanted}. {why}", param=key, code="invalid_value")
    return wanted


def accounted(desk: Desk, arrival: Arrival, *, pieces: Sequence[Piece]) -> Cached:
    """What the cache makes of a request; a key of the client's own is a cache of its own."""
    body = arrival.parsed
    root = digest([arrival.dialect, body.get("model"), body.get("prompt_cache_key")])
    with desk.changed:
        cached = desk.cache.automatic(pieces, root=root, number=arrival.number, step=OPENAI_STEP)
    return desk.note_cached(arrival.number, cached)


def error_of(fault: Fault) -> dict[str, Any]:
    """The error of a fault, as it stands in a body and in a stream."""
    return {
        "message": fault.message or MESSAGES.get(fault.status, "The server had an error."),
        "type": fault.kind or KINDS.get(fault.status, "server_error"),
        "param": None,
        "code": fault.code if fault.code is not None else CODES.get(fault.status),
    }


def _usage(cached: Cached, total: int, *, said: Said) -> dict[str, Any]:
    """One count of the input; what was cached is a part of it."""
    counted: dict[str, Any] = {
        "prompt_tokens": total,
        "completion_tokens": said.tokens,
        "total_tokens": total + said.tokens,
        "prompt_tokens_details": {"cached_tokens": min(cached.read, total), "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": said.tokens_thinking},
    }
    return overridden(counted, said.usage)


def _message(said: Said) -> dict[str, Any]:
    refuses = said.stop == "refusal"
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refuses else (said.text + said.behind or None),
        "refusal": said.text if refuses else None,
    }
    if said.thinking and not said.redacted:
        message["reasoning_content"] = said.thinking
    if said.calls:
        message["tool_calls"] = [_call(at, said) for at in range(len(said.calls))]
    return message


def _call(at: int, said: Said) -> dict[str, Any]:
    call = said.calls[at]
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments(call)}}


def _response(body: Mapping[str, Any], said: Said, *, id: str, usage: dict[str, Any]) -> Response:
    envelope = {"id": id, "created": CREATED, "model": body["model"], "service_tier": "default"}
    if not body.get("stream"):
        choice = {"index": 0, "message": _message(said), "logprobs": None, "finish_reason": STOPS[said.stop]}
        whole = {**envelope, "object": "chat.completion", "choices": [choice], "usage": usage}
        return Response(body=whole, delivery=said.delivery)
    wants_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    chunks = _chunks(
        {**envelope, "object": "chat.completion.chunk"}, said, usage=usage if wants_usage else None
    )
    return Response(
        frames=(*map(frame, chunks), frame("[DONE]")),
        error=_error_frame(said.delivery),
        delivery=said.delivery,
    )


def _error_frame(delivery: Delivery) -> bytes:
    return frame({"error": error_of(delivery.error)})


def _chunks(
    envelope: dict[str, Any], said: Said, *, usage: dict[str, Any] | None
) -> Iterator[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**envelope, "choices": [choice], **({"usage": None} if usage is not None else {})}

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    if said.thinking and not said.redacted:
        yield from (chunk({"reasoning_content": piece}) for piece in deltas(said.thinking))
    key = "refusal" if said.stop == "refusal" else "content"
    yield from (chunk({key: piece}) for piece in deltas(said.text))
    for at in range(len(said.calls)):
        call = _call(at, said)
        opening = {**call, "index": at, "function": {**call["function"], "arguments": ""}}
        yield chunk({"tool_calls": [opening]})
        for piece in deltas(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    yield from (chunk({"content": piece}) for piece in deltas(said.behind))
    yield chunk({}, STOPS[said.stop])
    if usage is not None:
        yield {**envelope, "choices": [], "usage": usage}
