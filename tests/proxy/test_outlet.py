"""The client's side: a stream that has to wait is kept alive, and what goes wrong then is said in it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldline.proxy import outlet
from foldline.proxy.beginning import Keeping
from foldline.proxy.meters import Record
from foldline.testing.twin import Answer, Delivery, Fault, Twin, endless
from foldline.testing.twin.script import Received, Step
from tests.clients.agents import client_of
from tests.proxy.running import Proxy, own_home
from tests.proxy.sessions import HEADERS, PATHS, Agent, Turn, generated
from tests.proxy.test_request_matrix import OK
from tests.proxy.upstreams import Sent, Upstream

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own
WINDOW = 20_000
SUMMARY = "<summary>\n## Exact next action\nGo on with the next module. Never touch auth.py.\n</summary>"
FIRST = "Refactor the project, module by module. Never touch auth.py."


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sessions and settings of this test alone, and a client that hears of its stream often."""
    own_home(monkeypatch, tmp_path, window=WINDOW)
    monkeypatch.setattr(outlet, "KEEP_ALIVE_S", 0.05)


def filled(format: str) -> Agent:
    """An agent whose next request needs a summary: its turns as if they had been answered."""
    agent = Agent(format, first=FIRST)
    for turn in generated(64, tokens=240):
        agent.messages += _spoken(format, turn)
    return agent


def _spoken(format: str, turn: Turn) -> list[Any]:
    text = "\n".join(turn.results) or turn.user
    return [{"role": "assistant", "content": turn.text}, {"role": "user", "content": _content(format, text)}]


def _content(format: str, text: str) -> Any:
    return [{"type": "text", "text": text}] if format == "anthropic" else text


def slow(then: Step) -> Iterator[Any]:
    """A model that is slow at summaries."""

    def step(request: Received) -> Step:
        last = next(request.parsed[key] for key in ("messages", "input") if key in request.parsed)[-1]
        is_summary = "<summary>" in json.dumps(last)
        return Answer(text=SUMMARY, delivery=Delivery(wait_s=0.5)) if is_summary else then

    return endless(step)


def asked(proxy: Proxy, agent: Agent, format: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=30)
    try:
        connection.request("POST", PATHS[format], agent.body(), HEADERS)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


@pytest.mark.parametrize("format", ["anthropic", "openai-chat", "openai-responses"])
def test_a_stream_that_waits_for_a_summary_is_kept_alive(format: str) -> None:
    """CMP-1: the request that is due is not sent before; comment lines meanwhile, then the answer as it came."""
    agent = filled(format)
    with (
        Twin(slow("done"), window=WINDOW) as twin,
        Proxy(twin.url, keeping=Keeping(asks_upstream=True)) as proxy,
    ):
        status, data = asked(proxy, agent, format)
        [record] = proxy.wait_for(1)
    assert status == 200
    assert data.startswith(outlet.KEEP_ALIVE)
    assert b"done" in data.replace(outlet.KEEP_ALIVE, b"")
    assert record.is_compaction
    assert not record.is_cut


@pytest.mark.parametrize("format", ["anthropic", "openai-chat", "openai-responses"])
def test_what_goes_wrong_then_is_the_sdks_own_error(format: str) -> None:
    """The head of the stream is out, so it is an event of it; an SDK raises what it raises."""
    agent = filled(format)
    package = pytest.importorskip(
        "anthropic" if format == "anthropic" else "openai", reason="the SDK is not installed"
    )
    fault = Fault(status=400, message="this is what the provider said")
    with (
        Twin(slow(fault), window=WINDOW) as twin,
        Proxy(twin.url, keeping=Keeping(asks_upstream=True)) as proxy,
    ):
        client = client_of(format, proxy.url)
        body = json.loads(agent.body())
        create = {
            "anthropic": lambda given: given.messages,
            "openai-chat": lambda given: given.chat.completions,
            "openai-responses": lambda given: given.responses,
        }[format](client).create
        with pytest.raises(package.APIError, match="this is what the provider said"):
            list(create(**body))
        client.close()
        [record] = proxy.wait_for(1)
    assert record.status == 400


def test_an_answer_that_is_no_stream_is_said_to_be_none_where_one_has_begun() -> None:
    """A gateway that answers JSON to whoever asked for a stream: behind the head of a stream it cannot be given out, and is no event."""
    agent, format = filled("openai-chat"), "openai-chat"
    openai = pytest.importorskip("openai", reason="the SDK openai is not installed")

    def answered(_: bytes, body: bytes) -> Sent:
        if b"<summary>" in body:
            event = {"choices": [{"index": 0, "delta": {"content": SUMMARY}, "finish_reason": "stop"}]}
            return Sent(
                pieces=[b"data: %b\n\n" % json.dumps(event).encode(), b"data: [DONE]\n\n"], pause_s=0.3
            )
        return OK

    with Upstream(answered) as upstream, Proxy(upstream.url, keeping=Keeping(asks_upstream=True)) as proxy:
        client = client_of(format, proxy.url)
        with pytest.raises(openai.APIError, match="answered without a stream"):
            list(client.chat.completions.create(**json.loads(agent.body())))
        client.close()
        [record] = proxy.wait_for(1)
    assert record.status == 502
    assert "without a stream" in record.why


def test_a_client_that_wants_no_stream_waits_without_a_word() -> None:
    """There is nothing that could be said before the answer."""
    agent = filled("openai-chat")
    with (
        Twin(slow("done"), window=WINDOW) as twin,
        Proxy(twin.url, keeping=Keeping(asks_upstream=True)) as proxy,
    ):
        body = {key: value for key, value in json.loads(agent.body()).items() if not key.startswith("stream")}
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=30)
        connection.request("POST", PATHS["openai-chat"], json.dumps(body).encode(), HEADERS)
        told = json.loads(connection.getresponse().read())
        connection.close()
        records: list[Record] = proxy.wait_for(1)
    assert told["choices"][0]["message"]["content"] == "done"
    assert records[0].is_compaction
