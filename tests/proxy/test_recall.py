"""`--recall`: the model looks up what was taken out, and whoever asked it never sees that it did."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from foldline.proxy.beginning import Keeping
from foldline.proxy.limits import RECALLS_MAX
from foldline.testing.twin import Answer, Call, Twin, endless
from foldline.testing.twin.script import Received, Step
from tests.clients.agents import FORMATS
from tests.proxy.running import Proxy
from tests.proxy.sessions import MODEL, Agent, Turn, generated, run

WINDOW = 20_000
TURNS = 50
KEEPING = Keeping(recalls=True)
FIRST = "Refactor the project, module by module. Never touch auth.py."
ADDRESS = re.compile(r"m\d+[.\d-]*@[0-9a-f]{8}")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Sessions and settings of this test alone."""
    (tmp_path / "foldline.toml").write_text(f'[models."{MODEL}"]\nwindow = {WINDOW}\nmax_output = 2000\n')
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "foldline.toml"))
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def has_tool(request: Received) -> bool:
    return b'"name":"recall"' in request.body


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
        assert not any(has_tool(request) for request in twin.requests)


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


def test_a_model_that_only_looks_up_is_stopped() -> None:
    """Every loop has a named bound."""
    turns = generated(TURNS, tokens=240)
    model = Model(turns)

    def step(request: Received) -> Step:
        if has_tool(request):
            return Answer(calls=(Call(name="recall", arguments={"query": "auth"}),))
        return model(request)

    agent = Agent("openai-chat", first=FIRST)
    with Twin(endless(step), window=WINDOW) as twin, Proxy(twin.url, keeping=KEEPING, recalls=True) as proxy:
        with pytest.raises(AssertionError, match=f"called recall {RECALLS_MAX} times"):
            run(agent, turns, proxy.url)
        assert sum(has_tool(request) for request in twin.requests) == RECALLS_MAX + 1
