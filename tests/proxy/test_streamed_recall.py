"""`--recall` in a stream: what is said reaches the client as it comes, before and behind what was looked up, and is known again in the
client's next list. So it is of answers that come whole."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from msgspec import Struct

import foldline
from foldline.home import disk_store
from foldline.proxy import outlet
from foldline.proxy.outlet import KEEP_ALIVE
from foldline.session.library import listed
from foldline.testing.twin import Answer, Call, Twin, endless
from foldline.testing.twin.script import Received, Step
from foldline.wire.events import Events
from tests.clients.agents import FORMATS, asked, client_of, said, spoken, step
from tests.clients.sequences import check_sequence
from tests.clients.test_splicing import FINAL, KINDS, LOOKS, MEANWHILE, SAID
from tests.proxy.running import Proxy, own_home
from tests.proxy.sessions import HEADERS, PATHS, Agent, Turn, user_says
from tests.proxy.talks import echo
from tests.proxy.test_breaking_off import asked as bytes_of
from tests.proxy.test_breaking_off import body_of
from tests.proxy.test_recall import FIRST, KEEPING, has_tool, list_of, reduced_once
from tests.proxy.upstreams import HEAD, Sent, Upstream, exchanged, recorded

WINDOW: Final = 20_000
WAIT_S: Final = 20.0
TURNS: Final = 23
RESTARTED: Final = 19
BEGINNING: Final = "As you said,"
NOTHING: Final = Answer(text=FINAL, thinking="no need to look")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Sessions and settings of this test alone."""
    return own_home(monkeypatch, tmp_path, window=WINDOW)


# ── as it comes ──────────────────────────────────────────────────────────────────────────────────────────────


class Waited:
    """Events of an answer, of which each that says a last word waits until the client has read it."""

    def __init__(self, *words: str) -> None:
        self.read = {word: threading.Event() for word in words}

    def pieces(self, events: Sequence[bytes], word: str) -> Iterator[bytes]:
        """The events; those behind the word come once it was read."""
        has_come = False
        for event in events:
            if has_come and not self.read[word].is_set():
                assert self.read[word].wait(WAIT_S), (
                    f"{word!r} did not reach the client while more was to come"
                )
            yield event
            has_come = has_come or word.encode() in event


@pytest.mark.parametrize("is_recalled", [False, True], ids=["without", "with a recall"])
@pytest.mark.parametrize("format", FORMATS)
def test_a_text_reaches_the_client_before_its_answer_has_ended(format: str, is_recalled: bool) -> None:
    """Streaming still works. The upstream says no more until the client has read what it said."""
    agent = reduced_once(format)
    first, last = Answer(text="looking it up " * 4, calls=(LOOKS,)), Answer(text="found in the log " * 4)
    answers = [(first, "looking"), (last, "found")] if is_recalled else [(last, "found")]
    waited = Waited(*(word for _, word in answers))
    sent = [Sent(pieces=waited.pieces(recorded(format, one, agent.body()), word)) for one, word in answers]
    with (
        Upstream(lambda head, body: sent.pop(0)) as upstream,
        Proxy(upstream.url, keeping=KEEPING, recalls=True) as proxy,
    ):
        data = b""
        for line in lines_of(format, proxy.url, agent.body()):
            data += line
            for _, word in answers:
                if word.encode() in line:
                    waited.read[word].set()
        [record] = proxy.wait_for(1)
    assert not sent
    assert (record.status, record.recalls) == (200, int(is_recalled))
    check_sequence(format, Events().feed(data))


def lines_of(format: str, url: str, body: bytes) -> Iterator[bytes]:
    """The lines of an answer, as they come."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=WAIT_S)
    try:
        connection.request("POST", PATHS[format], body, HEADERS)
        response = connection.getresponse()
        assert response.status == 200, response.read()
        while line := response.readline():
            yield line
    finally:
        connection.close()


def test_a_client_is_kept_alive_while_a_call_is_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long call, which may stand beside one of recall: comment lines until it is known."""
    monkeypatch.setattr(outlet, "KEEP_ALIVE_S", 0.05)
    agent = reduced_once("anthropic")
    events = recorded(
        "anthropic", Answer(text=SAID, calls=(Call(name="bash", arguments={"n": 1}),)), agent.body()
    )

    def slow() -> Iterator[bytes]:
        for event in events:
            yield event
            if b"tool_use" in event:
                heard.wait(WAIT_S)

    heard = threading.Event()
    with (
        Upstream(lambda head, body: Sent(pieces=slow())) as upstream,
        Proxy(upstream.url, keeping=KEEPING, recalls=True) as proxy,
    ):
        data = b""
        for line in lines_of("anthropic", proxy.url, agent.body()):
            data += line
            if line == KEEP_ALIVE.splitlines(keepends=True)[0]:
                heard.set()
    assert heard.is_set()
    assert data.replace(KEEP_ALIVE, b"") == b"".join(events)


