"""What a provider's own service does to a conversation: values to ask for it, and how it is recognised.

A service clears old results or compacts on its side; the messages here stay as they are. Owns the wire values of Anthropic's
context editing and compaction and of OpenAI's compaction, by plain numbers; which policy asks for which, and that a session
uses either the service's compaction or ours, is the caller's affair. Sources: SDK `anthropic` 2.14, types/beta/beta_clear_*,
beta_compact_* and beta_compaction_*; SDK `openai` 3.57, types/responses; the provider's page on context editing.

    calls   1 … 49   50 … 74          75 …
    cleared     –    all but the      all but the newest 5 at call 75
                     newest 5 at call 50
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

CLEARING_BETA: Final = "context-management-2025-06-27"
THRESHOLD_BETA: Final = "compact-2026-01-12"
ON_DEMAND_BETA: Final = "compact-2026-09-04"
REPLY_ONLY: Final = ("context_management", "stop_sequences", "output_format", "stream", "thread")
"""Parameters that shape a reply and that a request for a compaction alone may not have (SDK lib/tools/_beta_runner.py)."""


class Asked(Struct, frozen=True, kw_only=True):
    """What to add to a request so that the service does it."""

    body: Mapping[str, Any]
    """Keys of the request's body."""
    betas: tuple[str, ...] = ()
    """Names for the header `anthropic-beta`; none for other providers."""


class Done(Struct, frozen=True, kw_only=True):
    """What a response says that the service did."""

    tokens_cleared: int = 0
    tool_uses_cleared: int = 0
    thinking_turns_cleared: int = 0
    compactions: int = 0
    """Blocks or items of a compaction with a content."""
    failed: int = 0
    """Blocks of a compaction that came to nothing."""


class Clearing(Struct, frozen=True, kw_only=True):
    """Clearing of old results at stated counts of calls, by Anthropic's service."""

    first_calls: int
    every_calls: int
    keep_results: int
    """The newest results stay."""
    excluded: tuple[str, ...] = ()
    """Tools whose results stay."""
    tokens_least: int | None = None
    """A clearing that frees less is not made."""

    def edit(self, calls: int, *, shown: int | None = None) -> dict[str, Any] | None:
        """The edit at so many tool calls of the session, `shown` of them in the request (all of them where it is left
        out); `None` while none is due.

        The service sees the whole history each time and has no memory of what it cleared, so that the number it keeps grows
        with the calls since the last count: the same results stay cleared until the next one, and the prompt cache breaks once
        for each count, not with every call.
        """
        if calls < self.first_calls:
            return None
        since = (calls - self.first_calls) % self.every_calls
        edit: dict[str, Any] = {
            "type": "clear_tool_uses_20250919",
            "trigger": {
                "type": "tool_uses",
                "value": max((calls if shown is None else shown) - since - 1, 1),
            },
            "keep": {"type": "tool_uses", "value": self.keep_results + since},
        }
        if self.tokens_least is not None:
            edit["clear_at_least"] = {"type": "input_tokens", "value": self.tokens_least}
        if self.excluded:
            edit["exclude_tools"] = list(self.excluded)
        return edit


def clearing_thinking(turns_kept: int | None) -> dict[str, Any]:
    """Anthropic's edit that clears thinking of older turns; `None` keeps all, which keeps the prompt cache too."""
    keep = "all" if turns_kept is None else {"type": "thinking_turns", "value": turns_kept}
    return {"type": "clear_thinking_20251015", "keep": keep}


def compacting_at(tokens: int, *, instructions: str | None = None, pauses: bool = False) -> dict[str, Any]:
    """Anthropic's edit that compacts once the input reaches so many tokens. `instructions` are added to the service's own;
    `pauses`: the turn comes back with the block, before the model answers."""
    edit: dict[str, Any] = {
        "type": "compact_20260112",
        "trigger": {"type": "input_tokens", "value": tokens},
    }
    if instructions:
        edit["instructions"] = instructions
    return {**edit, "pause_after_compaction": True} if pauses else edit


