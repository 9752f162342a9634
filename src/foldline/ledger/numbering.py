"""Numbering: the ordinals of a history in which folds of ours stand already.

Whoever goes on from the result of a compaction hands in a list that begins with what is left of an earlier one, and so does the
file that a command wrote. Its messages are numbered on from what its folds cover:

    place     0     1               2      3      4     5
    message   [u]   [‹m1-32@…›]     [u]    [u]    [a]   [r]    …
    number    m0    m1, up to m32   m12    m27    m33   m34    …

So no number comes to mean another message: what a carried line of the ledger names is older than all that came later, and
`foldline show` opens in a file what its ledger names there, as far as the file still holds it. What stands behind a fold though it was said
within gets its own number back where the fold names all that does (that of the first, where a wire made one message of several); else numbers go on behind whatever the ledger names. A range that
cannot be one is no fold's: what such a fold says is told by the message that holds it (`foldline.ledger.words.earlier`).
Makes no view and weighs nothing; `foldline.reduce` renumbers the items of one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import overload

from msgspec import Struct

from foldline.core.address import parse_address, read_block, read_mark
from foldline.core.errors import UnknownAddress
from foldline.core.message import Message, Text, is_fold, is_injected, speaks_for_user
from foldline.core.received import recognised
from foldline.core.view import Item, Span
from foldline.ledger.entries import HEADINGS, QUOTING
from foldline.ledger.marks import numbers_in

ORDINALS_MAX = 1_000_000
"""A range that ends beyond this was not made by a history that is handed from call to call."""
MEANWHILE = "Said and answered within this span, kept below in order:"
"""Before the ordinals of users' messages that stand behind a fold though they were said within it."""

_MEANWHILE_ONCE = "Said within this span and kept below, in order:"
"""What stood there in folds of earlier versions."""
_KEPT = re.compile(rf"^(?:{MEANWHILE}|{_MEANWHILE_ONCE})((?: m\d{{1,9}})+)$", re.MULTILINE)
_COUNT = re.compile(r"([\d,]{1,11}) (?:earlier )?messages?\b")
_SOURCE = re.compile(r" \(m(\d{1,9}) (user|assistant|tool|system)(?: ×\d{1,9})?\)$")
"""The message that a line comes from, at its very end: what stands before may be anybody's words."""
_QUOTING = frozenset([f"## {heading}" for section, heading in HEADINGS if section in QUOTING])


class Numbered(Struct, frozen=True, kw_only=True, gc=False):
    """A message of a list, in the count of the whole history."""

    ordinal: int
    """A fold has that of the first message it stands for."""
    covers: tuple[Span, ...] = ()
    """Ordinals that a fold stands for."""


class _Claim(Struct, frozen=True, kw_only=True, gc=False):
    """What a fold says of numbers."""

    start: int
    end: int
    count: int
    """How many messages it stands for; 0 where it does not say."""
    kept: tuple[int, ...]
    """Users' messages within its range that stand behind it."""
    named: int
    """The largest number in it."""

    @property
    def is_sound(self) -> bool:
        """Whether what it says fits together."""
        ascends = all(one < other for one, other in pairwise((self.start, *self.kept, self.end)))
        return ascends and 0 < self.count <= self.end - self.start


def numbers_of(messages: Sequence[Message]) -> tuple[Numbered, ...]:
    """The number of each message; empty where no fold of ours stands among them, and each has that of its place. Unique, and growing
    with the list. O(n)."""
    claims = {place: found for place, message in enumerate(messages) if (found := _claims(message))}
    if not claims:
        return ()
    numbers: list[Numbered] = []
    following = 0
    while len(numbers) < len(messages):
        place = len(numbers)
        held = claims.get(place)
        if held is None:
            numbers.append(Numbered(ordinal=following))
            following += 1
        elif len(messages[place].parts) > 1:
            number, following = _joined(held, following)
            numbers.append(number)
        else:
            claim = held[0]
            nearby = messages[place + 1 : place + len(claim.kept) + 2]
            behind = _kept_behind(nearby, claim) if claim.start >= following else None
            number, following = _folded(claim, following, behind=behind)
            numbers += [number, *[Numbered(ordinal=kept) for kept in (behind.numbers if behind else ())]]
    return tuple(numbers)


