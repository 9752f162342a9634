"""What Anthropic's own service does to a history: context editing, compaction at a threshold, compaction on demand.

The client's messages stay as they are; what is told here is what the model sees of them. A compaction block is signed and comes
back; it is checked before anything else. Sources: SDK types/beta/beta_clear_*, beta_compact_*, beta_compaction_*; the error
codes of types/compaction_*_error_details.py; defaults from the page on context editing. The text of a cleared result is not
published, so the twin has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from foldline.testing.twin import parameters, seal
from foldline.testing.twin.measure import Scales, Weight
from foldline.testing.twin.refused import Refused
from foldline.wire.native import THRESHOLD_BETA

ON_DEMAND_BETA: Final = "compact-2026-09-04"
CLEAR_TOOLS: Final = "clear_tool_uses_20250919"
CLEAR_THINKING: Final = "clear_thinking_20251015"
COMPACT: Final = "compact_20260112"
CLEAR_TRIGGER_TOKENS: Final = 100_000
CLEAR_KEEP: Final = 3
COMPACT_TRIGGER_TOKENS: Final = 150_000
CLEARED: Final = "[cleared to save context]"

Wire = dict[str, Any]


class Edited(Struct, frozen=True, kw_only=True):
    """A history after the server's edits."""

    messages: list[Wire]
    applied: list[Wire] | None = None
    """`applied_edits` of the response; `None` where the request asked for no edits."""
    tokens_before: int = 0
    block: Wire | None = None
    """A compaction that was made at its threshold."""
    spent: tuple[int, int] | None = None
    """Input and output tokens of making it."""
    pauses: bool = False


class Weighing:
    """Tokens of whole requests while they are being edited."""

    def __init__(self, scales: Scales, *, fixed: int) -> None:
        self.scales, self.fixed = scales, fixed

    def total(self, wires: Sequence[Wire]) -> int:
        """Of system prompt, tools and these messages."""
        return self.fixed + sum(weigh(wire, self.scales).total for wire in wires)


def weigh(wire: Wire, scales: Scales) -> Weight:
    """Tokens of a message; of a compaction block the model sees its text alone."""
    found = blocks(wire["content"])
    if not any(block["type"] == "compaction" for block in found):
        return scales.message(wire)
    rest = [
        {"type": "text", "text": block.get("content") or "-"} if block["type"] == "compaction" else block
        for block in found
    ]
    return scales.message({**wire, "content": rest})


