"""Superseded: of one earlier message what a later one strikes, and what still stands.

Values and spans alone. What strikes what is `foldline.ledger.supersession`'s affair.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

from foldline.ledger.sentences import Span

How: TypeAlias = Literal["replaced", "withdrawn", "updated", "allowed", "reset"]


class Supersession(Struct, frozen=True, kw_only=True, gc=False):
    """What a later message does to an earlier one."""

    ordinal: int
    """Of the earlier message."""
    how: How
    spans: tuple[Span, ...]
    """What of the earlier message no longer stands: sentences, or a clause of one of which the rest does."""
    stands: tuple[Span, ...]
    """The sentences of the earlier message that still do, or what is left of them; empty when all of it is superseded."""


def joined(one: Supersession, other: Supersession) -> Supersession:
    """What both of them do to one message, as the second one does it."""
    spans = _outermost((*one.spans, *other.spans))
    return Supersession(
        ordinal=one.ordinal, how=other.how, spans=spans, stands=left_of(one.stands, other.spans)
    )


def left_of(sentences: Iterable[Span], struck: Iterable[Span]) -> tuple[Span, ...]:
    """What is left of sentences without some spans."""
    left = list(sentences)
    for low, high in struck:
        pieces: list[Span] = []
        for start, end in left:
            if high <= start or end <= low:
                pieces.append((start, end))
                continue
            pieces += [(start, low)] if start < low else []
            pieces += [(high, end)] if high + 1 < end else []  # a full stop alone is nothing
        left = pieces
    return tuple(left)


def _outermost(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order, none within another."""
    found: list[Span] = []
    for start, end in sorted(set(spans), key=lambda span: (span[0], -span[1])):
        if not found or end > found[-1][1]:
            found.append((start, end))
    return tuple(found)
