"""Edits, and the one function that applies them.

A pass never builds a view: it returns edits, and `apply` makes the new view and checks the laws: of the change, before
against after, and of the view it comes to. Four edits suffice:

    replace   [0][1][2][3][4]  →  [0][1][2′][3][4]      one part, same kind, same pair
    mark      [0][1][2][3][4]  →  [0][1][2 ‹m›][3][4]   a part behind a user's words that no longer stand; they stay
    drop      [0][1][2][3][4]  →  [0][3][4]             a range that says nothing
    fold      [0][1][2][3][4]  →  [0][F 1–2][3][4]      ranges into one synthetic message, originals addressed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import SpanDigest, address_of, part_address, read_mark, span_address
from foldline.core.completion import Asked
from foldline.core.errors import LawViolation
from foldline.core.laws import Change, check, judge
from foldline.core.mending import mended_result
from foldline.core.message import NEW, Message, Part, Text, ToolResult
from foldline.core.needs import Needs
from foldline.core.ports import TokenCounter, Weights
from foldline.core.rounds import open_seqs, outline_of, spans_of
from foldline.core.view import Item, Span, View, item_of, seqs_in, view_of
from foldline.core.weighed import Weighed


class Replace(Struct, frozen=True, kw_only=True, gc=False, tag="replace"):
    """Put `part` in the place of the part at `slot` of message `seq`. The new part keeps kind, slot and pairing id."""

    seq: int
    slot: int
    part: Part
    address: str
    """Where the original can be asked for."""


class Mark(Struct, frozen=True, kw_only=True, gc=False, tag="mark"):
    """Put `part`, which says what supersedes the words at `slot` of a user's message `seq`, behind them."""

    seq: int
    slot: int
    part: Text
    address: str
    """Where the message that supersedes them can be asked for."""


class Drop(Struct, frozen=True, kw_only=True, tag="drop"):
    """Take messages out of the view without a notice; only for messages that hold nothing."""

    span: Span


class Fold(Struct, frozen=True, kw_only=True, tag="fold"):
    """Put one synthetic message in the place of the messages in `spans`; it stands where the first one stood."""

    spans: tuple[Span, ...]
    """Disjoint ranges of ordinals, ascending; what lies between them stays."""
    message: Message
    address: str


Edit: TypeAlias = Replace | Mark | Drop | Fold
Place: TypeAlias = tuple[int, int]
"""Ordinal of a message, slot of a part."""


class Plan(Struct, frozen=True, kw_only=True):
    """What a pass wants done."""

    edits: tuple[Edit, ...] = ()
    hints: tuple[str, ...] = ()
    """What the host may want to restore or tell (requirement OBS-2): file paths to read again, reasons for skipping."""
    asked: Asked | None = None
    """What a model was asked for it; `None` of a pass that asks none."""


class Frame(Struct, frozen=True, kw_only=True):
    """What is the same for every pass of one compaction: the counter, the target's demands, and what must stay."""

    counter: TokenCounter
    needs: Needs = Needs()
    pins: frozenset[int] = frozenset()
    """Ordinals of messages that survive verbatim."""
    kept: frozenset[int] = frozenset()
    """Ordinals no pass may edit, pins included: leading system messages, the last user message, the open round,
    rounds with a call that waits for a person. (The last tier may clamp a result of the open round.)"""
    limits: tuple[tuple[str, int], ...] = ()
    """Token limits of single results that the tools' own registration declares, by tool name (requirement BUD-7)."""
    originals: Sequence[Message] = ()
    """The history as it came in, by ordinal: what addresses point at, whatever a repair or an earlier pass made of it."""
    shown: Sequence[Message] = ()
    """Of `originals` those that the view began with, where that is not all of them: a session's history is longer than
    its view."""
    address_of: Callable[[int, int], str] | None = None
    """The address of a range of ordinals, from one up to and without the other, where `originals` are too many to read."""
    memo: dict[str, Any] = {}
    """What a pass found in immutable parts and may want again, in this compaction or a later one of the session."""
    live: tuple[Item, ...] = ()
    """The view before any pass of this compaction: what the request before was made of, and a fork goes on from."""
    focus: str = ""
    """What a summary should dwell on, in the caller's words (requirement CMP-15)."""

    def history(self, items: Sequence[Item]) -> Sequence[Message]:
        """The messages that the view began with, as they came in; those of `items` where nobody says."""
        return self.shown or self.originals or [item.message for item in items]

    def original_of(self, seq: int, result: ToolResult) -> ToolResult:
        """A result as it came in, under the pairing it has now and fit to send; the result itself where a repair made it."""
        if seq < len(self.originals):
            for part in self.originals[seq].parts:
                if isinstance(part, ToolResult) and part.slot == result.slot:
                    return mended_result(replace(part, call_id=result.call_id, edited=result.edited))
        return result

    def part_address(self, seq: int, part: Part) -> str:
        """Where the original of a part can be asked for."""
        if seq < len(self.originals):
            part = next((p for p in self.originals[seq].parts if p.slot == part.slot), part)
        return part_address(seq, part)

    def span_address(self, items: Sequence[Item]) -> str:
        """Where the originals of items can be asked for: the whole range from the first to the last of them, what
        stays in view between included."""
        seqs = [
            seq
            for item in items
            for seq in (item.seq, *(s.start for s in item.covers), *(s.end - 1 for s in item.covers))
        ]
        start, end = min(seqs), max(seqs) + 1
        if self.address_of is not None:
            return self.address_of(start, end)
        if end <= len(self.originals):
            running: SpanDigest = self.memo.setdefault("span", SpanDigest())
            return address_of(start, end, digest=running.of(self.originals[start:end]))
        return span_address([(item.seq, item.message) for item in items])


