"""What a completer sees: its instruction stands last, in the format's own shape."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.wire.completion import CompletionRequest

LAST: dict[str, Any] = {
    "anthropic": {"role": "user", "content": "Sum up."},
    "openai-chat": {"role": "user", "content": "Sum up."},
    "openai-responses": {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "Sum up."}],
    },
    "gemini": {"role": "user", "parts": [{"text": "Sum up."}]},
}


@pytest.mark.parametrize("format", LAST)
def test_the_instruction_is_the_last_user_message_and_nothing_shared_is_changed(format: str) -> None:
    """Requirement CMP-2: the live messages first, as they are, then the instruction."""
    before = [{"any": "value"}]
    request = CompletionRequest(
        format=format, model="m", system=None, tools=None, messages=before, instruction="Sum up."
    )
    assert request.wire() == [*before, LAST[format]]
    assert before == [{"any": "value"}]
