"""What nothing is done for passes byte for byte, both ways; conversations beside each other never mix."""

from __future__ import annotations

import gzip
import http.client
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import zstandard

from foldline.clients.own_summaries import IN_PART, WHY
from foldline.home import disk_store
from foldline.proxy.beginning import Keeping, beginning
from foldline.proxy.lines import line
from foldline.session.library import listed, transcript_of
from foldline.testing.twin import Answer, Call, Twin, endless
from foldline.testing.twin.script import Received, Step
from tests.cli.running import documents
from tests.cli.running import run as command
from tests.clients.agents import FORMATS
from tests.proxy.running import Proxy, own_home
from tests.proxy.sessions import HEADERS, PATHS, Agent, generated, replayed, run, script
from tests.proxy.upstreams import Sent, Upstream

WINDOW = 20_000
FIRST = "Refactor the project, module by module. Never touch auth.py."
OF_TIME = {"date", "server"}
"""Headers that differ from one answer to the next."""


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Sessions and settings of this test alone."""
    return own_home(monkeypatch, tmp_path, window=WINDOW)


def answered(url: str, format: str, body: bytes, *, stream: bool) -> tuple[int, bytes, dict[str, str]]:
    """An answer in its bytes, and its headers without those of the connection."""
    path = PATHS[format]
    if not stream:
        body = json.dumps({k: v for k, v in json.loads(body).items() if not k.startswith("stream")}).encode()
        path = path.replace("streamGenerateContent?alt=sse", "generateContent")
    host, port = url.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    try:
        connection.request("POST", path, body, HEADERS)
        response = connection.getresponse()
        headers = {
            name.lower(): value for name, value in response.getheaders() if name.lower() not in OF_TIME
        }
        return response.status, response.read(), headers
    finally:
        connection.close()


def traffic(format: str, *, stream: bool, is_through: bool) -> tuple[list[Any], list[Any]]:
    """Generated turns and recorded ones below the budget: what came up, and what came down."""
    down, turns = [], [*generated(6, tokens=200), *replayed(6, chars_max=900)]
    tools = sorted({call.name for turn in turns for call in turn.calls})
    with (
        Twin(script(turns), window=200_000) as twin,
        Proxy(twin.url, keeping=Keeping(window=200_000)) as proxy,
    ):
        url = proxy.url if is_through else twin.url
        agent = Agent(format, first=FIRST, tools=tools)
        for turn in turns:
            down.append(answered(url, format, agent.body(), stream=stream))
            agent.take(agent.heard(down[-1][1], is_stream=stream), turn)
        up = [(request.path, request.body) for request in twin.requests]
    return up, down


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("format", FORMATS)
def test_below_the_budget_every_byte_is_the_same_both_ways(home: Path, format: str, stream: bool) -> None:
    """LOSSLESS on the wire: bodies, streams, statuses and headers, of generated and recorded traffic; and nothing is on disk."""
    assert traffic(format, stream=stream, is_through=True) == traffic(format, stream=stream, is_through=False)
    assert not list(listed(disk_store(home)))


def test_conversations_beside_each_other_never_mix(home: Path) -> None:
    """Sub-agents and parallel conversations behind one key; all of them begin with the same words."""
    agents = [Agent("openai-chat", first=FIRST) for _ in range(4)]
    faults: list[BaseException] = []

    def step(request: Received) -> Step:
        messages = request.parsed["messages"]
        mine = next((m["content"] for m in messages if m["role"] == "assistant"), f"I am {len(messages)}")
        return Answer(text=str(mine)[:200])

    def work(number: int, url: str) -> None:
        agent = agents[number]
        try:
            agent.messages.append({"role": "assistant", "content": f"I am agent {number}."})
            for n in range(25):
                words = " ".join(f"agent{number}_{n}_{i}" for i in range(150))
                agent.messages.append({"role": "user", "content": words})
                response = agent.ask(url)
                agent.messages.append(response["choices"][0]["message"])
        except AssertionError as error:
            faults.append(error)

    with Twin(endless(step), window=WINDOW) as twin, Proxy(twin.url) as proxy:
        threads = [threading.Thread(target=work, args=(n, proxy.url)) for n in range(len(agents))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        requests, records = twin.requests, proxy.wait_for(100)
    assert faults == []
    for request in requests:
        text = request.body.decode()
        assert sum(f"agent{n}_" in text for n in range(len(agents))) == 1, "a request holds one agent's words"
    assert sum(record.is_compaction for record in records) >= len(agents)
    assert not [record.why for record in records if record.outcome == "failed open"]


def test_a_conversation_that_goes_on_through_a_second_proxy_of_one_home_is_kept(home: Path) -> None:
    """Two proxies, one home, the same conversation: the second neither fails nor overflows while the first one has it open."""
    turns = generated(60, tokens=240)
    agent = Agent("openai-chat", first=FIRST)
    with Twin(script(turns), window=WINDOW) as twin, Proxy(twin.url) as one, Proxy(twin.url) as two:
        run(agent, turns[:40], one.url)
        run(agent, turns[40:], two.url)
        assert {request.status for request in twin.requests} == {200}
        assert {record.outcome for record in two.wait_for(20)} == {"edited"}
        assert all("Never touch auth.py" in request.body.decode() for request in twin.requests)


def test_what_the_user_ruled_stays_where_tools_take_most_of_the_window(home: Path) -> None:
    """Without a lost constraint. Claude Code's own prompt and tools are 32,000 tokens, more than the target in a window of 64,000."""
    turns = generated(40, tokens=240)
    tools = [*(f"tool_{n}_{'x' * 40}" for n in range(250)), "bash", "read_file", "edit_file"]
    agent = Agent("openai-chat", first=FIRST, tools=tools)
    with Twin(script(turns), window=WINDOW) as twin, Proxy(twin.url) as proxy:
        run(agent, turns, proxy.url)
        assert {request.status for request in twin.requests} == {200}
        assert all("Never touch auth.py" in request.body.decode() for request in twin.requests)
        records = proxy.wait_for(len(turns))
    assert records[0].tokens_in > WINDOW // 2, "the tools alone are more than the target"
    compactions = sum(record.is_compaction for record in records)
    assert 1 <= compactions <= len(turns) // 3, "it goes on for some turns behind each"


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_compressed_conversation_is_kept_as_any_other(home: Path, encoding: str) -> None:
    """Compressed bodies. As it came, encoding and all, while nothing is taken out; plain from then on."""
    presses: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstandard.compress}
    press = presses[encoding]
    agent, turns = Agent("openai-chat", first=FIRST), generated(45, tokens=240)
    left = iter(turns)

    def answer(head: bytes, body: bytes) -> Sent:
        turn = next(left)
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in turn.calls
        ]
        message = {"role": "assistant", "content": turn.text, **({"tool_calls": calls} if calls else {})}
        data = json.dumps(
            {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        ).encode()
        told = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        return Sent(head=told % len(data), pieces=[data])

    with Upstream(answer) as upstream, Proxy(upstream.url) as proxy:
        for n, turn in enumerate(turns):
            body = press(agent.body())
            request = Request(
                proxy.url + PATHS["openai-chat"], body, {**HEADERS, "content-encoding": encoding}
            )
            with urlopen(request, timeout=30) as response:
                agent.take(json.load(response), turn)
            is_named = f"content-encoding: {encoding}".encode() in upstream.heads[n].lower()
            assert is_named == (upstream.bodies[n] == body), "what goes up is as its head says"
            if not is_named:
                assert len(json.loads(upstream.bodies[n])["messages"]) <= len(agent.messages)
        records = proxy.wait_for(len(turns))
    assert [record.outcome for record in records].count("edited") >= 10
    assert any(record.is_compaction for record in records)


def test_observing_changes_nothing_and_says_what_would_be_done(home: Path) -> None:
    """Measure and report only."""
    turns = generated(64, tokens=240)
    agent = Agent("anthropic", first=FIRST)
    begin = beginning(Keeping(is_durable=False))
    with Twin(script(turns), window=200_000) as twin, Proxy(twin.url, begin=begin, mode="observe") as proxy:
        bodies = []
        for turn in turns:
            bodies.append(agent.body())
            agent.take(agent.ask(proxy.url), turn)
        records = proxy.wait_for(len(turns))
        assert [request.body for request in twin.requests] == bodies
    observed = [record for record in records if record.outcome == "would edit"]
    assert observed, "a reduction was due"
    assert any(record.passes for record in observed)
    assert not any(record.is_compaction for record in records), "none was made"
    assert [record.tokens_in for record in records] == [record.tokens_sent for record in records]
    assert [record.tokens_sent for record in records] == [request.tokens for request in twin.requests]
    assert all(0 < record.tokens_would_send < record.tokens_sent for record in observed)
    assert not list(listed(disk_store(home)))


def test_the_commands_work_on_the_proxys_sessions(home: Path) -> None:
    """`foldline context` and `recall`, while the proxy goes on with them."""
    turns = generated(40, tokens=240)
    agent = Agent("openai-chat", first=FIRST)
    with Twin(script(turns), window=WINDOW) as twin, Proxy(twin.url) as proxy:
        run(agent, turns, proxy.url)
        [session] = listed(disk_store(home))
        [told] = documents(command("context", session.name, "--json").stdout)
        assert 0 < told["tokens_total"] < WINDOW
        found = command("recall", session.name, "value_3_1")
        assert found.exit_code == 0, found.output
        assert "value_3_1" in found.stdout
        assert transcript_of(disk_store(home), session.name).wire == "openai-chat"


def test_a_call_that_no_agent_made_is_the_agents_own_affair() -> None:
    """A tool call in an answer passes as it is, arguments that are no JSON too."""
    broken = Answer(calls=(Call(name="bash", arguments='{"cut', id="c"),))
    agent = Agent("openai-chat", first=FIRST)
    with Twin([broken]) as twin, Proxy(twin.url) as proxy:
        response = agent.ask(proxy.url)
    assert response["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"cut'
    assert twin.requests[0].status == 200


@pytest.mark.parametrize("is_within", [True, False], ids=["within the window", "past it"])
def test_an_agent_that_compacts_itself_goes_on_from_its_own_summary(home: Path, is_within: bool) -> None:
    """Its summary request is passed on whole (the view with its instruction last, where the whole would not fit); what it
    comes to begins a conversation of its own, and the first one stays as it was."""
    turns = generated(20 if is_within else 60, tokens=240)
    more = generated(60, tokens=240)
    asked = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nSum up the conversation."
    steps = [*script(turns), Answer(text="<summary>Never touch auth.py.</summary>"), *script(more)]
    agent = Agent("anthropic", first=FIRST)
    with Twin(steps, window=WINDOW) as twin, Proxy(twin.url) as proxy:
        run(agent, turns, proxy.url)
        last = agent.messages[-1]
        whole = {"role": "user", "content": [*last["content"], {"type": "text", "text": asked}]}
        agent.messages[-1] = whole
        body, summary = json.loads(agent.body()), agent.ask(proxy.url)
        sent = json.loads(twin.requests[len(turns)].body)
        fresh = Agent("anthropic", first=f"This session is being continued. {summary['content'][-1]['text']}")
        run(fresh, more, proxy.url)
        records = proxy.wait_for(len(turns) + 1 + len(more))
        assert {request.status for request in twin.requests} == {200}
    assert (sent == body) == is_within
    assert sent["messages"][-1]["content"][-1]["text"] == asked
    record = records[len(turns)]
    assert record.why == (WHY if is_within else IN_PART), (
        "the line, the status page and the metrics say which"
    )
    assert record.outcome == ("as it came" if is_within else "edited")
    assert f"({record.why})" in " ".join(line(record, clock="14:02:11").split())
    assert "Never touch auth.py" in twin.requests[-1].body.decode()
    kept = 1 if is_within else 2  # a conversation that nothing was due for leaves no log
    assert len(list(listed(disk_store(home)))) == kept
