"""All judges of one format together: its rules and, where the SDK is installed, its types."""

from __future__ import annotations

from foldline.testing.judges import anthropic, gemini, openai_chat, openai_responses
from foldline.testing.judges.rule import Body
from tests.judges import sdk

FORMATS = ("anthropic", "openai-chat", "openai-responses", "gemini")
_RULES = {
    "anthropic": anthropic.violations,
    "openai-chat": openai_chat.violations,
    "openai-responses": openai_responses.violations,
    "gemini": gemini.violations,
}


def violations(body: Body, *, format: str, open_tail: bool = False) -> list[str]:
    """What the format's provider would refuse, by its rules and by its SDK's types."""
    found = _RULES[format](body, open_tail=open_tail)
    if found or sdk.missing(format):
        return found
    return sdk.violations(body, format=format)
