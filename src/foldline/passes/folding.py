"""Making one synthetic message of several spans: shared by the passes that fold.

Knows what may be folded, how a fold is delimited, addressed and opened, and what a ledger of it is made from; what its body says is
the pass's own affair.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from foldline.core.address import block
from foldline.core.edit import Edit, Fold, Frame, edited
from foldline.core.message import Message, Text
from foldline.core.rounds import Outline, Unit, spans_of
from foldline.core.surrogates import is_torn, whole
from foldline.core.view import Item
from foldline.ledger.compose import Evicted
from foldline.ledger.words import Words

HEAD_TOKENS = 80
"""What the delimiters of a fold and `head_of` cost at most."""


def fold_of(items: Sequence[Item], body: str, *, frame: Frame, kind: str = "fold") -> Fold:
    """The edit that puts one message of role user in the place of `items` (at least one; requirement CMP-40)."""
    address = frame.span_address(items)
    body = whole(body) if is_torn(body) else body  # originals are quoted as they came
    message = Message(
        role="user",
        parts=(Text(text=block(kind, address, body=body)),),
        synthetic="fold" if kind == "fold" else "notice",
        edited=True,
    )
    return Fold(spans=spans_of(item.seq for item in items), message=message, address=address)


def messages_in(items: Sequence[Item]) -> int:
    """How many messages items stand for: those that earlier folds cover, and none for what a repair put in."""
    return sum(
        sum(len(span) for span in item.covers) or (item.message.synthetic != "repair") for item in items
    )


def may_fold(structure: Outline, unit: Unit, *, frame: Frame) -> bool:
    """True for a unit that nothing protects."""
    return unit.kind != "system" and not unit.open and structure.seqs(unit).isdisjoint(frame.kept)


def as_it_came(item: Item, frame: Frame) -> Item:
    """The item with its original message, whatever an earlier pass made of it."""
    if item.message.synthetic or item.seq >= len(frame.originals):
        return item
    original = frame.originals[item.seq]
    return item if original is item.message else replace(item, message=original)


def evicted_of(
    structure: Outline, gone: Sequence[Item], *, words: Words, frame: Frame, edits: Sequence[Edit] = ()
) -> Evicted:
    """What the ledger of items that leave is made from; `edits` are made in what stays."""
    seqs = {item.seq for item in gone}
    rest = [item for item in structure.items if item.seq not in seqs]
    stays = edited(rest, edits, counter=frame.counter, memo=frame.memo)
    return Evicted(
        folded=[as_it_came(item, frame) for item in gone],
        history=frame.history(structure.items),
        kept=[item.message for item in stays],
        seqs=[item.seq for item in stays],
        words=words,
    )


def head_of(items: Sequence[Item]) -> str:
    """The first line of a fold that says by rules what went."""
    return f"{counted(items)}, folded; the address opens the originals."


def counted(items: Sequence[Item]) -> str:
    """What went, in a few words."""
    messages = messages_in(items)
    tokens = sum(item.tokens for item in items)
    return f"{messages:,} earlier message{'s' if messages != 1 else ''}, {tokens:,} tokens"
