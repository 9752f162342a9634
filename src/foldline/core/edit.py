"""Edits, and the one function that applies them.

A pass never builds a view: it returns edits, and `apply` makes the new view, checks the laws before and after,
and derives what was done. Three edits suffice:

    replace   [0][1][2][3][4]  →  [0][1][2′][3][4]      one part, same kind, same pair
    drop      [0][1][2][3][4]  →  [0][3][4]             a range that says nothing (repairs)
    fold      [0][1][2][3][4]  →  [0][F 1–2][3][4]      ranges into one synthetic message, originals addressed
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from foldline.core.message import Message, Part
from foldline.core.view import Span


class Replace(Struct, frozen=True, kw_only=True, tag="replace"):
    """Put `part` in the place of part `index` of message `seq`. The new part keeps kind, slot and pairing id."""

    seq: int
    index: int
    part: Part
    address: str
    """Where the original can be asked for."""


class Drop(Struct, frozen=True, kw_only=True, tag="drop"):
    """Take messages out of the view without a notice; only for messages that hold nothing."""

    span: Span


class Fold(Struct, frozen=True, kw_only=True, tag="fold"):
    """Put one synthetic message in the place of the messages in `spans`; it stands where the first one stood."""

    spans: tuple[Span, ...]
    """Disjoint ranges of ordinals, ascending; what lies between them stays."""
    message: Message
    address: str


Edit: TypeAlias = Replace | Drop | Fold


class Plan(Struct, frozen=True, kw_only=True):
    """What a pass wants done."""

    edits: tuple[Edit, ...] = ()
    hints: tuple[str, ...] = ()
    """What the host may want to restore or tell (requirement OBS-2): file paths re-readable, reasons for skipping."""
