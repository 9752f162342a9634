"""Streams that break off before each of their events, on either side: the end never looks like one, nothing half is taken for an answer,
and nobody is left waiting.

    upstream ──✕── proxy ────► client      sees a stream without its end, or a refusal in place of one
    upstream ────► proxy ──✕── client      upstream is let go within a second
"""

from __future__ import annotations

import json
import socket
import struct
from pathlib import Path
from typing import Final

import pytest

import foldline
from foldline.home import disk_store
from foldline.proxy import exchange
from foldline.session.library import listed
from foldline.testing.twin import Answer, Twin
from tests.proxy.running import Proxy, own_home
from tests.proxy.sessions import HEADERS, PATHS, Agent, generated, run, script
from tests.proxy.test_request_matrix import statuses_of
from tests.proxy.upstreams import HOST, LAST, PACE_S, Sent, Upstream, exchanged, recorded, request

EVENTS: Final = 60
WORDS: Final = "".join(f"half-{n:03} of an answer ----" for n in range(EVENTS))
SAID: Final = "half-000"
RELEASED_S: Final = 1.0
WINDOW: Final = 20_000
TURNS: Final = 48
RESET: Final = struct.pack("ii", 1, 0)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Sessions and settings of this test alone."""
    return own_home(monkeypatch, tmp_path, window=WINDOW)


def grown(format: str) -> Agent:
    """An agent whose conversation the proxy keeps in a session already."""
    turns = generated(TURNS, tokens=240)
    agent = Agent(format, first="Refactor the project.")
    with Twin(script(turns), window=WINDOW) as twin, Proxy(twin.url) as proxy:
        run(agent, turns, proxy.url)
        assert any(record.is_compaction for record in proxy.wait_for(TURNS))
    return agent


def asked(agent: Agent, format: str, port: int) -> bytes:
    """Its next request, as bytes."""
    given = {**{name.title(): value for name, value in HEADERS.items()}, "Connection": "close"}
    return request(port, agent.body(), path=PATHS[format], headers=given)


def halves(home: Path) -> int:
    """Messages of the log that hold the answer's beginning."""
    [session] = [one.name for one in listed(disk_store(home))]
    with foldline.open(session) as kept:
        return sum(SAID in json.dumps(message) for message in kept.messages)


def body_of(answer: bytes) -> bytes:
    """What stands in the chunks of an answer, as far as it came."""
    rest, body = answer.partition(b"\r\n\r\n")[2], b""
    while b"\r\n" in rest:
        size, _, rest = rest.partition(b"\r\n")
        body += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    return body


def check_cut(answer: bytes, events: list[bytes], sent: int) -> None:
    """That it looks like what it is. Raises `AssertionError`."""
    [status] = statuses_of(answer)
    if status == 502:
        assert b"broke off" in answer
        return
    assert status == 200, answer[:300]
    assert not answer.endswith(LAST), f"cut before event {sent}, and it looks whole"
    came = body_of(answer)
    assert b"".join(events[:sent]).startswith(came), "what came is the beginning of what was sent"


@pytest.mark.parametrize("format", PATHS)
def test_an_upstream_that_breaks_off_before_any_event_never_looks_like_an_end(
    home: Path, format: str
) -> None:
    """Test S5, REA-2: sixty cuts of one conversation, a reset and a close in turn; the log has no half answer, and the whole one once."""
    agent = grown(format)
    events = recorded(format, Answer(text=WORDS, thinking="let me think"), agent.body())
    assert len(events) >= EVENTS
    plan = [Sent(pieces=events[:sent], is_cut=True) for sent in range(EVENTS)]
    answers = iter([*plan, Sent(pieces=events)])
    with Upstream(lambda head, body: next(answers)) as upstream, Proxy(upstream.url) as proxy:
        for sent in range(EVENTS):
            check_cut(exchanged(proxy.port, asked(agent, format, proxy.port)), events, sent)
        records = proxy.wait_for(EVENTS)
        assert all(record.is_cut or record.status == 502 for record in records)
        assert len(upstream.heads) == EVENTS, "what was delivered in part is not asked for again"
        whole = exchanged(proxy.port, asked(agent, format, proxy.port))
        assert body_of(whole) == b"".join(events)
        assert upstream.wait_until_idle(RELEASED_S)
    assert halves(home) == 1


@pytest.mark.parametrize("format", PATHS)
def test_a_client_that_goes_after_any_event_lets_the_upstream_go(home: Path, format: str) -> None:
    """Test S5: fifty-nine times; the upstream is let go within a second, and nothing of it is in the log."""
    agent = grown(format)
    events = recorded(format, Answer(text=WORDS, thinking="let me think"), agent.body())
    endless = Sent(pieces=[*events[:EVENTS], *[b": still there\n\n"] * 20_000], pause_s=PACE_S)
    with Upstream(lambda head, body: endless) as upstream, Proxy(upstream.url) as proxy:
        for seen in range(1, EVENTS):
            gone_after(proxy.port, asked(agent, format, proxy.port), seen)
            assert upstream.wait_until_idle(RELEASED_S), f"left open after event {seen}"
        assert all(record.is_cut for record in proxy.wait_for(EVENTS - 1))
    assert halves(home) == 0


def test_a_client_that_closes_its_writing_half_is_taken_for_one_that_went() -> None:
    """The end of its data looks the same: nothing but an answer would tell the two apart, and a model that nobody waits for costs
    money while it thinks. docs/guides/proxy.md says so."""
    agent = Agent("anthropic", first="hello")
    events = recorded("anthropic", Answer(text=WORDS), agent.body())
    thinking = Sent(pieces=events[:8], pause_s=20)
    with Upstream(lambda head, body: thinking) as upstream, Proxy(upstream.url) as proxy:
        with socket.create_connection((HOST, proxy.port), timeout=20) as connection:
            connection.sendall(asked(agent, "anthropic", proxy.port))
            assert connection.recv(1), "it is being answered"
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65_536):
                pass
        assert upstream.wait_until_idle(RELEASED_S)
        assert [record.is_cut for record in proxy.wait_for(1)] == [True]


def gone_after(port: int, data: bytes, events: int) -> None:
    """Send, read so many events, and reset the connection."""
    with socket.create_connection((HOST, port), timeout=20) as connection:
        connection.sendall(data)
        got = b""
        while got.count(b"\n\n") + got.count(b"\r\n\r\n") - 1 < events and (piece := connection.recv(65_536)):
            got += piece
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


@pytest.fixture
def forgiving(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relay that takes a broken stream for one that ended: what these tests are there to find."""
    right = exchange._next

    async def wrong(incoming: object) -> bytes:
        try:
            return await right(incoming)  # type: ignore[arg-type]  # handed on as it is
        except exchange._BrokeOff:
            return b""

    monkeypatch.setattr(exchange, "_next", wrong)


@pytest.mark.usefixtures("forgiving")
def test_a_relay_that_ends_a_broken_stream_in_order_is_found_out() -> None:
    """A harness that cannot catch a broken relay proves nothing."""
    agent = Agent("anthropic", first="hello")
    events = recorded("anthropic", Answer(text=WORDS), agent.body())
    with Upstream(lambda *_: Sent(pieces=events[:30], is_cut=True)) as upstream, Proxy(upstream.url) as proxy:
        answer = exchanged(proxy.port, asked(agent, "anthropic", proxy.port))
    with pytest.raises(AssertionError, match="looks whole"):
        check_cut(answer, events, 30)
