"""The summary is asked of the same model as the conversation, as the request on its way would be, so that its cached prefix is hit."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from foldline.clients.same_model import SameModel, as_sent
from foldline.clients.wrap import wrap
from foldline.core.errors import InvalidOption
from foldline.providers.sdks import SDKS
from foldline.testing.twin import Received, Twin, endless
from foldline.wire.completion import CompletionRequest
from tests.clients.agents import FORMATS, RULE, SETTINGS, WINDOW, asked, client_of, echoed, step
from tests.clients.lists import assistant, call, user
from tests.clients.test_wrap import async_agent, run
from tests.engine.scripted import Asking, asking_tier, policy

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own
SUMMARY = "The first steps are done, and nothing failed."


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sessions and settings of this test alone."""
    (tmp_path / "foldline").mkdir()
    (tmp_path / "foldline" / "foldline.toml").write_text(SETTINGS)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))


def replies(received: Received) -> str:
    """A summary where one is asked for."""
    return SUMMARY if b"Sum it up" in received.body else "done"


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("format", FORMATS)
def test_the_fork_extends_what_was_sent_and_its_words_are_in_the_next_request(
    format: str, is_async: bool
) -> None:
    """CMP-2, CMP-5: same model, system prompt and messages, the caller's own bytes, the instruction last; the fork itself is no
    conversation of the session's."""
    asks = policy(asking_tier(Asking(1, 11)))
    with Twin(endless(replies), window=WINDOW) as twin:
        client = wrap(
            client_of(format, twin.url, is_async=is_async), session="agent", policy=asks, completer="same"
        )
        run(client, format, turns=9, stream=False, is_async=is_async)
        [fork] = [n for n, request in enumerate(twin.requests) if b"Sum it up" in request.body]
        before, after = twin.requests[fork - 1], twin.requests[fork + 1]
        assert {request.status for request in twin.requests} == {200}
        assert twin.requests[fork].extends == fork - 1
        assert before.path.split(":")[0] == twin.requests[fork].path.split(":")[0]
        assert SUMMARY in after.body.decode()
        assert after.tokens < twin.requests[fork].tokens
        own = json.loads(after.body)
        assert own.get("model") == json.loads(twin.requests[fork].body).get("model")
        assert len(list(client.foldline.session.compactions)) == 1
        client.foldline.close()


def test_a_fork_goes_out_as_the_caller_spells_it() -> None:
    """Cache marks and keys of the caller's; what an edit put in is the session's."""
    marked = {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "x"}}]}
    on_way = call([marked, assistant("hello"), user("go on")], system="be brief")
    request = CompletionRequest(
        format="openai-chat",
        model="m",
        system="be brief",
        tools=None,
        messages=[user("hi"), assistant("folded"), user("go on")],
        instruction="sum",
        is_fork=True,
    )
    sent = as_sent(request, on_way)
    first = {"role": "system", "content": "be brief"}
    assert sent.messages == [first, marked, assistant("folded"), user("go on")]
    assert sent.system is None


def test_a_model_must_be_named() -> None:
    """By the request on its way, or by the session."""
    request: Any = CompletionRequest(
        format="openai-chat", model=None, system=None, tools=None, messages=[user(RULE)], instruction="sum"
    )
    with pytest.raises(InvalidOption, match="name the model in the request"):
        SameModel(SDKS["openai"], object())(request)


def test_an_async_client_is_awaited_and_a_call_that_cannot_says_so() -> None:
    """The session of an async client, compacted by hand: `acompact` asks through the client, `compact` names it."""
    asks = policy(asking_tier(Asking(1, 5)))
    with Twin(endless(replies), window=WINDOW) as twin:
        client = wrap(
            client_of("openai-chat", twin.url, is_async=True), session="agent", policy=asks, completer="same"
        )

        async def whole() -> None:
            messages = await async_agent(client, "openai-chat", turns=4, stream=False)
            await asked(client, "openai-chat", messages)
            session = client.foldline.session
            with pytest.raises(InvalidOption, match=r"it awaits.* await acompact"):
                session.compact()
            report = await session.acompact()
            assert report.outcome == "compacted"
            await client.close()

        asyncio.run(whole())
        assert sum(b"Sum it up" in request.body for request in twin.requests) == 1
        client.foldline.close()


def test_as_many_conversations_as_there_are_go_on_while_a_model_writes_for_each() -> None:
    """CMP-5: a summary that is asked of the same async client, whose host is looked up in the threads of its event loop, waits for no
    thread that waits for it: more conversations than a small machine has threads for."""
    asks = policy(asking_tier(Asking(1, 11)))
    with Twin(endless(replies), window=WINDOW) as twin:
        url = twin.url.replace("127.0.0.1", "localhost")
        given = client_of("anthropic", url, is_async=True)
        client = wrap(given, session="agent", policy=asks, completer="same")

        async def agent(number: int) -> None:
            messages: list[Any] = [user(f"agent {number}")]
            for n in range(9):
                answer = await asked(client, "anthropic", messages)
                messages += [*echoed("anthropic", answer), user(f"{number} {step(n, 3_000)}")]

        async def whole() -> None:
            loop = asyncio.get_running_loop()
            loop.set_default_executor(ThreadPoolExecutor(1))
            await asyncio.wait_for(asyncio.gather(*(agent(number) for number in range(8))), 60)
            await client.close()

        asyncio.run(whole())
        assert sum(b"Sum it up" in request.body for request in twin.requests) >= 8
        assert {request.status for request in twin.requests} == {200}
        client.foldline.close()


def test_a_completer_of_another_kind_is_refused() -> None:
    """By name."""
    with pytest.raises(InvalidOption, match='give "same", a completer, or leave it out'):
        wrap(client_of("openai-chat", "http://localhost:9"), completer="other")


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_fork_of_a_beta_request_is_a_beta_request(is_async: bool) -> None:
    """CMP-2: without the header a parameter that it allows is refused, and the prefix is not the one that is cached."""
    asks, betas = policy(asking_tier(Asking(1, 11))), ["context-1m-2025-08-07", "effort-2025-11-24"]
    with Twin(endless(replies), window=WINDOW) as twin:
        given = client_of("anthropic", twin.url, is_async=is_async)
        client = wrap(given, session="agent", policy=asks, completer="same")

        class Beta:
            """The client as `asked` takes it, by way of `beta`."""

            class messages:
                @staticmethod
                def create(**options: Any) -> Any:
                    return client.beta.messages.create(**options, betas=betas)

            close = client.close

        run(Beta, "anthropic", turns=9, stream=False, is_async=is_async)
        [fork] = [request for request in twin.requests if b"Sum it up" in request.body]
        assert {request.status for request in twin.requests} == {200}
        said = {name.lower(): value for name, value in fork.headers.items()}
        assert said["anthropic-beta"] == ",".join(betas)
        client.foldline.close()
