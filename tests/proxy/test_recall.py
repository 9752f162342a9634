"""`--recall`: the model looks up what was taken out, and whoever asked it never sees that it did."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from foldline.clients.tickets import RECALLS_MAX, TOLD_MAX
from foldline.proxy.beginning import Keeping
from foldline.proxy.exchange import TOO_OFTEN, Mode
from foldline.session.following import SPENT, Following, Kept
from foldline.testing.twin import Answer, Call, Twin, endless
from foldline.testing.twin.script import Received, Step
from foldline.wire.events import Events
from tests.clients.agents import FORMATS, client_of
from tests.proxy.running import Proxy, own_home
from tests.proxy.sessions import HEADERS, MODEL, PATHS, Agent, Turn, generated, run

WINDOW = 20_000
TURNS = 72
KEEPING = Keeping(recalls=True)
FIRST = "Refactor the project, module by module. Never touch auth.py."
ADDRESS = re.compile(r"m\d+[.\d-]*@[0-9a-f]{8}")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Sessions and settings of this test alone."""
    return own_home(monkeypatch, tmp_path, window=WINDOW)


def has_tool(request: Received) -> bool:
    return '"name": "recall"' in json.dumps(request.parsed.get("tools"))


def list_of(request: Received) -> list[Any]:
    """The conversation that was sent."""
    return list(
        next(request.parsed[key] for key in ("messages", "input", "contents") if key in request.parsed)
    )


class Model:
    """Answers by the turns; before every fifth answer that may, it looks something up."""

    def __init__(self, turns: list[Turn], *, beside: tuple[Call, ...] = ()) -> None:
        self._turns, self._at, self._beside = turns, 0, beside
        self.looked: set[int] = set()

    def __call__(self, request: Received) -> Step:
        if has_tool(request) and self._at % 5 == 0 and self._at not in self.looked:
            self.looked.add(self._at)
            found = ADDRESS.search(request.body.decode())
            assert found is not None, "a reduced request names where its originals are"
            asked = {"address": found[0]} if self._at % 2 else {"query": "Never touch auth.py"}
            call = Call(name="recall", arguments=asked, id=f"recall_{self._at}")
            return Answer(text="let me look that up", thinking="hm", calls=(call, *self._beside))
        turn = self._turns[self._at]
        self._at += 1
        return Answer(text=turn.text, thinking="hm", calls=turn.calls)


