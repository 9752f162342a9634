"""The messages of a session as its log holds them: what addresses point at, read only where they are asked for.

A session's history is longer than its memory. What a view shows is at hand; the rest is read from the log by its place. The
address of a span that grows at its end, as that of an ever larger fold does, is gone on with rather than made anew, so that
a compaction costs what is new to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from foldline.core.address import RunningDigest, address_of, place_in
from foldline.core.entry import Entry
from foldline.core.message import Message
from foldline.core.ports import Pages
from foldline.core.received import received
from foldline.core.view import Item
from foldline.log.forget import forgotten_in
from foldline.log.ordinals import messages_in
from foldline.log.state import Places
from foldline.log.values import read_message
from foldline.lookup import Shown as Original
from foldline.lookup import show_in

SPANS_MAX = 16
"""Spans whose digests are kept at hand: one an outermost fold."""


class Originals(Sequence[Message]):
    """By ordinal, every message of the log. `shown`: what a view holds of them; `withheld`: ordinals whose stored message
    says less than the one in the view."""

    def __init__(
        self,
        pages: Pages,
        places: Places,
        *,
        count: int,
        shown: Sequence[Item] = (),
        withheld: frozenset[int] = frozenset(),
    ) -> None:
        self._pages, self._places, self._count = pages, places, count
        self._shown = {
            item.seq: item.message
            for item in shown
            if not item.covers and not item.message.edited and item.seq not in withheld
        }

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._count)
            found = [message for _, message in between(self._pages, self._places, span=(start, stop))]
            return found[::step]
        at = range(self._count)[index]
        message = self._shown.get(at)
        if message is None:
            [(_, message)] = between(self._pages, self._places, span=(at, at + 1))
            self._shown[at] = message
        return message


class Shown(Sequence[Message]):
    """What a view shows, as it came in, read only when it is asked for; a fold stands for itself."""

    def __init__(self, originals: Originals, items: Sequence[Item]) -> None:
        self._originals, self._items = originals, items

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        item = self._items[index]
        return item.message if item.covers else self._originals[item.seq]


def between(pages: Pages, places: Places, *, span: tuple[int, int]) -> Iterator[tuple[Entry, Message]]:
    """The stored messages of a range of ordinals, in order, each with its entry."""
    start, stop = span
    if start >= stop:
        return
    known = places.get(start)
    ordinal, offset = (start, known[0]) if known is not None else (0, 0)
    for entry in pages.entries(offset):
        if entry.kind == "message":
            if ordinal >= start:
                yield entry, received(read_message(entry.body))
            ordinal += 1
            if ordinal >= stop:
                return


class Spans:
    """Addresses of spans of ordinals, each made by going on from where it was the last time."""

    def __init__(self, pages: Pages, places: Places) -> None:
        self._pages, self._places = pages, places
        self._running: dict[int, tuple[int, int, RunningDigest]] = {}
        """By first ordinal: the ordinal after the last one taken in, the byte after its line, and the digest."""

    def address(self, start: int, end: int) -> str:
        """The address of the stored messages from `start` up to and without `end`."""
        stop, offset, running = self._running.get(start, (start, -1, RunningDigest()))
        if stop > end:
            stop, offset, running = start, -1, RunningDigest()
        if offset >= 0:
            found = between(self._pages, {stop: (offset, 0)}, span=(stop, end))
        else:
            found = between(self._pages, self._places, span=(stop, end))
        for entry, message in found:
            for part in message.parts:
                running.add(part)
            offset = entry.offset + entry.size
        self._running.pop(start, None)
        self._running[start] = (end, offset, running)
        while len(self._running) > SPANS_MAX:
            del self._running[next(iter(self._running))]
        return address_of(start, end, digest=running.digest)


def shown_in(log: Pages, address: str) -> Original:
    """The original behind an address of a log, whole or short; where something was forgotten, what is left of it. Raises
    `UnknownAddress`."""
    place = place_in(address)
    found = [message for _, message in between(log, {}, span=(place.start, place.end))]
    return show_in(
        found, address, forgotten=lambda: forgotten_in(log), messages_in_all=lambda: messages_in(log.back())
    )