def blocks(content: Any) -> list[Wire]:
    """Content as blocks; a text is one."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def opened(wire: Wire) -> Wire:
    """A message whose content is a list."""
    return {**wire, "content": blocks(wire["content"])}


def without(wire: Wire, gone: Sequence[int]) -> Wire:
    """A message without some of its blocks."""
    return {**wire, "content": [block for at, block in enumerate(blocks(wire["content"])) if at not in gone]}


def is_on_demand(body: Mapping[str, Any]) -> bool:
    """True for a request that is answered with a compaction alone."""
    return bool(body.get("compaction"))


def block_of(text: str | None) -> Wire:
    """A compaction block with its signature; without a text it is one that failed."""
    if text is None:
        return {"type": "compaction", "content": None, "encrypted_content": None, "signature": None}
    return {
        "type": "compaction",
        "content": text,
        "encrypted_content": seal.sealed({"summary": text}),
        "signature": seal.signature(text, before=""),
    }


def default_summary(wires: Sequence[Wire]) -> str:
    """What the server writes where the script says nothing."""
    return f"Summary of {len(wires)} messages."


def check(body: Mapping[str, Any], *, betas: frozenset[str]) -> None:
    """Raises `Refused` for edits that cannot be and compaction blocks that are not as they were given out."""
    if body.get("compaction") and body.get("context_management"):
        raise Refused(400, "compaction: cannot be combined with `context_management`")
    _check_edits(body)
    found = [
        (at, index, block)
        for at, wire in enumerate(body["messages"])
        for index, block in enumerate(blocks(wire["content"]))
        if block["type"] == "compaction"
    ]
    if found and not betas & {THRESHOLD_BETA, ON_DEMAND_BETA}:
        at, index, _ = found[0]
        raise Refused(
            400,
            f"messages.{at}.content.{index}: Input tag 'compaction' does not match any of the expected tags",
        )
    for at, index, block in found:
        _check_block(f"messages.{at}.content.{index}", block)
    if ON_DEMAND_BETA in betas:
        _check_places(body, [place for place in found if place[2].get("content") is not None])
    if is_on_demand(body):
        _check_demand(body)


def _check_block(place: str, block: Wire) -> None:
    text = block.get("content")
    if text is None:
        return
    if text == "":
        raise Refused(400, f"{place}.content: compaction content must not be empty")
    match seal.verdict(block.get("signature"), content=text, before=None):
        case "foreign":
            raise Refused(
                400,
                f"{place}: The `compaction` block's `signature` does not verify.",
                code="compaction_signature_invalid",
            )
        case "altered":
            raise Refused(
                400,
                f"{place}: The `compaction` block's `content` differs from the text its `signature` recorded.",
                code="compaction_content_mismatch",
            )
        case "good" | "moved":
            pass
    if block.get("tool_changes"):
        raise Refused(
            400,
            f"{place}: The `compaction` block's `tool_changes` differs from what was returned with the block.",
            code="compaction_tool_changes_mismatch",
        )


def _check_places(body: Mapping[str, Any], found: Sequence[tuple[int, int, Wire]]) -> None:
    if len(found) > 1:
        raise Refused(
            400,
            "messages: more than one `compaction` block with content. Send only the block the conversation returned last.",
            code="compaction_block_ambiguous",
        )
    for at, index, _ in found:
        if (at, index) != (0, 0) or body["messages"][at]["role"] == "system":
            raise Refused(
                400,
                f"messages.{at}.content.{index}: The `compaction` block is not the first block of the conversation.",
                code="compaction_block_misplaced",
            )


def _check_demand(body: Mapping[str, Any]) -> None:
    last = body["messages"][-1]
    if any(block["type"] == "tool_use" for block in blocks(last["content"])):
        raise Refused(
            400,
            "compaction: the conversation ends on an `assistant` turn that is not finished.",
            code="compaction_incomplete_turn",
        )
    if all(block["type"] == "compaction" for wire in body["messages"] for block in blocks(wire["content"])):
        raise Refused(
            400,
            "compaction: `messages` holds no `user` or `assistant` content to summarize.",
            code="compaction_nothing_to_summarize",
        )


def _edits_of(body: Mapping[str, Any]) -> list[Wire] | None:
    managed = body.get("context_management")
    return None if managed is None else list(managed.get("edits") or [])


def _check_edits(body: Mapping[str, Any]) -> None:
    kinds = [edit.get("type") for edit in _edits_of(body) or []]
    for at, kind in enumerate(kinds):
        if not isinstance(kind, str) or kind not in parameters.EDITS:
            raise Refused(
                400,
                f"context_management.edits.{at}: Input tag {kind!r} found using 'type' does not match any of the expected "
                f"tags: '{CLEAR_THINKING}', '{CLEAR_TOOLS}', '{COMPACT}'",
            )
    for at, edit in enumerate(_edits_of(body) or []):
        place = f"context_management.edits.{at}"
        parameters.check(edit, parameters.EDITS[edit["type"]], words=parameters.anthropic, place=place)
    if len(kinds) != len(set(kinds)):
        raise Refused(400, "context_management.edits: each strategy may be given only once")
    if CLEAR_THINKING in kinds[1:]:
        raise Refused(400, f"context_management.edits: `{CLEAR_THINKING}` strategy must be first")
    if CLEAR_THINKING in kinds and (body.get("thinking") or {}).get("type") not in ("enabled", "adaptive"):
        raise Refused(400, f"`{CLEAR_THINKING}` strategy requires `thinking` to be enabled or adaptive")


def edit(
    body: Mapping[str, Any],
    wires: list[Wire],
    *,
    weigh: Weighing,
    summarise: Callable[[str], str | None] | None,
) -> Edited:
    """The history as the model sees it. `summarise=None` counts: what a compaction would leave is not known before it."""
    shown = after_compaction(wires)
    wanted = _edits_of(body)
    if wanted is None:
        return Edited(messages=shown)
    before, applied = weigh.total(shown), list[Wire]()
    for strategy in wanted:
        match strategy["type"]:
            case "clear_thinking_20251015":
                shown, done = _clear_thinking(shown, strategy, weigh=weigh)
            case "clear_tool_uses_20250919":
                shown, done = _clear_tools(shown, strategy, weigh=weigh)
            case _:
                continue
        applied += [done] if done else []
    edited = Edited(messages=shown, applied=applied, tokens_before=before)
    compact = next((strategy for strategy in wanted if strategy["type"] == COMPACT), None)
    return (
        edited
        if compact is None or summarise is None
        else _compacted(edited, compact, weigh=weigh, summarise=summarise)
    )


def after_compaction(wires: Sequence[Wire]) -> list[Wire]:
    """From the last compaction with a content on; one without is nothing at all."""
    start, cut = 0, 0
    for at, wire in enumerate(wires):
        for index, block in enumerate(blocks(wire["content"])):
            if block["type"] == "compaction" and block.get("content") is not None:
                start, cut = at, index
    kept = [without(wires[start], range(cut)) if cut else wires[start], *wires[start + 1 :]]
    failed = [
        [
            at
            for at, b in enumerate(blocks(w["content"]))
            if b["type"] == "compaction" and b.get("content") is None
        ]
        for w in kept
    ]
    shown = [without(wire, gone) if gone else wire for wire, gone in zip(kept, failed, strict=True)]
    return [wire for wire in shown if wire["content"]]


def _compacted(
    edited: Edited, strategy: Wire, *, weigh: Weighing, summarise: Callable[[str], str | None]
) -> Edited:
    trigger = (strategy.get("trigger") or {}).get("value", COMPACT_TRIGGER_TOKENS)
    tokens = weigh.total(edited.messages)
    if tokens < trigger:
        return edited
    text = summarise(default_summary(edited.messages))
    block = block_of(text)
    spent = (tokens, weigh.scales.text(text or "") or 1)
    shown = edited.messages if text is None else [{"role": "assistant", "content": [block]}]
    return Edited(
        messages=shown,
        applied=edited.applied,
        tokens_before=edited.tokens_before,
        block=block,
        spent=spent,
        pauses=bool(strategy.get("pause_after_compaction")),
    )


def _clear_thinking(wires: list[Wire], strategy: Wire, *, weigh: Weighing) -> tuple[list[Wire], Wire | None]:
    keep = strategy.get("keep") or {"type": "thinking_turns", "value": 1}
    if keep == "all" or keep["type"] == "all":
        return wires, None
    turns = _turns(wires)
    thinking = sorted({turn for turn, wire in zip(turns, wires, strict=True) if _thoughts(wire)})
    old = set(thinking[: max(len(thinking) - int(keep.get("value") or 0), 0)])
    if not old:
        return wires, None
    shown = [
        without(wire, _thoughts(wire))
        if turn in old and len(_thoughts(wire)) < len(blocks(wire["content"]))
        else wire
        for turn, wire in zip(turns, wires, strict=True)
    ]
    freed = weigh.total(wires) - weigh.total(shown)
    return shown, {"type": CLEAR_THINKING, "cleared_thinking_turns": len(old), "cleared_input_tokens": freed}


def _turns(wires: Sequence[Wire]) -> list[int]:
    """Which turn each message belongs to: a user's words begin one, results do not."""
    numbers, turn = [], 0
    for wire in wires:
        words = wire["role"] == "user" and any(b["type"] != "tool_result" for b in blocks(wire["content"]))
        turn += words
        numbers.append(turn)
    return numbers


