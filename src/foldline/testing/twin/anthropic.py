"""The Messages dialect: `/v1/messages` and `/v1/messages/count_tokens`, as Anthropic answers them.

A request goes the way it goes there: key and version, JSON, parameters and the betas they need, the rules of a history
(`foldline.testing.judges.anthropic`), signatures of thinking and of compactions, the server's own edits, the window, the
script, the cache. Sources: SDK `anthropic` 2.14; the provider's pages on errors, caching, thinking and compaction. Edits and
compaction are in `anthropic_edits`, the spelling of answers in `anthropic_answer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from foldline.testing.judges import anthropic as judge
from foldline.testing.judges.rule import findings
from foldline.testing.twin import anthropic_answer as wording
from foldline.testing.twin import anthropic_edits as edits
from foldline.testing.twin import anthropic_threads as threads
from foldline.testing.twin import parameters, refused, seal
from foldline.testing.twin.answering import said
from foldline.testing.twin.cache import Cached, Piece
from foldline.testing.twin.desk import MODEL_UNKNOWN, Arrival, Desk, Response
from foldline.testing.twin.measure import MARK, Scales, digest
from foldline.testing.twin.overflow import Sizes
from foldline.testing.twin.refused import Refused
from foldline.testing.twin.script import Answer
from foldline.wire import native

FORMAT: Final = "anthropic"
BINDING_BETA: Final = "thinking-binding-controls-2026-08-01"
WINDOW_BETA: Final = "model-context-window-exceeded-2025-08-26"
KEYS: Final = frozenset(
    {
        "cache_control",
        "container",
        "diagnostics",
        "inference_geo",
        "max_tokens",
        "messages",
        "metadata",
        "model",
    }
    | {
        "output_config",
        "service_tier",
        "speed",
        "stop_sequences",
        "stream",
        "system",
        "thinking",
        "tool_choice",
    }
    | {"tools", "user_profile_id", "workspace_id"}
)
"""Parameters that every request may have."""
LEGACY_KEYS: Final = frozenset({"temperature", "top_k", "top_p"})
"""No longer in the SDK's types; older clients send them."""
BETA_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "context_management": (native.CLEARING_BETA, native.THRESHOLD_BETA),
    "compaction": (edits.ON_DEMAND_BETA,),
    "billing_policy": (),
    "fallback_credit_token": (),
    "fallbacks": (),
    "mcp_servers": (),
    "thread": (threads.BETA,),
}
"""Parameters that need one of these betas; an empty row: any beta at all."""


class Prompt(NamedTuple):
    """A request as the model sees it."""

    messages: list[dict[str, Any]]
    edited: edits.Edited
    transformations: list[dict[str, Any]]
    """What became of thinking that was made in another conversation."""


def messages(desk: Desk, arrival: Arrival) -> Response:
    """`POST /v1/messages`."""
    _check_key(arrival)
    _check_parameters(arrival.parsed, betas=betas_of(arrival))
    arrival = threads.resolved(desk, arrival)
    body = arrival.parsed
    prompt, scales = _prompt(desk, arrival)
    model = str(body["model"])
    if edits.is_on_demand(body):
        return _compaction(desk, arrival, prompt=prompt, scales=scales)
    pieces = pieces_of(body, prompt.messages, scales=scales)
    room = _room(desk, arrival, pieces=pieces)
    answer = Answer(stop="pause") if prompt.edited.pauses else desk.step(arrival.number)
    heard = said(answer, scales, cap=room.cap, id=lambda: desk.id("toolu_"))
    if heard.stop == "length" and room.is_window:
        heard = wording.stopped_by_window(heard)
    cached = _accounted(desk, arrival, pieces=pieces)
    message = wording.message(
        heard,
        id=desk.id("msg_"),
        model=model,
        seal=lambda content: seal.signature(content, before=before(body, len(body["messages"]))),
    )
    message["usage"] = wording.usage(cached, total=room.tokens, said=heard, edited=prompt.edited)
    if prompt.edited.block is not None:
        message["content"].insert(0, prompt.edited.block)
    if prompt.edited.pauses:
        message["stop_reason"] = "compaction"
    if prompt.edited.applied is not None:
        message["context_management"] = {"applied_edits": prompt.edited.applied}
    if BINDING_BETA in betas_of(arrival):
        message["input_transformations"] = prompt.transformations
    threads.hold(desk, body, reply=message)
    return wording.response(message, delivery=heard.delivery, stream=bool(body.get("stream")))


def count_tokens(desk: Desk, arrival: Arrival) -> Response:
    """`POST /v1/messages/count_tokens`."""
    body = arrival.parsed
    _check_key(arrival)
    _check_parameters(body, betas=betas_of(arrival), counting=True)
    prompt, scales = _prompt(desk, arrival, counting=True)
    total = sum(piece.tokens for piece in pieces_of(body, prompt.messages, scales=scales))
    desk.note(arrival.number, tokens=total)
    answer: dict[str, Any] = {"input_tokens": total}
    if prompt.edited.applied is not None:
        answer["context_management"] = {"original_input_tokens": prompt.edited.tokens_before}
    return Response(body=answer)


