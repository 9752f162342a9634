"""The Gemini dialect: `…/models/MODEL:generateContent`, `:streamGenerateContent` and `:countTokens`, as Google answers them.

The model stands in the path. Thinking is a part with `thought`, its signature stands on the first call or the text, and Gemini 3
refuses a call of the open turn that came back without it. Sources: SDK `google-genai` 3.6, types.py; the pages on thought
signatures and context caching; errors as public reports quote them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from foldline.testing.judges import gemini as judge
from foldline.testing.judges.rule import findings
from foldline.testing.twin import parameters, refused, seal
from foldline.testing.twin.answering import Said, arguments_value, deltas, frame, overridden, said
from foldline.testing.twin.cache import Cached, Piece
from foldline.testing.twin.desk import MODEL_UNKNOWN, Arrival, Desk, Response
from foldline.testing.twin.measure import Scales, compact, digest
from foldline.testing.twin.overflow import Sizes
from foldline.testing.twin.refused import Refused
from foldline.testing.twin.script import Stop

FORMAT: Final = "gemini"
KEYS: Final = frozenset(
    {
        "contents",
        "systemInstruction",
        "system_instruction",
        "tools",
        "toolConfig",
        "safetySettings",
        "generationConfig",
    }
    | {"cachedContent", "labels", "model", "serviceTier", "store", "generateContentRequest"}
)
STATUSES: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
MESSAGES: Final[Mapping[int, str]] = {
    429: "You exceeded your current quota, please check your plan and billing details.",
    500: "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
    503: "The model is overloaded. Please try again later.",
}
STOPS: Final[Mapping[Stop, str]] = {
    "end": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "window": "MAX_TOKENS",
    "refusal": "SAFETY",
    "filter": "PROHIBITED_CONTENT",
    "pause": "STOP",
    "stop_sequence": "STOP",
}
SKIPPED: Final = frozenset({"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"})
"""Signatures that the page on thought signatures names for calls that have none."""


def generate(desk: Desk, arrival: Arrival) -> Response:
    """`POST …:generateContent` and `POST …:streamGenerateContent`."""
    body, name = arrival.parsed, model_of(arrival.path)
    _check(arrival)
    scales = desk.scales(FORMAT, name)
    pieces = _pieces(body, scales)
    total, limit = sum(piece.tokens for piece in pieces), desk.window(name)
    desk.note(arrival.number, tokens=total)
    cap = _cap(desk, body, name=name)
    read = desk.fit(Sizes(input=total, limit=limit), provider=FORMAT)
    heard = said(desk.step(arrival.number), scales, cap=cap, id=lambda: desk.id("call_"))
    with desk.changed:
        root = digest([FORMAT, name])
        cached = desk.cache.automatic(pieces, root=root, number=arrival.number, step=1)
    desk.note_cached(arrival.number, cached)
    usage = _usage(cached, read, said=heard)
    chunks = list(_chunks(heard, usage=usage, name=name, id=desk.id("resp_"), signs=_signs(name, heard)))
    return _response(arrival, chunks, said=heard)


def count_tokens(desk: Desk, arrival: Arrival) -> Response:
    """`POST …:countTokens`."""
    body = arrival.parsed.get("generateContentRequest") or arrival.parsed
    _check(arrival)
    total = sum(piece.tokens for piece in _pieces(body, desk.scales(FORMAT, model_of(arrival.path))))
    desk.note(arrival.number, tokens=total)
    return Response(body={"totalTokens": total})


def error_body(refusal: Refused) -> dict[str, Any]:
    """An error in this dialect."""
    status = refusal.kind if refusal.kind.isupper() else STATUSES.get(refusal.status, "UNKNOWN")
    return {"error": {"code": refusal.status, "message": refusal.message, "status": status, **refusal.more}}


def model_of(path: str) -> str:
    """The model that a path names."""
    return path.rpartition("/")[2].partition(":")[0] or MODEL_UNKNOWN


def _check(arrival: Arrival) -> None:
    """Raises `Refused` for a request that is not in order."""
    if (
        not arrival.headers.get("x-goog-api-key")
        and not arrival.headers.get("authorization")
        and "key=" not in arrival.query
    ):
        why = "Method doesn't allow unregistered callers (callers without established identity)."
        raise Refused(
            403, why + " Please use API Key or other form of API consumer identity to call this API."
        )
    for key in arrival.parsed:
        if key not in KEYS:
            raise Refused(400, f'Invalid JSON payload received. Unknown name "{key}": Cannot find field.')
    body = arrival.parsed.get("generateContentRequest") or arrival.parsed
    parameters.check(body, parameters.Contents, words=parameters.gemini)
    for found in findings(judge.RULES, body, open_tail=False):
        raise refused.refusal_of(found, body, words=refused.GEMINI)
    _check_signatures(body, strict=model_of(arrival.path).startswith("gemini-3"))


def _check_signatures(body: Mapping[str, Any], *, strict: bool) -> None:
    """Raises `Refused` for a signature that is not as it was given out; `strict` wants one on each step of the open turn."""
    contents = body["contents"]
    words = [
        at for at, content in enumerate(contents) if _role(content) == "user" and not _responses(content)
    ]
    opened = max(words, default=-1)
    for at, content in enumerate(contents):
        for part in content["parts"]:
            given = _of(part, "thoughtSignature")
            if given is not None and given not in SKIPPED and seal.opened(given) is None:
                raise Refused(400, "Unable to submit request because Thought signature is not valid.")
        calls = [(place, part) for place, part in enumerate(content["parts"]) if _of(part, "functionCall")]
        if strict and at > opened and calls and _of(calls[0][1], "thoughtSignature") is None:
            name = _of(calls[0][1], "functionCall")["name"]
            raise Refused(
                400,
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
                f"correctly, and missing thought_signature may lead to degraded model performance. Additional data, function "
                f"call `default_api:{name}` , position {at + 1}. Please refer to "
                "https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
            )


def _role(content: Mapping[str, Any]) -> str:
    return str(content.get("role") or "user")


def _responses(content: Mapping[str, Any]) -> bool:
    return any(_of(part, "functionResponse") for part in content["parts"])


def _of(part: Mapping[str, Any], key: str) -> Any:
    """A part's value, in either spelling."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
    return part.get(key, part.get(snake))


