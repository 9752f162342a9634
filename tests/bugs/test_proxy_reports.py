"""Fault reports of kinds `proxy`, `cache-cost` and `overflow-recognition`, on the wire: each goes through a proxy that runs, to a
provider that answers as its own would."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import foldline
from foldline.core.budget import OUTPUT_RESERVE_MIN
from foldline.proxy.beginning import Keeping
from foldline.testing.twin import Answer, Call, Fault, Twin, endless
from foldline.testing.twin.script import Received
from foldline.tokens.choose import counter_for
from foldline.wire.formats import codec
from tests.bugs.case import load
from tests.proxy.running import Proxy, own_home
from tests.proxy.sessions import HEADERS, MODEL, PATHS, Agent, Turn, generated, run, script
from tests.proxy.test_completing import is_summary
from tests.proxy.test_exchange import post
from tests.proxy.test_transparency import answered
from tests.proxy.upstreams import Sent, Upstream

WINDOW = 20_000
TURNS = 60
SIZE_ERROR = 0.25
KEYS = {"x-api-key": "k", "anthropic-version": "2023-06-01", "x-goog-api-key": "k"}


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sessions and settings of this test alone."""
    own_home(monkeypatch, tmp_path, window=WINDOW)


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


# ── what stands for what is gone, and the tool that gets it back ─────────────────────────────────────────────


def recalling(*, first: str, results: dict[int, str], looks: Callable[[Received], Call | None]) -> Any:
    """A model that works through the turns, and looks something up where it is told to."""
    at: list[Turn] = [
        replace(turn, results=tuple(results.get(n, one) for one in turn.results)) if turn.calls else turn
        for n, turn in enumerate(generated(TURNS, tokens=240))
    ]
    left = iter(at)

    def step(request: Received) -> Answer:
        call = looks(request)
        if call is not None:
            return Answer(text="let me look that up", calls=(call,))
        turn = next(left, Turn(text="all is done"))
        return Answer(text=turn.text, calls=turn.calls)

    return at, step


MARK = re.compile(r"m\d+[.\d-]*@[0-9a-f]{8}")


def tools_of(request: Received) -> str:
    return json.dumps(request.parsed.get("tools"))


@pytest.mark.parametrize("format", PATHS)
@pytest.mark.parametrize("recalls", [False, True])
def test_a_marker_that_can_be_looked_up_comes_with_the_tool(format: str, recalls: bool) -> None:
    """headroomlabs-ai/headroom#1006 (X01): content was shortened, its marker asked to be retrieved, and the request had no tool for it.
    With the tool it is in each request that has a marker; without it no request speaks of looking anything up."""
    large = load("X01").messages[-1]["content"][0]["content"]
    turns, step = recalling(first="list", results={3: large[:30_000]}, looks=lambda _: None)
    agent = Agent(format, first="list")
    with (
        Twin(endless(step), window=WINDOW) as twin,
        Proxy(twin.url, keeping=Keeping(recalls=recalls), recalls=recalls) as proxy,
    ):
        run(agent, turns, proxy.url)
        marked = [request for request in twin.requests if MARK.search(request.body.decode())]
        assert marked, "something was shortened"
        assert all(('"name": "recall"' in tools_of(request)) == recalls for request in marked)
        if not recalls:
            assert not [request for request in twin.requests if re.search(rb"recall|retriev", request.body)]


@pytest.mark.parametrize("format", PATHS)
def test_what_was_looked_up_is_not_shortened_again(format: str) -> None:
    """headroomlabs-ai/headroom#1077 (X02): the original that was retrieved was shortened by the same proxy, and retrieved again."""
    lines = load("X02").messages[-1]["content"][0]["content"].split("\n")
    original = "\n".join(f"{line} {n}" for n, line in enumerate(lines))
    asked: list[Received] = []

    def looks(request: Received) -> Call | None:
        text = request.body.decode()
        if '"name": "recall"' not in tools_of(request) or asked:
            return None
        found = [mark[0] for mark in MARK.finditer(text) if mark[0].startswith(("m2.", "m3."))]
        asked.append(request)
        return Call(name="recall", arguments={"address": found[0], "tokens": 16_000}, id="recall_1")

    turns, step = recalling(first="get", results={0: original}, looks=looks)
    agent = Agent(format, first="get", output_cap=OUTPUT_RESERVE_MIN)
    keeping = Keeping(recalls=True)
    with Twin(endless(step), window=WINDOW) as twin, Proxy(twin.url, keeping=keeping, recalls=True) as proxy:
        run(agent, turns, proxy.url)
        answering = next(
            text for text in (json.dumps(one.parsed) for one in twin.requests) if "recall_1" in text
        )
        assert all(json.dumps(line)[1:-1] in answering for line in original.split("\n")), (
            "verbatim, all of it"
        )
        assert "let me look that up" in answering
        assert len(asked) == 1 == sum(record.recalls for record in proxy.wait_for(TURNS))


