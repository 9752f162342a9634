"""What the proxy adds to a request, to a streamed event and to memory, and how many requests a second pass it.

    python -m benchmarks.bench_proxy [--quick]

The processor's time for a body of 1 MB beside parsing it: the next one of a conversation, without a session and with one, and behind a
compaction; the first one, one whose history was edited near its beginning, one that was rewound. Without a bound a first one a little
below its line, which has to be counted nearly whole, and what is done behind its answer: a session is begun, step by step. The time of one
streamed event; requests a second beside a pass-through made of uvicorn and httpx (`benchmarks.plain_proxy`), each process alone between
the same upstream and the same clients, in turns; memory a stream. Nothing here leaves the machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.histories import chat_history
from benchmarks.measure import Bound, cpu_medians, is_quick, milliseconds, verdict
from benchmarks.plain_upstream import run
from foldline.clients.answers import Heard
from foldline.clients.calls import Call
from foldline.clients.chains import ReadList
from foldline.clients.following import Conversations
from foldline.clients.opening import opening
from foldline.clients.sessions import Terms
from foldline.clients.splicing import Splice
from foldline.presets import policy_of
from foldline.proxy.bodies import Bodies
from foldline.proxy.desk import Desk, Going
from foldline.session.following import Following
from foldline.session.opening import open_in
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.settings import Planned, in_window, plan_for
from foldline.stores.memory import MemoryStore
from foldline.wire import strict

PARSING_MAX = 4.0
EVENT_MS_MAX = 0.1
RATE_MIN = 3.0
KB_A_STREAM_MAX = 128
MODEL, FORMAT = "gpt-4.1", "openai-chat"
WINDOW, MODEL_WINDOW = 2_000_000, 1_047_576
"""Tokens: 1 MB is below the line of the first, as its bytes say, and of the second, the model's own, as some of them say when they are
counted."""
NEAR_ITS_LINE = "the first body, a little below its line"
BODY_BYTES, BODY_BYTES_QUICK = 2**20, 2**14
TARGET = 0.3
EVENTS, EVENTS_QUICK = 5_000, 50
REQUESTS, REQUESTS_QUICK = 500, 20
CLIENTS, CLIENTS_STREAMED = 16, 64
"""At a time, so that the proxy is what is waited for: events of a stream come one by one."""
TURNS, TURNS_QUICK = 11, 1
STREAMS, STREAMS_QUICK = 100, 4
START_S = 60.0
ROOT = Path(__file__).parent.parent
HOST = "127.0.0.1"
ANSWER = b'{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]}'
"""Of a provider that says nothing of usage: its count would be taken for the list's."""
DELTA = b'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"some words"}}]}\n\n'


