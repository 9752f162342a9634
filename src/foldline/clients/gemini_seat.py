"""The seat in a client of `google-genai`: between its modules and what sends their requests, where a body is a value and every
round of automatic function calling passes.

The SDK has no place for one, so this stands on `_api_client`, with its four calls `request`, `request_streamed` and their async
twins; `tests/clients/test_gemini_seat.py` holds what it needs of them against the SDK that is installed.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Final, TypeAlias

from foldline.clients.answers import Answer, refusal_of
from foldline.clients.calls import Call, call_of, plain
from foldline.clients.exchange import aasked_on, asked_on
from foldline.clients.following import Conversations
from foldline.clients.tickets import Outgoing
from foldline.providers.completer import ASKING
from foldline.threads import off
from foldline.wire import strict

VERBS: Final = ("generateContent", "streamGenerateContent")
PATH: Final = 1
BODY: Final = 2
"""Places in what the four calls are given."""
_END: Final = object()
_Ear: TypeAlias = Callable[[Answer, Any], None]


def seated(client: Any, conversations: Conversations) -> Any:
    """The client with the seat; the given one stays as it is, and shares its connections."""
    given = client._api_client
    kind = type(given)
    seated_kind: Any = type(f"Seated{kind.__name__}", (kind,), _members(kind, _Seat(conversations)))
    api: Any = object.__new__(seated_kind)
    api.__dict__ = given.__dict__
    module = importlib.import_module("google.genai.client")
    made: Any = type(f"Seated{type(client).__name__}", (type(client),), {"__del__": _nothing})
    wrapped = object.__new__(made)
    wrapped.__dict__ = {**client.__dict__, "_api_client": api, "_foldline_given": client}
    wrapped._aio, wrapped._models = module.AsyncClient(api), module.Models(api)
    return wrapped


def _nothing(self: Any) -> None:
    """The connections are the given client's to close, which is kept for as long as this one."""


def _members(kind: Any, seat: _Seat) -> dict[str, Any]:
    """The four calls, each by way of the seat. They are given verb, path, body and options, in this order."""

    def request(self: Any, *given: Any) -> Any:
        return seat.whole(_forward(kind.request, self, given=given), given[PATH], body=given[BODY])

    def request_streamed(self: Any, *given: Any) -> Any:
        return seat.streamed(
            _forward(kind.request_streamed, self, given=given), given[PATH], body=given[BODY]
        )

    async def async_request(self: Any, *given: Any) -> Any:
        return await seat.awhole(
            _forward(kind.async_request, self, given=given), given[PATH], body=given[BODY]
        )

    async def async_request_streamed(self: Any, *given: Any) -> Any:
        send = _forward(kind.async_request_streamed, self, given=given)
        return seat.astreamed(send, given[PATH], body=given[BODY])

    calls = (request, request_streamed, async_request, async_request_streamed)
    return {"__del__": _nothing, **{call.__name__: call for call in calls}}


def _forward(call: Any, api: Any, *, given: tuple[Any, ...]) -> Callable[[Any], Any]:
    """What sends the same with another body."""
    return lambda body: call(api, *given[:BODY], body, *given[BODY + 1 :])