def follows_in(numbers: Sequence[Numbered]) -> Mapping[int, int]:
    """By ordinal, the one that came next in the list."""
    return dict(pairwise([number.ordinal for number in numbers]))


class _Behind(Struct, frozen=True, kw_only=True, gc=False):
    """The messages behind a fold that were said within its range."""

    numbers: tuple[int, ...]
    """Of each; of several that a wire made one of, that of the first, or one that nothing has where the fold names none."""
    more: int
    """Texts in that one beyond those of the range: of a message that was joined to it, or of its own."""


def _kept_behind(messages: Sequence[Message], claim: _Claim) -> _Behind | None:
    """Those of the range that stand in these messages, which follow the fold; `None` where that is not plain."""
    wanted = claim.end - claim.start - claim.count
    if not claim.is_sound or wanted < len(claim.kept):
        return None
    if not wanted:
        return _Behind(numbers=(), more=0)
    first, *others = map(_texts_of_user, [*messages, None, None])
    if (
        first >= wanted
        and not others[0]
        and (number := claim.kept[0] if claim.kept else claim.named + 1) < claim.end
    ):
        return _Behind(numbers=(max(number, claim.start + 1),), more=first - wanted)
    if wanted == len(claim.kept) and all([first, *others[: wanted - 1]]):
        return _Behind(numbers=claim.kept, more=0)
    return None


def _texts_of_user(message: Message | None) -> int:
    """How many texts a user says in a message, marks of ours left out; 0 for what nobody said."""
    if message is None or _claims(message) or not speaks_for_user(message):
        return 0
    marks = sum([isinstance(part, Text) and read_mark(part.text) is not None for part in message.parts])
    texts = sum([isinstance(part, Text) for part in message.parts])
    return max(1, texts - marks)


def _folded(claim: _Claim, following: int, *, behind: _Behind | None) -> tuple[Numbered, int]:
    """A fold alone in its message, and what is counted next behind it and `behind`. One that begins below `following` is counted from
    there."""
    start, end = max(claim.start, following), claim.end
    if start >= end:
        return _joined([claim], following)
    after = max(end, claim.named + 1)
    if behind is not None:
        after = end if not behind.more else max(end + behind.more, after)
    return Numbered(ordinal=start, covers=_covers(claim, start)), after


def _covers(claim: _Claim, start: int) -> tuple[Span, ...]:
    """As many ordinals as a fold stands for: its range without those that it names, or where it does not name all without as many; the
    first and the last of a range are folded."""
    end, count = claim.end, claim.count
    if claim.is_sound and start == claim.start and count + len(claim.kept) == end - start:
        within = pairwise((start - 1, *claim.kept, end))
        return tuple([Span(start=low + 1, end=high) for low, high in within if high - low > 1])
    if not 1 < count < end - start:
        return (Span(start=start, end=end),)
    return Span(start=start, end=start + count - 1), Span(start=end - 1, end=end)


def _joined(claims: Sequence[_Claim], following: int) -> tuple[Numbered, int]:
    """A message that holds folds beside other words, newer than whatever they name."""
    ordinal = max(following, *[max(claim.end, claim.named + 1) for claim in claims])
    return Numbered(ordinal=ordinal), ordinal + 1


def _claims(message: Message) -> tuple[_Claim, ...]:
    if message.role != "user" or not any([_opens(part) for part in message.parts]):
        return ()
    found = [_claim(address, body) for address, body in blocks_in(recognised(message))]
    return tuple(claim for claim in found if claim is not None)


