"""Summaries by the conversation's own model: on its live prefix, with the key of the request in hand, and kept nowhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foldline.core.budget import Room
from foldline.core.errors import InvalidOption
from foldline.presets import policy_of
from foldline.providers.bodies import Body
from foldline.proxy.beginning import Keeping
from foldline.proxy.completing import Upstream, http_value, streaming_target
from foldline.testing.twin import Answer, Delivery, Fault, Twin
from foldline.testing.twin.script import Received, Step
from foldline.wire.completion import CompletionRequest
from tests.clients.agents import FORMATS
from tests.proxy.running import Proxy, own_home
from tests.proxy.sessions import HEADERS, Agent, generated, run

WINDOW = 20_000
TURNS = 60
COUNTERS_DIFFER = 1.05
"""Ours and the twin's."""
SUMMARY = (
    "<summary>\n## Objective and constraints\nRefactor the project, module by module. Never touch auth.py.\n"
    "## Exact next action\nGo on with the next module.\n</summary>"
)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Sessions and settings of this test alone."""
    return own_home(monkeypatch, tmp_path, window=WINDOW)


def is_summary(request: Received, agent: Agent) -> bool:
    """True for a request whose last message is none of the agent's."""
    return "summary" in json.dumps(_last(request.parsed))


def _last(body: Any) -> Any:
    return next(body[key] for key in ("messages", "input", "contents") if key in body)[-1]


@pytest.mark.parametrize("format", FORMATS)
def test_a_summary_is_asked_of_the_same_model_on_the_live_prefix(home: Path, format: str) -> None:
    """CMP-2: the same upstream, credentials and model; the fork begins with what the provider has cached."""
    turns = generated(TURNS, tokens=240)
    answers = iter(turns)
    summaries: list[Received] = []

    def step(request: Received) -> Step:
        if is_summary(request, agent):
            summaries.append(request)
            return SUMMARY
        turn = next(answers)
        return Answer(text=turn.text, calls=turn.calls)

    agent = Agent(format, first="Refactor the project, module by module. Never touch auth.py.")
    keeping = Keeping(asks_upstream=True)
    with Twin([step] * 400, window=WINDOW) as twin, Proxy(twin.url, keeping=keeping) as proxy:
        run(agent, turns, proxy.url)
        records = proxy.wait_for(TURNS)
        asked = [request for request in twin.requests if is_summary(request, agent)]
    assert {request.status for request in twin.requests} == {200}
    assert 1 <= len(asked) == len(twin.requests) - TURNS
    assert sum(record.is_compaction for record in records) >= 1
    assert sum(record.summary_requests for record in records) == len(asked)
    assert sum(record.summary_tokens for record in records) > 0
    assert all(request.tokens_shared > request.tokens * 0.7 for request in asked), (
        "a fork goes on from the prefix"
    )
    assert "Go on with the next module." in twin.requests[-1].body.decode()
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert HEADERS["authorization"].encode() not in kept


@pytest.mark.parametrize(("format", "asks"), [("anthropic", False), *((format, True) for format in FORMATS)])
def test_from_the_threshold_on_the_compaction_is_finished_first(format: str, asks: bool) -> None:
    """CMP-1: before every request, each round of a tool loop included; the request that was due is never sent, and where a model sums
    up it has answered before."""
    turns = generated(TURNS, tokens=240)
    answers = iter(turns)
    agent = Agent(format, first="Refactor the project, module by module. Never touch auth.py.")
    order: list[str] = []

    def step(request: Received) -> Step:
        if is_summary(request, agent):
            order.append("summary")
            return Answer(text=SUMMARY, delivery=Delivery(wait_s=0.05))
        order.append("as it came" if request.body == due[-1] else "reduced")
        turn = next(answers)
        return Answer(text=turn.text, calls=turn.calls)

    due: list[bytes] = []
    keeping = Keeping(asks_upstream=asks)
    with Twin([step] * 400, window=WINDOW) as twin, Proxy(twin.url, keeping=keeping) as proxy:
        for turn in turns:
            due.append(agent.body())
            agent.take(agent.ask(proxy.url), turn)
        records = proxy.wait_for(TURNS)
        talk = [request for request in twin.requests if not is_summary(request, agent)]
    told = policy_of("balanced", WINDOW).threshold
    line = told.tokens(Room(WINDOW, output_cap=2_000 if format == "anthropic" else None))
    assert max(request.tokens for request in talk) <= line * COUNTERS_DIFFER
    first = order.index("reduced")
    assert set(order[first:]) <= {"reduced", "summary"}, "what was once due never goes out as it came"
    assert (order[first - 1] == "summary") == asks
    assert order.count("summary") == sum(record.is_compaction for record in records) * asks
    within_a_loop = [n for n, record in enumerate(records) if record.is_compaction and turns[n - 1].calls]
    assert within_a_loop, "a compaction in the middle of a tool loop"


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(status=429), Fault(status=400, message="no")])
def test_a_summary_that_comes_to_nothing_leaves_the_agent_going(fault: Fault) -> None:
    """The deterministic tier follows; the record says what happened, and no key."""
    turns = generated(TURNS, tokens=240)
    answers = iter(turns)
    agent = Agent("openai-chat", first="Refactor the project, module by module. Never touch auth.py.")

    def step(request: Received) -> Step:
        if is_summary(request, agent):
            return fault
        turn = next(answers)
        return Answer(text=turn.text, calls=turn.calls)

    with (
        Twin([step] * 400, window=WINDOW) as twin,
        Proxy(twin.url, keeping=Keeping(asks_upstream=True)) as proxy,
    ):
        run(agent, turns, proxy.url)
        records = proxy.wait_for(TURNS)
    assert {record.status for record in records} == {200}
    assert sum(record.is_compaction for record in records) >= 1
    assert "Never touch auth.py" in twin.requests[-1].body.decode()


def test_without_a_request_in_hand_nobody_is_asked() -> None:
    """A session of the proxy that is opened elsewhere has no key to ask with."""
    asked = CompletionRequest(
        format="openai-chat", model="m", system=None, tools=None, messages=[], instruction="sum up"
    )
    with pytest.raises(InvalidOption, match="while a request is on its way"):
        Upstream()(asked)


def test_a_body_for_gemini_is_as_http_has_it() -> None:
    """Its model is in the path, its cap among the settings, and the caller's own cap goes first."""
    value = {"model": "m", "contents": [], "max_output_tokens": 9, "generationConfig": {"temperature": 0}}
    assert http_value(Body(format="gemini", value=value)) == {
        "contents": [],
        "generationConfig": {"maxOutputTokens": 9, "temperature": 0},
    }
    assert http_value(Body(format="openai-chat", value={"model": "m"})) == {"model": "m"}
    path = "/v1beta/models/m"
    for verb in ("generateContent", "streamGenerateContent"):
        assert (
            streaming_target(f"{path}:{verb}?key=k", "gemini")
            == f"{path}:streamGenerateContent?key=k&alt=sse"
        )
    assert streaming_target("/v1/messages?beta=true", "anthropic") == "/v1/messages?beta=true"