@pytest.mark.parametrize("format", PATHS)
def test_with_the_tool_a_stream_has_every_event_in_its_order(format: str) -> None:
    """headroomlabs-ai/headroom#3266 (X03): with the retrieval tool present a stream became a shell of pings without content."""
    wanted = load("X03").payload["upstream_events"]
    turns, step = recalling(first="go", results={}, looks=lambda _: None)
    agent = Agent(format, first="go")
    with Twin(endless(step), window=WINDOW) as twin:
        with Proxy(twin.url, keeping=Keeping(recalls=True), recalls=True) as proxy:
            run(agent, turns, proxy.url)
            assert '"name": "recall"' in tools_of(twin.requests[-1])
            body = agent.body()
            _, told, _ = post(proxy, body, path=PATHS[format], **KEYS)
    with Twin(["all is done"], window=100 * WINDOW) as other:
        _, direct, _ = answered(other.url, format, body, stream=True)
    kinds = [kind_of(event) for event in events(told)]
    assert kinds == [kind_of(event) for event in events(direct)] != []
    assert b"ping" not in told.replace(b"event: ping", b"")
    if format == "anthropic":
        assert [
            kind for n, kind in enumerate(kinds) if kind != "ping" and kinds[n - 1 : n] != [kind]
        ] == wanted
    assert b"all is done" in told


def kind_of(event: dict[str, Any]) -> Any:
    return event.get("type") or sorted(event)


def events(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(one[6:]) for one in data.split(b"\n") if one.startswith(b"data: {")]


def test_where_nothing_is_looked_up_a_stream_is_not_held_back() -> None:
    """headroomlabs-ai/headroom#3266 (X03): each event goes down as it comes while nothing of the conversation was taken out."""
    event = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    went: list[float] = []

    def pieces() -> Iterator[bytes]:
        for _ in range(3):
            went.append(time.monotonic())
            yield event

    with (
        Upstream(lambda *_: Sent(pieces=pieces(), pause_s=0.3)) as upstream,
        Proxy(upstream.url, keeping=Keeping(recalls=True), recalls=True) as proxy,
    ):
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
        connection.request("POST", PATHS["openai-chat"], Agent("openai-chat", first="go").body(), HEADERS)
        response = connection.getresponse()
        assert response.read(len(event)) == event
        assert len(went) < 3, "the first event came before the last one was sent"
        response.read()
        connection.close()


# ── what it costs in the cache ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("format", PATHS)
def test_a_summary_is_asked_on_the_prefix_of_the_last_request(format: str) -> None:
    """anomalyco/opencode#25120 (S02): the summary was asked with another system prompt, no tools and another serialisation, and missed
    the cache entirely."""
    assert load("S02").op["cache_friendly"]
    agent = Agent(format, first="a")
    turns = iter(generated(TURNS, tokens=240))

    def step(request: Received) -> Answer:
        if is_summary(request, agent):
            return Answer(text="<summary>\n## Exact next action\nGo on.\n</summary>")
        turn = next(turns)
        return Answer(text=turn.text, calls=turn.calls)

    keeping = Keeping(asks_upstream=True)
    with Twin(endless(step), window=WINDOW) as twin, Proxy(twin.url, keeping=keeping) as proxy:
        run(agent, generated(TURNS, tokens=240), proxy.url)
        asked = [n for n, request in enumerate(twin.requests) if is_summary(request, agent)]
        assert asked
        for n in asked:
            before, summing = twin.requests[n - 1], twin.requests[n]
            for key in ("system", "tools", "instructions", "systemInstruction"):
                assert summing.parsed.get(key) == before.parsed.get(key)
            assert summing.tokens_shared >= 0.9 * before.tokens


