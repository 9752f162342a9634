"""The proxy's own words arrive as the typed error of each SDK."""

from __future__ import annotations

import json

import pytest

from foldline.proxy.routes import Provider
from foldline.proxy.spoken import error_body, error_event
from foldline.wire.overflow import classify_error


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 421, 426, 500, 502, 504])
def test_each_provider_is_spoken(provider: Provider, status: int) -> None:
    """What it is and who says it."""
    told = json.loads(error_body(provider, status, why="say what to do"))
    assert told["error"]["message"] == "foldline proxy: say what to do"
    assert ("type" in told) == (provider == "anthropic")
    assert (told["error"].get("code") == status) == (provider == "gemini")


def test_none_of_them_is_taken_for_an_overflow() -> None:
    """A client that recovers from overflows must not begin to, on our account."""
    body = error_body("anthropic", 502, why="api.example.com gave no answer; check the network")
    assert "compact" not in classify_error(status=502, body=body).recovery


def test_an_error_behind_a_streams_head_is_an_event_of_one_line() -> None:
    """A body that came over several lines too."""
    assert error_event("openai-chat", b'{\n"error": 1}') == b'data: { "error": 1}\n\n'
    assert error_event("anthropic", b"{}") == b"event: error\ndata: {}\n\n"