def test_a_compressed_stream_is_opened_and_goes_on() -> None:
    """The client takes gzip; what goes down is none."""
    agent = reduced_once("anthropic")
    head = HEAD.replace(b"Transfer-Encoding", b"Content-Encoding: gzip\r\nTransfer-Encoding")
    answers = [
        Sent(head=head, pieces=[gzip.compress(b"".join(recorded("anthropic", one, agent.body())))])
        for one in (KINDS["after both"], NOTHING)
    ]
    with (
        Upstream(lambda *_: answers.pop(0)) as upstream,
        Proxy(upstream.url, keeping=KEEPING, recalls=True) as proxy,
    ):
        answer = exchanged(proxy.port, bytes_of(agent, "anthropic", proxy.port))
    assert b"content-encoding" not in answer.partition(b"\r\n\r\n")[0].lower()
    events = Events().feed(body_of(answer))
    check_sequence("anthropic", events)
    assert [one["content_block"]["type"] for one in events if "content_block" in one] == [
        "thinking",
        "text",
        "thinking",
        "text",
    ]


def test_compressed_answers_that_come_whole_are_joined_and_name_no_tool() -> None:
    """The response of OpenAI's repeats its request, and is written anew for both."""
    agent = reduced_once("openai-responses")
    body = {**json.loads(agent.body()), "stream": False}
    answers = []
    for n, one in enumerate((KINDS["between texts"], NOTHING)):
        heard = agent.heard(b"".join(recorded("openai-responses", one, agent.body())), is_stream=True)
        output = [{**item, "id": f"{item['id']}{n}"} for item in heard["output"]]
        tools = [*body["tools"], {"type": "function", "name": "recall"}]
        data = gzip.compress(json.dumps({**heard, "output": output, "tools": tools}).encode())
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
        answers.append(Sent(head=head + b"Content-Length: %d\r\n\r\n" % len(data), pieces=[data]))
    with (
        Upstream(lambda *_: answers.pop(0)) as upstream,
        Proxy(upstream.url, keeping=KEEPING, recalls=True) as proxy,
        urlopen(Request(proxy.url + PATHS["openai-responses"], json.dumps(body).encode(), HEADERS)) as answer,
    ):
        assert answer.headers["content-encoding"] is None
        told = json.loads(answer.read())
    assert [item["type"] for item in told["output"]] == ["message", "message", "reasoning", "message"]
    texts = [item["content"][0]["text"] for item in told["output"] if item["type"] == "message"]
    assert texts == [SAID, MEANWHILE, FINAL]
    assert [tool.get("name") for tool in told["tools"]] == [tool["name"] for tool in body["tools"]]


@pytest.mark.parametrize("format", FORMATS)
def test_a_refusal_behind_what_was_said_is_told_as_an_event(format: str) -> None:
    """What was delivered is never replayed: the stream says that it broke off, in the provider's words."""
    agent = reduced_once(format)
    first = recorded(format, KINDS["after a text"], agent.body())
    refused = b"HTTP/1.1 429 Slow\r\nContent-Type: application/json\r\nContent-Length: 36\r\n\r\n"
    answers = [Sent(pieces=first), Sent(head=refused, pieces=[b'{"error": {"message": "slow down."}}'])]
    with (
        Upstream(lambda *_: answers.pop(0)) as upstream,
        Proxy(upstream.url, keeping=KEEPING, recalls=True) as proxy,
    ):
        data = body_of(exchanged(proxy.port, bytes_of(agent, format, proxy.port)))
    *events, last = Events().feed(data)
    check_sequence(format, events, is_whole=False)
    assert SAID.split()[0] in json.dumps(events)
    assert last["error"]["message"] == "slow down."


# ── broken off ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("format", FORMATS)
def test_a_stream_that_breaks_off_anywhere_shows_no_call_and_no_end(home: Path, format: str) -> None:
    """Test S5: before each event of the answer that calls, and of the one behind it; then whole, and it is in the session once."""
    agent = reduced_once(format)
    first, last = (recorded(format, one, agent.body()) for one in (KINDS["after both"], NOTHING))
    plan = [[Sent(pieces=first[:sent], is_cut=True)] for sent in range(len(first))]
    plan += [[Sent(pieces=first), Sent(pieces=last[:sent], is_cut=True)] for sent in range(len(last))]
    plan += [[Sent(pieces=first), Sent(pieces=last)]]
    waiting = iter(one for answers in plan for one in answers)
    with (
        Upstream(lambda *_: next(waiting)) as upstream,
        Proxy(upstream.url, keeping=KEEPING, recalls=True) as proxy,
    ):
        for answers in plan:
            answer = exchanged(proxy.port, bytes_of(agent, format, proxy.port))
            events = Events().feed(body_of(answer))
            is_whole = answers is plan[-1]
            if answer.startswith(b"HTTP/1.1 502"):
                assert b"broke off" in answer
                continue
            assert answer.startswith(b"HTTP/1.1 200")
            if not is_whole:
                assert not answer.endswith(b"0\r\n\r\n") or "error" in events.pop(), "it looks whole"
            check_sequence(format, events, is_whole=is_whole)
        records = proxy.wait_for(len(plan))
    assert next(waiting, None) is None
    assert [one.is_cut or one.status == 502 for one in records] == [*[True] * (len(plan) - 1), False]
    [session] = [one.name for one in listed(disk_store(home))]
    with foldline.open(session) as kept:
        assert sum(FINAL in json.dumps(message) for message in kept.messages) == 1


