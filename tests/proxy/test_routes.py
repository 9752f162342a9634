"""Which path is what, and whose."""

from __future__ import annotations

import pytest

from foldline.proxy.guard import Head
from foldline.proxy.routes import UPSTREAMS, respelt, route, upstream_url


def asked(method: str = "POST", *headers: tuple[str, str]) -> Head:
    return Head(method=method, target="/", headers=headers)


@pytest.mark.parametrize(
    ("target", "kind", "format", "provider"),
    [
        ("/v1/messages", "conversation", "anthropic", "anthropic"),
        ("/v1/messages?beta=true", "conversation", "anthropic", "anthropic"),
        ("/proxied/v1/messages", "conversation", "anthropic", "anthropic"),
        ("/v1/messages/count_tokens", "count", "anthropic", "anthropic"),
        ("/v1/messages/batches", "pass", "", "anthropic"),
        ("/v1/threads/thread_1/messages", "pass", "", "openai"),
        ("/v1/chat/completions", "conversation", "openai-chat", "openai"),
        ("/openai/deployments/d/chat/completions?api-version=1", "conversation", "openai-chat", "openai"),
        ("/v1/responses", "conversation", "openai-responses", "openai"),
        ("/responses", "conversation", "openai-responses", "openai"),
        ("/v1/responses/compact", "compact", "openai-responses", "openai"),
        ("/v1/responses/input_tokens", "count", "openai-responses", "openai"),
        ("/v1/responses/resp_1/cancel", "pass", "", "openai"),
        ("/v1/embeddings", "pass", "", "openai"),
        ("/v1beta/models/gemini-2.5-pro:generateContent", "conversation", "gemini", "gemini"),
        ("/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "conversation", "gemini", "gemini"),
        ("/v1beta/models/gemini-2.5-pro:countTokens", "count", "gemini", "gemini"),
        ("/v1beta/models/x:embedContent", "pass", "", "gemini"),
        ("/_foldline/status", "page", "", "openai"),
    ],
)
def test_each_path_is_known_by_its_end(target: str, kind: str, format: str, provider: str) -> None:
    """Four dialects and what is passed through."""
    found = route(asked(), target=target)
    assert (found.kind, found.format, found.provider) == (kind, format, provider)


def test_the_model_of_a_gemini_path_is_read() -> None:
    """There it is not in the body."""
    assert route(asked(), "/v1beta/models/gemini-2.5-pro:generateContent").model == "gemini-2.5-pro"


@pytest.mark.parametrize(
    ("target", "is_refused"),
    [
        ("/v1/mess%61ges", True),
        ("/v1/mess%2561ges?beta=true", True),
        ("/v1%2Fmessages", True),
        ("/v1//messages", True),
        ("/V1/messages", True),
        ("/v1/messages/", True),
        ("/v1/messages;x=1", True),
        ("/v1/messages%20", True),
        ("/v1/messages%3Fa", True),
        ("/proxied/v1/Messages/count_tokens", True),
        ("/v1/chat%2fcompletions", True),
        ("/v1/Responses", True),
        ("/v1beta/models/m%3AgenerateContent", True),
        ("/v1beta/models/m:generatecontent", True),
        ("/v1/messages", False),
        ("/v1/messages/batches", False),
        ("/v1/threads/thread_1/messages", False),
        ("/v1/responses/resp_1/cancel", False),
        ("/v1/embeddings", False),
        ("/v1/files/a%20b", False),
    ],
)
def test_a_conversation_spelt_otherwise_is_refused(target: str, is_refused: bool) -> None:
    """It would go up unread, and a server may know it all the same (test S1)."""
    refused = respelt(route(asked(), target), asked(), target=target)
    assert (refused is not None) is is_refused
    assert respelt(route(asked("GET"), target), asked("GET"), target=target) is None


@pytest.mark.parametrize(
    ("header", "provider"),
    [("x-api-key", "anthropic"), ("anthropic-version", "anthropic"), ("x-goog-api-key", "gemini"),
     ("authorization", "openai")],
)  # fmt: skip
def test_a_path_of_several_goes_by_the_header_of_the_key(header: str, provider: str) -> None:
    """`GET /v1/models` is everybody's."""
    found = route(asked("GET", (header, "k")), "/v1/models")
    assert (found.kind, found.provider) == ("pass", provider)
    assert provider in UPSTREAMS


@pytest.mark.parametrize(
    ("base", "target", "url"),
    [
        ("https://api.x.com", "/v1/messages", "https://api.x.com/v1/messages"),
        ("https://api.x.com/", "/v1/messages?a=b%20c", "https://api.x.com/v1/messages?a=b%20c"),
        ("https://x.com/api/v1", "/v1/chat/completions", "https://x.com/api/v1/chat/completions"),
        ("https://x.com/backend", "/responses", "https://x.com/backend/responses"),
        ("https://x.com/v1", "/v1beta/models", "https://x.com/v1/v1beta/models"),
        ("https://x.com/v1", "/v1?a", "https://x.com/v1?a"),
        ("https://x.com", "/@evil.example/", "https://x.com/@evil.example/"),
    ],
)
def test_the_target_goes_behind_the_upstream_and_a_version_stands_once(
    base: str, target: str, url: str
) -> None:
    """A person copies a base URL with or without its version."""
    assert upstream_url(base, target) == url