@pytest.mark.parametrize("policy", ["balanced", "handoff", "cascade"])
def test_a_plan_says_what_it_costs_in_the_cache(policy: str) -> None:
    """Hmbown/Codewhale#1514 (S05): pruning from the oldest on moved the first changed byte to the front, and nothing said so. Each report
    says which prefix stays cached and what is read anew, and it is true of the messages."""
    payload = load("S05").payload
    counter = counter_for("claude-sonnet-4-5", counter=None, wire="anthropic")
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for n, tokens in enumerate(payload["results_tokens"]):
        text = " ".join(f"w{n}x{i}" for i in range(tokens // 5))
        call = {"type": "tool_use", "id": f"c{n}", "name": "bash", "input": {"n": n}}
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{n}", "content": text}]},
        ]
    messages.append({"role": "user", "content": "go on"})
    whole = foldline.compact(messages, to=10**6, format="anthropic").report.tokens_before
    out = foldline.compact(messages, to=whole - payload["need_to_free"], format="anthropic", policy=policy)
    same = next(
        (n for n, (a, b) in enumerate(zip(messages, out.messages, strict=False)) if a != b), len(messages)
    )
    kept = [codec("anthropic").decode(json.dumps(one).encode()) for one in messages[:same]]
    weights = [counter.weights(message) for message in kept]
    told = out.report.to_dict()["cache"]
    assert told["prefix_tokens_kept"] == pytest.approx(
        sum(sum(each) + more for each, more in weights), rel=0.02, abs=20
    )
    assert told["prefix_tokens_kept"] + told["tokens_reread"] == out.report.tokens_after
    assert told["net_tokens_saved_per_turn"] == whole - out.report.tokens_after >= payload["need_to_free"]


# ── what a server does not say ───────────────────────────────────────────────────────────────────────────────


def test_a_head_that_was_dropped_in_silence_is_reported() -> None:
    """ollama/ollama#3839 (T07): 160,689 tokens went to a server of 32,768, which answered 200 from half of that; only its count of the
    prompt tells."""
    payload = load("T07").payload
    counted = payload["response"]["prompt_eval_count"]
    usage = {"prompt_tokens": counted, "completion_tokens": 20, "total_tokens": counted + 20}
    choice = {"index": 0, "message": payload["response"]["message"], "finish_reason": "stop"}
    data = json.dumps({"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data)
    said = {"role": "user", "content": "The password is 7. " + "filler " * payload["sent_estimate_tokens"]}
    body = json.dumps({"model": "llama3", "messages": [said]}).encode()
    keeping = Keeping(window=200_000)
    with (
        Upstream(lambda *_: Sent(head=head, pieces=[data])) as upstream,
        Proxy(upstream.url, keeping=keeping) as proxy,
    ):
        status, told, _ = post(proxy, body)
        assert (status, told) == (200, data), "the answer is the client's"
        [record] = proxy.wait_for(1)
    [note] = [note for note in record.notes if "in silence" in note]
    assert f"{counted:,}" in note
    assert "num_ctx" in note


@pytest.mark.parametrize("format", PATHS)
def test_an_overflow_without_a_number_teaches_no_limit(format: str, tmp_path: Path) -> None:
    """NousResearch/hermes-agent#2600 (T09): a lower window was guessed and saved. It is recovered from once, and nothing is kept."""
    turns = generated(20, tokens=240)
    agent = Agent(format, first="Refactor the project.")
    refused = Fault(status=400, message=load("T09").payload["message"])
    with Twin([*script(turns), refused, "done"]) as twin, Proxy(twin.url) as proxy:
        run(agent, turns, proxy.url)
        agent.ask(proxy.url)
        assert proxy.wait_for(21)[-1].outcome == "recovered"
        assert [request.status for request in twin.requests[-2:]] == [400, 200]
    assert not (tmp_path / "home" / "limits").exists()
