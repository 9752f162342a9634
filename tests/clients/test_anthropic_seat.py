"""The seat in Anthropic's client stays with it through its options, and serves its streams, raw responses and tool runner."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from foldline.clients.wrap import wrap
from foldline.providers.completer import Completer, completer
from foldline.testing.twin import Answer, Call, Twin, endless
from foldline.wire.completion import CompletionRequest
from tests.clients.agents import MODEL, RULE, client_of, said

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDK's own
ASKED: dict[str, Any] = {"model": MODEL, "max_tokens": 100}


@pytest.fixture
def twin() -> Iterator[Twin]:
    """A provider that answers."""
    with Twin(endless("done")) as twin:
        yield twin


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Sessions of this test alone."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))


def names(client: Any) -> list[Any]:
    return [message["content"] for message in client.foldline.session.messages]


def test_the_seat_stays_through_options_and_other_middleware(twin: Twin) -> None:
    """`with_options` makes a new client."""
    seen = []

    def own(request: Any, call_next: Any) -> Any:
        seen.append(request.url)
        return call_next(request)

    with client_of("anthropic", twin.url).with_options(middleware=[own]) as given:
        client = wrap(given, session="s")
        client.with_options(timeout=30).messages.create(messages=[said("anthropic", RULE)], **ASKED)
        assert names(client) == [RULE, [{"type": "text", "text": "done"}]]
        assert seen == ["/v1/messages"]
        client.foldline.close()


def test_the_stream_helper_and_raw_responses_are_heard(twin: Twin) -> None:
    """`messages.stream`, `with_raw_response`, `with_streaming_response`."""
    messages = [said("anthropic", RULE)]
    with client_of("anthropic", twin.url) as given:
        client = wrap(given, session="s")
        with client.messages.stream(messages=messages, **ASKED) as stream:
            assert "".join(stream.text_stream) == "done"
        assert len(names(client)) == 2
        raw = client.messages.with_raw_response.create(messages=messages, **ASKED)
        assert raw.parse().content[0].text == "done"
        with client.messages.with_streaming_response.create(messages=messages, **ASKED) as response:
            assert json.loads(response.read())["content"][0]["text"] == "done"
        assert len(names(client)) == 2
        client.foldline.close()


def test_every_round_of_the_tool_runner_is_in_the_session(twin: Twin) -> None:
    """`client.beta.messages.tool_runner` sends a request a round; unless it is told `thread=False` the provider keeps the
    history, which is counted and left alone."""
    anthropic = pytest.importorskip("anthropic", reason="the SDK anthropic is not installed")

    @anthropic.beta_tool  # type: ignore[untyped-decorator]
    def weather(city: str) -> str:
        """The weather in a city."""
        return f"sunny in {city}"

    calls = Answer(text="let me see", calls=(Call(name="weather", arguments={"city": "Bern"}),))
    for thread in (False, True):
        with Twin([calls, "It is sunny."]) as scripted, client_of("anthropic", scripted.url) as given:
            client = wrap(given, session="s" if not thread else None)
            options = {**ASKED, "tools": [weather], "messages": [said("anthropic", RULE)]}
            runner = client.beta.messages.tool_runner(**options, **({} if thread else {"thread": False}))
            assert runner.until_done().content[0].text == "It is sunny."
            assert [request.status for request in scripted.requests] == [200, 200]
            if thread:
                assert client.foldline.passed == {"the provider keeps the history (thread)": 2}
            else:
                told = ["sunny in Bern" in str(one) for one in names(client)]
                assert told == [False, False, True, False]
            client.foldline.close()


def test_a_completers_own_request_passes(twin: Twin) -> None:
    """CMP-5: a fork never triggers anything, and is no conversation of the session's."""
    with client_of("anthropic", twin.url) as given:
        client = wrap(given, session="s")
        asked = completer(client, model=MODEL)
        assert isinstance(asked, Completer)
        request = CompletionRequest(
            format="anthropic", model=None, system=None, tools=None, messages=[], instruction="sum"
        )
        assert asked(request).text == "done"
        assert client.foldline.session is None


def test_cache_marks_move_along_and_none_is_left_behind(twin: Twin) -> None:
    """Law PREFIX counts without them: the conversation is known, and what is sent has the caller's marks alone."""
    mark = {"cache_control": {"type": "ephemeral"}}
    messages: list[Any] = []
    with client_of("anthropic", twin.url) as given:
        client = wrap(given, session="s")
        for n in range(4):
            for message in messages:
                for block in message["content"]:
                    block.pop("cache_control", None)
            messages.append({"role": "user", "content": [{"type": "text", "text": f"step {n}", **mark}]})
            answer = client.messages.create(messages=messages, **ASKED)
            text = [{"type": "text", "text": answer.content[0].text}]
            messages.append({"role": "assistant", "content": text})
        assert [request.body.count(b"cache_control") for request in twin.requests] == [1] * 4
        assert len(names(client)) == 8
        assert "cache_control" not in str(names(client))
        client.foldline.close()


def test_an_async_client_has_its_seat_too(twin: Twin) -> None:
    """The stream helper of the async client."""

    async def run() -> None:
        async with client_of("anthropic", twin.url, is_async=True) as given:
            client = wrap(given, session="s")
            async with client.messages.stream(messages=[said("anthropic", RULE)], **ASKED) as stream:
                assert "".join([text async for text in stream.text_stream]) == "done"
            assert len(names(client)) == 2
            client.foldline.close()

    asyncio.run(run())