# ── known again ──────────────────────────────────────────────────────────────────────────────────────────────


class Looking:
    """A model that says something, looks something up, and then answers; with each reduced request."""

    def __init__(self, *answers: Answer) -> None:
        self._answers, self.looks = answers, 0
        self._at: dict[int, int] = {}

    def __call__(self, request: Received) -> Step:
        turn = request.body.count(b"step ")
        at = self._at.get(turn, 0)
        if not has_tool(request) or at >= len(self._answers):
            return Answer(text=f"{FINAL}; that was answer {turn}", thinking="so it is")
        self._at[turn] = at + 1
        self.looks += 1
        return self._answers[at]


How: TypeAlias = Literal["streamed", "async", "whole"]


class Client(Struct, kw_only=True):
    """An agent over an official client, which keeps what the client gave it."""

    format: str
    how: How
    messages: list[Any] = []

    def run(self, url: str, turns: Sequence[int]) -> None:
        """Turns of a talk."""
        asyncio.run(self._arun(url, turns)) if self.how == "async" else self._run(url, turns)

    def _run(self, url: str, turns: Sequence[int]) -> None:
        with client_of(self.format, url) as client:
            for n in turns:
                self.messages.append(said(self.format, step(n, tokens=1_000)))
                if self.how == "whole":
                    self.messages += echo(
                        self.format, asked(client, self.format, self.messages), is_stream=False
                    )
                else:
                    self._take(list(asked(client, self.format, self.messages, stream=True)))

    async def _arun(self, url: str, turns: Sequence[int]) -> None:
        whole = client_of(self.format, url, is_async=True)
        client = whole.aio if self.format == "gemini" else whole
        for n in turns:
            self.messages.append(said(self.format, step(n, tokens=1_000)))
            self._take([one async for one in await asked(client, self.format, self.messages, stream=True)])
        await (client.aclose() if self.format == "gemini" else client.close())

    def forget(self) -> None:
        """All but the last turns."""
        asked_at = [place for place, one in enumerate(self.messages) if "step " in text_in(one)]
        self.messages = self.messages[asked_at[-6] :]

    def _take(self, events: list[Any]) -> None:
        told = [one.model_dump(mode="json", exclude_unset=True) for one in events]
        if self.format != "gemini":
            check_sequence(self.format, told)
        self.messages += echo(self.format, events, is_stream=True)


