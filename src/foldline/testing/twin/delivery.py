"""How the bytes of a stream go out: split, repeated, interrupted, stalled, cut or reset, as a script wants it.

Plans the writes of a response as values; `foldline.testing.twin.server` carries them out on a socket. Knows no dialect and
no socket.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from foldline.testing.twin.desk import Response
from foldline.testing.twin.script import Delivery


class Write(Struct, frozen=True):
    """Bytes that go out in one write."""

    data: bytes


class Wait(Struct, frozen=True):
    """Stand still for so long, or until the twin is closed."""

    seconds: float


class Close(Struct, frozen=True, kw_only=True):
    """The connection ends here, without the end of the response."""

    reset: bool
    """By a TCP reset, else in order."""


Act: TypeAlias = Write | Wait | Close


def acts(response: Response) -> Iterator[Act]:
    """What to do with a stream, in order."""
    delivery = response.delivery
    for event in _events(response):
        yield from _split(event, delivery) if isinstance(event, bytes) else (event,)


def _events(response: Response) -> Iterator[bytes | Wait | Close]:
    """The events that are sent, with what stands between them."""
    delivery, frames = response.delivery, response.frames or ()
    ends_early = delivery.end != "done"
    last = min(delivery.end_after, len(frames)) if ends_early else len(frames)
    for at, event in enumerate(frames[:last]):
        if at in delivery.pings:
            yield response.ping
        if at == delivery.stall_after:
            yield Wait(delivery.stall_s)
        yield event
        if at in delivery.duplicated:
            yield event
    if delivery.end == "error":
        yield response.error
    elif ends_early:
        yield Close(reset=delivery.end == "reset")


def _split(event: bytes, delivery: Delivery) -> Iterator[Write]:
    size = delivery.bytes_per_write or len(event) or 1
    for at in range(0, len(event), size):
        yield Write(event[at : at + size])