def apply(view: View, edits: Sequence[Edit], *, frame: Frame) -> View:
    """The view with all edits made at once, or `LawViolation` and nothing changed. O(n)."""
    if not edits:
        return view
    before = outline_of(view)
    items = edited(before.items, edits, counter=frame.counter, memo=frame.memo)
    change = Change(
        before=before.items,
        after=items,
        pins=frame.pins,
        open_round=open_seqs(before),
        units=before.units,
    )
    # neighbours are joined, and system messages put in their place, when the view is encoded
    needs = replace(frame.needs, alternates=False, system_between=False)
    broken = [*judge(change), *check(items, needs)]
    if broken:
        raise LawViolation(broken[0].law, broken[0].at, broken[0].why)
    return view_of(items, next_seq=view.next_seq)


def edited(
    items: Sequence[Item],
    edits: Sequence[Edit],
    *,
    counter: TokenCounter,
    memo: dict[str, Any] | None = None,
) -> tuple[Item, ...]:
    """The items with all edits made at once, no law checked: what `apply` judges, and what the edits in a log, which
    were judged when they were made, come to. Places that no item has are passed over. A new part that is the one of an
    earlier compaction is not counted again where there is a `memo`."""
    replaced, marked, gone = _by_place(edits)
    touched = {seq for seq, _ in (*replaced, *marked)}
    weighed = weighed_in({} if memo is None else memo)
    weights = dict(zip(replaced, weighed.parts(list(replaced.values()), counter), strict=True))
    added = dict(zip(marked, weighed.parts(list(marked.values()), counter), strict=True))
    covered = _covered(items, gone)
    placed: set[int] = set()
    out: list[Item] = []
    for item in items:
        if item.seq in gone:
            fold = gone[item.seq]
            if fold is not None and id(fold) not in placed:
                placed.add(id(fold))
                weight = weighed.message(fold.message, counter)
                out.append(_folded(fold, covered[id(fold)], seq=item.seq, weight=weight))
        elif item.seq in touched:
            now = _replaced(item, replaced, tokens=weights) if replaced else item
            out.append(_marked(now, marked, tokens=added) if marked else now)
        else:
            out.append(item)
    return tuple(out)


def _by_place(
    edits: Sequence[Edit],
) -> tuple[dict[Place, Part], dict[Place, Part], dict[int, Fold | None]]:
    """What is put in a part's place, what behind a part, and which messages go, into which fold."""
    replaced: dict[Place, Part] = {}
    marked: dict[Place, Part] = {}
    gone: dict[int, Fold | None] = {}
    for edit in edits:
        match edit:
            case Replace():
                replaced[edit.seq, edit.slot] = edit.part
            case Mark():
                marked[edit.seq, edit.slot] = edit.part
            case Drop():
                gone.update(dict.fromkeys(range(edit.span.start, edit.span.end)))
            case Fold():
                for span in edit.spans:
                    gone.update(dict.fromkeys(range(span.start, span.end), edit))
            case _:
                assert_never(edit)
    return replaced, marked, gone


def _covered(items: Sequence[Item], gone: dict[int, Fold | None]) -> dict[int, list[int]]:
    """Log ordinals each fold stands for: an earlier fold hands on what it covered."""
    covered: dict[int, list[int]] = {}
    for item in items:
        fold = gone.get(item.seq)
        if fold is not None:
            seqs = covered.setdefault(id(fold), [])
            if item.covers:
                seqs.extend(seqs_in(item.covers))
            else:
                seqs.append(item.seq)
    return covered


def _folded(fold: Fold, covered: list[int], *, seq: int, weight: Weights) -> Item:
    weights, overhead = weight
    return item_of(seq, fold.message, weights=weights, overhead=overhead, covers=spans_of(covered))


def weighed_in(memo: dict[str, Any]) -> Weighed:
    """The new parts and messages that were weighed so far."""
    weighed: Weighed = memo.setdefault("weighed", Weighed())
    return weighed


def _replaced(item: Item, replaced: dict[Place, Part], *, tokens: dict[Place, int]) -> Item:
    """The item with its new parts; the very item where it only shares the ordinal of one that has them. `NEW` names no
    part, since several that repairs put in share it."""
    parts, weights = list(item.message.parts), list(item.weights)
    untouched = True
    for index, part in enumerate(parts):
        place = (item.seq, part.slot)
        if place in replaced and part.slot != NEW:
            parts[index], weights[index] = replaced[place], tokens[place]
            untouched = False
    if untouched:
        return item
    message = replace(item.message, parts=tuple(parts), edited=True)
    return item_of(item.seq, message, weights=tuple(weights), overhead=item.overhead)


def _marked(item: Item, marked: dict[Place, Part], *, tokens: dict[Place, int]) -> Item:
    """The item with its new marks, each behind the part it speaks of and the marks that stand there already."""
    parts, weights = list[Part](), list[int]()
    waiting: Place | None = None
    for part, weight in zip(item.message.parts, item.weights, strict=True):
        is_mark = isinstance(part, Text) and read_mark(part.text) is not None
        if waiting is not None and not is_mark:
            parts.append(marked[waiting])
            weights.append(tokens[waiting])
            waiting = None
        parts.append(part)
        weights.append(weight)
        place = (item.seq, part.slot)
        waiting = place if place in marked and part.slot != NEW else waiting
    if waiting is not None:
        parts.append(marked[waiting])
        weights.append(tokens[waiting])
    if len(parts) == len(item.message.parts):
        return item
    message = replace(item.message, parts=tuple(parts), edited=True)
    return item_of(item.seq, message, weights=tuple(weights), overhead=item.overhead)