MODELS: Final[dict[str, tuple[Answer, ...]]] = {
    "at once": (KINDS["at once"],),
    "after both": (KINDS["after both"],),
    "twice": (KINDS["behind another call"], KINDS["after a text"]),
    "in front of a text": (KINDS["in front of a text"],),
    "between texts": (KINDS["between texts"], KINDS["in front of a text"]),
    "never": (),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own
@pytest.mark.parametrize(
    ("how", "kind"),
    [
        *(("streamed", kind) for kind in MODELS),
        *(("async", kind) for kind in ("twice", "never")),
        *(("whole", kind) for kind in ("after both", "twice", "between texts")),
    ],
)
@pytest.mark.parametrize("format", FORMATS)
def test_an_answer_of_several_is_known_in_the_next_list(home: Path, format: str, how: How, kind: str) -> None:
    """Laws PREFIX, ONCE and REPLAY: nothing is taken back, what goes up is what the models said with their calls, and the bytes go on
    after a restart too."""
    model, client = Looking(*MODELS[kind]), Client(format=format, how=how)
    records = []
    with Twin(endless(model), window=WINDOW) as twin:
        for turns in (range(RESTARTED), range(RESTARTED, TURNS)):
            with Proxy(twin.url, keeping=KEEPING, recalls=True) as proxy:
                client.run(proxy.url, turns)
                records += proxy.wait_for(len(turns))
        requests = twin.requests
        client.forget()
        client.run(twin.url, [TURNS])
        assert twin.requests[-1].refusal == "", "what it holds is sound without the proxy"
    assert {(one.status, one.refusal) for one in requests} == {(200, "")}
    assert model.looks == sum(one.recalls for one in records) == len(requests) - TURNS
    assert bool(model.looks) == bool(MODELS[kind])
    assert "recall" not in repr(client.messages)
    for text in (SAID, MEANWHILE):
        has_said = any(text in text_in(one) for one in client.messages)
        assert has_said == any(text in (answer.text, answer.behind) for answer in MODELS[kind])
    check_bytes(requests, compactions=sum(one.is_compaction for one in records))
    assert rollbacks(home) == 0


def text_in(message: Any) -> str:
    """Of a client's own message, however many pieces it has it in."""
    parts = message.get("parts") if isinstance(message, dict) else None
    return repr(message) if parts is None else "".join(str(getattr(part, "text", part)) for part in parts)


def check_bytes(requests: Sequence[Received], *, compactions: int) -> None:
    """One break of the prefix a compaction, and no text said twice."""
    broken = [n for n in range(1, len(requests)) if requests[n].extends != n - 1]
    assert len(broken) == compactions >= 1
    for request in requests:
        for message in list_of(request):
            assert json.dumps(message).count(SAID) <= 1, "the session's own messages go up"
            assert not (SAID in json.dumps(message) and FINAL in json.dumps(message))


def rollbacks(home: Path) -> int:
    """Of all sessions."""
    found = 0
    for one in listed(disk_store(home)):
        with foldline.open(one.name) as kept:
            found += sum(entry.kind == "rollback" for entry in kept._keeper.log.entries())
    return found


@pytest.mark.parametrize("kind", ["after a text", "at once", "between texts"])
@pytest.mark.parametrize("format", ["anthropic", "openai-chat", "gemini"])
def test_an_answer_that_was_given_its_beginning_is_known(home: Path, format: str, kind: str) -> None:
    """Laws PREFIX and LOG: the caller has it as one message with that and with what was said around the look-up; after a restart too."""
    agent, model = reduced_once(format), Looking(KINDS[kind])
    agent.messages += says(format, BEGINNING)
    with Twin(endless(model), window=WINDOW) as twin:
        with Proxy(twin.url, keeping=KEEPING, recalls=True) as proxy:
            response = agent.ask(proxy.url)
        given = "".join(texts_in(agent, response))
        assert (SAID in given, MEANWHILE in given) == (bool(KINDS[kind].text), bool(KINDS[kind].behind))
        agent.messages[-1:] = [*says(format, BEGINNING + given), user_says(format, "go on")]
        for _ in range(2):
            with Proxy(twin.url, keeping=KEEPING, recalls=True) as proxy:
                response = agent.ask(proxy.url)
            agent.messages += [*says(format, *texts_in(agent, response)), user_says(format, "and on")]
        assert {(one.status, one.refusal) for one in twin.requests} == {(200, "")}
        extended = [one.extends for one in twin.requests[1:]]
    assert model.looks >= 1
    assert extended[1:] == [*range(1, len(extended))], "the first is joined with what it begins"
    assert rollbacks(home) == 0


def says(format: str, text: str) -> list[Any]:
    """What an agent holds of an answer, or gives it to begin with."""
    content = [{"type": "text", "text": text}]
    return [{"role": "assistant", "content": content}] if format == "anthropic" else spoken(format, text)


def texts_in(agent: Agent, response: Any) -> list[str]:
    """What a person reads of an answer."""
    agent.take(response, Turn(text="", user=""))
    answered = agent.messages[-2]
    del agent.messages[-2:]
    told = answered.get("content", answered.get("parts"))
    parts = [{"text": told}] if isinstance(told, str) else told
    return [part["text"] for part in parts if part.get("type", "text") == "text" and not part.get("thought")]


@pytest.mark.parametrize("format", ["anthropic", "openai-chat", "gemini"])
def test_a_client_that_joins_or_drops_as_it_likes_is_known(home: Path, format: str) -> None:
    """Some keep the texts alone, as one string; reasoning and line feeds are theirs to drop. (Of Responses each item is a message of its
    own.)"""
    agent = Agent(format, first=FIRST)
    model = Looking(KINDS["after both"])
    with Twin(endless(model), window=WINDOW) as twin, Proxy(twin.url, keeping=KEEPING, recalls=True) as proxy:
        for n in range(TURNS):
            heard = json.dumps(agent.ask(proxy.url))
            [final] = re.findall(f"{FINAL}; that was answer \\d+", heard)
            agent.messages += spoken(format, f"{SAID}\n{final}" if SAID in heard else final)
            agent.messages.append(user_says(format, step(n + 1, tokens=1_000)))
        records = proxy.wait_for(TURNS)
        check_bytes(twin.requests, compactions=sum(one.is_compaction for one in records))
    assert model.looks
    assert rollbacks(home) == 0
