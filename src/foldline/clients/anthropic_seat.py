"""The seat in a client of `anthropic`: its middleware, which sees every attempt with the body still a value.

It stays with the client through `with_options`, and serves Bedrock, Vertex and Foundry too, whose bodies are written and signed
behind it. Streams, raw responses and the tool runner pass through it like any request.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from foldline.clients.calls import Call, beside, call_of, plain
from foldline.clients.exchange import aexchange, exchange
from foldline.clients.following import Conversations
from foldline.clients.tickets import Outgoing
from foldline.providers.completer import ASKING
from foldline.threads import off
from foldline.wire import strict

PATH = "/v1/messages"
BETA = "anthropic-beta"


def seated(client: Any, conversations: Conversations, *, is_async: bool) -> Any:
    """The client with the seat; the given one stays as it is, and shares its connections."""
    seat = _Seat(conversations, betas=str(client.default_headers.get(BETA) or ""))
    own = seat.handle_async if is_async else seat.handle
    return client.with_options(middleware=[*client.middleware, own])


class _Seat:
    """Two handlers of one kind; the SDK takes a callable of either."""

    def __init__(self, conversations: Conversations, *, betas: str) -> None:
        self._conversations, self._betas = conversations, betas

    def handle(self, request: Any, call_next: Any) -> Any:
        """Of a sync client."""
        call = _call(request)
        going = None if call is None else self._conversations.outgoing(call)
        if going is None:
            return call_next(request)
        sent = []

        def send(one: Outgoing) -> Any:
            sent.append(call_next(self._with(request, one)))
            return sent[-1].http_response

        exchange(self._conversations, going, send=send)
        return sent[-1]

    def _with(self, request: Any, going: Outgoing) -> Any:
        return _with(request, going, betas=self._betas)

    async def handle_async(self, request: Any, call_next: Any) -> Any:
        """Of an async client."""
        call = await off(_call, request)
        going = None if call is None else await self._conversations.aoutgoing(call)
        if going is None:
            return await call_next(request)
        sent = []

        async def send(one: Outgoing) -> Any:
            sent.append(await call_next(self._with(request, one)))
            return sent[-1].http_response

        await aexchange(self._conversations, going, send=send)
        return sent[-1]


def joined(named: str, betas: tuple[str, ...]) -> str:
    """A header that names those too, each once."""
    names = [one.strip() for one in named.split(",") if one.strip()]
    return ",".join([*names, *(one for one in betas if one not in names)])


def _call(request: Any) -> Call | None:
    body = request.json
    if ASKING.get() or request.method.lower() != "post" or request.url.split("?")[0] != PATH:
        return None
    call = call_of(body, format="anthropic") if isinstance(body, dict) else None
    if call is not None:
        query = dict(parse_qsl(request.url.partition("?")[2]))
        call.beside = beside(request.headers, {**query, **request.query_params})
    return call


def _with(request: Any, going: Outgoing, *, betas: str) -> Any:
    """The request with another body, and what that has to name in the header. Of the messages the caller's own are the very objects it gave."""
    if going.body is None:
        return request
    call, messages = going.ticket.call, request.json["messages"]
    if going.messages is not None:
        own = dict(zip(call.messages, messages, strict=True))
        messages = [own[wire] if wire in own else strict.parse(wire) for wire in going.messages]
    options = request.options.model_copy()
    changed = {key: plain(value) for key, value in going.changed.items()}
    options.json_data = {**request.json, "messages": messages, **changed}
    if going.asked.betas:
        own = {name: value for name, value in request.headers.items() if name.lower() != BETA}
        named = next((str(value) for name, value in request.headers.items() if name.lower() == BETA), betas)
        options.headers = {**own, BETA: joined(named, going.asked.betas)}
    return type(request)(
        options=options,
        cast_to=request.cast_to,
        stream=request.stream,
        stream_cls=request.stream_cls,
        retries_taken=request.retries_taken,
    )