def _opens(part: object) -> bool:
    return isinstance(part, Text) and part.text.startswith("<foldline-")


def _claim(address: str, body: str) -> _Claim | None:
    """What a fold says of numbers; `None` where its range cannot be one."""
    span = span_of(address)
    if span is None or span.end > ORDINALS_MAX:
        return None
    count, kept = _COUNT.match(body), _KEPT.search(body)
    return _Claim(
        start=span.start,
        end=span.end,
        count=int(count[1].replace(",", "") or 0) if count is not None else 0,
        kept=tuple([int(number[1:]) for number in kept[1].split()]) if kept is not None else (),
        named=max((number for number in _named_in(body) if number < ORDINALS_MAX), default=0),
    )


def _named_in(body: str) -> Iterator[int]:
    """The messages that the lines of a ledger come from, and those that marks of ours name behind what nobody said: never a number
    that a user or an agent wrote."""
    quotes = False
    for line in body.split("\n"):
        if line.startswith("## "):
            quotes = line in _QUOTING
        source = _SOURCE.search(line) if line.startswith("- ") else None
        if source is not None:
            yield int(source[1])
            if not quotes and source[2] != "user":
                yield from numbers_in(line[: source.start()])


def span_of(address: str) -> Span | None:
    """The ordinals that an address names; `None` where it names none."""
    try:
        place = parse_address(address)
    except UnknownAddress:
        return None
    return Span(start=place.start, end=place.end) if place.slot is None else None


def blocks_in(message: Message) -> Iterator[tuple[str, str]]:
    """Address and body of earlier folds: of a message known as a fold of ours, or of one of plain text into which a fold was joined
    because roles must alternate. Never of a block that a host or a tool brought in, which could plant rules in a
    user's name."""
    if message.role != "user" or is_injected(message):
        return
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if not (is_fold(message) or (speaks_for_user(message) and 1 < len(texts) == len(message.parts))):
        return
    for text in texts:
        found = read_block(text) if text.startswith("<foldline-") else None
        if found is not None:
            yield found[1], found[2]


def is_counted_with(item: Item, address: str) -> bool:
    """Whether the numbers in a fold at this address are those of the history that its message stands in: none of them may be newer
    than what holds it. A session that began with a list in which a fold stood counts that as one message."""
    span = span_of(address)
    last = max([item.seq, *[covered.end - 1 for covered in item.covers]])
    return span is not None and span.end - 1 <= last


class Counted(Sequence[Message]):
    """The messages of a list by their numbers. Those that a fold stands for are not there: a range gives what is."""

    def __init__(self, messages: Sequence[Message], numbers: Sequence[Numbered]) -> None:
        self._messages = messages
        self.ordinals = [number.ordinal for number in numbers]
        self._folds = {number.ordinal for number in numbers if number.covers}
        ends = [covered.end for number in numbers for covered in number.covers]
        self._end = max([*self.ordinals[-1:], *[end - 1 for end in ends], -1]) + 1

    def __len__(self) -> int:
        """The number that the next message would have."""
        return self._end

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        if isinstance(index, slice):
            start, stop, _ = index.indices(self._end)
            return [message for _, message in self.within(start, stop)]
        place = bisect_left(self.ordinals, index)
        if place == len(self.ordinals) or self.ordinals[place] != index:
            raise IndexError(index)
        return self._messages[place]

    def within(self, start: int, end: int) -> list[tuple[int, Message]]:
        """What is there from one number up to and without another, each with its own."""
        places = slice(bisect_left(self.ordinals, start), bisect_left(self.ordinals, end))
        return list(zip(self.ordinals[places], self._messages[places], strict=True))

    def is_whole(self, start: int, end: int) -> bool:
        """Whether each message from one number up to and without another is there itself."""
        found = self.within(start, end)
        return len(found) == end - start and self._folds.isdisjoint([number for number, _ in found])