def error_body(refusal: Refused) -> dict[str, Any]:
    """An error in this dialect."""
    kind = refusal.kind or wording.KINDS.get(refusal.status, "api_error")
    error: dict[str, Any] = {"type": kind, "message": refusal.message, **refusal.more}
    if refusal.code is not None:
        error["details"] = {"error_code": refusal.code}
    return {"type": "error", "error": error, "request_id": "req_twin"}


def betas_of(arrival: Arrival) -> frozenset[str]:
    """The betas that a request asks for."""
    return frozenset(
        name.strip() for name in arrival.headers.get("anthropic-beta", "").split(",") if name.strip()
    )


def before(body: Mapping[str, Any], count: int) -> str:
    """The name of the conversation in front of message `count`: system prompt, tools, and what was said."""
    told = [digest(edits.opened(message)).hex() for message in body["messages"][:count]]
    return seal.digest_of(
        [digest(body.get("system") or "").hex(), digest(body.get("tools") or []).hex(), told]
    )


def pieces_of(body: Mapping[str, Any], wires: Sequence[dict[str, Any]], *, scales: Scales) -> list[Piece]:
    """What the prompt cache sees: tools, system, what invalidates messages alone, then every block."""
    tools = body.get("tools") or []
    pieces = [Piece(digest(tools), scales.tools(tools), _mark(*tools))] if tools else []
    system = body.get("system")
    if system:
        tokens = scales.system(dict(body))
        marks = _mark(*system) if isinstance(system, list) else None
        pieces.append(Piece(digest(edits.blocks(system)), tokens, marks))
    pieces.append(Piece(digest([body.get("thinking"), body.get("tool_choice")]), 0))
    for wire in wires:
        weight = edits.weigh(wire, scales)
        for at, block in enumerate(edits.blocks(wire["content"])):
            tokens = weight.parts.get(at, 0) + (weight.overhead if at == 0 else 0)
            inner = block.get("content")
            marked = [block, *inner] if isinstance(inner, list) else [block]
            pieces.append(Piece(digest([wire["role"], block]), tokens, _mark(*marked)))
    if body.get(MARK) and pieces:
        pieces[-1] = pieces[-1]._replace(mark=str(body[MARK].get("ttl", "5m")))
    return pieces


def _mark(*values: Any) -> str | None:
    marks = [value[MARK] for value in values if isinstance(value, dict) and isinstance(value.get(MARK), dict)]
    return str(marks[-1].get("ttl", "5m")) if marks else None


def _check_key(arrival: Arrival) -> None:
    if not arrival.headers.get("x-api-key") and not arrival.headers.get("authorization"):
        raise Refused(401, "x-api-key header is required")
    if not arrival.headers.get("anthropic-version"):
        raise Refused(400, "anthropic-version: header is required")


def _check_parameters(body: Mapping[str, Any], *, betas: frozenset[str], counting: bool = False) -> None:
    for key in ("model", "messages") if counting else ("model", "messages", "max_tokens"):
        if key not in body:
            raise Refused(400, f"{key}: Field required")
    for key in body:
        wanted = BETA_KEYS.get(key)
        known = key in KEYS | LEGACY_KEYS or (
            wanted is not None and (betas & set(wanted) or (not wanted and betas))
        )
        if not known:
            raise Refused(400, f"{key}: Extra inputs are not permitted")
    parameters.check(body, parameters.Messages, words=parameters.anthropic)
    if not counting:
        _check_output(body)


