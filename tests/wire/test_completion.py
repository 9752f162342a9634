"""What a completer sees: its instruction stands last, in the format's own shape."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from foldline.core.message import Message, Text
from foldline.wire.completion import CompletionRequest
from foldline.wire.formats import codec

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
def test_in_a_fork_the_instruction_is_a_message_of_its_own_and_nothing_shared_is_changed(format: str) -> None:
    """Requirement CMP-2: the live messages first, as they are, then the instruction."""
    before = [{"any": "value"}]
    request = CompletionRequest(
        format=format,
        model="m",
        system=None,
        tools=None,
        messages=before,
        instruction="Sum up.",
        is_fork=True,
    )
    assert request.wire() == [*before, LAST[format]]
    assert before == [{"any": "value"}]


@pytest.mark.parametrize("format", LAST)
def test_in_a_call_of_its_own_the_instruction_stands_behind_what_is_to_be_read(format: str) -> None:
    """One message, so that a server which wants roles to alternate takes it; what came in is not changed."""
    read = codec(format).encode(Message(role="user", parts=(Text(text="Read this."),)))
    given = deepcopy(read)
    request = CompletionRequest(
        format=format, model="m", system=None, tools=None, messages=[read], instruction="Sum up."
    )
    (sent,) = request.wire()
    parts = codec(format).decode(sent).parts
    assert [part.text for part in parts if isinstance(part, Text)] == ["Read this.", "Sum up."]
    assert read == given