class _Seat:
    """`forward` sends a body."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
        self._refusals: Any = importlib.import_module("google.genai.errors").APIError

    def _outgoing(self, path: str, body: Any) -> Outgoing | None:
        call = _call(path, body)
        return None if call is None else self._conversations.outgoing(call)

    async def _aoutgoing(self, path: str, body: Any) -> Outgoing | None:
        call = await off(_call, path, body)
        return None if call is None else await self._conversations.aoutgoing(call)

    def _again(self, going: Outgoing, error: Any) -> Outgoing | None:
        return self._conversations.refused(going.ticket, error.code, body=error.details)

    async def _aagain(self, going: Outgoing, error: Any) -> Outgoing | None:
        return await self._conversations.arefused(going.ticket, error.code, body=error.details)

    def whole(self, forward: Callable[[Any], Any], path: str, *, body: Any) -> Any:
        """Of a sync client, not streamed."""
        going = self._outgoing(path, body)
        if going is None:
            return forward(body)
        sent = self._sent(going, lambda one: iter([forward(_with(body, one))]), hear=_hear_whole)
        sent.answer.end()
        return sent.pieces[0]

    async def awhole(self, forward: Callable[[Any], Any], path: str, *, body: Any) -> Any:
        """Of an async client, not streamed."""
        going = await self._aoutgoing(path, body)
        if going is None:
            return await forward(body)

        async def send(one: Outgoing) -> AsyncIterator[Any]:
            return _only(await forward(_with(body, one)))

        sent = await self._asent(going, send, hear=_hear_whole)
        await off(sent.answer.end)
        return sent.pieces[0]

    def streamed(self, forward: Callable[[Any], Any], path: str, *, body: Any) -> Iterator[Any]:
        """Of a sync client, streamed: a refusal comes with the first piece."""
        going = self._outgoing(path, body)
        if going is None:
            yield from forward(body)
            return
        sent = self._sent(going, lambda one: iter(forward(_with(body, one))), hear=_hear)
        yield from sent.pieces
        for piece in sent.rest:
            _hear(sent.answer, piece)
            yield piece
        sent.answer.end()

    async def astreamed(self, forward: Callable[[Any], Any], path: str, *, body: Any) -> AsyncIterator[Any]:
        """Of an async client, streamed."""
        going = await self._aoutgoing(path, body)
        if going is None:
            async for piece in await forward(body):
                yield piece
            return

        async def send(one: Outgoing) -> AsyncIterator[Any]:
            pieces: AsyncIterator[Any] = aiter(await forward(_with(body, one)))
            return pieces

        sent = await self._asent(going, send, hear=_hear)
        for piece in sent.pieces:
            yield piece
        async for piece in sent.rest:
            _hear(sent.answer, piece)
            yield piece
        await off(sent.answer.end)

    def _sent(self, going: Outgoing, send: Callable[[Outgoing], Iterator[Any]], *, hear: _Ear) -> _Sent:
        """As `foldline.clients.exchange.exchange`, where a refusal is raised."""
        may_recover = True
        while True:
            sent = _Sent(answer=Answer(self._conversations, going.ticket, is_stream=False))
            try:
                sent.rest = send(going)
                while sent.is_wanted(going) and (piece := next(sent.rest, _END)) is not _END:
                    hear(sent.answer, piece)
                    sent.pieces.append(piece)
            except self._refusals as error:
                again = self._again(going, error) if may_recover else None
                if again is None:
                    raise
                may_recover = False
            else:
                again = asked_on(self._conversations, going, answer=sent.answer)
                if again is None:
                    return sent
            going = again

    async def _asent(
        self, going: Outgoing, send: Callable[[Outgoing], Awaitable[AsyncIterator[Any]]], *, hear: _Ear
    ) -> _Sent:
        may_recover = True
        while True:
            sent = _Sent(answer=Answer(self._conversations, going.ticket, is_stream=False))
            try:
                sent.rest = await send(going)
                while sent.is_wanted(going) and (piece := await anext(sent.rest, _END)) is not _END:
                    hear(sent.answer, piece)
                    sent.pieces.append(piece)
            except self._refusals as error:
                again = await self._aagain(going, error) if may_recover else None
                if again is None:
                    raise
                may_recover = False
            else:
                again = await aasked_on(self._conversations, going, answer=sent.answer)
                if again is None:
                    return sent
            going = again


class _Sent:
    """An answer on its way to its caller."""

    def __init__(self, *, answer: Answer) -> None:
        self.answer = answer
        self.pieces: list[Any] = []
        """What was read of it."""
        self.rest: Any = None
        """What was not, sync or async."""

    def is_wanted(self, going: Outgoing) -> bool:
        """True while more has to be read before any of it is given: one piece, or, of an answer that is held back, all."""
        return not self.pieces or going.ticket.call.has_recall


async def _only(response: Any) -> AsyncIterator[Any]:
    yield response


def _call(path: str, body: Any) -> Call | None:
    model, _, verb = path.rpartition(":")
    if ASKING.get() or verb.split("?")[0] not in VERBS or not isinstance(body, dict):
        return None
    return call_of(body, format="gemini", model=model.rpartition("/")[2])


def _hear_whole(answer: Answer, response: Any) -> None:
    answer.take((response.body or "").encode())


def _hear(answer: Answer, piece: Any) -> None:
    value = refusal_of(piece.body or "{}")
    if isinstance(value, dict):
        answer.event(value)


def _with(body: dict[str, Any], going: Outgoing) -> dict[str, Any]:
    """The body that is sent. Of the contents the caller's own are the very objects it gave."""
    contents = body["contents"]
    if going.messages is not None:
        own = dict(zip(going.ticket.call.messages, contents, strict=True))
        contents = [own[wire] if wire in own else strict.parse(wire) for wire in going.messages]
    changed = {key: plain(value) for key, value in going.changed.items()}
    return body if going.body is None else {**body, "contents": contents, **changed}
