"""HTTP responses of `httpx2` and `httpx`, with an ear on their bytes: what their caller reads is read once, by both.

An SDK iterates the decoded bytes of a stream, so that is where the ear is; a response that was read already is heard whole. The
beginning of a stream is read at once, up to the first event that is an answer or a refusal in its place, and handed on with the rest.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from foldline.clients.answers import Answer
from foldline.threads import off


def is_stream(response: Any) -> bool:
    """True for server-sent events."""
    return "text/event-stream" in response.headers.get("content-type", "")


def tap(response: Any, answer: Answer, *, is_held: bool = False) -> Any:
    """Hear a response of a sync client. Returns the refusal that it began with, where it did. `is_held`: all of it is read before
    any of it is given, and whoever holds it back says when it ends."""
    if response.is_stream_consumed:
        answer.take(response.content)
        if not is_held:
            answer.end()
        return answer.refusal
    rest, held = response.iter_bytes(), []
    while (is_held or not answer.has_begun) and (data := next(rest, None)) is not None:
        answer.take(data)
        held.append(data)

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        try:
            yield from held
            for data in rest:
                answer.take(data)
                yield data
        finally:
            answer.end()

    response.iter_bytes = iter_bytes
    return answer.refusal


async def atap(response: Any, answer: Answer, *, is_held: bool = False) -> Any:
    """As `tap`, of an async client. What waits for a disk runs off the event loop."""
    if response.is_stream_consumed:
        answer.take(response.content)
        if not is_held:
            await off(answer.end)
        return answer.refusal
    rest, held = response.aiter_bytes(), []
    while (is_held or not answer.has_begun) and (data := await anext(rest, None)) is not None:
        answer.take(data)
        held.append(data)

    async def aiter_bytes(chunk_size: int | None = None) -> AsyncIterator[bytes]:
        try:
            for data in held:
                yield data
            async for data in rest:
                answer.take(data)
                yield data
        finally:
            await off(answer.end)

    response.aiter_bytes = aiter_bytes
    return answer.refusal