@pytest.mark.parametrize("format", FORMATS)
def test_what_was_taken_out_is_looked_up_unseen(home: Path, format: str) -> None:
    """The tool is added to reduced requests, its calls are answered inside, streaming works; what was looked up stays before the
    model, in the same bytes, after a restart too (laws PREFIX and ONCE)."""
    turns = generated(TURNS, tokens=240)
    model, records = Model(turns), []
    agent = Agent(format, first=FIRST)
    with Twin(endless(model), window=WINDOW) as twin:
        for part in (turns[: TURNS // 2], turns[TURNS // 2 :]):
            with Proxy(twin.url, keeping=KEEPING, recalls=True) as proxy:
                run(agent, part, proxy.url)
                records += proxy.wait_for(len(part))
        requests = twin.requests
    assert {request.status for request in requests} == {200}
    assert 1 <= len(model.looked) == sum(record.recalls for record in records) == len(requests) - TURNS
    assert "recall" not in json.dumps(agent.messages)
    assert "let me look that up" in requests[-1].body.decode()
    recalled = [
        json.dumps(list_of(request)[-1])
        for request in requests
        if "recall_" in json.dumps(list_of(request)[-1])
    ]
    assert len(recalled) == len(model.looked)
    assert any("Never touch auth.py" in text for text in recalled)
    broken = [n for n in range(1, len(requests)) if requests[n].extends != n - 1]
    assert len(broken) == sum(record.is_compaction for record in records) >= 1


def test_below_the_threshold_no_tool_is_added() -> None:
    """LOSSLESS: there is nothing to look up."""
    turns = generated(4, tokens=240)
    agent = Agent("openai-chat", first=FIRST)
    with (
        Twin(endless(Model(turns)), window=WINDOW) as twin,
        Proxy(twin.url, keeping=KEEPING, recalls=True) as proxy,
    ):
        run(agent, turns, proxy.url)
        assert [has_tool(request) for request in twin.requests] == [False] * len(turns)


@pytest.mark.parametrize("format", ["anthropic", "openai-chat"])
def test_a_call_beside_it_is_made_anew(format: str) -> None:
    """All results of an answer come together, and those of the agent's tools come from the agent."""
    turns = generated(TURNS, tokens=240)
    model = Model(turns, beside=(Call(name="bash", arguments={"n": 1}, id="beside"),))
    agent = Agent(format, first=FIRST)
    with Twin(endless(model), window=WINDOW) as twin, Proxy(twin.url, keeping=KEEPING, recalls=True) as proxy:
        run(agent, turns, proxy.url)
        assert {request.status for request in twin.requests} == {200}
        assert any("not run: recall" in request.body.decode() for request in twin.requests)
    assert "beside" not in json.dumps(agent.messages)


@pytest.mark.parametrize(
    ("format", "told"),
    [("anthropic", 1), *((format, TOLD_MAX) for format in FORMATS)],
    ids=lambda told: "whatever it is told" if told == TOLD_MAX else "until it is told" if told == 1 else told,
)
def test_a_model_that_only_looks_up_is_brought_to_an_end(format: str, told: int) -> None:
    """Every loop has a named bound: past it the model is told that nothing more is looked up, and then loses the tool for this request.
    The turn ends with an answer, of which the agent sees nothing but that, and the session goes on."""
    agent = reduced_once(format)
    looks = RECALLS_MAX + told
    asked: list[Received] = []

    def step(request: Received) -> Step:
        asked.append(request)
        if len(asked) <= looks:
            return Answer(calls=(Call(name="recall", arguments={"query": "auth"}),))
        return Answer(text=f"answer {len(asked)}")

    keeping = Keeping(recalls=True)
    with Twin(endless(step), window=WINDOW) as twin, Proxy(twin.url, keeping=keeping, recalls=True) as proxy:
        response = agent.ask(proxy.url)
        assert f"answer {looks + 1}" in json.dumps(response)
        assert "recall" not in json.dumps(response)
        assert [has_tool(one) for one in twin.requests] == [True] * looks + [told < TOLD_MAX]
        assert sum(SPENT in json.dumps(list_of(one)[-1]) for one in twin.requests) == told
        [record] = proxy.wait_for(1)
        assert (record.status, record.recalls) == (200, looks)
        assert (TOO_OFTEN in record.notes) == (told == TOLD_MAX)
        agent.take(response, Turn(text="", user="go on"))
        assert f"answer {looks + 2}" in json.dumps(agent.ask(proxy.url))
        assert {one.status for one in twin.requests} == {200}


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", FORMATS)
def test_an_sdk_sees_the_same_with_the_tool_and_without_it(format: str, is_stream: bool) -> None:
    """Invisible to the client. A response of OpenAI's repeats the tools of its request; all but the count of the input is the
    same."""
    agent = reduced_once(format)
    seen, sent = [], []
    for recalls in (False, True):
        keeping = Keeping(recalls=recalls)
        with (
            Twin(endless("done"), window=WINDOW) as twin,
            Proxy(twin.url, keeping=keeping, recalls=recalls) as proxy,
        ):
            seen.append(
                [without_counts(one) for one in heard_by_sdk(format, proxy.url, agent, is_stream=is_stream)]
            )
            sent.append([has_tool(request) for request in twin.requests])
            assert [record.outcome for record in proxy.wait_for(1)] == ["edited"]
    assert sent == [[False], [True]]
    assert seen[0] == seen[1] != []


def heard_by_sdk(format: str, url: str, agent: Agent, *, is_stream: bool) -> list[Any]:
    """What an official client hands to its caller; of Gemini, whose client takes other bodies, the answer's own events."""
    body = json.loads(agent.body())
    if format == "gemini":
        path = "streamGenerateContent?alt=sse" if is_stream else "generateContent"
        request = Request(f"{url}/v1beta/models/{MODEL}:{path}", agent.body(), HEADERS, method="POST")
        with urlopen(request) as response:
            data = response.read()
        return [*Events().feed(data)] if is_stream else [json.loads(data)]
    body = {key: value for key, value in body.items() if key not in ("stream", "stream_options")}
    with client_of(format, url) as client:
        match format:
            case "anthropic":
                call = client.messages.create
            case "openai-chat":
                call = client.chat.completions.create
            case _:
                call = client.responses.create
        told = call(**body, stream=is_stream)
        return [one.model_dump(mode="json") for one in (told if is_stream else [told])]


def without_counts(value: Any) -> Any:
    """Without what was counted for the request."""
    if isinstance(value, dict):
        return {
            key: without_counts(inner)
            for key, inner in value.items()
            if key not in ("usage", "usageMetadata")
        }
    return [without_counts(inner) for inner in value] if isinstance(value, list) else value


def reduced_once(format: str = "openai-chat") -> Agent:
    """An agent whose next request is reduced."""
    agent = Agent(format, first=FIRST)
    agent.messages = [*grown(format)]
    return agent


@cache
def grown(format: str) -> tuple[Any, ...]:
    """The messages of an agent, after so many turns."""
    agent = Agent(format, first=FIRST)
    turns = generated(TURNS, tokens=240)
    with Twin(endless(Model(turns)), window=10 * WINDOW) as twin, Proxy(twin.url, mode="observe") as proxy:
        run(agent, turns, proxy.url)
    return tuple(agent.messages)


def streamed(agent: Agent, url: str, format: str = "openai-chat") -> bytes:
    """The events of its next answer."""
    with urlopen(Request(url + PATHS[format], agent.body(), HEADERS, method="POST")) as response:
        return bytes(response.read())


def looking_once() -> Callable[[Received], Step]:
    """A model that looks something up, and then answers."""
    asked: list[Received] = []

    def step(request: Received) -> Step:
        asked.append(request)
        if len(asked) > 1:
            return Answer(text="final")
        return Answer(text="look", calls=(Call(name="recall", arguments={"query": "auth"}),))

    return step


@pytest.mark.parametrize("mode", ["open", "strict"])
def test_a_fault_of_ours_while_recalling_costs_no_answer(monkeypatch: pytest.MonkeyPatch, mode: Mode) -> None:
    """Open: the model is asked once more, without the tool that cannot be answered. Strict: it is said."""

    def failing(self: Following, response: Any, *, is_spent: bool, is_delivered: bool) -> list[Kept]:
        assert "look" in json.dumps(response)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    agent = reduced_once()
    monkeypatch.setattr(Following, "recall", failing)
    with (
        Twin(endless(looking_once()), window=WINDOW) as twin,
        Proxy(twin.url, keeping=KEEPING, recalls=True, mode=mode) as proxy,
    ):
        told = streamed(agent, proxy.url)
        if mode == "strict":
            assert b"the conversation cannot be kept" in told
            assert b'"recall"' not in told
        else:
            assert b"final" in told
            assert [has_tool(request) for request in twin.requests] == [True, False]
            assert list_of(twin.requests[0]) == list_of(twin.requests[1])
        [record] = proxy.wait_for(1)
        assert record.outcome == ("refused" if mode == "strict" else "failed open")
        assert "OSError" in record.why


def test_a_stream_of_gemini_as_one_array_shows_no_call_of_it() -> None:
    """`streamGenerateContent` without `alt=sse`."""
    agent = reduced_once("gemini")
    with (
        Twin(endless(looking_once()), window=WINDOW) as twin,
        Proxy(twin.url, keeping=KEEPING, recalls=True) as proxy,
    ):
        path = f"/v1beta/models/{MODEL}:streamGenerateContent"
        request = Request(proxy.url + path, agent.body(), HEADERS, method="POST")
        with urlopen(request) as response:
            told = json.loads(response.read())
        assert "recall" not in json.dumps(told)
        assert "final" in json.dumps(told)
        assert [has_tool(request) for request in twin.requests] == [True, True]


def test_an_own_tool_of_that_name_is_called_by_the_agent() -> None:
    """Its call is delivered, in a reduced request too."""
    agent = reduced_once()
    body = {**json.loads(agent.body()), "stream": False}
    body.pop("stream_options", None)
    own = {"type": "function", "function": {"name": "recall", "parameters": {"type": "object"}}}
    with (
        Twin(endless(looking_once()), window=WINDOW) as twin,
        Proxy(twin.url, keeping=KEEPING, recalls=True) as proxy,
    ):
        data = json.dumps({**body, "tools": [*body["tools"], own]}).encode()
        request = Request(proxy.url + "/v1/chat/completions", data, HEADERS, method="POST")
        with urlopen(request) as response:
            told = json.loads(response.read())
        assert told["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "recall"
        assert len(twin.requests) == 1
        assert (proxy.wait_for(1)[0].outcome, proxy.records[0].recalls) == ("edited", 0)
