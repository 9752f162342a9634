"""An answer on its way down: passed on as it comes, heard on the side, held back only while it may still be a refusal.

A refusal is a status, or (OpenAI) the first event of a stream that began with 200. Until it is known which of the two it is nothing
is given out, so that the request may be sent once more without the client seeing anything of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import aiohttp

from foldline.clients.answers import ANSWER_BYTES_MAX, Heard, refusal_of
from foldline.clients.calls import Call
from foldline.clients.exchange import REFUSED
from foldline.clients.splicing import is_one_answer
from foldline.proxy.desk import Going
from foldline.proxy.encodings import Opening
from foldline.proxy.headers import Pairs, response_headers
from foldline.proxy.limits import HELD_BYTES_MAX, HOLD_S, REFUSAL_BYTES_MAX

OF_ITS_BYTES: Final = ("content-encoding", "content-length", "content-md5", "digest", "etag")
"""Headers that say something of a body's bytes."""


class Incoming:
    """One response of the upstream. `heard`: what listens; `None` where nothing does. `going`: the request in a conversation that it
    answers."""

    def __init__(
        self, response: aiohttp.ClientResponse, heard: Heard | None, *, going: Going | None = None
    ) -> None:
        self.response, self.heard, self.going = response, heard, going
        self._opening = Opening(response.headers.get("content-encoding", ""), bytes_max=ANSWER_BYTES_MAX)
        self._held: list[bytes] = []
        self._is_written_anew = False

    @property
    def headers(self) -> Pairs:
        """What goes down before its body."""
        pairs = response_headers(self.response.raw_headers)
        if not self._is_written_anew:
            return pairs
        kept = [(name, value) for name, value in pairs if name.lower() not in OF_ITS_BYTES]
        return kept if self.is_stream else [*kept, ("Content-Length", str(sum(map(len, self._held))))]

    @property
    def is_refusal(self) -> bool:
        """By its status."""
        return self.response.status >= REFUSED

    @property
    def is_stream(self) -> bool:
        """True for the events of an answer."""
        return not self.is_refusal and self.heard is not None and self.heard.is_stream

    @property
    def call(self) -> Call | None:
        """The request that it answers, where that is of a conversation."""
        return None if self.going is None else self.going.out.ticket.call

    @property
    def has_recall(self) -> bool:
        """True where it may call the tool that was added."""
        return self.call is not None and self.call.has_recall

    @property
    def is_spliceable(self) -> bool:
        """True where its events can be read as they come, and all are of one answer."""
        return (
            self.is_stream and not self._opening.failed and self.call is not None and is_one_answer(self.call)
        )

    @property
    def is_joinable(self) -> bool:
        """True where it comes whole, and other answers may be put in front of it."""
        is_whole = self.heard is not None and not self.heard.is_stream
        return is_whole and not self._opening.failed and self.call is not None and is_one_answer(self.call)

    @property
    def is_held(self) -> bool:
        """True for one whose end is given out once it was taken in."""
        return self.heard is not None and not self.heard.is_stream

    @property
    def is_over(self) -> bool:
        """True once its last event was heard and given out."""
        return self.heard is not None and self.heard.is_over and not self._held

    async def plain(self) -> bytes:
        """Its body without compression, as far as a refusal is read. Raises as `next`."""
        opening = Opening(self.response.headers.get("content-encoding", ""), bytes_max=REFUSAL_BYTES_MAX)
        plain = b""
        while len(plain) < REFUSAL_BYTES_MAX and (piece := await self.next()):
            plain += opening.take(piece)
        return plain

    async def refusal(self) -> Any:
        """The refusal that it is, or begins with, as the body of an error; `None` for an answer."""
        if self.is_refusal:
            return refusal_of(await self._read_refusal())
        heard = self.heard
        if heard is None or not heard.is_stream:
            return None
        size = 0
        try:
            async with asyncio.timeout(HOLD_S):
                while not heard.has_begun and size < HELD_BYTES_MAX and (piece := await self._read()):
                    self._held.append(piece)
                    size += len(piece)
        except (
            TimeoutError
        ):  # an answer that thinks for long; what came is passed on, and no refusal is recovered from
            return None
        return heard.refusal

    async def whole(self) -> None:
        """Hold the answer back until it is whole; what is still to be given out stays as it came. Raises as `next`."""
        while piece := await self._read():
            self._held.append(piece)

    def opening(self) -> Opening:
        """What opens its body, which goes out without compression then."""
        self._is_written_anew = True
        return Opening(self.response.headers.get("content-encoding", ""), bytes_max=ANSWER_BYTES_MAX)

    def write_anew(self, change: Callable[[bytes], bytes]) -> None:
        """Change a body that was held back whole, without its compression. One that cannot be opened stays as it came."""
        encoding = "" if self._is_written_anew else self.response.headers.get("content-encoding", "")
        opening = Opening(encoding, bytes_max=ANSWER_BYTES_MAX)
        plain = opening.take(b"".join(self._held))
        changed = plain if opening.failed else change(plain)
        if changed != plain:
            self._held, self._is_written_anew = [changed], True

    async def _read_refusal(self) -> bytes:
        plain, size = [], 0
        while size < REFUSAL_BYTES_MAX and (piece := await self.response.content.readany()):
            self._held.append(piece)
            plain.append(self._opening.take(piece))
            size += len(piece)
        return b"".join(plain)

    async def next(self) -> bytes:
        """The next piece, as it came; empty at the end. Raises `aiohttp.ClientError` where it breaks off."""
        return self._held.pop(0) if self._held else await self._read()

    async def _read(self) -> bytes:
        piece = await self.response.content.readany()
        if self.heard is not None and not self.is_refusal and piece:
            plain = self._opening.take(piece)
            if plain:
                self.heard.take(plain)
        return piece

    def close(self) -> None:
        """Read no further; a connection that is not read to its end is closed."""
        self.response.close()