class Agent:
    """A list of about so many bytes that grows by a turn a request, and the proxy's desk that follows it."""

    def __init__(self, size: int, *, window: int = WINDOW, is_known: bool = False) -> None:
        """`is_known`: there is a session of it already, as after a restart."""
        self._messages, self._turn, self._sessions = [*_history(size)], 0, list[Session]()
        self._window, self._is_known = window, is_known
        self._bodies, self._desk = Bodies(), Desk(self._begun)

    def _begun(self, name: str, call: Call) -> Conversations:
        """As `proxy.beginning` has it."""
        terms = Terms(
            open=self._opened,
            policy=policy_of("balanced", self._window),
            is_known=lambda name: self._is_known,
            plan=lambda model: _planned(model, self._window),
        )
        return Conversations(terms, name=name)

    def _opened(self, name: str, call: Call) -> Session:
        """In memory: what a disk takes is its own affair."""
        asked = SessionOptions(model=MODEL, format=call.format, window=self._window)
        session = open_in(MemoryStore(), name, asked=asked)
        self._sessions.append(session)
        return session

    def compact(self) -> None:
        """Take out most of it."""
        self._sessions[0].compact(to=TARGET)

    def body(self) -> bytes:
        """The next request."""
        self._turn += 1
        said = [("assistant", f"answer {self._turn}"), ("user", f"step {self._turn}")]
        self._messages += [{"role": role, "content": text} for role, text in said]
        return json.dumps({"model": MODEL, "messages": self._messages}, separators=(",", ":")).encode()

    def edited(self) -> bytes:
        """The next request, with the fourth message said otherwise."""
        self._messages[3] = {**self._messages[3], "content": f"edited before step {self._turn + 1}"}
        return self.body()

    def rewound(self) -> bytes:
        """A request that goes on otherwise behind the first half."""
        half = [one for one in self._messages[: len(self._messages) // 2] if one["role"] == "user"][-1]
        del self._messages[self._messages.index(half) + 1 :]
        return self.body()

    def read(self, data: bytes) -> Call:
        """The conversation in a body that came in."""
        call = self._bodies.call(data, format=FORMAT)
        assert call is not None, "it is a request of chat"
        return call

    def followed(self, data: bytes) -> Going:
        """What is done for a body that came in, up to the bytes that go out."""
        going = self._desk.outgoing(self.read(data))
        assert isinstance(going, Going), f"it is a conversation: {going}"
        if going.body is not None:
            strict.dump(going.body)
        self._desk.done(going)
        return going

    def answered(self, going: Going) -> None:
        """Its answer is taken in, and a session is begun where one is needed soon."""
        heard = self._desk.answer(going, is_stream=False)
        heard.take(ANSWER)
        why = self._desk.end(heard)
        assert not why, why
        assert self._sessions, "one is needed soon"


@cache
def _planned(model: str | None, window: int) -> Planned:
    return in_window(plan_for(model), window)


@cache
def _history(size: int) -> list[Any]:
    found, left = [], size
    for message in chat_history(2_000):
        found.append(message)
        left -= len(json.dumps(message))
        if left <= 0 and message["role"] == "user":
            return found
    return found


class Row:
    """Bodies of one kind: each turn one is made, which is not measured, then parsed, then followed."""

    def __init__(self, agent: Callable[[], Agent], make: Callable[[Agent], bytes]) -> None:
        self._agent, self._make = agent, make
        self.made()

    def made(self) -> None:
        """The next one."""
        self._now = self._agent()
        self._data = self._make(self._now)

    def parsed(self) -> object:
        """The floor."""
        return json.loads(self._data)

    def followed(self) -> object:
        """What is measured."""
        return self._now.followed(self._data)


def _known(agent: Agent) -> Agent:
    """Once its first body has gone out."""
    agent.followed(agent.body())
    return agent


def _same(agent: Agent) -> Callable[[], Agent]:
    return lambda: agent


def _compacted(agent: Agent) -> Agent:
    _known(agent).compact()
    return _known(agent)


def rows(size: int) -> dict[str, Row]:
    """By their names."""
    return {
        "the next body": Row(_same(_known(Agent(size))), Agent.body),
        "the next body, with a session": Row(_same(_known(Agent(size, is_known=True))), Agent.body),
        "the next body, behind a compaction": Row(_same(_compacted(Agent(size, is_known=True))), Agent.body),
        "the first body of a conversation": Row(lambda: Agent(size), Agent.body),
        "the first body, counted in part": Row(lambda: Agent(size, window=MODEL_WINDOW), Agent.body),
        "a body whose fourth message was edited": Row(_same(_known(Agent(size))), Agent.edited),
        "a body that was rewound by half": Row(lambda: _known(Agent(size)), Agent.rewound),
    }


class NearItsLine:
    """The first body of a conversation that is a little below its line, and the session that is begun behind its answer: the whole, and
    what it is made of, each step by itself."""

    def __init__(self, size: int, home: str) -> None:
        self._size, self._home, self._turn = size, home, 0

    def made(self) -> None:
        """The next one."""
        window, self._turn = self._size // 2, self._turn + 1
        self._now = Agent(self._size, window=window)
        self._data = self._now.body()
        asked = SessionOptions(model=MODEL, format=FORMAT, window=window)
        self._session = open_in(MemoryStore(), "apart", asked=asked)
        self._call = Agent(self._size).read(self._data)
        self._on_disk = opening(asked, home=self._home)(f"apart-{self._turn}", self._call)

    def steps(self) -> dict[str, Callable[[], object]]:
        """By their names."""
        return {
            f"({NEAR_ITS_LINE})": self.made,
            f"{NEAR_ITS_LINE}: parsing": lambda: json.loads(self._data),
            NEAR_ITS_LINE: self._followed,
            "behind its answer, in memory": lambda: self._now.answered(self._going),
            "  of it: decoding its messages": self._decoded,
            "  taking them into a log in memory": lambda: Following(self._session).take(self._messages),
            "  preparing the request": lambda: self._session.prepare(),
            "  taking them into a log on disk, without secrets": lambda: Following(self._on_disk).take(
                self._messages
            ),
        }

    def _followed(self) -> None:
        self._going = self._now.followed(self._data)

    def _decoded(self) -> None:
        self._messages = ReadList(self._call).messages(0)


def bodies(*, quick: bool) -> list[Bound]:
    """The time for a body, beside parsing it."""
    size = BODY_BYTES_QUICK if quick else BODY_BYTES
    works: dict[str, Callable[[], object]] = {}
    found = rows(size)
    for name, row in found.items():
        works |= {f"({name})": row.made, f"{name}: parsing": row.parsed, name: row.followed}
    with tempfile.TemporaryDirectory() as home:
        medians = cpu_medians({**works, **NearItsLine(size, home).steps()}, quick=quick)
    milliseconds({name: seconds for name, seconds in medians.items() if not name.startswith("(")})
    most = {**dict.fromkeys(found, PARSING_MAX), NEAR_ITS_LINE: float("inf")}
    return [
        Bound(f"{name} ÷ parsing", medians[name] / medians[f"{name}: parsing"], most=most[name])
        for name in most
    ]


def events(*, quick: bool) -> list[Bound]:
    """The time of one event that is read on the side."""
    count = EVENTS_QUICK if quick else EVENTS

    def heard() -> None:
        one = Heard(FORMAT, is_stream=True)
        for _ in range(count):
            one.take(DELTA)

    def spliced() -> None:
        one, heard = Splice("openai-chat"), Heard("openai-chat", is_stream=True)
        one.take(DELTA)
        one.goes_on()
        for _ in range(count):
            heard.take(DELTA)
            one.take(DELTA)

    medians = cpu_medians({"heard": heard, "spliced": spliced}, quick=quick)
    shown = {
        "one streamed event, read on the side": medians["heard"] / count,
        "the same, passed on behind another answer (`--recall`)": medians["spliced"] / count,
    }
    milliseconds(shown)
    return [Bound(f"{name}: ms", seconds * 1e3, most=EVENT_MS_MAX) for name, seconds in shown.items()]


# ── processes ────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def process(*command: str, home: Path) -> Iterator[tuple[int, int]]:
    """One of the programs on a port of its own: the port and the process's id."""
    with socket.create_server((HOST, 0)) as free:
        port = int(free.getsockname()[1])
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "FOLDLINE_HOME": str(home)}
    filled = [part.replace("PORT", str(port)) for part in command]
    running = subprocess.Popen(
        [sys.executable, *filled], env=env, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(port, running)
        yield port, running.pid
    finally:
        running.terminate()
        running.wait()


def _wait_for(port: int, running: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and running.poll() is None:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
            continue
        return
    raise SystemExit(f"nothing answers on port {port}")


async def _asked(port: int, bodies: list[bytes], *, hold: asyncio.Event | None = None) -> None:
    """Requests one after the other on one connection."""
    reader, writer = await asyncio.open_connection(HOST, port)
    for body in bodies:
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: {HOST}:{port}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer k\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200"), answer
        if b"chunked" in answer.lower():
            await reader.readuntil(b"0\r\n\r\n")
        else:
            length = next(
                line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length")
            )
            await reader.readexactly(int(length.partition(b":")[2]))
    writer.close()


def _body(n: int, *, stream: bool) -> bytes:
    told = {
        "model": "gpt-4o",
        "stream": stream,
        "messages": [{"role": "user", "content": f"hello {n} " + "word " * 200}],
    }
    return json.dumps(told).encode()


def rate(port: int, *, requests: int, stream: bool) -> float:
    """Requests a second."""

    clients = CLIENTS_STREAMED if stream else CLIENTS

    async def all_of_them() -> None:
        each = [_body(n, stream=stream) for n in range(max(1, requests // clients))]
        await asyncio.gather(*(_asked(port, each) for _ in range(clients)))

    began = time.perf_counter()
    run(all_of_them())
    return max(1, requests // clients) * clients / (time.perf_counter() - began)


def _kb(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def memory(port: int, pid: int, *, streams: int) -> float:
    """What is held more while so many streams are on their way, KB a stream."""

    async def seen() -> int:
        asked = [asyncio.ensure_future(_asked(port, [_body(n, stream=True)])) for n in range(streams)]
        most = 0
        while not all(one.done() for one in asked):
            most = max(most, _kb(pid))
            await asyncio.sleep(0.01)
        await asyncio.gather(*asked)
        return most

    asyncio.run(seen())  # the first time it grows its pools
    before = _kb(pid)
    return (asyncio.run(seen()) - before) / streams


def through(*, quick: bool) -> list[Bound]:
    """Requests a second, and memory, of whole processes."""
    requests, turns = (REQUESTS_QUICK, TURNS_QUICK) if quick else (REQUESTS, TURNS)
    with (
        tempfile.TemporaryDirectory() as folder,
        process("-m", "benchmarks.plain_upstream", "PORT", home=Path(folder)) as (up, _),
    ):
        ours = ("-m", "foldline", "proxy", "--port", "PORT", "--upstream", f"http://{HOST}:{up}")
        plain = ("-m", "benchmarks.plain_proxy", "PORT", f"http://{HOST}:{up}")
        with (
            process(*ours, home=Path(folder)) as (port, pid),
            process(*plain, home=Path(folder)) as (other, _),
        ):
            bounds = []
            for stream in (False, True):
                kind = "streamed" if stream else "whole"
                pairs = [
                    (
                        rate(port, requests=requests, stream=stream),
                        rate(other, requests=requests, stream=stream),
                    )
                    for _ in range(turns + 1)
                ][1:]
                mine, theirs = (median(found) for found in zip(*pairs, strict=True))
                print(f"{f'requests a second, {kind}: ours, pass-through':<64} {mine:10,.0f} {theirs:10,.0f}")
                bounds.append(
                    Bound(f"requests a second, {kind}: ours ÷ pass-through", mine / theirs, least=RATE_MIN)
                )
            if Path("/proc/self/statm").is_file():
                held = memory(port, pid, streams=STREAMS_QUICK if quick else STREAMS)
                bounds.append(Bound("memory a stream, KB", held, most=KB_A_STREAM_MAX))
            return bounds


def main() -> None:
    """Print the figures; exit 1 when a ratio is broken."""
    quick = is_quick()
    verdict([*bodies(quick=quick), *events(quick=quick), *through(quick=quick)], quick=quick)


if __name__ == "__main__":
    main()
