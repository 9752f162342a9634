"""What a provider's own service does to a conversation: values to ask for it, and what it says that it did.

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


def compacting_at(tokens: int) -> dict[str, Any]:
    """Anthropic's edit that compacts once the input reaches so many tokens."""
    return {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": tokens}}


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


def responses_compacting_at(tokens: int) -> Asked:
    """OpenAI's compaction once the input reaches so many tokens."""
    return Asked(body={"context_management": [{"type": "compaction", "compact_threshold": tokens}]})


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