def _check_output(body: Mapping[str, Any]) -> None:
    cap, thinking = body["max_tokens"], body.get("thinking") or {}
    if cap < 0:
        raise Refused(400, "max_tokens: Input should be greater than or equal to 0")
    if thinking.get("type") != "enabled":
        return
    thought = thinking.get("budget_tokens")
    if thought is None or thought < 1_024:
        raise Refused(400, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if thought >= cap:
        raise Refused(400, "`max_tokens` must be greater than `thinking.budget_tokens`")


def _prompt(desk: Desk, arrival: Arrival, *, counting: bool = False) -> tuple[Prompt, Scales]:
    """The request as the model would see it, once it is known to be in order."""
    body = arrival.parsed
    for found in findings(judge.RULES, body, open_tail=False):
        raise refused.refusal_of(found, body, words=refused.ANTHROPIC)
    edits.check(body, betas=betas_of(arrival))
    kept, changes = _thinking(desk, arrival)
    scales = desk.scales(FORMAT, str(body.get("model") or MODEL_UNKNOWN))
    weigh = edits.Weighing(scales, fixed=scales.system(body) + scales.tools(body.get("tools")))
    edited = edits.edit(body, kept, weigh=weigh, summarise=None if counting else desk.summary)
    return Prompt(edited.messages, edited, changes), scales


def _thinking(desk: Desk, arrival: Arrival) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages with the thinking that may be shown, and what became of the rest. Raises `Refused`."""
    body, changes = arrival.parsed, list[dict[str, Any]]()
    drop = _drops(body) and BINDING_BETA in betas_of(arrival)
    kept = []
    last = max((at for at, wire in enumerate(body["messages"]) if wire["role"] == "assistant"), default=-1)
    for at, wire in enumerate(body["messages"]):
        gone = []
        for index, block in enumerate(edits.blocks(wire["content"])):
            place = f"messages.{at}.content.{index}"
            where = before(body, at) if desk.settings.binds_thinking and block["type"] in _SIGNED else None
            match _verdict(block, where):
                case "moved" if drop:
                    gone.append(index)
                    changes.append(
                        {"type": "thinking_dropped", "path": place, "reason": "prefix_binding_mismatch"}
                    )
                case "moved":
                    raise Refused(400, f"{place}: {_MOVED}")
                case "altered" if at == last:
                    raise Refused(400, f"{place}: {_ALTERED}")
                case "altered" | "foreign":
                    raise Refused(400, f"{place}: Invalid `signature` in `{block['type']}` block")
                case "good":
                    pass
        kept.append(edits.without(wire, gone) if gone else wire)
    return [wire for wire in kept if wire["content"]], changes


_SIGNED: Final = ("thinking", "redacted_thinking")
_MOVED: Final = (
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That setting requires the '
    f"`{BINDING_BETA}` value in the `anthropic-beta` header."
)
_ALTERED: Final = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain "
    "as they were in the original response."
)


def _verdict(block: Mapping[str, Any], where: str | None) -> seal.Verdict:
    match block["type"]:
        case "thinking":
            return seal.verdict(block["signature"], content=block["thinking"], before=where)
        case "redacted_thinking":
            return seal.verdict(block["data"], content="", before=where)
        case _:
            return "good"


def _drops(body: Mapping[str, Any]) -> bool:
    binding = (body.get("thinking") or {}).get("block_binding") or {}
    return bool(binding.get("prefix_mismatch_behavior") == "drop_block")


class Room(NamedTuple):
    """What a request may still take."""

    tokens: int
    """Of its input, as it is read."""
    cap: int
    """Of output."""
    is_window: bool
    """True where it is the window that ends the output, not the request's own cap."""


def _room(desk: Desk, arrival: Arrival, *, pieces: Sequence[Piece]) -> Room:
    """Raises `Refused` for what does not fit."""
    body, name = arrival.parsed, str(arrival.parsed["model"])
    total, wanted, limit = sum(piece.tokens for piece in pieces), int(body["max_tokens"]), desk.window(name)
    desk.note(arrival.number, tokens=total)
    most = desk.settings.output_max or desk.model(name).max_output
    if most is not None and wanted > most:
        raise Refused(
            400,
            f"max_tokens: {wanted} > {most}, which is the maximum allowed number of output tokens for {name}",
        )
    lenient = WINDOW_BETA in betas_of(arrival)
    read = desk.fit(Sizes(input=total, output=0 if lenient else wanted, limit=limit), provider=FORMAT)
    return Room(read, min(wanted, max(limit - read, 0)), lenient and limit - read < wanted)


def _accounted(desk: Desk, arrival: Arrival, *, pieces: Sequence[Piece]) -> Cached:
    root = digest([FORMAT, arrival.parsed["model"]])
    with desk.changed:
        cached = desk.cache.marked(pieces, root=root, number=arrival.number)
    return desk.note_cached(arrival.number, cached)


def _compaction(desk: Desk, arrival: Arrival, *, prompt: Prompt, scales: Scales) -> Response:
    """The answer to a compaction request: the block alone."""
    body = arrival.parsed
    pieces = pieces_of(body, prompt.messages, scales=scales)
    room = _room(desk, arrival, pieces=pieces)
    text = desk.summary(edits.default_summary(prompt.messages))
    cached = _accounted(desk, arrival, pieces=pieces)
    heard = said(Answer(text=text or "", stop="end"), scales, cap=None, id=lambda: "")
    message = wording.message(heard, id=desk.id("msg_"), model=str(body["model"]), seal=lambda _: "")
    message["content"] = [edits.block_of(text)]
    message["stop_reason"] = "compaction"
    spent = wording.usage(cached, total=room.tokens, said=heard, edited=prompt.edited)
    message["usage"] = {**spent, "iterations": [{"type": "compaction", **wording.counts(spent)}]}
    threads.hold(desk, body, reply=message)
    return wording.response(message, delivery=heard.delivery, stream=bool(body.get("stream")))
