"""A request that is ready to be sent."""

from __future__ import annotations

import pytest

from tests.judges.panel import violations
from tests.session.making import FORMATS, opened


@pytest.mark.parametrize("format", FORMATS)
def test_a_request_has_its_formats_own_keys(format: str) -> None:
    """Law LOSSLESS: what is to be merged into the call; for OpenAI chat the system prompt is the first message."""
    session = opened(format=format)
    session.user("hello")
    system = {"parts": [{"text": "be kind"}]} if format == "gemini" else "be kind"
    request = session.prepare(system=system)
    assert violations(request.body, format=format) == []
    assert request.tools is None
    if format == "openai-chat":
        assert (request.system, len(request.messages), request.messages[0]["role"]) == (None, 2, "system")
    else:
        assert (request.system, len(request.messages)) == (system, 1)
    assert request.messages is request.messages
    assert session.prepare(tools=[{"name": "f"}]).tools == [{"name": "f"}]
    assert session.prepare(tools=[]).tools is None
