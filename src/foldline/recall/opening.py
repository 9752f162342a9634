"""Opening: what stands at an address, whole or a range of it, never more than was asked for, and what was left out.

An address names ordinals and carries a piece of the content's digest: what a log holds there is compared first, and
something else is refused, never shown. Text is given to the character; lines are counted at line feeds, both from 1.
Knows messages and where they stand; finding them in a log is `foldline.recall.find`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import Place, digest_of, escape_marks, span_address, spelt
from foldline.core.clamp import fit_head
from foldline.core.errors import InvalidOption
from foldline.core.message import Media, Message, Part, ToolCall, ToolResult
from foldline.core.ports import TokenCounter
from foldline.recall.texts import kind_of, media_in, shown_text

TOKENS: Final = 4_000
"""Tokens of an opened text unless told otherwise."""
TOKENS_MIN, TOKENS_MAX = 50, 100_000
RULE: Final = "──"
"""Stands on both sides of the line above each of several messages."""
_FORGED: Final = re.compile(rf"^{RULE}", re.MULTILINE)

_RANGE: Final = re.compile(r"([0-9]{1,12})?(-)?([0-9]{1,12})?")


class Excerpt(Struct, frozen=True, kw_only=True):
    """How much of a text is wanted: a range, from 1, both ends included, and a bound."""

    lines: tuple[int, int | None] | None = None
    chars: tuple[int, int | None] | None = None
    """Goes before `lines`."""
    tokens_max: int = TOKENS


class Opened(Struct, frozen=True, kw_only=True):
    """What stands at an address."""

    session: str
    address: str
    title: str
    """What it is: `result of read_file in message 12`, `messages 4 to 47`."""
    text: str
    """To the character; several messages with a line before each that gives its address."""
    lines: tuple[int, int]
    """First and last line of the text that are given, of …"""
    lines_total: int
    chars: tuple[int, int]
    chars_total: int
    rest: str
    """The range to ask for next, as `lines 201-` or `chars 16001-`; empty when nothing follows."""
    media: tuple[Media, ...] = ()
    """Pictures and files that stand there, whole."""


class Spot(Struct, frozen=True, kw_only=True):
    """One message where it stands."""

    ordinal: int
    message: Message
    tools: dict[int, str] = {}
    """Names of tools by the slot of their part, as far as they are known."""


def read_range(value: str, *, option: str) -> tuple[int, int | None]:
    """A range as it is asked for: `10-40`, `10-` (to the end), `-40`, `7`. Raises `InvalidOption`."""
    found = _RANGE.fullmatch("".join(value.split()))
    if found is None or not (found[1] or found[3]):
        raise InvalidOption(option, value, why="a range is written 10-40, 10- or -40")
    first = int(found[1] or 1)
    last = int(found[3]) if found[3] else (None if found[2] else first)
    if first < 1 or (last is not None and last < first):
        raise InvalidOption(option, value, why="the first has number 1, and a range goes upwards")
    return first, last


def left_of(spots: Sequence[Spot], place: Place) -> Place:
    """The same place with the digest of what stands there now: for messages in which something was forgotten, and for a short
    address."""
    parts = [p for spot in spots for p in spot.message.parts if place.slot in (None, p.slot)]
    return replace(place, digest=digest_of(parts))


def open_spots(
    session: str, spots: Sequence[Spot], *, place: Place, excerpt: Excerpt, counter: TokenCounter
) -> Opened | None:
    """What stands at `place`, when `spots` are its messages; `None` when they are others."""
    if not TOKENS_MIN <= excerpt.tokens_max <= TOKENS_MAX:
        why = f"{TOKENS_MIN} to {TOKENS_MAX:,} tokens are given"
        raise InvalidOption("tokens", excerpt.tokens_max, why=why)
    if [spot.ordinal for spot in spots] != list(range(place.start, place.end)):
        return None
    parts: tuple[Part, ...]
    if place.slot is not None:
        parts = tuple(part for part in spots[0].message.parts if part.slot == place.slot)
        title = _title(parts[0], spots[0]) if parts else ""
    else:
        parts = tuple(part for spot in spots for part in spot.message.parts)
        many = f"messages {place.start} to {place.end - 1}"
        title = many if len(spots) > 1 else f"message {place.start}, {spots[0].message.role}"
    if not parts or digest_of(parts) != place.digest:
        return None
    text = "\n".join(map(shown_text, parts)) if len(spots) == 1 else _joined(spots)
    whole = Opened(
        session=session,
        address=spelt(place),
        title=title,
        text=text,
        lines=(1, text.count("\n") + 1),
        lines_total=text.count("\n") + 1,
        chars=(1, len(text)),
        chars_total=len(text),
        rest="",
        media=media_in(parts),
    )
    return _cut(whole, excerpt, counter=counter)


def _title(part: Part, spot: Spot) -> str:
    kind = kind_of(part)
    match part:
        case ToolCall():
            what = f"call of {part.name}"
        case ToolResult():
            tool = part.name or spot.tools.get(part.slot, "")
            what = ("failed " if part.is_error else "") + (f"result of {tool}" if tool else "result")
        case _:
            what = f"{kind} of the {spot.message.role}" if kind in ("text", "reasoning") else kind
    return f"{what} in message {spot.ordinal}"


def _joined(spots: Iterable[Spot]) -> str:
    """Several messages, each below a line that names it; no line of theirs begins as such a line does."""
    told: list[str] = []
    for spot in spots:
        text = "\n".join(map(shown_text, spot.message.parts))
        address = span_address([(spot.ordinal, spot.message)])
        told.append(f"{RULE} {address} {spot.message.role} {RULE}\n{_FORGED.sub('--', text)}")
    return "\n\n".join(told)


def _cut(whole: Opened, excerpt: Excerpt, *, counter: TokenCounter) -> Opened:
    """The range that is wanted, as much of it as fits."""
    text = whole.text
    start, end = _bounds(text, excerpt)
    piece = text[start:end]
    if counter.text(escape_marks(piece)) > excerpt.tokens_max:
        fits = fit_head(piece, excerpt.tokens_max, measure=lambda head: counter.text(escape_marks(head)))
        line = piece.rfind("\n", 0, fits)
        if line >= fits // 2 and line > 0:
            fits = line
        piece = piece[:fits]
    stop = start + len(piece)
    rest = ""
    if stop < len(text):
        ends_line = text[stop] == "\n"
        rest = f"lines {text.count(chr(10), 0, stop) + 2}-" if ends_line else f"chars {stop + 1}-"
    first = text.count("\n", 0, start) + 1
    return replace(
        whole,
        text=piece,
        lines=(first, first + piece.count("\n")),
        chars=(start + 1, stop),
        rest=rest,
    )


def _bounds(text: str, excerpt: Excerpt) -> tuple[int, int]:
    """Half-open, in characters."""
    if excerpt.chars is not None:
        first, last = excerpt.chars
        start, end = first - 1, len(text) if last is None else min(last, len(text))
        option, total = "chars", len(text)
    elif excerpt.lines is not None:
        first, last = excerpt.lines
        start = _line_start(text, first)
        end = len(text) if last is None else _line_start(text, last + 1) - 1
        option, total = "lines", text.count("\n") + 1
    else:
        return 0, len(text)
    if start > len(text) or (start == len(text) and text):
        raise InvalidOption(option, first, why=f"there are {total:,} {option} at this address")
    return start, min(end, len(text))


def _line_start(text: str, line: int) -> int:
    """Where a line begins; two behind the end for one behind the last."""
    at = 0
    for _ in range(min(line - 1, text.count("\n") + 1)):
        found = text.find("\n", at)
        if found < 0:
            return len(text) + 2
        at = found + 1
    return at
