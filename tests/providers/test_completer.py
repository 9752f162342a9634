"""A completer over each official SDK asks as the conversation asks, streams, and says plainly what went wrong."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Iterator
from typing import Any

import pytest

import foldline
from foldline.core.errors import InvalidOption, ProviderFailed
from foldline.providers.completer import AsyncCompleter, Completer, completer
from foldline.providers.sdks import SDKS
from foldline.wire.completion import Delta
from foldline.wire.overflow import classify_error
from tests.providers.stub import KEY, asking, stub
from tests.wire.test_streamed import STREAMS

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own

FORMATS = ("anthropic", "openai-chat", "openai-responses", "gemini")
TOOLS: dict[str, list[dict[str, Any]]] = {
    "anthropic": [{"name": "read", "description": "reads", "input_schema": {"type": "object"}}],
    "openai-chat": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}],
    "openai-responses": [
        {"type": "function", "name": "read", "parameters": {"type": "object"}, "strict": False}
    ],
    "gemini": [{"functionDeclarations": [{"name": "read", "parametersJsonSchema": {"type": "object"}}]}],
}


def client_for(format: str, url: str, *, is_async: bool = False) -> Any:
    """A client of the official SDK that speaks a format."""
    if format == "gemini":
        genai = pytest.importorskip("google.genai", reason="the SDK google-genai is not installed")
        client = genai.Client(api_key=KEY, http_options={"base_url": url})
        return client.aio if is_async else kept(client)
    package = "anthropic" if format == "anthropic" else "openai"
    module = pytest.importorskip(package, reason=f"the SDK {package} is not installed")
    name = {"anthropic": "Anthropic", "openai": "OpenAI"}[package]
    made = getattr(module, ("Async" if is_async else "") + name)(api_key=KEY, base_url=url)
    return made if is_async else kept(made)


OPEN: list[Any] = []
"""Sync clients that a test has made; async ones are closed in their own loop."""


def kept(client: Any) -> Any:
    """The client, to be closed behind its test."""
    OPEN.append(client)
    return client


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def sync_of(client: Any, **more: Any) -> Completer:
    made = completer(client, **more)
    assert isinstance(made, Completer)
    return made


def async_of(client: Any, **more: Any) -> AsyncCompleter:
    made = completer(client, **more)
    assert isinstance(made, AsyncCompleter)
    return made


@pytest.mark.parametrize("format", FORMATS)
def test_a_reply_comes_in_deltas_and_is_whole_at_the_end(format: str) -> None:
    """CMP-20: text and reasoning as they come; then text, reason, calls and usage."""
    with stub() as server:
        reply = sync_of(client_for(format, server.url))(asking(format))
        assert server.requests == [], "nothing is asked before the reply is read"
        *deltas, last = list(reply)
        assert last is reply.reply()
        assert "".join(d.text for d in deltas if isinstance(d, Delta)) == reply.text == "Looking"
        assert "".join(d.reasoning for d in deltas) == reply.reasoning == "let me see"
        assert len(reply.reply().messages) >= 1
        assert reply.stop_reason in ("tool_use", "tool_calls", "completed", "STOP")
        assert [call.name for call in reply.tool_calls] == ["read"]
        assert reply.usage is not None
        assert reply.usage.tokens_input == 13
        assert len(server.requests) == 1


@pytest.mark.parametrize("format", FORMATS)
def test_an_async_client_makes_an_async_completer(format: str) -> None:
    """`interface.md`: in the async twins an awaitable or async iterator of the same."""

    async def run(url: str) -> None:
        async with client_for(format, url, is_async=True) as client:
            await read(async_of(client))

    async def read(asked: AsyncCompleter) -> None:
        *deltas, last = [piece async for piece in asked(asking(format))]
        assert "".join(d.text for d in deltas) == last.text == "Looking"
        whole = await asked(asking(format)).reply()
        assert (whole.text, whole.reasoning) == ("Looking", "let me see")
        left = asked(asking(format))
        await anext(left)
        await left.aclose()

    with stub() as server:
        asyncio.run(run(server.url))


@pytest.mark.parametrize("format", FORMATS)
def test_the_request_is_the_conversations_own_with_the_instruction_last(format: str) -> None:
    """CMP-2: system prompt, tools, parameters and messages as they are, nothing overridden; the instruction is the last
    user message."""
    with stub() as server:
        asked = sync_of(client_for(format, server.url), model="mine", temperature=0.25)
        assert asked(asking(format, tools=TOOLS[format], is_fork=True)).text == "Looking"
        [(path, body)] = server.requests
        key = {"openai-responses": "input", "gemini": "contents"}.get(format, "messages")
        assert "sum it up" in str(body[key][-1])
        assert body[key][-1]["role"] == "user"
        assert "be brief" in str(body)
        assert body["tools"] == TOOLS[format] or format == "gemini"
        assert "read" in str(body["tools"])
        if format == "gemini":
            assert path.endswith("models/mine:streamGenerateContent?alt=sse")
            assert body["generationConfig"] == {"temperature": 0.25}
        else:
            assert (body["model"], body["temperature"], body["stream"]) == ("mine", 0.25, True)
        caps = {"max_tokens", "max_completion_tokens", "max_output_tokens"}
        assert caps & body.keys() == ({"max_tokens"} if format == "anthropic" else set())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("status", [429, 500])
def test_an_sdk_never_asks_twice(format: str, status: int) -> None:
    """CMP-11: SDK retries are off; whoever asks counts the attempts."""
    with stub() as server:
        server.status = status
        server.error = {"error": {"code": status, "message": "busy", "status": "UNAVAILABLE"}}
        with pytest.raises(ProviderFailed) as caught:
            _ = sync_of(client_for(format, server.url))(asking(format)).text
        assert caught.value.status == status
        assert len(server.requests) == 1


@pytest.mark.parametrize("format", FORMATS)
def test_an_error_says_what_was_refused_and_never_the_key(format: str) -> None:
    """An overflow is recognised from status and body; a key that the provider echoes is not seen anywhere."""
    words = f"prompt is too long: 250000 tokens > 200000 maximum, sent with {KEY}"
    with stub() as server:
        server.status = 400
        server.error = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}

        async def run() -> ProviderFailed:
            async with client_for(format, server.url, is_async=True) as client:
                with pytest.raises(ProviderFailed) as caught:
                    await async_of(client)(asking(format)).reply()
                return caught.value

        with pytest.raises(ProviderFailed) as caught:
            _ = sync_of(client_for(format, server.url))(asking(format)).text
        for error in (caught.value, asyncio.run(run())):
            assert error.status == 400
            assert classify_error(error.provider, error.status, error.body).tokens_limit == 200_000
            assert KEY not in f"{error} {error.body} {error.__cause__} {error.why}"
            assert error.__suppress_context__


@pytest.mark.parametrize("is_async", [False, True])
def test_an_answer_that_fails_while_it_comes_is_an_error_without_the_key(is_async: bool) -> None:
    """CMP-11, CMP-21: Responses says under status 200 that the request was too long; what came before is no summary."""
    said = {"code": "context_length_exceeded", "message": f"Your input exceeds the context window ({KEY})"}
    failed = {"type": "response.failed", "response": {"status": "failed", "error": said, "output": []}}
    with stub() as server:
        server.streams = {"openai-responses": [*STREAMS["openai-responses"][:-1], failed]}
        client = client_for("openai-responses", server.url, is_async=is_async)
        asked = completer(client, model="m")
        asked._sdk = SDKS["openai"]  # as at OpenAI's own address

        def ask() -> Any:
            told = asked(asking("openai-responses")).reply()
            return asyncio.run(told) if asyncio.iscoroutine(told) else told

        with pytest.raises(ProviderFailed, match="exceeds the context window") as raised:
            ask()
    assert classify_error(status=raised.value.status, body=raised.value.body).is_overflow
    assert KEY not in str(raised.value) + str(raised.value.body)


def test_a_completer_closes_the_client_that_it_asks_through() -> None:
    """Made by name, nobody else has the client."""
    with stub() as server:
        asked = sync_of(client_for("openai-chat", server.url))
        assert asked(asking("openai-chat")).text == "Looking"
        asked.close()
        asked.close()
        with pytest.raises(RuntimeError, match="closed"):
            _ = asked(asking("openai-chat")).text


def test_a_server_that_is_not_there_is_said_with_what_to_do() -> None:
    """CMP-21: an error of the request is a failure, with its reason."""
    with stub() as server:
        url = server.url
    with pytest.raises(ProviderFailed, match=r"could not be asked: .*; check the network and the base URL"):
        _ = sync_of(client_for("openai-chat", url))(asking("openai-chat")).text


def test_a_conversation_in_another_format_is_converted_and_that_is_said() -> None:
    """The completer's wire format need not be the session's."""
    with stub() as server:
        reply = sync_of(client_for("anthropic", server.url))(asking("openai-chat"))
        assert reply.text == "Looking"
        assert reply.notes[0] == (
            "the conversation was converted from openai-chat to anthropic for the model that was asked"
        )
        assert server.requests[0][1]["system"] == "be brief"


def test_a_completer_needs_a_model_from_somewhere() -> None:
    """Neither here nor in the conversation."""
    with stub() as server, pytest.raises(InvalidOption, match="name the model"):
        sync_of(client_for("openai-chat", server.url))(asking("openai-chat", model=None))


def test_a_client_keeps_its_own_base_url() -> None:
    """Two places for one thing would be one too many."""
    with pytest.raises(InvalidOption, match="give a name with a visible character"):
        completer("openai-chat", model="")
    with pytest.raises(InvalidOption, match="the client has its own"):
        completer(object(), base_url="http://localhost")
    with pytest.raises(InvalidOption, match="give a client of anthropic, openai or google-genai"):
        completer(object())


def test_the_completer_is_public_and_importing_foldline_imports_no_sdk() -> None:
    """Extras are lazy."""
    assert foldline.completer is importlib.import_module("foldline.providers.completer").completer


def test_a_completer_says_whom_it_asks_and_nothing_else() -> None:
    """No key in a repr."""
    with stub() as server:
        asked = sync_of(client_for("openai-chat", server.url), model="qwen3")
        assert repr(asked) == "<completer openai qwen3>"
        assert repr(sync_of(client_for("anthropic", server.url))) == "<completer anthropic>"
