"""Fault reports of kinds `proxy`, `cache-cost` and `overflow-recognition`, on the wire: each goes through a proxy that runs, to a
provider that answers as its own would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foldline.testing.twin import Fault, Twin
from foldline.tokens.choose import counter_for
from tests.proxy.running import Proxy
from tests.proxy.sessions import MODEL, PATHS, Agent, generated, run, script
from tests.proxy.test_exchange import post

WINDOW = 20_000
TURNS = 60
SIZE_ERROR = 0.25


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sessions and settings of this test alone."""
    (tmp_path / "foldline.toml").write_text(f'[models."{MODEL}"]\nwindow = {WINDOW}\nmax_output = 2000\n')
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "foldline.toml"))
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("format", ["anthropic", "openai-chat"])
def test_what_is_said_to_be_saved_is_what_was_not_sent(format: str) -> None:
    """headroomlabs-ai/headroom#3561: savings were shown and no byte had changed. They are those of messages alone: system prompt and
    tools go along each time."""
    turns = generated(TURNS, tokens=240)
    agent = Agent(
        format,
        first="Refactor the project.",
        tools=[f"tool_{n}_{'x' * 40}" for n in range(60)] + ["bash", "read_file", "edit_file"],
    )
    count = counter_for(MODEL, counter=None, wire=format).text
    with Twin(script(turns), window=WINDOW) as twin, Proxy(twin.url) as proxy:
        for turn in turns:
            body = agent.body()
            agent.take(agent.ask(proxy.url), turn)
            record = proxy.wait_for(len(twin.requests))[-1]
            went = twin.requests[-1].body
            if record.outcome == "as it came":
                assert went == body
                assert record.tokens_in == record.tokens_sent
            else:
                wanted = record.tokens_sent * count(body.decode()) / count(went.decode())
                assert record.tokens_in == pytest.approx(wanted, rel=SIZE_ERROR)
        assert record.tokens_in > record.tokens_sent


def test_old_results_are_cleared_in_rare_batches_and_never_again_edited() -> None:
    """anomalyco/opencode#32515: pruning on every turn made the request smaller and dearer, cached 219k fell to 0."""
    turns = generated(TURNS, tokens=240)
    agent = Agent("anthropic", first="Refactor the project.")
    with Twin(script(turns), window=WINDOW) as twin, Proxy(twin.url) as proxy:
        run(agent, turns, proxy.url)
    broken = [n for n in range(1, TURNS) if twin.requests[n].extends != n - 1]
    assert 1 <= len(broken) <= TURNS // 10
    assert all(twin.requests[n].tokens_cached for n in range(10, TURNS) if n not in broken)


@pytest.mark.parametrize("format", PATHS)
def test_a_throttle_changes_nothing_and_is_passed_on(format: str) -> None:
    """anomalyco/opencode#39620: 'Too many tokens, please wait' started a compaction."""
    throttle = Fault(
        status=429, message="ThrottlingException: Too many tokens, please wait before trying again."
    )
    body = Agent(format, first="hello").body()
    with Twin([throttle]) as twin, Proxy(twin.url) as proxy:
        status, told, _ = post(
            proxy,
            body,
            path=PATHS[format],
            **{"x-api-key": "k", "anthropic-version": "2023-06-01", "x-goog-api-key": "k"},
        )
        assert status == 429
        assert b"please wait" in told
        assert [request.body for request in twin.requests] == [body]
        assert proxy.wait_for(1)[0].outcome == "as it came"


@pytest.mark.parametrize(
    "message",
    [
        "ValidationException: Input is too long for requested model.",
        "This model's maximum context length is 202752 tokens. However, you requested 65536 output tokens and your prompt contains at "
        "least 137217 input tokens, for a total of at least 202753 tokens. Please reduce the length of the input prompt.",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
def test_an_overflow_in_anothers_words_is_recovered_from_once(message: str) -> None:
    """openclaw/openclaw#58839, strands-agents/harness-sdk#3969: the words of one vendor behind another's path; the same request was
    sent three times."""
    turns = generated(20, tokens=240)
    agent = Agent("openai-chat", first="Refactor the project.")
    refused = Fault(status=400, message=message)
    with Twin([*script(turns), refused, "done"]) as twin, Proxy(twin.url) as proxy:
        run(agent, turns, proxy.url)
        agent.ask(proxy.url)
        first, again = twin.requests[-2:]
        assert first.status == 400
        assert again.status == 200
        assert len(again.body) < len(first.body)
        assert proxy.wait_for(21)[-1].outcome == "recovered"


def test_an_item_that_is_not_known_goes_on_as_it_came() -> None:
    """Wei-Shaw/sub2api#5648: a compaction trigger was dropped on the way, and the client got 200."""
    value: dict[str, Any] = {
        "model": "gpt-5",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "compaction_trigger"},
        ],
    }
    body = json.dumps(value).encode()
    with Twin() as twin, Proxy(twin.url) as proxy:
        post(proxy, body, path=PATHS["openai-responses"])
        assert [request.body for request in twin.requests] == [body]
