"""One request and its answer, over HTTP: what every seat on an HTTP response does, once sync and once async.

outgoing ──► send ──► refusal, before anything was delivered ──► refused ──► send once more
                 └──► answer, heard on its way to the caller
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from foldline.clients.answers import Answer, refusal_of
from foldline.clients.following import Conversations
from foldline.clients.tapped import atap, is_stream, tap
from foldline.clients.tickets import Outgoing

REFUSED = 400
"""Statuses from here on are refusals; also what a refusal inside a stream counts as."""


def exchange(conversations: Conversations, going: Outgoing, *, send: Callable[[Outgoing], Any]) -> Any:
    """Send, recover at most once, and hear the answer. Returns the response."""
    response = send(going)
    refusal = _heard(conversations, going, response=response)
    again = None if refusal is None else conversations.refused(going.ticket, _status(response), body=refusal)
    if again is None:
        return response
    response.close()
    response = send(again)
    _heard(conversations, again, response=response)
    return response


def _heard(conversations: Conversations, going: Outgoing, *, response: Any) -> Any:
    """The refusal that a response is, or begins with; `None` for an answer, which is heard from here on."""
    if response.status_code >= REFUSED:
        return refusal_of(response.read())
    return tap(response, Answer(conversations, going.ticket, is_stream=is_stream(response)))


async def aexchange(
    conversations: Conversations, going: Outgoing, *, send: Callable[[Outgoing], Awaitable[Any]]
) -> Any:
    """As `exchange`; what waits for a disk runs off the event loop."""
    response = await send(going)
    refusal = await _aheard(conversations, going, response=response)
    again = None
    if refusal is not None:
        again = await conversations.arefused(going.ticket, _status(response), body=refusal)
    if again is None:
        return response
    await response.aclose()
    response = await send(again)
    await _aheard(conversations, again, response=response)
    return response


async def _aheard(conversations: Conversations, going: Outgoing, *, response: Any) -> Any:
    if response.status_code >= REFUSED:
        return refusal_of(await response.aread())
    return await atap(response, Answer(conversations, going.ticket, is_stream=is_stream(response)))


def _status(response: Any) -> int:
    return max(int(response.status_code), REFUSED)
