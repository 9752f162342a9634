"""The Responses dialect: `/v1/responses`, `/v1/responses/compact` and `/v1/responses/input_tokens`, as OpenAI answers them.

The server may hold the history (`previous_response_id`), compact it (at a threshold, by a trigger, at the compact endpoint) and
seal reasoning and compactions, which are checked when they come back. Sources: SDK `openai` 3.57, types/responses; the guides on
conversation state and prompt caching. What of a compacted history the model still sees is not published in full: the twin
shows it what stands behind the last compaction, and before it what the compact endpoint keeps, the user's messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from foldline.testing.judges import openai_responses as judge
from foldline.testing.judges.rule import findings
from foldline.testing.twin import openai_responses_answer as wording
from foldline.testing.twin import parameters, refused, seal
from foldline.testing.twin.answering import said
from foldline.testing.twin.cache import Piece
from foldline.testing.twin.desk import MODEL_UNKNOWN, Arrival, Desk, Response
from foldline.testing.twin.measure import Scales, digest
from foldline.testing.twin.openai_chat import accounted, check_key, check_keys, output_wanted
from foldline.testing.twin.overflow import Sizes
from foldline.testing.twin.refused import Refused
from foldline.testing.twin.script import Answer
from foldline.tokens.counter import MESSAGE_OVERHEAD

FORMAT: Final = "openai-responses"
KEYS: Final = frozenset(
    {
        "access_programs",
        "background",
        "background_options",
        "context_management",
        "conversation",
        "image",
        "include",
    }
    | {"input", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "model", "moderation"}
    | {"parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_options"}
    | {
        "client_metadata",  # Codex sends it
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "stream",
        "stream_options",
    }
    | {"temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user"}
)
COMPACT_KEYS: Final = frozenset(
    {
        "image",
        "input",
        "instructions",
        "model",
        "previous_response_id",
        "prompt_cache_key",
        "prompt_cache_options",
    }
    | {"prompt_cache_retention", "service_tier"}
)
COUNT_KEYS: Final = frozenset(
    {
        "conversation",
        "input",
        "instructions",
        "model",
        "parallel_tool_calls",
        "personality",
        "previous_response_id",
    }
    | {"reasoning", "text", "tool_choice", "tools", "truncation"}
)
ENCRYPTED: Final = "reasoning.encrypted_content"

Item = dict[str, Any]


def responses(desk: Desk, arrival: Arrival) -> Response:
    """`POST /v1/responses`."""
    body = arrival.parsed
    check_key(arrival)
    check_keys(body, KEYS, required=("model", "input"))
    parameters.check(body, parameters.Responses, words=parameters.openai)
    items = _items(desk, body)
    asked, scales = _is_trigger(items), _scales(desk, body)
    shown = shown_items(items[:-1] if asked else items)
    total = sum(piece.tokens for piece in _pieces(body, shown, scales=scales))
    desk.note(arrival.number, tokens=total)
    compacted = None
    if asked or total >= _threshold(body):
        compacted = compaction(desk, shown, keeps_users=False)
        spent = wording.Spent(total, scales.text(seal.opened(compacted["encrypted_content"])["summary"]))
        shown = [compacted]
    try:
        read, cap = _room(desk, body, shown=shown, scales=scales)
    except Refused as overflow:
        return _overflow(overflow, body)
    answer = Answer() if asked else desk.step(arrival.number)
    heard = said(answer, scales, cap=cap, id=lambda: desk.id("call_"))
    cached = accounted(desk, arrival, pieces=_pieces(body, shown, scales=scales))
    output = [] if asked else wording.output(heard, id=desk.id, encrypts=_encrypts(body))
    usage = wording.usage(cached, read, said=heard)
    if compacted is not None:
        output = [compacted, *output]
        usage = wording.spent(spent) if asked else usage
    response = wording.envelope(body, id=desk.id("resp_"), output=output, usage=usage, stop=heard.stop)
    if body.get("store", True):
        with desk.changed:
            desk.stored[response["id"]] = [*(items[:-1] if asked else items), *output]
    return wording.response(response, delivery=heard.delivery, stream=bool(body.get("stream")))


def compact(desk: Desk, arrival: Arrival) -> Response:
    """`POST /v1/responses/compact`: all user messages, then one compaction."""
    body = arrival.parsed
    check_key(arrival)
    check_keys(body, COMPACT_KEYS, required=("model",))
    parameters.check(body, parameters.Responses, words=parameters.openai)
    items, scales = _items(desk, body), _scales(desk, body)
    shown = shown_items(items)
    total = sum(piece.tokens for piece in _pieces(body, shown, scales=scales))
    desk.note(arrival.number, tokens=total)
    desk.fit(Sizes(input=total, limit=desk.window(str(body["model"]))), provider=FORMAT)
    accounted(desk, arrival, pieces=_pieces(body, shown, scales=scales))
    made = compaction(desk, shown, keeps_users=True)
    users = [item for item in shown if _is_user(item)]
    written = scales.text(seal.opened(made["encrypted_content"])["summary"])
    return Response(
        body={
            "id": desk.id("resp_"),
            "object": "response.compaction",
            "created_at": wording.CREATED,
            "output": [*map(wording.as_output, users), made],
            "usage": wording.spent(wording.Spent(total, written)),
        }
    )


def input_tokens(desk: Desk, arrival: Arrival) -> Response:
    """`POST /v1/responses/input_tokens`."""
    body = arrival.parsed
    check_key(arrival)
    check_keys(body, COUNT_KEYS, required=())
    parameters.check(body, parameters.Responses, words=parameters.openai)
    pieces = _pieces(body, shown_items(_items(desk, body)), scales=_scales(desk, body))
    total = sum(piece.tokens for piece in pieces)
    desk.note(arrival.number, tokens=total)
    return Response(body={"object": "response.input_tokens", "input_tokens": total})


def compaction(desk: Desk, items: Sequence[Item], *, keeps_users: bool) -> Item:
    """A compaction item with its sealed content."""
    summary = desk.summary(f"Summary of {len(items)} items.")
    if summary is None:
        raise Refused(500, "The compaction failed. Please try again.", kind="server_error")
    content = seal.sealed({"summary": summary, "users": keeps_users})
    return {"type": "compaction", "id": desk.id("cmp_"), "encrypted_content": content}


def shown_items(items: Sequence[Item]) -> list[Item]:
    """What the model sees: from the last compaction on, and before it what that one keeps."""
    last = max((at for at, item in enumerate(items) if item.get("type") == "compaction"), default=None)
    if last is None:
        return list(items)
    kept = (seal.opened(items[last]["encrypted_content"]) or {}).get("users")
    users = [item for item in items[:last] if _is_user(item)] if kept else []
    return [*users, *items[last:]]


def _is_user(item: Item) -> bool:
    return item.get("type", "message") == "message" and item.get("role") == "user"


def _is_trigger(items: Sequence[Item]) -> bool:
    """True for a request that ends in a trigger. Raises `Refused` where one stands elsewhere."""
    places = [at for at, item in enumerate(items) if item.get("type") == "compaction_trigger"]
    if places and places != [len(items) - 1]:
        raise Refused(400, "'compaction_trigger' must be the last input item.", param=f"input[{places[0]}]")
    return bool(places)


def _threshold(body: Mapping[str, Any]) -> float:
    managed = body.get("context_management") or []
    values = [entry.get("compact_threshold") for entry in managed if entry.get("type") == "compaction"]
    return float(values[0]) if values and values[0] is not None else float("inf")


def _items(desk: Desk, body: Mapping[str, Any]) -> list[Item]:
    """The whole conversation, the part that the server holds too, once it is known to be in order."""
    if body.get("conversation"):
        raise Refused(
            404, f"Conversation with id '{_id_of(body['conversation'])}' not found.", param="conversation"
        )
    given = body.get("input") or []
    said_now = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
    held = _held(desk, body.get("previous_response_id"))
    whole = {**body, "input": [*held, *said_now]}
    for found in findings(judge.RULES, whole, open_tail=False):
        raise refused.refusal_of(found, whole, words=refused.OPENAI_RESPONSES)
    for at, item in enumerate(said_now):
        _check(desk, item, place=f"input[{at}]")
    return [*held, *said_now]


def _id_of(given: Any) -> Any:
    return given.get("id") if isinstance(given, dict) else given


def _held(desk: Desk, name: str | None) -> list[Item]:
    if name is None:
        return []
    with desk.changed:
        held = desk.stored.get(name)
    if held is None:
        raise Refused(
            400,
            f"Previous response with id '{name}' not found.",
            param="previous_response_id",
            code="previous_response_not_found",
        )
    return held


def _check(desk: Desk, item: Item, *, place: str) -> None:
    """Raises `Refused` for sealed content that the twin did not make, and for items it does not hold."""
    kind, content, name = item.get("type"), item.get("encrypted_content"), item.get("id")
    if content is not None and seal.opened(content) is None:
        raise Refused(
            400,
            f"The encrypted content {content[:4]}...{content[-4:]} could not be verified.",
            code="invalid_encrypted_content",
        )
    refers = kind == "item_reference" or (kind == "reasoning" and content is None and name is not None)
    if not refers:
        return
    with desk.changed:
        held = any(name == stored.get("id") for items in desk.stored.values() for stored in items)
    if not held:
        why = "Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item"
        raise Refused(404, f"Item with id '{name}' not found. {why} from your input.", param="input")


def _encrypts(body: Mapping[str, Any]) -> bool:
    return ENCRYPTED in (body.get("include") or []) or not body.get("store", True)


def _scales(desk: Desk, body: Mapping[str, Any]) -> Scales:
    return desk.scales(FORMAT, str(body.get("model") or MODEL_UNKNOWN))


def _pieces(body: Mapping[str, Any], items: Sequence[Item], *, scales: Scales) -> list[Piece]:
    pieces = [Piece(digest(body["tools"]), scales.tools(body["tools"]))] if body.get("tools") else []
    if body.get("instructions"):
        pieces.append(Piece(digest(body["instructions"]), scales.system(dict(body))))
    return pieces + [_piece(item, scales) for item in items]


def _piece(item: Item, scales: Scales) -> Piece:
    """Of a compaction the model sees its summary, not what it is sealed in."""
    if item.get("type") != "compaction":
        return scales.pieces([item])[0]
    summary = (seal.opened(item["encrypted_content"]) or {}).get("summary", "")
    return Piece(digest(item), scales.text(summary) + MESSAGE_OVERHEAD)


def _room(desk: Desk, body: Mapping[str, Any], *, shown: list[Item], scales: Scales) -> tuple[int, int]:
    """Tokens of the input that are read, and of output that there may be. Raises `Refused`."""
    wanted, limit = output_wanted(desk, body, keys=("max_output_tokens",)), desk.window(str(body["model"]))

    def total() -> int:
        return sum(piece.tokens for piece in _pieces(body, shown, scales=scales))

    if body.get("truncation") == "auto":
        _shorten(shown, lambda: total() > limit)
    sizes = Sizes(input=total(), tools=scales.tools(body.get("tools")), output=wanted or 0, limit=limit)
    read = desk.fit(sizes, provider=FORMAT)
    return read, wanted if wanted is not None else limit


def _shorten(shown: list[Item], is_over: Callable[[], bool]) -> None:
    """`truncation: auto`: the oldest items go until the rest fits; the last one stays."""
    while len(shown) > 1 and is_over():
        gone = shown.pop(0)
        if gone.get("call_id") is not None:
            shown[:] = [item for item in shown if item.get("call_id") != gone["call_id"]]


def _overflow(overflow: Refused, body: Mapping[str, Any]) -> Response:
    """In a stream an overflow arrives as an event of an answer that has begun with status 200 (oh-my-openagent#96)."""
    if not body.get("stream") or overflow.body is not None or overflow.param != "input":
        raise overflow
    return wording.refused_in_stream(body, overflow)