def managed(edits: Sequence[Mapping[str, Any] | None]) -> Asked:
    """Anthropic's context management with these edits, in the order it demands: thinking first. `None` is no edit."""
    wanted = sorted((dict(edit) for edit in edits if edit is not None), key=_place)
    if not wanted:
        return Asked(body={})
    kinds = {str(edit["type"]).partition("_")[0] for edit in wanted}
    betas = (CLEARING_BETA,) if "clear" in kinds else ()
    return Asked(
        body={"context_management": {"edits": wanted}},
        betas=(*betas, THRESHOLD_BETA) if "compact" in kinds else betas,
    )


def _place(edit: Mapping[str, Any]) -> int:
    kinds = ("clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112")
    return kinds.index(edit["type"])


def compaction_request(
    body: Mapping[str, Any], *, instructions: str | None = None
) -> tuple[dict[str, Any], Asked]:
    """A request to Anthropic that is answered with a compaction of its conversation alone: the body without what shapes a
    reply, and what to add. `instructions` replace the service's own. Its answer stands first in `messages` from then on, in
    place of all that was in this request; a forced tool choice is left out too."""
    kept = {key: value for key, value in body.items() if key not in REPLY_ONLY}
    choice = kept.get("tool_choice")
    if isinstance(choice, Mapping) and choice.get("type") in ("any", "tool"):
        del kept["tool_choice"]
    config: dict[str, Any] = {"type": "summarize"}
    if instructions and instructions.strip():
        config["instructions"] = instructions
    return kept, Asked(body={"compaction": config}, betas=(ON_DEMAND_BETA,))


def responses_compacting_at(tokens: int) -> Asked:
    """OpenAI's compaction once the input reaches so many tokens."""
    return Asked(body={"context_management": [{"type": "compaction", "compact_threshold": tokens}]})


def with_trigger(items: Sequence[Any]) -> list[Any]:
    """OpenAI's input items with the one behind them that compacts the conversation at once."""
    return [*items, {"type": "compaction_trigger"}]


def done(response: Mapping[str, Any]) -> Done:
    """What the service did for a response of Anthropic's Messages or of OpenAI's Responses."""
    applied = (response.get("context_management") or {}) if response.get("type") == "message" else {}
    edits = applied.get("applied_edits") or []
    parts = response.get("content") or response.get("output") or []
    blocks = [part for part in parts if isinstance(part, Mapping) and part.get("type") == "compaction"]
    whole = sum(bool(block.get("content") or block.get("encrypted_content")) for block in blocks)
    return Done(
        tokens_cleared=sum(edit.get("cleared_input_tokens", 0) for edit in edits),
        tool_uses_cleared=sum(edit.get("cleared_tool_uses", 0) for edit in edits),
        thinking_turns_cleared=sum(edit.get("cleared_thinking_turns", 0) for edit in edits),
        compactions=whole,
        failed=len(blocks) - whole,
    )


def server_side(body: Mapping[str, Any]) -> tuple[str, ...]:
    """What of a request's conversation the server holds, clears or compacts, by the names of the keys that say so; empty for
    a request that carries all of it and asks for nothing. A compaction of ours beside one of these would work on half of the
    conversation, or twice on the same."""
    found = []
    for edit in _edits(body.get("context_management")):
        kind = str(edit.get("type"))
        found.append(
            "context_management.compaction" if kind.startswith("compact") else "context_management.clearing"
        )
    found += [
        key
        for key in ("compaction", "conversation", "previous_response_id", "cachedContent")
        if body.get(key)
    ]
    if (body.get("thread") or {}).get("type") == "continue":
        found.append("thread")
    if _has_compaction(body):
        found.append("compaction block")
    return tuple(dict.fromkeys(found))


def _edits(managed: Any) -> list[Mapping[str, Any]]:
    edits = managed.get("edits") if isinstance(managed, Mapping) else managed
    return [edit for edit in edits or () if isinstance(edit, Mapping)]


def _has_compaction(body: Mapping[str, Any]) -> bool:
    """True where a compaction of the service stands in the history, or a trigger of one."""
    for message in (*_listed(body.get("messages")), *_listed(body.get("input"))):
        if not isinstance(message, Mapping):
            continue
        parts = (message, *_listed(message.get("content")))
        if any(isinstance(part, Mapping) and part.get("type") in _COMPACTIONS for part in parts):
            return True
    return False


_COMPACTIONS: Final = ("compaction", "compaction_trigger")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
