"""What a summariser is shown: the live view for a fork, blocks of data for a call of its own.

    fork   the conversation's own messages, byte for byte up to the first image, which becomes a placeholder (CMP-13)
    own    <foldline-data from="m12 tool read_file"> … </foldline-data>   one block a message, as text

In a block no opening of our tag stands, so that nothing that a tool, file or page said can end it or open another. Hand-off
reminders are in neither (requirement HND-3). Knows messages and a counter; nothing of who is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, assert_never

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import escape_tags, read_block, without_notices
from foldline.core.message import (
    NEW,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    is_fold,
    result_text,
)
from foldline.core.ports import TokenCounter
from foldline.core.rounds import Outline
from foldline.core.view import Item
from foldline.ledger.tools import READS, kind_of

IMAGE: Final = "[image]"
"""Stands for an image, whatever it shows and weighs (requirement CMP-13)."""
NOT_SHOWN: Final = "[not shown: it can be read again]"
CUT: Final = "\n[… {chars:,} characters not shown …]\n"
HEAD_SHARE: Final = 0.75
"""Of a text over its cap so much is shown from its beginning, the rest from its end."""


def forked(items: Sequence[Item], structure: Outline) -> tuple[Item, ...]:
    """The items that a fork goes on from: without a round that still waits for results, which no provider takes without
    them, without reminders, every image a placeholder."""
    end = len(items)
    if structure.units and structure.units[-1].open:
        end = structure.units[-1].start
    return tuple(without_images(item) for item in items[:end] if item.message.synthetic != "reminder")


def without_images(item: Item) -> Item:
    """The item with placeholders for its images; the very item where it has none."""
    parts = tuple(_seen(part) for part in item.message.parts)
    if all(new is old for new, old in zip(parts, item.message.parts, strict=True)):
        return item
    return replace(item, message=replace(item.message, parts=parts, edited=True))


def _seen(part: Part) -> Part:
    if isinstance(part, Media) and part.kind == "image":
        return Text(text=IMAGE, slot=NEW, edited=True)
    if isinstance(part, ToolResult) and any(_is_image(inner) for inner in part.content):
        content = tuple(
            Text(text=IMAGE, slot=NEW, edited=True) if _is_image(inner) else inner for inner in part.content
        )
        return replace(part, content=content, edited=True)
    return part


def _is_image(inner: Text | Media | Opaque) -> bool:
    return isinstance(inner, Media) and inner.kind == "image"


def media_tokens(items: Iterable[Item], counter: TokenCounter) -> int:
    """Tokens of images, which no summariser is shown."""
    parts = (part for item in items for part in item.message.parts)
    inner = ((part, *part.content) if isinstance(part, ToolResult) else (part,) for part in parts)
    return sum(
        counter.part(one)
        for group in inner
        for one in group
        if isinstance(one, Media) and one.kind == "image"
    )


# ── blocks of data ───────────────────────────────────────────────────────────────────────────────────────────


class Shown(Struct, frozen=True, kw_only=True):
    """One message as a block of data."""

    seq: int
    origin: str
    """Who said it: the attribute of the block."""
    text: str
    tokens: int
    """Of the message in the view: what counts as seen."""
    share: float = 1.0
    """How much of its text is in the block."""

    @property
    def block(self) -> str:
        """Between its delimiters."""
        return f'<foldline-data from="{self.origin}">\n{self.text}\n</foldline-data>'


class Cuts(Struct, frozen=True, kw_only=True):
    """What is left out where the whole was too long (requirement CMP-11, in its order)."""

    rereadable: bool = False
    """Whether files that can be read again are left out."""
    oldest_share: float = 0.0
    """Share of the tokens that leave with the oldest whole units."""
    chars_max: int | None = None
    """Most characters of one message."""


def blocks_of(units: Sequence[Sequence[Item]], cuts: Cuts) -> tuple[Shown, ...]:
    """Each message of whole units as a block, oldest first, less what `cuts` says."""
    names = {
        part.id: part.name
        for unit in units
        for item in unit
        for part in item.message.parts
        if isinstance(part, ToolCall)
    }
    whole = sum(item.tokens for unit in units for item in unit)
    leaving, shown = whole * cuts.oldest_share, list[Shown]()
    for number, unit in enumerate(units):
        if leaving > 0 and number < len(units) - 1:
            leaving -= sum(item.tokens for item in unit)
            continue
        shown.extend(_shown(item, names, cuts=cuts) for item in unit if item.message.synthetic != "reminder")
    return tuple(one for one in shown if one.text)


def _shown(item: Item, names: dict[str, str], *, cuts: Cuts) -> Shown:
    message = item.message
    pieces = list(_pieces(message, names))
    whole = sum(len(said) for said, _ in pieces)
    left_out = sum(len(said) for said, is_file in pieces if is_file and cuts.rereadable)
    text = "\n".join(NOT_SHOWN if is_file and cuts.rereadable else said for said, is_file in pieces if said)
    if cuts.chars_max is not None and len(text) > cuts.chars_max:
        left_out = max(left_out, whole - cuts.chars_max)
        text = clipped(text, cuts.chars_max)
    return Shown(
        seq=item.seq,
        origin=_origin(item, names),
        text=escape_tags(text),
        tokens=item.tokens,
        share=1.0 - min(1.0, left_out / whole) if whole else 1.0,
    )


def clipped(text: str, chars_max: int) -> str:
    """The beginning and the end of a text, so many characters of it, with a line between that says so."""
    head = int(chars_max * HEAD_SHARE)
    return f"{text[:head]}{CUT.format(chars=len(text) - chars_max)}{text[len(text) - (chars_max - head) :]}"


def _origin(item: Item, names: dict[str, str]) -> str:
    message = item.message
    if is_fold(message) or message.synthetic == "summary":
        return f"m{item.seq} earlier summary"
    called = [
        names.get(part.call_id, part.name or "") for part in message.parts if isinstance(part, ToolResult)
    ]
    if called:
        return f"m{item.seq} tool {_plain(called[0])}".rstrip()
    return f"m{item.seq} {message.role}"


def _plain(name: str) -> str:
    return "".join(sign for sign in name if sign.isalnum() or sign in "_-.")[:64]


def _pieces(message: Message, names: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """What each part says, and whether it is a file that can be read again."""
    for part in message.parts:
        match part:
            case Text():
                found = read_block(part.text)
                yield (found[2] if found is not None else part.text), False
            case Reasoning():
                if part.text:
                    yield f"(thought) {part.text}", False
            case ToolCall():
                yield f"called {part.name} with {part.arguments}", False
            case ToolResult():
                name = names.get(part.call_id, part.name or "")
                failed = "failed: " if part.is_error else ""
                pictures = IMAGE if any(isinstance(inner, Media) for inner in part.content) else ""
                told = without_notices(result_text(part))
                yield f"{failed}{told}{pictures}", kind_of(name) in READS and not part.is_error
            case Media():
                yield (IMAGE if part.kind == "image" else f"[{part.kind}]"), False
            case Opaque():
                yield f"[{_plain(part.type)}]", False
            case _:
                assert_never(part)


def pieces_within(
    shown: Sequence[Shown], tokens_max: int, *, count: Callable[[list[str]], list[int]]
) -> list[list[Shown]]:
    """Blocks in groups of at most `tokens_max` tokens each; one that is larger is split, so that all of it is shown."""
    groups: list[list[Shown]] = [[]]
    used = 0
    for one, tokens in zip(shown, count([one.block for one in shown]), strict=True):
        for part, size in _split(one, tokens, tokens_max=tokens_max):
            if groups[-1] and used + size > tokens_max:
                groups.append([])
                used = 0
            groups[-1].append(part)
            used += size
    return [group for group in groups if group]


def _split(one: Shown, tokens: int, *, tokens_max: int) -> Iterator[tuple[Shown, int]]:
    count = -(-tokens // max(1, tokens_max))
    if count <= 1:
        yield one, tokens
        return
    count += 1  # pieces are cut by characters, and some weigh more than others
    step = -(-len(one.text) // count)
    for n in range(count):
        text = one.text[n * step : (n + 1) * step]
        if text:
            origin = f"{one.origin} piece {n + 1} of {count}"
            yield replace(one, text=text, origin=origin, tokens=one.tokens // count), -(-tokens // count)
