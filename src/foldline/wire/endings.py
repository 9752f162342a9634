"""Endings: why an answer stopped, as each provider spells it, and whether that means that it is whole.

Owns one table a format of the endings that are good. What is not in it is none: a reason that a provider invents tomorrow, a
server's own word, and no reason at all. Knows no text; what a summary makes of it is `foldline.summary.taken`'s.

    anthropic          https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
    openai-chat        https://platform.openai.com/docs/api-reference/chat/object (`finish_reason`)
    openai-responses   https://platform.openai.com/docs/api-reference/responses/object (`status`)
    gemini             https://ai.google.dev/api/generate-content#FinishReason
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Ending: TypeAlias = Literal["whole", "cut", "declined", "calling", "other"]
"""Whole · stopped at a limit, or still under way · declined by the provider · it wanted to call a tool and could not · anything else."""

WHOLE: Final[Mapping[str, frozenset[str]]] = {
    "anthropic": frozenset({"end_turn", "stop_sequence", "tool_use"}),
    "openai-chat": frozenset({"stop", "tool_calls", "function_call"}),
    "openai-responses": frozenset({"completed"}),
    "gemini": frozenset({"stop"}),
    "elsewhere": frozenset({"complete", "tool_call", "eos", "eos_token"}),
}
"""By format, in lower case. `elsewhere`: Cohere's words, and those of servers of open models, which a caller's own reply object
may pass on as they are. With a call the text beside it is whole all the same."""
CUT: Final = frozenset(
    {
        "max_tokens",
        "length",
        "max_output_tokens",
        "max_length",
        "model_length",
        "model_context_window_exceeded",
        "incomplete",
        "in_progress",
        "queued",
    }
)
DECLINED: Final = frozenset(
    {
        "refusal",
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "safety",
        "image_safety",
        "prohibited_content",
        "image_prohibited_content",
        "blocklist",
        "spii",
        "recitation",
        "image_recitation",
        "language",
    }
)
CALLING: Final = frozenset({"malformed_function_call", "unexpected_tool_call", "too_many_tool_calls"})
_WHOLE: Final = frozenset[str]().union(*WHOLE.values())


def ending(reason: str) -> Ending:
    """What a reason says, of whichever format: a completer may ask another provider than the conversation's."""
    told = reason.lower()
    if told in _WHOLE:
        return "whole"
    if told in CUT:
        return "cut"
    if told in DECLINED:
        return "declined"
    return "calling" if told in CALLING else "other"
