"""An answer on its way down: held back only until it is known that it is one."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import ClientPayloadError

from foldline.clients.answers import Heard
from foldline.proxy import incoming
from foldline.proxy.incoming import Incoming

CREATED = b'data: {"type":"response.created","response":{}}\n\n'
DELTA = b'data: {"type":"response.output_text.delta","delta":"a"}\n\n'
FAILED = b'data: {"type":"response.failed","response":{"error":{"code":"context_length_exceeded"}}}\n\n'


class Pieces:
    """What an upstream sends; `None`: it says nothing for ever; an exception: it breaks off."""

    def __init__(self, *pieces: bytes | Exception | None, status: int = 200, encoding: str = "") -> None:
        self.status, self.headers = status, {"content-encoding": encoding}
        self.content, self._pieces = self, list(pieces)
        self.is_closed = False

    async def readany(self) -> bytes:
        piece = self._pieces[0] if self._pieces else b""
        if piece is None:
            await asyncio.Event().wait()
        self._pieces = self._pieces[1:]
        if isinstance(piece, Exception):
            raise piece
        return piece or b""

    def close(self) -> None:
        self.is_closed = True


def looked(pieces: Pieces, heard: Heard | None) -> tuple[Any, list[bytes]]:
    """The refusal, and what is given out."""

    async def run() -> tuple[Any, list[bytes]]:
        one = Incoming(pieces, heard)  # type: ignore[arg-type]  # of a response it takes these five things alone
        refusal = await one.refusal()
        found = []
        while piece := await one.next():
            found.append(piece)
        one.close()
        return refusal, found

    return asyncio.run(run())


def heard(*, is_stream: bool = True) -> Heard:
    return Heard("openai-responses", is_stream=is_stream)


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_refusal_by_status_is_read_and_passed_on_as_it_came(encoding: str) -> None:
    """REA-1: its words say what it is; a compressed one is opened on the side."""
    body = b'{"error":{"message":"too long"}}'
    data = gzip.compress(body) if encoding else body
    refusal, found = looked(Pieces(data[:9], data[9:], status=400, encoding=encoding), heard(is_stream=False))
    assert refusal == {"error": {"message": "too long"}}
    assert b"".join(found) == data


def test_a_stream_that_begins_with_a_refusal_is_one() -> None:
    """REA-2: OpenAI answers 200, then refuses."""
    refusal, found = looked(Pieces(CREATED, FAILED), heard())
    assert refusal == {"error": {"code": "context_length_exceeded"}}
    assert found == [CREATED, FAILED]


def test_an_answer_is_given_out_whole_and_heard_once() -> None:
    """What was held back comes first."""
    ear = heard()
    refusal, found = looked(Pieces(CREATED, DELTA, DELTA), ear)
    assert refusal is None
    assert found == [CREATED, DELTA, DELTA]
    assert ear.has_begun


def test_a_stream_that_says_nothing_is_held_back_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client's own patience has an end too."""
    monkeypatch.setattr(incoming, "HOLD_S", 0.05)

    async def run() -> tuple[Any, bytes]:
        one = Incoming(Pieces(CREATED, None), heard())  # type: ignore[arg-type]  # as above
        return await one.refusal(), await one.next()

    assert asyncio.run(run()) == (None, CREATED)


def test_what_nobody_listens_to_is_passed_on() -> None:
    """Files, embeddings."""
    pieces: Sequence[bytes] = (b"a", b"b")
    assert looked(Pieces(*pieces), None) == (None, [b"a", b"b"])


def test_an_answer_that_breaks_off_is_no_end() -> None:
    """Test S5."""
    with pytest.raises(ClientPayloadError):
        looked(Pieces(DELTA, ClientPayloadError("cut")), heard())


def test_an_answer_that_is_held_back_is_given_out_as_it_came() -> None:
    """What calls recall is not delivered; what does not is, in its own pieces."""

    async def run() -> list[bytes]:
        one = Incoming(Pieces(CREATED, DELTA), heard())  # type: ignore[arg-type]  # as above
        await one.whole()
        return [await one.next(), await one.next(), await one.next()]

    assert asyncio.run(run()) == [CREATED, DELTA, b""]


def test_a_refusal_is_read_without_its_compression() -> None:
    """To be said as an event of a stream that has begun."""
    data = gzip.compress(b'{"error":1}')

    async def run() -> bytes:
        one = Incoming(Pieces(data[:5], data[5:], status=400, encoding="gzip"), heard())  # type: ignore[arg-type]  # as above
        await one.refusal()
        assert not one.is_stream
        return await one.plain()

    assert asyncio.run(run()) == b'{"error":1}'
