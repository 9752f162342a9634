"""The way up: one upstream, nothing followed, nothing kept."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from foldline.core.errors import InvalidOption
from foldline.proxy import relay as relaying
from foldline.proxy.relay import Relay, Sending, Unreached, checked_upstream
from foldline.testing.twin import Fault, Twin
from tests.proxy.upstreams import HOST

GET = Sending(method="GET", provider="openai", target="/v1/models", headers=[], body=None)


@pytest.mark.parametrize(
    "url", ["https://api.example.com", "http://localhost:1/v1/", "http://localhost:11434"]
)
def test_an_upstream_is_https_or_on_this_machine(url: str) -> None:
    """Threat 7."""
    assert checked_upstream(url) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    ["http://api.example.com", "ftp://x", "api.example.com", "", "https://", "https://u:p@x.com", "https://x.com?a=b",
     "https://x.com#f", "https://x.com:0", "https://x.com:99999", "http://localhost.evil.example"],
)  # fmt: skip
def test_every_other_upstream_is_refused(url: str) -> None:
    """Test S4: keys do not go over the network in the clear."""
    with pytest.raises(InvalidOption):
        checked_upstream(url)


def test_each_provider_has_its_own_unless_one_is_named() -> None:
    """Where `--upstream` is left out."""
    assert Relay(None).base("anthropic") == "https://api.anthropic.com"
    assert Relay("https://x.com").base("anthropic") == "https://x.com"


def test_a_redirect_is_passed_back_and_not_followed() -> None:
    """Test S4: a redirect to another host would take the key with it."""
    moved = Fault(status=307, headers={"location": "http://localhost:9/decoy"})

    async def asked(url: str) -> tuple[int, str]:
        async with Relay(url) as relay:
            key = [("authorization", "Bearer k")]
            body = b'{"model":"gpt-4o","messages":[{"role":"user","content":"a"}]}'
            sending = Sending(
                method="POST", provider="openai", target="/v1/chat/completions", headers=key, body=body
            )
            response = await relay.send(sending)
            await response.read()
            return response.status, response.headers["location"]

    with Twin([moved]) as twin:
        assert asyncio.run(asked(twin.url)) == (307, "http://localhost:9/decoy")


def test_an_upstream_that_is_not_there_is_said_without_its_words() -> None:
    """What it says could quote a key."""

    async def asked() -> None:
        async with Relay("http://localhost:9") as relay:
            await relay.send(GET)

    with pytest.raises(Unreached, match=r"localhost gave no answer") as unreached:
        asyncio.run(asked())
    assert unreached.value.status == 502


class Closing:
    """An upstream whose connections answer so many requests, in order of their coming, and then close on the next without a word."""

    def __init__(self, *answered: int, wait_s: float = 0.0) -> None:
        self._answered, self._wait_s = list(answered), wait_s
        self.requests = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            for _ in range(self._answered.pop(0)):
                await self._request(reader)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await self._request(reader)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), self._wait_s)
        writer.transport.abort()

    async def _request(self, reader: asyncio.StreamReader) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r")[0]))
        self.requests += 1


def asked_of(closing: Closing, count: int) -> list[int]:
    """Statuses of so many requests one after the other."""

    async def all_of() -> list[int]:
        server = await asyncio.start_server(closing, HOST, 0)
        post = Sending(method="POST", provider="openai", target="/v1/responses", headers=[], body=b"{}")
        found = []
        async with server, Relay(f"http://{HOST}:{server.sockets[0].getsockname()[1]}") as relay:
            for _ in range(count):
                try:
                    response = await relay.send(post)
                    await response.read()
                    found.append(response.status)
                except Unreached as unreached:
                    found.append(unreached.status)
        return found

    return asyncio.run(all_of())


def test_a_connection_that_was_closed_while_it_rested_costs_no_request() -> None:
    """A provider closes what rests too long; an agent whose request met that heard of an upstream that gave no answer."""
    closing = Closing(1, 1)
    assert asked_of(closing, 2) == [200, 200]
    assert closing.requests == 3


def test_a_new_connection_that_breaks_off_is_not_asked_again() -> None:
    """The upstream may have begun with it: what is sent twice is paid twice."""
    closing = Closing(0, 1)
    assert asked_of(closing, 1) == [502]
    assert closing.requests == 1


def test_a_request_that_breaks_off_later_is_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """On an old connection neither."""
    monkeypatch.setattr(relaying, "STALE_S", 0.05)
    closing = Closing(1, 1, wait_s=0.2)
    assert asked_of(closing, 2) == [200, 502]
    assert closing.requests == 2
