"""The completer of a wrapped client: the summary is asked of the same model, through the same client, as the conversation's next
request would be.

A fork has to begin with the bytes that the provider has cached, which are the caller's own. So each of its messages is looked up
among those of the request on its way, by what it says, and goes out as the caller spelt it; parameters are that request's too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from msgspec.structs import replace

from foldline.clients.calls import Call
from foldline.clients.digests import said
from foldline.core.errors import InvalidOption
from foldline.providers.completer import AsyncCompleter, Completer
from foldline.providers.replies import AsyncStreamedReply, StreamedReply
from foldline.providers.sdks import Sdk, is_async
from foldline.wire import strict
from foldline.wire.completion import CompletionRequest
from foldline.wire.formats import codec

ON_ITS_WAY: Final[ContextVar[Call | None]] = ContextVar("foldline_call", default=None)
"""The request that a session prepares for at this moment."""


@contextmanager
def on_its_way(call: Call) -> Iterator[None]:
    """While a session prepares for a request."""
    token = ON_ITS_WAY.set(call)
    try:
        yield
    finally:
        ON_ITS_WAY.reset(token)


LOOP: Final[ContextVar[asyncio.AbstractEventLoop | None]] = ContextVar("foldline_loop", default=None)
"""The event loop that a call of `foldline.clients.threads.off` has left: for whoever asks on it from a thread."""
PIECE_S_MAX: Final = 900.0
"""Longest wait for a piece of an answer, seconds: half as long again as the SDKs' own."""


class SameModel:
    """A completer for the sessions of one client, sync or async."""

    def __init__(self, sdk: Sdk, client: Any) -> None:
        self._sdk, self._client = sdk, client

    def __call__(self, request: CompletionRequest) -> StreamedReply | AsyncStreamedReply:
        """Ask as the conversation asks. Raises `InvalidOption` where no request is on its way and no model is named."""
        call = ON_ITS_WAY.get()
        model = (call.model if call is not None else None) or request.model
        if model is None:
            raise InvalidOption("model", None, why="name the model in the request")
        parameters: dict[str, Any] = {}
        if call is not None:
            parameters = call.parameters
            request = as_sent(request, call) if request.is_fork else request
        if is_async(self._client):
            return AsyncCompleter(self._sdk, self._client, model=model, parameters=parameters)(request)
        return Completer(self._sdk, self._client, model=model, parameters=parameters)(request)


def as_sent(request: CompletionRequest, call: Call) -> CompletionRequest:
    """A fork with the caller's own spelling of every message that is in the request on its way."""
    own = _Spelling(call)
    messages = [own.of(message) for message in reversed(request.messages)][::-1]
    first = [strict.parse(wire) for wire in call.messages[: call.leading]]
    system = None if first else call.system
    return replace(request, messages=[*first, *messages], system=system, tools=call.tools)


class _Spelling:
    """The caller's messages by what they say, found from the end on: what is the same twice is the later one first."""

    def __init__(self, call: Call) -> None:
        self._reader = codec(call.format)
        self._wires = call.messages[call.leading :]
        self._places: dict[bytes, list[int]] = {}
        for place, wire in enumerate(self._wires):
            self._places.setdefault(self._said(wire), []).append(place)
        self._below = len(self._wires)

    def _said(self, wire: bytes) -> bytes:
        return said(self._reader.decode(wire))

    def of(self, message: Any) -> Any:
        """The message as the caller spells it; as it is where it is none of the caller's."""
        places = self._places.get(self._said(strict.dump(message)), [])
        while places and (place := places.pop()) is not None:
            if place < self._below:
                self._below = place
                return strict.parse(self._wires[place])
        return message
