"""A scope as it would be sent, and what a fork of it shares with its own requests."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.asking import request_of
from foldline.core.completion import Ask
from tests.session.making import FORMATS, opened, worked


@pytest.mark.parametrize("format", FORMATS)
def test_a_fork_has_the_system_prompt_tools_and_messages_of_the_request(format: str) -> None:
    """CMP-2: the same bytes in every format, up to the instruction."""
    session = opened(format=format)
    session.user("look")
    worked(session, 2)
    system: Any = {"parts": [{"text": "be kind"}]} if format == "gemini" else "be kind"
    request = session.prepare(system=system)
    live = session._fit(session._fix(None, None))[0].view.items()
    asked = request_of(Ask(messages=(), live=live, is_fork=True, instruction="Sum it up"), session._basis())
    messages = request.messages[1:] if format == "openai-chat" else request.messages
    assert asked.messages == messages
    if format == "openai-chat":
        assert asked.system == request.messages[0]
    else:
        assert asked.system == request.system
