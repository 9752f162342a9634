"""The official SDKs behave the same with the proxy and without it: one table of dialects, ways of asking and kinds of talk, over the
twin and over `@copilotkit/aimock`, a double that others wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldline.testing.twin import Fault, Twin
from foldline.testing.twin.script import Received
from tests.clients.agents import client_of
from tests.judges import doubles
from tests.proxy.running import Proxy
from tests.proxy.talks import FORMATS, TALKS, WAYS, Talk, talked, without_drawn

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own
HOP = {"host", "accept-encoding", "connection", "accept", "x-stainless-retry-count"}
"""Headers of one connection, and the encodings that an answer may come in: those that cannot be read on the side are left out."""


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sessions and settings of this test alone."""
    (tmp_path / "foldline.toml").touch()
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "foldline.toml"))
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def sent(request: Received) -> tuple[str, bytes, dict[str, str]]:
    """What the provider was sent, without what is of one connection."""
    return (
        request.path,
        request.body,
        {key: value for key, value in request.headers.items() if key not in HOP},
    )


def run(format: str, way: str, talk: Talk, *, is_through: bool) -> tuple[list[Any], list[Any]]:
    """A talk with the twin: what the SDK's caller saw, and what the twin was sent."""
    with Twin(talk.answers) as twin:
        if not is_through:
            return talked(format, way, twin.url, talk), [sent(request) for request in twin.requests]
        with Proxy(twin.url) as proxy:
            seen = talked(format, way, proxy.url, talk)
            assert [record.outcome for record in proxy.wait_for(2)] == ["as it came"] * 2
        return seen, [sent(request) for request in twin.requests]


@pytest.mark.parametrize("kind", TALKS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("format", FORMATS)
def test_an_sdk_sees_the_same_with_and_without_the_proxy(format: str, way: str, kind: str) -> None:
    """Sync, async, streaming, tools, images, thinking; both the caller's side and the provider's, to the byte."""
    seen, requests = run(format, way, TALKS[kind], is_through=False)
    through, passed = run(format, way, TALKS[kind], is_through=True)
    assert through == seen
    assert passed == requests
    assert len(seen) == len(requests) == 2
    assert all(seen)


@pytest.mark.parametrize("status", [400, 413, 429, 529])
@pytest.mark.parametrize("format", FORMATS)
def test_an_sdk_raises_the_same_error(format: str, status: int) -> None:
    """Its type, status, words and headers."""
    raised = []
    for is_through in (False, True):
        with Twin([Fault(status=status, message="what the provider says")]) as twin:
            if is_through:
                with Proxy(twin.url) as proxy:
                    raised.append(failed(format, proxy.url))
            else:
                raised.append(failed(format, twin.url))
    assert raised[0] == raised[1]
    assert "what the provider says" in raised[0][1]


def failed(format: str, url: str) -> tuple[type, str, Any, dict[str, str]]:
    client = client_of(format, url)
    package = (
        __import__("google.genai.errors", fromlist=["x"])
        if format == "gemini"
        else __import__(format.partition("-")[0])
    )
    with pytest.raises(package.APIError) as caught:
        ask_once(client, format)
    client.close()
    error = caught.value
    headers = getattr(getattr(error, "response", None), "headers", {})
    told = {key: value for key, value in headers.items() if key.lower() not in ("date", "server")}
    return type(error), str(error), getattr(error, "status_code", getattr(error, "code", None)), told


def ask_once(client: Any, format: str) -> Any:
    said = [{"role": "user", "content": "hello"}]
    match format:
        case "anthropic":
            return client.messages.create(model="claude-sonnet-4-5", max_tokens=10, messages=said)
        case "openai-chat":
            return client.chat.completions.create(model="gpt-4o", messages=said)
        case "openai-responses":
            return client.responses.create(model="gpt-5", input="hello")
        case _:
            return client.models.generate_content(model="gemini-2.5-pro", contents="hello")


# ── over a double that others wrote ──────────────────────────────────────────────────────────────────────────

FIXTURES: list[dict[str, Any]] = [
    {"match": {"userMessage": "say hello"}, "response": {"content": "Hello there, friend."}},
    {
        "match": {"userMessage": "call look"},
        "response": {"toolCalls": [{"name": "look", "arguments": '{"path":"a.py"}'}]},
    },
    {"match": {"userMessage": "what is it"}, "response": {"content": "A red square."}},
    {"match": {"userMessage": "think"}, "response": {"content": "42", "reasoning": "let me think"}},
]


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if (reason := doubles.no_aimock()) is not None:
        pytest.skip(reason)
    folder: Path = tmp_path_factory.mktemp("aimock")
    (folder / "answers.json").write_text(json.dumps({"fixtures": FIXTURES}), encoding="utf-8")
    with doubles.running([str(doubles.LLMOCK), "-p", "0", "-f", str(folder), "--strict"]) as url:
        yield url


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:FUNCTION_CALL is not a valid FinishReason")  # aimock's own idea of Gemini
@pytest.mark.parametrize("kind", TALKS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("format", FORMATS)
def test_an_sdk_sees_the_same_over_a_double_that_others_wrote(
    aimock: str, format: str, way: str, kind: str
) -> None:
    """Over `aimock`, whose events and keys are not ours; ids that it draws are left out."""
    talk = TALKS[kind]
    seen = without_drawn(talked(format, way, aimock, talk, turns=1, gemini="v1beta"))
    with Proxy(aimock) as proxy:
        through = without_drawn(talked(format, way, proxy.url, talk, turns=1, gemini="v1beta"))
        assert [record.status for record in proxy.wait_for(1)] == [200]
    assert through == seen
    assert seen[0]
