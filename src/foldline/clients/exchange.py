"""One request and its answer, over HTTP: what every seat on an HTTP response does, once sync and once async.

outgoing ──► send ──► refusal, before anything was delivered ──► refused ──► send once more
               ▲ └──► answer, heard on its way to the caller
               └───── answer that calls `recall`, held back ──► recalled
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from foldline.clients.answers import Answer, refusal_of
from foldline.clients.following import Conversations
from foldline.clients.tapped import atap, is_stream, tap
from foldline.clients.tickets import Outgoing
from foldline.core.foreign import Raised, atried, tried
from foldline.threads import off

REFUSED = 400
"""Statuses from here on are refusals; also what a refusal inside a stream counts as."""


def exchange(conversations: Conversations, going: Outgoing, *, send: Callable[[Outgoing], Any]) -> Any:
    """Send, recover at most once, answer what is recalled, and hear the answer. Returns the response."""
    may_recover = True
    while True:
        response = send(going)
        answer = Answer(conversations, going.ticket, is_stream=is_stream(response))
        refusal = _heard(answer, going, response=response)
        again = None
        if refusal is None:
            again = asked_on(conversations, going, answer=answer)
        elif may_recover:
            may_recover = False
            again = conversations.refused(going.ticket, _status(response), body=refusal)
        if again is None:
            return response
        response.close()
        going = again


def _heard(answer: Answer, going: Outgoing, *, response: Any) -> Any:
    """The refusal that a response is, or begins with; `None` for an answer, which is heard from here on."""
    if response.status_code >= REFUSED:
        return refusal_of(response.read())
    return tap(response, answer, is_held=going.ticket.call.has_recall)


def asked_on(conversations: Conversations, going: Outgoing, *, answer: Answer) -> Outgoing | None:
    """Where an answer that was held back calls `recall`: what goes on with what was recalled; `None` for one to be delivered. Where
    that fails the model is asked once more, without the tool."""
    if not going.ticket.call.has_recall:
        return None
    told = tried(lambda: conversations.recalled(going, answer.response()))
    if isinstance(told, Raised):
        return conversations.unrecalled(going, told)
    if told is None:
        answer.end()
    return told


async def aexchange(
    conversations: Conversations, going: Outgoing, *, send: Callable[[Outgoing], Awaitable[Any]]
) -> Any:
    """As `exchange`; what waits for a disk runs off the event loop."""
    may_recover = True
    while True:
        response = await send(going)
        answer = Answer(conversations, going.ticket, is_stream=is_stream(response))
        refusal = await _aheard(answer, going, response=response)
        again = None
        if refusal is None:
            again = await aasked_on(conversations, going, answer=answer)
        elif may_recover:
            may_recover = False
            again = await conversations.arefused(going.ticket, _status(response), body=refusal)
        if again is None:
            return response
        await response.aclose()
        going = again


async def _aheard(answer: Answer, going: Outgoing, *, response: Any) -> Any:
    if response.status_code >= REFUSED:
        return refusal_of(await response.aread())
    return await atap(response, answer, is_held=going.ticket.call.has_recall)


async def aasked_on(conversations: Conversations, going: Outgoing, *, answer: Answer) -> Outgoing | None:
    """As `asked_on`."""
    if not going.ticket.call.has_recall:
        return None
    told = await atried(conversations.arecalled(going, await off(answer.response)))
    if isinstance(told, Raised):
        return conversations.unrecalled(going, told)
    if told is None:
        await off(answer.end)
    return told


def _status(response: Any) -> int:
    return max(int(response.status_code), REFUSED)
