"""A refusal before anything was delivered is recovered from once, and everything else passes as it is."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from foldline.clients.exchange import aexchange, exchange
from foldline.clients.tickets import Outgoing
from tests.clients.lists import answer, call, conversations, long, user
from tests.clients.test_answers import frames, log
from tests.clients.test_tapped import Response
from tests.wire.test_streamed import CHAT

WORDS = {"error": {"message": "prompt is too long: 20000 tokens > 12000 maximum"}}


class Told(Response):
    """A response with its status, and whether it was closed."""

    def __init__(self, status: int, data: bytes, **more: Any) -> None:
        super().__init__([data], **more)
        self.status_code, self.closed = status, False

    def read(self) -> bytes:
        """All of it."""
        return self.content

    async def aread(self) -> bytes:
        """All of it."""
        return self.content

    def close(self) -> None:
        """Let go of the connection."""
        self.closed = True

    async def aclose(self) -> None:
        """Let go of the connection."""
        self.closed = True


def whole(status: int, body: Any) -> Told:
    return Told(status, json.dumps(body).encode(), consumed=True, kind="application/json")


def exchanged(replies: list[Told], *, is_async: bool) -> tuple[Told, list[Outgoing], list[Any]]:
    """What came of a request that is answered so; what was sent; the log."""
    known = conversations()
    going = known.outgoing(call([user("rule"), *(user(long(f"w{n}x", 6_000)) for n in range(4)), user("go")]))
    assert going is not None
    sent: list[Outgoing] = []
    left = list(replies)

    def send(one: Outgoing) -> Told:
        sent.append(one)
        return left.pop(0)

    async def asend(one: Outgoing) -> Told:
        return send(one)

    if is_async:
        return asyncio.run(aexchange(known, going, send=asend)), sent, log(known)
    return exchange(known, going, send=send), sent, log(known)


@pytest.mark.parametrize("is_async", [False, True])
def test_an_overflow_is_answered_by_a_smaller_request(is_async: bool) -> None:
    """REA-1: in a status, and in the first event of a stream; the refused response is closed."""
    for refused in (whole(400, WORDS), Told(200, frames([WORDS]))):
        good = whole(200, answer("done"))
        response, sent, said = exchanged([refused, good], is_async=is_async)
        assert response is good
        assert refused.closed
        assert sent[0].messages is None
        assert sent[1].messages is not None
        assert said[-1] == "done"


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    "reply",
    [
        whole(500, {"error": {"message": "oops"}}),
        whole(429, {"error": {"message": "rate limit reached"}}),
        whole(200, answer("done")),
        Told(200, frames([CHAT[4], WORDS])),
    ],
    ids=["fault", "throttle", "answer", "late"],
)
def test_everything_else_passes(reply: Told, is_async: bool) -> None:
    """REA-2: past the first piece of an answer nothing is sent again."""
    response, sent, _ = exchanged([reply], is_async=is_async)
    assert response is reply
    assert len(sent) == 1
    assert not reply.closed


def test_a_second_refusal_is_the_callers() -> None:
    """REA-1: at most once."""
    second = whole(400, WORDS)
    response, sent, _ = exchanged([whole(400, WORDS), second], is_async=False)
    assert response is second
    assert len(sent) == 2
