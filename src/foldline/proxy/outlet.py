"""The client's side of a request: its body read within bounds, its answer given out as it comes, and what is said of our own.

A client that asked for a stream and has to wait, while a model writes a summary or looks something up, is kept alive by comment lines,
which every reader of events passes over. From then on what goes wrong is said as an event of the stream, since its head is out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from aiohttp import web
from multidict import CIMultiDict

from foldline.proxy.guard import Head
from foldline.proxy.incoming import Incoming
from foldline.proxy.limits import BODY_BYTES_MAX, BODY_S, KEEP_ALIVE_S
from foldline.proxy.routes import Route
from foldline.proxy.spoken import error_body, error_event

KEEP_ALIVE = b": foldline is at work on this conversation\n\n"
EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
ADDED = ("Content-Type", "Server")
LAST_ON_THE_CONNECTION = (400, 408, 413, 426, 505)
"""Behind these what is left of the request is not read as another one."""
Made = TypeVar("Made")


class Declined(Exception):
    """An answer of ours in place of one."""

    def __init__(self, status: int, why: str) -> None:
        self.status, self.why = status, why
        super().__init__(why)


class _AsItCame(web.StreamResponse):
    """An answer of the upstream's, with its headers and none that the server's library would put beside them: what it is and who made
    it are the upstream's to say. The time, which whoever passes an answer on has to note (RFC 9110, 6.6.1), stays."""

    async def _prepare_headers(self) -> None:
        added = [name for name in ADDED if name not in self.headers]
        await super()._prepare_headers()
        for name in added:
            self.headers.popall(name, None)


class Outlet:
    """Of one request."""

    def __init__(self, request: web.BaseRequest, asked: Head, *, route: Route) -> None:
        self._request, self._asked, self._route = request, asked, route
        self._out: web.StreamResponse | None = None

    @property
    def is_begun(self) -> bool:
        """True once the client has the head of an answer."""
        return self._out is not None

    # ── its request ──────────────────────────────────────────────────────────────────────────────────────────

    async def body(self) -> bytes:
        """Of a conversation, whole. Raises `Declined`."""
        bytes_max = BODY_BYTES_MAX[self._route.provider]
        too_large = Declined(413, f"the request is larger than {bytes_max:,} bytes; send less at a time")
        if int(self._asked.one("content-length") or 0) > bytes_max:
            raise too_large
        if (body := self._here()) is not None:
            return body
        pieces, size = [], 0
        try:
            async with asyncio.timeout(BODY_S):
                async for piece in self.pieces():
                    pieces.append(piece)
                    size += len(piece)
                    if size > bytes_max:
                        raise too_large
        except TimeoutError:
            raise Declined(408, f"the body did not come in {BODY_S:g} s; send it again") from None
        return b"".join(pieces)

    def _here(self) -> bytes | None:
        """A body that came whole with its head, as a short one does."""
        content = self._request.content
        return content.read_nowait() if content.is_eof() else None

    async def pieces(self) -> AsyncIterator[bytes]:
        """Of a body, as they come; a client that waits for leave to send it is given it."""
        if self._asked.one("expect").lower() == "100-continue":
            await self._request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self._request.writer.output_size = 0
        while piece := await self._request.content.readany():
            yield piece

    # ── its answer ───────────────────────────────────────────────────────────────────────────────────────────

    async def kept_alive(self, work: asyncio.Future[Made], *, is_stream: Callable[[], bool]) -> Made:
        """What the work gives; a client that wants a stream hears of it while it waits. The work goes on when the client goes."""
        while not work.done():
            await asyncio.wait({work}, timeout=KEEP_ALIVE_S)
            if not work.done() and (self.is_begun or is_stream()):
                await (await self._events()).write(KEEP_ALIVE)
        return work.result()

    async def _events(self) -> web.StreamResponse:
        if self._out is None:
            self._out = web.StreamResponse(headers=EVENTS)
            await self._out.prepare(self._request)
        return self._out

    async def begin(self, incoming: Incoming) -> None:
        """The head of an answer, passed on; of one that is held back at its end together with the first piece of its body."""
        response, with_body = incoming.response, incoming.is_held
        headers = CIMultiDict(incoming.headers)
        self._out = _AsItCame(status=response.status, reason=response.reason, headers=headers)
        self._out._send_headers_immediately = not with_body
        await self._out.prepare(self._request)

    async def write(self, piece: bytes) -> None:
        """A piece of its body. Behind a slow reader this waits."""
        assert self._out is not None, "its head went before"
        await self._out.write(piece)

    async def end(self) -> web.StreamResponse:
        """The answer is whole."""
        assert self._out is not None, "its head went before"
        await self._out.write_eof()
        return self._out

    def cut(self) -> web.StreamResponse:
        """End the connection in the middle, so that what was sent does not look whole."""
        assert self._out is not None, "its head went before"
        transport = self._request.transport
        if transport is not None and self._request.version >= (1, 1):
            transport.close()
        elif transport is not None:  # there the end of the connection would be the end of the body
            transport.abort()
        return self._out

    async def say(self, status: int, why: str) -> web.StreamResponse:
        """An answer of ours."""
        return await self.refuse(status, error_body(self._route.provider, status, why=why))

    async def refuse(self, status: int, body: bytes) -> web.StreamResponse:
        """A refusal: as an answer, or as an event where a stream has begun."""
        if self._out is None:
            made = web.Response(status=status, body=body, content_type="application/json")
            if status in LAST_ON_THE_CONNECTION:
                made.force_close()
            return made
        await self._out.write(error_event(self._route.format, body))
        return await self.end()
