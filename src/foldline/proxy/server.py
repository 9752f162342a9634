"""The proxy, running: its socket, its guard at the door, a record for each request, and a stop that lets answers end.

    connection ──► head ──► guard ──► route ──┬─► page of our own
                                              └─► exchange ──► record ──► whoever is told

Owns the event loop's side: aiohttp's server on a loopback address, the pool of threads for what waits. Started by
`foldline.cli.commands.proxy`; everything that decides is in the modules beside it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, Final

from aiohttp import web
from msgspec import Struct

from foldline.core.foreign import tried
from foldline.proxy.desk import Begin, Desk
from foldline.proxy.exchange import Exchange, Mode, Way
from foldline.proxy.guard import Head, Rules, inner_target, loopback_hosts, no_json, refusal
from foldline.proxy.headers import text_of
from foldline.proxy.limits import CHUNK_BYTES, HEAD_LINE_BYTES_MAX, HEAD_S, STOP_S, THREADS
from foldline.proxy.meters import Meters, Record
from foldline.proxy.outlet import Outlet
from foldline.proxy.pages import page
from foldline.proxy.relay import Relay
from foldline.proxy.routes import respelt, route

SILENT = logging.getLogger("foldline.proxy.silent")
SILENT.disabled = True
"""What the server's library would log holds request lines and header values; the record of a request is ours."""


UNREADABLE: Final = "this is no HTTP request that can be read; ask with a client that speaks HTTP/1.1"


class _Connection(web.RequestHandler):
    """The library's own, which quotes what it cannot read, a key among it; this one does not."""

    def handle_error(self, *given: Any, **named: Any) -> web.StreamResponse:
        """The library's answer, in our words."""
        return super().handle_error(*given[:3], **{**named, "message": UNREADABLE})


class _Server(web.Server):
    """The library's own, with connections of ours."""

    def __call__(self) -> web.RequestHandler:
        """The protocol of a new connection."""
        return _Connection(self, loop=self._loop, **self._kwargs)


class Options(Struct, frozen=True, kw_only=True):
    """How it runs."""

    begin: Begin
    """Makes the conversations of a root."""
    upstream: str | None = None
    """For all providers; `None`: each provider's own."""
    host: str = "127.0.0.1"
    port: int = 0
    """0: any that is free."""
    prefix: str = ""
    """A secret that the base URL begins with."""
    pages_token: str
    is_exposed: bool = False
    """True where other machines may reach it."""
    mode: Mode = "open"
    recalls: bool = False
    """Whether answers may call the tool that reduced requests have."""
    about: dict[str, Any] = {}
    """What the status page says of it beside the numbers."""


class Running(Struct, frozen=True, kw_only=True):
    """A proxy that takes requests."""

    url: str
    """The base URL, its secret part included."""
    port: int
    meters: Meters


Tell = Callable[[Record], None]


class _Door:
    """What a connection's requests go through."""

    def __init__(
        self, exchange: Exchange, options: Options, *, rules: Rules, meters: Meters, tell: Tell
    ) -> None:
        self._exchange, self._rules, self._meters, self._tell = exchange, rules, meters, tell
        self._about = options.about

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        began = perf_counter()
        asked = Head(
            method=request.method,
            target=request.raw_path,
            headers=tuple(text_of(request.raw_headers)),
            version=(request.version.major, request.version.minor),
        )
        refused = refusal(asked, self._rules)
        target = inner_target(asked, self._rules)
        found = route(asked, target if target.startswith("/") else "/")
        refused = refused or respelt(found, asked, target=target)
        if refused is None and found.kind == "conversation":
            refused = no_json(asked)
        outlet = Outlet(request, asked, route=found)
        if found.kind == "page" and refused is None:
            made = page(target.partition("?")[0], self._meters, about=self._about)
            return made or await outlet.say(404, "there is no such page; /_foldline/status is one")
        way = Way(
            outlet=outlet,
            asked=asked,
            route=found,
            target=target,
            record=Record(method=asked.method[:20], path=target.partition("?")[0][:200], format=found.format),
        )
        self._meters.begun()
        try:
            if refused is not None:
                way.record.outcome, way.record.status = "refused", refused.status
                way.record.why = refused.why
                return await outlet.say(refused.status, refused.why)
            return await self._exchange.answer(way)
        finally:
            way.record.ms = round((perf_counter() - began) * 1000)
            self._meters.ended(way.record, is_conversation=found.kind == "conversation")
            tried(lambda: self._tell(way.record))


async def serve(
    options: Options, *, tell: Tell, ready: Callable[[Running], None], stop: asyncio.Event
) -> None:
    """Run until `stop` is set. `tell` is given the record of each request, `ready` the proxy once it takes some. Raises `OSError`
    where the address is taken."""
    loop = asyncio.get_running_loop()
    pool = ThreadPoolExecutor(THREADS, thread_name_prefix="foldline proxy")
    loop.set_default_executor(pool)
    desk, meters = Desk(options.begin), Meters()
    try:
        async with Relay(options.upstream) as relay:
            exchange = Exchange(relay, desk, mode=options.mode, recalls=options.recalls)
            await _listening(exchange, options, meters=meters, tell=tell, until=(ready, stop))
    finally:
        await asyncio.to_thread(desk.close)


async def _listening(
    exchange: Exchange,
    options: Options,
    *,
    meters: Meters,
    tell: Tell,
    until: tuple[Callable[[Running], None], asyncio.Event],
) -> None:
    ready, stop = until
    door: list[_Door] = []

    async def through(request: web.BaseRequest) -> web.StreamResponse:
        return await door[0](request)

    server = _Server(
        through,
        handler_cancellation=True,
        access_log=None,
        logger=SILENT,
        auto_decompress=False,
        keepalive_timeout=HEAD_S,
        max_line_size=HEAD_LINE_BYTES_MAX,
        max_field_size=HEAD_LINE_BYTES_MAX,
        read_bufsize=CHUNK_BYTES,
    )
    runner = web.ServerRunner(server, shutdown_timeout=STOP_S)
    await runner.setup()
    try:
        site = web.TCPSite(runner, options.host, options.port)
        await site.start()
        port = int(runner.addresses[0][1])
        rules = Rules(
            hosts=None if options.is_exposed else loopback_hosts(port),
            pages_token=options.pages_token,
            prefix=options.prefix,
        )
        door.append(_Door(exchange, options, rules=rules, meters=meters, tell=tell))
        host = f"[{options.host}]" if ":" in options.host else options.host
        base = f"http://{host}:{port}" + (f"/{options.prefix}" if options.prefix else "")
        ready(Running(url=base, port=port, meters=meters))
        await stop.wait()
    finally:
        await runner.cleanup()
