"""The seat in a client of `openai`: its HTTP client, at whose `send` a request is whole and an answer has just begun.

The client's own HTTP client goes on doing the work, under a class that looks at what is sent; so a custom one keeps its proxies,
transports and hooks, and the seat stays with the client through `with_options`. A request that nothing was done for is sent as the
bytes it was.
"""

from __future__ import annotations

from typing import Any, Final

from foldline.clients.calls import Call, beside, call_of
from foldline.clients.exchange import aexchange, exchange
from foldline.clients.following import Conversations
from foldline.clients.tickets import Outgoing
from foldline.providers.completer import ASKING
from foldline.threads import off
from foldline.wire import strict

PATHS: Final = {"/chat/completions": "openai-chat", "/responses": "openai-responses"}
"""By the end of a path, what is spoken there; before it stand versions, deployments and gateways."""


def seated(client: Any, conversations: Conversations, *, is_async: bool) -> Any:
    """The client with the seat; the given one stays as it is, and shares its connections."""
    return client.with_options(http_client=_under(client._client, conversations, is_async=is_async))


def _under(given: Any, conversations: Conversations, *, is_async: bool) -> Any:
    """The same HTTP client, state and all, under a class that looks at what is sent."""
    kind: Any = type(given)
    seat = _Seat(conversations)

    def send(self: Any, request: Any, **options: Any) -> Any:
        return seat.send(lambda one: kind.send(self, one, **options), request)

    async def asend(self: Any, request: Any, **options: Any) -> Any:
        return await seat.asend(lambda one: kind.send(self, one, **options), request)

    def __del__(self: Any) -> None:
        """The connections are the given client's to close, which is kept for as long as this one."""

    made: Any = type(
        f"Seated{kind.__name__}", (kind,), {"send": asend if is_async else send, "__del__": __del__}
    )
    found = object.__new__(made)
    found.__dict__ = given.__dict__
    given.__dict__["_foldline_given"] = given
    return found


class _Seat:
    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations

    def send(self, forward: Any, request: Any) -> Any:
        """Send a request of a sync client."""
        call = None if _passes(request) else _call(request)
        going = None if call is None else self._conversations.outgoing(call)
        if going is None:
            return forward(request)
        return exchange(self._conversations, going, send=lambda one: forward(_with(request, one)))

    async def asend(self, forward: Any, request: Any) -> Any:
        """Send a request of an async client."""
        call = None if _passes(request) else await off(_call, request)
        going = None if call is None else await self._conversations.aoutgoing(call)
        if going is None:
            return await forward(request)
        return await aexchange(self._conversations, going, send=lambda one: forward(_with(request, one)))


def _format(request: Any) -> str | None:
    if request.method != "POST":
        return None
    return next((format for end, format in PATHS.items() if request.url.path.endswith(end)), None)


def _passes(request: Any) -> bool:
    return ASKING.get() or _format(request) is None


def _call(request: Any) -> Call | None:
    format = _format(request)
    assert format is not None, "only what is spoken here is read"
    try:
        data = request.content
        strict.loads(data)
    except (ValueError, RuntimeError):  # no JSON, or a stream that was not read
        return None
    call = call_of(data, format=format)
    if call is not None:
        call.beside = beside(request.headers, {})
    return call


def _with(request: Any, going: Outgoing) -> Any:
    """The request with another body, and the length that goes with it."""
    if going.body is None:
        return request
    body = strict.dump(going.body)
    headers = [(key, value) for key, value in request.headers.raw if key.lower() != b"content-length"]
    return type(request)(
        request.method, request.url, headers=headers, content=body, extensions=request.extensions
    )
