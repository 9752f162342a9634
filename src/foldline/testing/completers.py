"""A completer that says what a test wrote down: texts, deltas, reply objects and errors, one after the other, sync or async.

    completer = ScriptedCompleter("a summary", Delayed(0.01, "another"), TimeoutError("stalled"))
    foldline.compact(messages, to=2_000, completer=completer)
    completer.requests[0].wire()

Keeps every request it was given. Stands in for a provider where bytes on a wire do not matter; where they do, there is
`foldline.testing.twin`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeAlias

from msgspec import Struct

from foldline.core.message import Usage
from foldline.wire.completion import CompletionRequest, Delta


class Said(Struct, frozen=True, kw_only=True):
    """A reply object: what `foldline.wire.completion.ReplyLike` asks for."""

    text: str = ""
    stop_reason: str | None = "end_turn"
    tool_calls: tuple[dict[str, Any], ...] = ()
    """Each with `id`, `name` and `arguments`."""
    usage: Usage | dict[str, Any] | None = None
    reasoning: str = ""
    messages: tuple[Any, ...] = ()
    """The model's message as the wire has it."""
    notes: tuple[str, ...] = ()
    """What the completer had to do to the request."""


class Deltas(Struct, frozen=True):
    """A reply that comes piece by piece."""

    pieces: tuple[str | Delta | Said, ...]
    error: BaseException | None = None
    """Raised behind the last piece."""


class Delayed(Struct, frozen=True):
    """A reply that takes its time."""

    seconds: float
    reply: Any


Scripted: TypeAlias = (
    "str | dict[str, Any] | Said | Deltas | Delayed | BaseException | Callable[[CompletionRequest], Any]"
)


class ScriptedCompleter:
    """Gives the scripted replies in order, the last one again and again; a function is asked with the request. Called with
    `is_async=True` at its making it is an async completer."""

    def __init__(self, *replies: Scripted, is_async: bool = False) -> None:
        if not replies:
            raise ValueError("a scripted completer needs at least one reply")
        self.replies = replies
        self.requests: list[CompletionRequest] = []
        self._is_async = is_async

    def __call__(self, request: CompletionRequest) -> Any:
        """The next reply."""
        reply = self.replies[min(len(self.requests), len(self.replies) - 1)]
        self.requests.append(request)
        return self._later(reply, request) if self._is_async else _now(reply, request)

    def _later(self, reply: Scripted, request: CompletionRequest) -> Awaitable[Any] | AsyncIterator[Any]:
        if isinstance(reply, Deltas):
            return _flowing(reply)
        return _awaited(reply, request)


def _now(reply: Any, request: CompletionRequest) -> Any:
    if isinstance(reply, Delayed):
        threading.Event().wait(reply.seconds)
        return _now(reply.reply, request)
    if isinstance(reply, Deltas):
        return _pieces(reply)
    return _given(reply, request)


def _given(reply: Any, request: CompletionRequest) -> Any:
    if isinstance(reply, BaseException):
        raise reply
    return reply(request) if callable(reply) else reply


def _pieces(deltas: Deltas) -> Iterator[Any]:
    yield from deltas.pieces
    if deltas.error is not None:
        raise deltas.error


async def _awaited(reply: Any, request: CompletionRequest) -> Any:
    if isinstance(reply, Delayed):
        await asyncio.sleep(reply.seconds)
        return await _awaited(reply.reply, request)
    await asyncio.sleep(0)
    return _given(reply, request)


async def _flowing(deltas: Deltas) -> AsyncIterator[Any]:
    for piece in deltas.pieces:
        await asyncio.sleep(0)
        yield piece
    if deltas.error is not None:
        raise deltas.error