def _pieces(body: Mapping[str, Any], scales: Scales) -> list[Piece]:
    pieces = [Piece(digest(body["tools"]), scales.tools(body["tools"]))] if body.get("tools") else []
    system = _of(body, "systemInstruction")
    if system:
        pieces.append(Piece(digest(system), scales.system({"systemInstruction": system})))
    return pieces + scales.pieces(body["contents"])


def _cap(desk: Desk, body: Mapping[str, Any], *, name: str) -> int | None:
    wanted = _of(body.get("generationConfig") or {}, "maxOutputTokens")
    most = desk.settings.output_max or desk.model(name).max_output
    if wanted is not None and most is not None and not 0 < wanted <= most:
        raise Refused(
            400,
            f"Unable to submit request because it has a maxOutputTokens value of {wanted} but the supported range is from 1 "
            f"(inclusive) to {most + 1} (exclusive). Update the value and try again.",
        )
    return wanted if wanted is not None else most


def _signs(name: str, said: Said) -> bool:
    return bool(said.thinking) or (name.startswith("gemini-3") and bool(said.calls))


def _usage(cached: Cached, total: int, *, said: Said) -> dict[str, Any]:
    """Thoughts are output beside the candidates; what was cached is a part of the prompt."""
    spoken = max(said.tokens - said.tokens_thinking, 0)
    counted: dict[str, Any] = {"promptTokenCount": total, "candidatesTokenCount": spoken}
    counted["totalTokenCount"] = total + spoken + said.tokens_thinking
    if cached.read:
        counted["cachedContentTokenCount"] = min(cached.read, total)
    if said.tokens_thinking:
        counted["thoughtsTokenCount"] = said.tokens_thinking
    return overridden(counted, said.usage)


def _chunks(
    said: Said, *, usage: dict[str, Any], name: str, id: str, signs: bool
) -> Iterator[dict[str, Any]]:
    """The answer in pieces, each a response of its own."""
    envelope = {"usageMetadata": usage, "modelVersion": name, "responseId": id}
    if said.stop == "filter":
        yield {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **envelope}
        return
    pieces = list(_parts(said, signs=signs))
    for at, parts in enumerate(pieces):
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if at == len(pieces) - 1:
            candidate["finishReason"] = STOPS[said.stop]
        yield {"candidates": [candidate], **envelope}


def _parts(said: Said, *, signs: bool) -> Iterator[list[dict[str, Any]]]:
    mark = {"thoughtSignature": seal.sealed({"thought": said.thinking})} if signs else {}
    if said.thinking and not said.redacted:
        yield from ([{"text": piece, "thought": True}] for piece in deltas(said.thinking))
    yield from ([{"text": piece}] for piece in deltas(said.text))
    calls: list[dict[str, Any]] = [
        {"functionCall": {"id": call.id, "name": call.name, "args": arguments_value(call)}}
        for call in said.calls
    ]
    if calls:
        calls[0] |= mark
        yield calls
        yield from ([{"text": piece}] for piece in deltas(said.behind))
    elif mark or not said.text:
        yield [{"text": "", **mark}]


def _response(arrival: Arrival, chunks: Sequence[dict[str, Any]], *, said: Said) -> Response:
    if ":stream" not in arrival.path:
        return Response(body=_whole(chunks), delivery=said.delivery)
    error = said.delivery.error
    message = error.message or MESSAGES.get(error.status, "Error")
    told = {
        "error": {"code": error.status, "message": message, "status": STATUSES.get(error.status, "UNKNOWN")}
    }
    if "alt=sse" in arrival.query:
        frames = tuple(map(frame, chunks))
        return Response(frames=frames, error=frame(told), delivery=said.delivery)
    parted = [b"[", *([b",\r\n"] * (len(chunks) - 1))]
    frames = tuple(head + compact(chunk).encode() for head, chunk in zip(parted, chunks, strict=True))
    end = (*frames[:-1], frames[-1] + b"]")
    cut = b"," + compact(told).encode() + b"]"
    kind = "application/json; charset=UTF-8"
    return Response(frames=end, kind=kind, ping=b"", error=cut, delivery=said.delivery)


def _whole(chunks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One response with the texts of all chunks joined."""
    if "candidates" not in chunks[-1]:
        return dict(chunks[-1])
    parts: list[dict[str, Any]] = []
    for part in (part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]):
        last = parts[-1] if parts else {}
        joins = "text" in part and "text" in last and part.get("thought") == last.get("thought")
        if joins:
            parts[-1] = {**last, **part, "text": last["text"] + part["text"]}
        else:
            parts.append(dict(part))
    candidate = {**chunks[-1]["candidates"][0], "content": {"role": "model", "parts": parts}}
    return {**chunks[-1], "candidates": [candidate]}