def _thoughts(wire: Wire) -> list[int]:
    if wire["role"] != "assistant":
        return []
    kinds = [block["type"] for block in blocks(wire["content"])]
    return [at for at, kind in enumerate(kinds) if kind in ("thinking", "redacted_thinking")]


def _clear_tools(wires: list[Wire], strategy: Wire, *, weigh: Weighing) -> tuple[list[Wire], Wire | None]:
    uses = [
        (block["id"], block["name"])
        for wire in wires
        for block in blocks(wire["content"])
        if block["type"] == "tool_use"
    ]
    trigger = strategy.get("trigger") or {"type": "input_tokens", "value": CLEAR_TRIGGER_TOKENS}
    size = len(uses) if trigger["type"] == "tool_uses" else weigh.total(wires)
    if size <= trigger["value"]:
        return wires, None
    keep = int((strategy.get("keep") or {"value": CLEAR_KEEP})["value"])
    spared = set(strategy.get("exclude_tools") or ())
    old = {id for id, name in uses[: max(len(uses) - keep, 0)] if name not in spared}
    shown = [_cleared(wire, old, inputs=_inputs(strategy)) for wire in wires]
    freed = weigh.total(wires) - weigh.total(shown)
    least = int((strategy.get("clear_at_least") or {"value": 1})["value"])
    if freed < max(least, 1):
        return wires, None
    return shown, {"type": CLEAR_TOOLS, "cleared_tool_uses": len(old), "cleared_input_tokens": freed}


def _inputs(strategy: Wire) -> Callable[[str], bool]:
    wanted = strategy.get("clear_tool_inputs") or False
    return (lambda name: name in wanted) if isinstance(wanted, list) else (lambda _: wanted is True)


def _cleared(wire: Wire, old: set[str], *, inputs: Callable[[str], bool]) -> Wire:
    found = blocks(wire["content"])
    shown = []
    for block in found:
        if block["type"] == "tool_result" and block["tool_use_id"] in old:
            shown.append({**block, "content": CLEARED})
        elif block["type"] == "tool_use" and block["id"] in old and inputs(block["name"]):
            shown.append({**block, "input": {}})
        else:
            shown.append(block)
    return wire if shown == found else {**wire, "content": shown}
