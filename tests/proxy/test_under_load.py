"""Many streams, slow readers and floods: what the proxy holds stays small and flat, and every descriptor is given back."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from foldline.proxy.limits import BODY_BYTES_MAX, HEAD_S
from tests.proxy.test_request_matrix import BODY, statuses_of
from tests.proxy.upstreams import HOST, LAST, Command, Sent, Upstream, exchanged, request

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="memory is read from /proc")

STREAMS, EVENTS = 100, 200
STREAMS_NIGHTLY, NIGHTLY_S, CUT_SHARE = 400, 1_200.0, 0.2
KB_A_STREAM_MAX: Final = 128
FLAT: Final = 1.05
SLOW_KB_MAX: Final = 4 * 1024
LOOK_S: Final = 0.1
GIVEN_BACK_S: Final = 15.0
PAUSE_S: Final = 0.01
DELTA: Final = (
    b'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"'
    + b"x" * 100
    + b'"}}]}\n\n'
)
END: Final = b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def streamed(head: bytes, body: bytes) -> Sent:
    """So many events as the body asks for, spaced; broken off where it says so."""
    asked = json.loads(body)["metadata"]
    return Sent(pieces=[*[DELTA] * asked["events"], END], pause_s=PAUSE_S, is_cut=asked["is_cut"])


def asked(n: int, *, events: int, is_cut: bool = False) -> bytes:
    """A request of a conversation of its own."""
    told = {"metadata": {"events": events, "is_cut": is_cut}, "stream": True, "model": "gpt-4o"}
    return json.dumps({**told, "messages": [{"role": "user", "content": f"conversation {n}"}]}).encode()


async def read(port: int, body: bytes) -> tuple[int, bool]:
    """Events that came, and whether the stream came to its end."""
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(request(port, body))
    events, tail = 0, b""
    try:
        while not tail.endswith(LAST) and (piece := await reader.read(65_536)):
            events += piece.count(b"\n\n")
            tail = (tail + piece)[-len(LAST) :]
    except ConnectionError:
        pass
    finally:
        writer.close()
    return events, tail.endswith(LAST)


async def held(proxy: Command, into: list[int]) -> None:
    """Look at its memory until it is told to stop."""
    never = asyncio.Event()
    while True:
        into.append(proxy.memory_kb())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(never.wait(), LOOK_S)


async def soaked(proxy: Command, bodies: list[bytes], into: list[int]) -> list[tuple[int, bool]]:
    """All at once."""
    looking = asyncio.ensure_future(held(proxy, into))
    try:
        return await asyncio.gather(*(read(proxy.port, body) for body in bodies))
    finally:
        looking.cancel()


def given_back(proxy: Command, before: int) -> bool:
    """True once it has no more descriptors than before."""
    end = time.monotonic() + GIVEN_BACK_S
    while proxy.descriptors() > before and time.monotonic() < end:
        with socket.create_connection((HOST, proxy.port)) as connection:
            connection.settimeout(LOOK_S)
            try:
                connection.recv(1)
            except TimeoutError:
                continue
    return proxy.descriptors() <= before


@pytest.fixture
def streaming(tmp_path: Path) -> Iterator[Command]:
    """A proxy in a process of its own, warm."""
    with Upstream(streamed) as upstream, Command("--upstream", upstream.url, folder=tmp_path) as proxy:
        asyncio.run(soaked(proxy, [asked(n, events=5) for n in range(20)], []))
        yield proxy
        assert upstream.wait_until_idle(5)


def test_a_hundred_streams_hold_little_each_and_give_all_back(streaming: Command) -> None:
    """Test S6: 100 streams of 200 events; all whole, at most 128 KB a stream, descriptors as before."""
    before, descriptors, seen = streaming.memory_kb(), streaming.descriptors(), list[int]()
    came = asyncio.run(soaked(streaming, [asked(n, events=EVENTS) for n in range(STREAMS)], seen))
    assert came == [(EVENTS + 2, True)] * STREAMS
    assert (max(seen) - before) / STREAMS <= KB_A_STREAM_MAX
    assert given_back(streaming, descriptors)


@pytest.mark.nightly
def test_twenty_minutes_of_streams_with_cuts_stay_flat(streaming: Command) -> None:
    """Test S6: 400 at a time, a fifth of them broken off; the last third holds no more than the first and 5 %."""
    chosen, seen, n = random.Random(6), list[int](), 0
    descriptors, end = streaming.descriptors(), time.monotonic() + NIGHTLY_S
    while time.monotonic() < end:
        cuts = [chosen.random() < CUT_SHARE for _ in range(STREAMS_NIGHTLY)]
        bodies = [asked(n + k, events=EVENTS, is_cut=cut) for k, cut in enumerate(cuts)]
        came = asyncio.run(soaked(streaming, bodies, seen))
        assert [is_whole for _, is_whole in came] == [not cut for cut in cuts]
        n += STREAMS_NIGHTLY
    third = len(seen) // 3
    assert max(seen[-third:]) <= FLAT * max(seen[:third])
    assert given_back(streaming, descriptors)


def test_a_slow_reader_holds_the_upstream_back(tmp_path: Path) -> None:
    """Test S7: 200 MB for a client that hardly reads; at most 4 MB more are held."""
    large = DELTA * 250
    answer = Sent(pieces=[large] * (200 * 2**20 // len(large)))
    with (
        Upstream(lambda *_: answer) as upstream,
        Command("--upstream", upstream.url, folder=tmp_path) as proxy,
    ):
        asyncio.run(read_some(proxy, pieces=3))
        before = proxy.memory_kb()
        assert max(asyncio.run(read_some(proxy, pieces=30))) - before <= SLOW_KB_MAX
        assert upstream.wait_until_idle(1), "a client that goes lets the upstream go"


async def read_some(proxy: Command, *, pieces: int) -> list[int]:
    """Read a little, time and again, and go; what the proxy held meanwhile."""
    reader, writer = await asyncio.open_connection(HOST, proxy.port, limit=4_096)
    writer.write(request(proxy.port, asked(1, events=1)))
    seen = list[int]()
    for _ in range(pieces):
        await reader.read(4_096)
        looking = asyncio.ensure_future(held(proxy, seen))
        await asyncio.wait({looking}, timeout=LOOK_S)
        looking.cancel()
    writer.transport.abort()
    return seen


def test_a_flood_is_passed_on_and_not_kept(tmp_path: Path) -> None:
    """Test S7: 200 MB that are read as fast as they come; what is heard on the side has its bound."""
    large = DELTA * 250
    answer = Sent(pieces=[large] * (200 * 2**20 // len(large)))
    with (
        Upstream(lambda *_: answer) as upstream,
        Command("--upstream", upstream.url, folder=tmp_path) as proxy,
    ):
        before, seen = proxy.memory_kb(), list[int]()
        [(events, is_whole)] = asyncio.run(soaked(proxy, [asked(1, events=1)], seen))
        assert is_whole
        assert events >= len(list(answer.pieces)) * 250 * 0.99
        assert max(seen) - before <= 200 * 1024


def test_a_body_of_33_mb_is_refused(tmp_path: Path) -> None:
    """Test S7: as it comes in chunks too, without a length; nothing of it reaches the upstream."""
    with Upstream(streamed) as upstream, Command("--upstream", upstream.url, folder=tmp_path) as proxy:
        last = {"Connection": "close"}
        path, bytes_max = "/v1/messages", BODY_BYTES_MAX["anthropic"]
        told = {**last, "Content-Length": str(bytes_max + 1)}
        by_length = request(proxy.port, b"", path=path, headers=told)
        assert statuses_of(exchanged(proxy.port, by_length)) == [413]
        in_chunks = {**last, "Content-Length": None, "Transfer-Encoding": "chunked"}
        head = request(proxy.port, b"", path=path, headers=in_chunks)
        size = 2**20
        chunks = [b"%x\r\n%b\r\n" % (size, b" " * size)] * (bytes_max // size + 1)
        assert statuses_of(exchanged(proxy.port, head, *chunks)) == [413]
        assert upstream.heads == []


@pytest.mark.parametrize("head", [b"", b"POST /v1/chat/completions HTTP/1.1\r\nHost: "])
def test_a_head_that_does_not_come_is_not_waited_for(tmp_path: Path, head: bytes) -> None:
    """Test S7: slowloris; closed after ten seconds, and others are answered meanwhile."""
    with Upstream(streamed) as upstream, Command("--upstream", upstream.url, folder=tmp_path) as proxy:
        began = time.monotonic()
        with socket.create_connection((HOST, proxy.port), timeout=3 * HEAD_S) as connection:
            connection.sendall(head)
            whole = exchanged(
                proxy.port,
                request(
                    proxy.port,
                    BODY.replace(b"{", b'{"metadata":{"events":1,"is_cut":false},', 1),
                    headers={"Connection": "close"},
                ),
                timeout=5,
            )
            assert statuses_of(whole) == [200]
            assert connection.recv(1_000).split(b" ")[1:2] in ([], [b"400"], [b"408"])
        assert time.monotonic() - began < 2.5 * HEAD_S
