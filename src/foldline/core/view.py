"""The view: what the model is sent, as a persistent value with running totals.

A view is a folded head plus a shared, append-only tail with an end index, so that an append costs the same at
20,000 messages as at 200 and no count is ever repeated:

    head (tuple, made by an edit)      tail (one list shared by all later views)
    [0] [1] [fold 2–90] [91]           [92] [93] [94] | [95] …
                                                    end

Knows nothing of counters: weights come in with each item. `foldline.core.edit` makes new heads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from foldline.core.message import Message


class Span(Struct, frozen=True, kw_only=True, gc=False, order=True):
    """A half-open range of log ordinals."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


def seqs_in(spans: Iterable[Span]) -> Iterator[int]:
    """The ordinals in some ranges, one after the other."""
    for span in spans:
        yield from range(span.start, span.end)


class Item(Struct, frozen=True, kw_only=True, gc=False):
    """One message in a view, with its place in the log and its weight."""

    seq: int
    """Ordinal in the log (for the pure function: index in the caller's list). A synthetic message takes the
    ordinal of the first message it stands for."""
    message: Message
    weights: tuple[int, ...]
    """Tokens of each part, in order."""
    overhead: int
    """Tokens of the role markers and the envelope."""
    tokens: int
    """Tokens of the whole message: overhead and weights together."""
    covers: tuple[Span, ...] = ()
    """Ordinals a synthetic message stands for; empty for an original."""


class View(Struct, frozen=True, kw_only=True, eq=False):
    """The messages of the next request, in order, and their total."""

    head: tuple[Item, ...] = ()
    tail: list[Item] = []
    """Shared with later views: only `append` writes to it, and only past every existing end."""
    end: int = 0
    tokens: int = 0
    """Tokens of all items (system prompt and tools apart)."""
    next_seq: int = 0
    """The ordinal the next appended message gets."""
    memo: list[Any] = []
    """What was derived from exactly this view and is asked for again: its outline (`foldline.core.rounds`)."""

    def __len__(self) -> int:
        return len(self.head) + self.end

    def __iter__(self) -> Iterator[Item]:
        yield from self.head
        for index in range(self.end):
            yield self.tail[index]

    def __reversed__(self) -> Iterator[Item]:
        for index in range(self.end - 1, -1, -1):
            yield self.tail[index]
        yield from reversed(self.head)

    def since(self, count: int) -> Iterator[Item]:
        """The items behind the first `count`; costs what it gives."""
        head = len(self.head)
        yield from self.head[count:] if count < head else ()
        for index in range(max(0, count - head), self.end):
            yield self.tail[index]

    def extends(self, other: View) -> bool:
        """True where this view is the other one, or went on from it by `append` alone: it begins with the other's items. O(1); may
        be false for a view that begins with equal items and came about otherwise."""
        return self.head is other.head and self.tail is other.tail and self.end >= other.end

    def items(self) -> tuple[Item, ...]:
        """All items as a tuple; O(n)."""
        return self.head + tuple(self.tail[: self.end])

    def append(self, item: Item) -> View:
        """A view with `item` at its end; O(1). The older view stays valid."""
        tail, end = self.tail, self.end
        if len(tail) != end:  # another view has already gone on from here: branch
            tail = tail[:end]
        tail.append(item)
        return View(
            head=self.head, tail=tail, end=end + 1, tokens=self.tokens + item.tokens, next_seq=item.seq + 1
        )


def view_of(items: tuple[Item, ...], *, next_seq: int | None = None) -> View:
    """A view over exactly these items."""
    following = next_seq if next_seq is not None else (items[-1].seq + 1 if items else 0)
    return View(head=items, tail=[], end=0, tokens=sum(item.tokens for item in items), next_seq=following)


def item_of(
    seq: int, message: Message, *, weights: tuple[int, ...], overhead: int, covers: tuple[Span, ...] = ()
) -> Item:
    """An item with its total."""
    tokens = overhead + sum(weights)
    return Item(seq=seq, message=message, weights=weights, overhead=overhead, tokens=tokens, covers=covers)
