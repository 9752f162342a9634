"""What fills a context window: tokens by kind, by tool, and the largest parts (`foldline.context/1`).

Counts a transcript as it would be sent and says how far it is from the policy's threshold. Changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, assert_never

from msgspec.structs import replace

from foldline.core.address import part_address
from foldline.core.errors import InvalidOption
from foldline.core.estimate import Counting, Estimate, project
from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.core.ports import TokenCounter
from foldline.core.received import slotted
from foldline.core.rounds import outline
from foldline.core.view import Item
from foldline.home import home_at
from foldline.log.values import members
from foldline.passes.results import find_results
from foldline.presets import POLICIES, own_policies, policy_of
from foldline.recall.loops import rereads
from foldline.settings import plan_for
from foldline.stores.limits import Limits
from foldline.tokens.choose import counter_for
from foldline.transcript_history import history_for, is_gone_on_with
from foldline.transcripts.foldline_log import LogSource
from foldline.transcripts.transcript import Transcript
from foldline.wire import strict

KINDS = (
    "system",
    "tools",
    "user",
    "assistant",
    "reasoning",
    "tool_calls",
    "tool_results",
    "media",
    "summaries",
)
DEFAULT_POLICY = "balanced"
LARGEST_MAX = 10
"""Parts listed one by one."""


def distribution(
    transcript: Transcript, *, model: str | None = None, policy: str | None = None, counter: str | None = None
) -> dict[str, Any]:
    """The distribution of one conversation, by the model named or the file's own; the kinds add up to the total. `policy`: whose line is
    the denominator; left out, that which compacted a session last (requirement BUD-5), else `balanced`."""
    name = model or transcript.model
    planned = plan_for(name, stated=transcript.tokens_window if model is None else None)
    chosen = policy_of(policy or _in_force(transcript) or DEFAULT_POLICY, planned.window)
    counting = counter_for(name, counter=counter or chosen.counter or planned.counter, wire=transcript.wire)
    history = history_for(
        transcript, counting, wire=transcript.wire, tail_stays_open=is_gone_on_with(transcript)
    )
    items = history.view.items()
    threshold = chosen.threshold.tokens(planned.room())
    counts = history.tokens_fixed if chosen.counting.fixed else 0
    said = transcript if name == transcript.model else replace(transcript, usage=None)
    projected = _projected(said, items, fixed=counts)
    return {
        "schema": "foldline.context/1",
        "format": transcript.format,
        "model": name,
        "policy": chosen.name,
        "counter": counting.name,
        "messages": len(items),
        "tokens_total": history.tokens,
        "tokens_projected": projected.tokens,
        "tokens_anchored": projected.tokens_anchored,
        "tokens_estimated": projected.tokens_estimated,
        "tokens_window": planned.window,
        "tokens_window_whole": planned.window_shared,
        "window_source": planned.source,
        "tokens_threshold": threshold,
        "percent": percent(projected.tokens, threshold),
        **contents(
            items,
            counting,
            fixed=history.tokens_fixed,
            tools=transcript.tools,
            names=_names_said(items, history.originals),
        ),
        **_read_again(transcript),
        "notes": [
            *transcript.notes,
            *_count_ended(transcript, projected),
            *planned.notes,
            *_limits_named(name, Limits(home_at())),
            *chosen.advised(projected.tokens, planned.room()),
        ],
    }


def contents(
    items: tuple[Item, ...],
    counter: TokenCounter,
    *,
    fixed: int,
    tools: bytes | None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """What fills a request: tokens by kind, which add up to the total, by tool, and the largest parts. `fixed`: tokens of
    system prompt and tools together. `names`: of a tool by the one that it is sent under."""
    by_kind = Counter(dict.fromkeys(KINDS, 0))
    by_kind["system"] = fixed
    if tools:
        by_kind["tools"] = counter.tools(tools.decode())
        by_kind["system"] -= by_kind["tools"]
    for item in items:
        for kind, tokens in _kinds(item, counter):
            by_kind[kind] += tokens
    return {
        "by_kind": {kind: by_kind[kind] for kind in KINDS},
        "by_tool": _by_tool(items, names),
        "largest": _largest(items),
    }


def _in_force(transcript: Transcript) -> str | None:
    """The policy that compacted a session last; `None` where none did, or there is none of that name any more."""
    entries = transcript.source.log.entries if isinstance(transcript.source, LogSource) else ()
    last = next((entry for entry in reversed(entries) if entry.kind == "compaction"), None)
    try:
        report = None if last is None else strict.loads(members(last.body).get("report", b"null"))
    except strict.BadJson:  # whoever wrote it: a log with it is read all the same
        return None
    name = report.get("policy") if isinstance(report, dict) else None
    return name if isinstance(name, str) and (name in POLICIES or name in own_policies()) else None


def _read_again(transcript: Transcript) -> dict[str, Any]:
    """Of a session whose compactions took readings out of view: how many were soon read again (the loop guard)."""
    found = rereads(transcript.source.log.entries) if isinstance(transcript.source, LogSource) else None
    if found is None or not found.evicted:
        return {}
    told = {"evicted": found.evicted, "again": len(found.again), "keep_more": found.keep_more}
    return {"read_again": told}


def _limits_named(model: str | None, limits: Limits) -> tuple[str, ...]:
    """What providers have named for a model, each endpoint apart, for a person; but not servers of this machine, of which a file does
    not say that it is theirs."""
    try:
        known = [one for one in limits.all() if one.model == model and not one.is_local]
    except (OSError, InvalidOption) as error:
        return (f"limits that providers named are not known: {error}",)
    return tuple(
        f"{one.endpoint or 'a provider'} once named a limit of {one.tokens:,} tokens for {one.model}, in the place of "
        f"{one.instead_of:,}: sessions there are planned with it (`foldline models {one.model}` lists it, --forget-limits drops it)"
        for one in known
    )


def percent(tokens: int, threshold: int) -> int:
    """Usage against a threshold in percent, half rounded up, at most 100 (requirement BUD-5)."""
    if threshold <= 0:
        return 100
    return min(100, (tokens * 200 + threshold) // (threshold * 2))


def _projected(transcript: Transcript, items: tuple[Item, ...], *, fixed: int) -> Estimate:
    """The next request by the last usage in the file, where there is one after the last boundary. The usage names a
    message of the file; repairs may have moved its index."""
    at = -1
    if transcript.usage is not None and transcript.usage_at is not None:
        last = transcript.numbers[transcript.usage_at].ordinal
        at = max((n for n, item in enumerate(items) if item.seq <= last), default=-1)
    since = sum([item.tokens for item in items[at + 1 :]])
    usage = transcript.usage if at >= 0 else None
    return project(since, fixed=fixed, counting=Counting(), usage=usage)


def _kinds(item: Item, counter: TokenCounter) -> Iterator[tuple[str, int]]:
    speaker = _speaker(item.message)
    yield speaker, item.overhead
    for part, tokens in zip(item.message.parts, item.weights, strict=True):
        if isinstance(part, ToolResult):
            media = sum(counter.part(inner) for inner in part.content if isinstance(inner, Media))
            yield "media", media
            yield "tool_results", tokens - media
        else:
            yield _kind(part, speaker), tokens


def _speaker(message: Message) -> str:
    if message.synthetic in ("fold", "notice", "summary"):
        return "summaries"
    return {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool_results"}[
        message.role
    ]


def _kind(part: Part, speaker: str) -> str:
    match part:
        case ToolCall():
            return "tool_calls"
        case ToolResult():
            return "tool_results"
        case Reasoning():
            return "reasoning"
        case Media():
            return "media"
        case Opaque():
            return "summaries" if part.type == "compaction" else speaker
        case Text():
            return speaker
        case _:
            assert_never(part)


def _count_ended(transcript: Transcript, projected: Estimate) -> tuple[str, ...]:
    """Why a session that a provider has counted is estimated: a compaction ends what it counted, taken back or not (requirement TOK-9)."""
    entries = transcript.source.log.entries if isinstance(transcript.source, LogSource) else ()
    is_counted = any(one.meta is not None and one.meta.usage is not None for one in transcript.history)
    if projected.tokens_anchored or not is_counted or all(one.kind != "compaction" for one in entries):
        return ()
    return ("what the provider last counted was before a compaction; until its next answer all is estimated",)


def _names_said(items: tuple[Item, ...], originals: Sequence[Message]) -> dict[str, str]:
    """The tools whose names no provider takes, as 検索: by the name that a call of it is sent under, the one that it was called by."""
    found: dict[str, str] = {}
    for item in items:
        sent = [part for part in item.message.parts if isinstance(part, ToolCall)]
        if sent and not item.covers and item.seq < len(originals):
            said = {part.slot: part for part in slotted(originals[item.seq]).parts}
            for call in sent:
                before = said.get(call.slot)
                if isinstance(before, ToolCall) and before.name != call.name:
                    found[call.name] = before.name
    return found


def _by_tool(items: tuple[Item, ...], names: Mapping[str, str]) -> dict[str, int]:
    """Tokens of results by tool, most first."""
    tools: Counter[str] = Counter()
    for found in find_results(outline(items)):
        tools[names.get(found.name, found.name) or "unknown"] += found.tokens
    return dict(sorted(tools.items(), key=lambda pair: (-pair[1], pair[0])))


def _largest(items: tuple[Item, ...]) -> list[dict[str, Any]]:
    """The largest parts with their addresses."""
    parts = [
        (tokens, item.seq, index, part, _kind(part, _speaker(item.message)))
        for item in items
        if item.message.synthetic != "repair"
        for index, (part, tokens) in enumerate(zip(item.message.parts, item.weights, strict=True))
    ]
    parts.sort(key=lambda row: (-row[0], row[1], row[2]))
    return [
        {"address": part_address(seq, part), "kind": kind, "tokens": tokens}
        for tokens, seq, _, part, kind in parts[:LARGEST_MAX]
    ]
