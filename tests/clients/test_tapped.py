"""A response of either HTTP library gives its caller the very bytes that came, and the ear hears them too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from foldline.clients.answers import Answer
from foldline.clients.tapped import atap, is_stream, tap
from tests.clients.lists import call, conversations, user
from tests.clients.test_answers import frames, log
from tests.wire.test_streamed import CHAT

DATA = frames(CHAT)
PIECES = [DATA[:7], DATA[7:300], DATA[300:]]


class Response:
    """As `httpx2` has it, as far as it is heard."""

    def __init__(
        self, pieces: list[bytes], *, consumed: bool = False, kind: str = "text/event-stream"
    ) -> None:
        self.headers, self._pieces, self.is_stream_consumed = {"content-type": kind}, pieces, consumed
        self.content = b"".join(pieces)

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """The pieces."""
        yield from self._pieces

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        """The pieces."""
        for piece in self._pieces:
            yield piece


def heard(known: Any, response: Response) -> Answer:
    going = known.outgoing(call([user("hi")]))
    return Answer(known, going.ticket, is_stream=is_stream(response))


def test_a_stream_is_handed_on_piece_by_piece() -> None:
    """What was read ahead comes first, nothing is joined or lost."""
    known, response = conversations(), Response(PIECES)
    assert tap(response, heard(known, response)) is None
    assert list(response.iter_bytes()) == PIECES
    assert log(known) == ["hi", "Looking"]


def test_a_caller_that_leaves_the_last_line_has_read_the_answer() -> None:
    """SDKs stop at `[DONE]`."""
    known, response = conversations(), Response([*PIECES, b"data: [DONE]\n\n", b""])
    tap(response, heard(known, response))
    reading = response.iter_bytes()
    for _ in PIECES:
        next(reading)
    reading.close()  # type: ignore[attr-defined]
    assert log(known) == ["hi", "Looking"]


def test_a_response_that_was_read_is_heard_whole() -> None:
    """Where the SDK does not stream."""
    known, response = conversations(), Response(PIECES, consumed=True)
    assert tap(response, heard(known, response)) is None
    assert log(known) == ["hi", "Looking"]


def test_an_async_response_is_heard_alike() -> None:
    """Streamed, and whole."""

    async def run() -> None:
        for consumed in (False, True):
            known, response = conversations(), Response(PIECES, consumed=consumed)
            assert await atap(response, heard(known, response)) is None
            if not consumed:
                assert [piece async for piece in response.aiter_bytes()] == PIECES
            assert log(known) == ["hi", "Looking"]

    asyncio.run(run())


def test_a_refusal_at_the_beginning_is_told() -> None:
    """And what came of it is still there for its caller."""
    data = frames([{"error": {"message": "too long"}}])
    known, response = conversations(), Response([data])
    assert tap(response, heard(known, response)) == {"error": {"message": "too long"}}
    assert list(response.iter_bytes()) == [data]
    assert log(known) == ["hi"]
