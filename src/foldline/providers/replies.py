"""The answer to a completion request, while it comes and when it is whole.

    for piece in reply: …           `Delta`s as they come, a `Reply` with all of it last
    reply.text, reply.stop_reason   whole: read to the end where it was not

    async for piece in reply: …
    whole = await reply.reply()

Closing a reply closes its connection; one that is dropped is closed with it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import Any

from msgspec.structs import replace

from foldline.core.completion import Reply
from foldline.core.errors import InvalidOption
from foldline.core.message import Reasoning, ToolCall, Usage
from foldline.wire.completion import Delta
from foldline.wire.response import read_response
from foldline.wire.streamed import streamed


def whole(response: dict[str, Any], *, format: str) -> Reply:
    """A response as a reply; one that holds no message, as of a prompt that was blocked, is empty."""
    try:
        messages = read_response(response, format=format).messages
    except InvalidOption:
        return Reply(stop_reason=_blocked(response), is_open=True)
    parts = [part for message in messages for part in message.parts]
    meta = messages[-1].meta
    return Reply(
        text="".join(message.text for message in messages),
        reasoning="\n".join(part.text for part in parts if isinstance(part, Reasoning) and part.text),
        stop_reason=meta.stop_reason if meta is not None else None,
        is_open=meta is None or meta.stop_reason is None,
        tool_calls=tuple(part for part in parts if isinstance(part, ToolCall)),
        usage=meta.usage if meta is not None else None,
        messages=messages,
    )


def _blocked(response: dict[str, Any]) -> str | None:
    """Why Gemini or Responses gave no answer."""
    candidates = response.get("candidates")
    told = candidates[0].get("finishReason") if candidates else response.get("status")
    return told or (response.get("promptFeedback") or {}).get("blockReason")


class _Reading:
    """How far an answer was read."""

    def __init__(self, format: str, *, notes: tuple[str, ...]) -> None:
        self.notes = notes
        """What a conversion could not take along; empty where the model that was asked speaks the conversation's format."""
        self._format, self._reader = format, streamed(format)
        self._whole: Reply | None = None

    def _taken(self, event: dict[str, Any]) -> tuple[Delta, ...]:
        delta = self._reader.take(event)
        return (delta,) if delta.text or delta.reasoning else ()

    def _ended(self) -> Reply:
        """The answer; its messages only where they are in the conversation's own format."""
        reply = whole(self._reader.response(), format=self._format)
        self._whole = replace(reply, messages=(), notes=self.notes) if self.notes else reply
        return self._whole


class StreamedReply(_Reading, Iterator[Delta | Reply]):
    """What a completer returns. Nothing is asked before the first piece is."""

    def __init__(
        self, events: Generator[dict[str, Any]], *, format: str, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(format, notes=notes)
        self._events, self._pieces = events, self._read()

    def _read(self) -> Iterator[Delta | Reply]:
        for event in self._events:
            yield from self._taken(event)
        yield self._ended()

    def __next__(self) -> Delta | Reply:
        return next(self._pieces)

    def reply(self) -> Reply:
        """The answer, whole; read to its end first."""
        for _ in self._pieces:
            pass
        return self._whole or Reply()

    def close(self) -> None:
        """Read no further, and close the connection."""
        self._events.close()

    @property
    def text(self) -> str:
        """Of the answer."""
        return self.reply().text

    @property
    def reasoning(self) -> str:
        """Of the answer."""
        return self.reply().reasoning

    @property
    def stop_reason(self) -> str | None:
        """As the provider spells it."""
        return self.reply().stop_reason

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Calls in the answer; none is carried out."""
        return self.reply().tool_calls

    @property
    def usage(self) -> Usage | None:
        """What it cost, normalised; `None` where the provider said nothing."""
        return self.reply().usage


class AsyncStreamedReply(_Reading, AsyncIterator[Delta | Reply]):
    """What an async completer returns."""

    def __init__(
        self, events: AsyncGenerator[dict[str, Any]], *, format: str, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(format, notes=notes)
        self._events, self._pieces = events, self._read()

    async def _read(self) -> AsyncIterator[Delta | Reply]:
        async for event in self._events:
            for delta in self._taken(event):
                yield delta
        yield self._ended()

    async def __anext__(self) -> Delta | Reply:
        return await anext(self._pieces)

    async def reply(self) -> Reply:
        """The answer, whole; read to its end first."""
        async for _ in self._pieces:
            pass
        return self._whole or Reply()

    async def aclose(self) -> None:
        """Read no further, and close the connection."""
        await self._events.aclose()
