"""Every tool result of a view with the call it answers, in order: what the reducing passes look at.

Also makes the shortened or cleared copy of a result. Knows nothing of thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import is_recalled, notice
from foldline.core.edit import Frame, Replace
from foldline.core.message import Media, Opaque, Text, ToolCall, ToolResult
from foldline.core.rounds import Outline
from foldline.ledger.tools import ToolKind, kind_of


class Found(Struct, frozen=True, kw_only=True, gc=False):
    """One result in a view."""

    seq: int
    part: ToolResult
    tokens: int
    kind: ToolKind
    name: str
    arguments: str
    """The call's arguments as JSON text; empty when the call is not in the view."""
    round: int
    """Number of the unit it stands in."""
    turn: int
    """Number of the turn it stands in; -1 before the first user message."""
    movable: bool
    """False for a result that a repair put in, which has no original to point at, and for one of recall that the model has
    not read yet."""


def find_results(structure: Outline) -> tuple[Found, ...]:
    """All client-side results, oldest first; O(n)."""
    return tuple(_find(structure))


def _find(structure: Outline) -> Iterator[Found]:
    turn_of = {
        unit: number for number, (start, end) in enumerate(structure.turns) for unit in range(start, end)
    }
    kinds: dict[str, ToolKind] = {}
    last = len(structure.units) - 1
    for number, unit in enumerate(structure.units):
        if unit.kind != "round":
            continue
        calls: dict[str, ToolCall] = {}
        turn = turn_of.get(number, -1)
        for item in structure.items[unit.start : unit.end]:
            for part, tokens in zip(item.message.parts, item.weights, strict=True):
                if type(part) is ToolCall:
                    calls[part.id] = part
                elif type(part) is ToolResult and not part.server:
                    call = calls.get(part.call_id)
                    name = call.name if call is not None else part.name or ""
                    if name not in kinds:
                        kinds[name] = kind_of(name)
                    yield Found(
                        seq=item.seq,
                        part=part,
                        tokens=tokens,
                        kind=kinds[name],
                        name=name,
                        arguments=call.arguments if call is not None else "",
                        round=number,
                        turn=turn,
                        movable=item.message.synthetic is None
                        and part.slot >= 0
                        and not (number == last and is_recalled(part)),
                    )


def with_content(found: Found, content: tuple[Text | Media | Opaque, ...], *, address: str) -> Replace:
    """The edit that gives a result other content and keeps all else about it; `address` opens the original."""
    part = replace(found.part, content=content, edited=True)
    return Replace(seq=found.seq, slot=found.part.slot, part=part, address=address)


def cleared(found: Found, why: str, *, frame: Frame, facts: Sequence[str] = ()) -> Replace:
    """The edit that puts a placeholder in the place of a whole result, with lines of facts where some are carried.
    Byte-stable: it depends on the result alone."""
    address = frame.part_address(found.seq, found.part)
    media = sum([isinstance(inner, Media) for inner in found.part.content])
    seen = f", {media} media" if media else ""
    mark = notice(f"{found.tokens:,} tokens{seen} {why}", address)
    return with_content(found, (Text(text="\n".join([mark, *facts])),), address=address)
