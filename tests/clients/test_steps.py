"""What a request of a conversation waits for is answered by waiting or awaiting; what is raised is an answer too."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from foldline.clients.same_model import ON_ITS_WAY
from foldline.clients.steps import Preparing, Waiting, aanswered, answered
from foldline.core.errors import InvalidOption
from foldline.core.foreign import Raised
from foldline.session.opening import open_in
from foldline.session.request import Prepared
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.stores.memory import MemoryStore
from tests.clients.lists import call, user


def session(*said: str) -> Session:
    made = open_in(MemoryStore(), "s", asked=SessionOptions(format="openai-chat", model="gpt-4o"))
    for text in said:
        made.user(text)
    return made


def test_a_turn_is_waited_for_until_it_is_over() -> None:
    """Waiting and awaiting alike; one that is called off was not had."""
    for is_over in (True, False):
        turns = [Future[None](), Future[None]()]
        for turn in turns:
            if is_over:
                turn.set_result(None)
            else:
                turn.cancel()
        assert answered(Waiting(turn=turns[0])) is is_over
        if is_over:
            assert asyncio.run(_awaited(Waiting(turn=turns[1]))) is True


def test_a_session_prepares_while_its_request_is_on_its_way() -> None:
    """CMP-2: who is asked for a summary meanwhile knows which one; waiting and awaiting give the same."""
    asked = call([user("hello")])
    for told in (
        answered(Preparing(session=session("hello"), call=asked)),
        asyncio.run(_awaited(Preparing(session=session("hello"), call=asked))),
    ):
        assert isinstance(told, Prepared)
        assert told.messages == [user("hello")]
    assert ON_ITS_WAY.get() is None


def test_what_a_session_raises_is_an_answer() -> None:
    """Whoever asked sees to its conversation first."""
    asked = call([user("hello")])
    refusal = (400, {"error": {"message": "bad tool"}})
    for step in (
        Preparing(session=session(), call=asked),
        Preparing(session=session("hello"), call=asked, refusal=refusal),
    ):
        for told in (answered(step), asyncio.run(_awaited(step))):
            assert isinstance(told, Raised)
    told = answered(Preparing(session=session(), call=asked))
    assert isinstance(told, Raised)
    assert isinstance(told.error, InvalidOption)


async def _awaited(step: Preparing | Waiting) -> object:
    return await aanswered(step)
