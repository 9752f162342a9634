"""The way to the upstream: one pool of connections, each request sent once, its answer handed over piece by piece.

The upstream is fixed when the proxy starts: no request, header, redirect or variable names another. Nothing is followed, nothing
kept: no cookies, no credentials of its own, none of the environment's proxies. Bodies stay as compressed as they come.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable
from contextvars import ContextVar
from io import BytesIO
from typing import Any, Final
from urllib.parse import urlsplit
from weakref import WeakSet

import aiohttp
from aiohttp.connector import Connection
from msgspec import Struct
from multidict import CIMultiDict
from yarl import URL

from foldline.core.errors import InvalidOption
from foldline.proxy.headers import Pairs
from foldline.proxy.limits import CHUNK_BYTES, CONNECT_S, HEAD_LINE_BYTES_MAX, STALE_S
from foldline.proxy.routes import UPSTREAMS, Provider, upstream_url
from foldline.stores.limits import LOOPBACK

NONE_ADDED: Final = CIMultiDict[None]({"Content-Type": None})
"""Headers that are not made up where a client sent none."""


class Unreached(Exception):
    """The upstream gave no answer: a status of ours and a sentence without its words, which may quote a key."""

    def __init__(self, status: int, why: str) -> None:
        self.status, self.why = status, why
        super().__init__(why)


def _in_pieces(
    body: bytes | AsyncIterator[bytes] | None,
) -> bytes | BytesIO | AsyncIterator[bytes] | None:
    """A large body is handed over piece by piece: at once it would hold up everybody else's."""
    return BytesIO(body) if isinstance(body, bytes) and len(body) > CHUNK_BYTES else body


class Sending(Struct, frozen=True, kw_only=True):
    """One request, as it goes up."""

    method: str
    provider: Provider
    target: str
    headers: Pairs
    body: bytes | AsyncIterator[bytes] | None


def checked_upstream(url: str) -> str:
    """An upstream as it may be: https, or on this machine. Raises `InvalidOption`."""
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        raise InvalidOption("upstream", url, why="give a URL like https://api.example.com") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidOption("upstream", "…", why="give host and path alone; keys come with each request")
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_fine:
        raise InvalidOption("upstream", url, why="give a URL like https://api.example.com")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        why = "keys would go over the network in the clear; use https, or a server on this machine"
        raise InvalidOption("upstream", url, why=why)
    return url.rstrip("/")


class _Trip(Struct):
    """What became known of a request on its way."""

    began: float
    is_on_old_connection: bool = False

    def is_stale(self) -> bool:
        """True where its connection was one that the upstream closed while it rested: nothing was read there."""
        return self.is_on_old_connection and time.monotonic() - self.began < STALE_S


_TRIP: ContextVar[_Trip | None] = ContextVar("foldline_proxy_trip", default=None)
"""Of the request that a connection is taken for: who takes one is not told."""


class _Connector(aiohttp.TCPConnector):
    """The library's own, which notes of each request whether its connection had rested."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        self._met: WeakSet[Any] = WeakSet()

    async def connect(self, *given: Any, **named: Any) -> Connection:
        """One of the pool, or a new one."""
        connection = await super().connect(*given, **named)
        trip = _TRIP.get()
        if trip is not None:
            trip.is_on_old_connection = connection.protocol in self._met
        self._met.add(connection.protocol)
        return connection


class _Request(aiohttp.ClientRequest):
    """The library's own, which copies all headers to find out which it may add; this one adds none."""

    def update_auto_headers(self, skip_auto_headers: Iterable[str] | None) -> None:
        """What a body says of itself is left out too."""
        self._skip_auto_headers = NONE_ADDED


class Relay:
    """Open while the proxy runs; an async context manager."""

    def __init__(self, upstream: str | None) -> None:
        self._upstream = upstream
        self._session: aiohttp.ClientSession | None = None
        self._anew: aiohttp.ClientSession | None = None
        """Whose connections are new ones."""

    async def __aenter__(self) -> Relay:
        self._session, self._anew = _session(force_close=False), _session(force_close=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        for session in (self._session, self._anew):
            if session is not None:
                await session.close()

    def base(self, provider: Provider) -> str:
        """The upstream of a request."""
        return self._upstream or UPSTREAMS[provider]

    async def send(self, sending: Sending) -> aiohttp.ClientResponse:
        """Send it; the response once its head is there. Whoever gets it closes it. Raises `Unreached`. Sent once; twice only where a
        connection that had rested turned out to be closed at once."""
        assert self._session is not None, "the relay is open"
        assert self._anew is not None, "both are"
        url = URL(upstream_url(self.base(sending.provider), sending.target), encoded=True)
        trip = _Trip(began=time.monotonic())
        try:
            try:
                return await _asked(self._session, url, sending=sending, trip=trip)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                if not trip.is_stale() or isinstance(sending.body, AsyncIterator):
                    raise
                return await _asked(self._anew, url, sending=sending, trip=trip)
        except TimeoutError:
            raise Unreached(
                504, f"{url.host} did not take a connection in {CONNECT_S:g} s; try again"
            ) from None
        except aiohttp.ClientError as error:
            why = f"{url.host} gave no answer ({type(error).__name__}); check the upstream and the network"
            raise Unreached(502, why) from None


def _session(*, force_close: bool) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=_Connector(limit=0, force_close=force_close),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
        auto_decompress=False,
        request_class=_Request,
        read_bufsize=CHUNK_BYTES,
        max_line_size=HEAD_LINE_BYTES_MAX,
        max_field_size=HEAD_LINE_BYTES_MAX,
    )


async def _asked(
    session: aiohttp.ClientSession, url: URL, *, sending: Sending, trip: _Trip
) -> aiohttp.ClientResponse:
    _TRIP.set(trip)
    return await session.request(
        sending.method,
        url,
        headers=sending.headers,
        data=_in_pieces(sending.body),
        allow_redirects=False,
    )
