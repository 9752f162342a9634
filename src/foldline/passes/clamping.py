"""Clamping what has to stay: single oversized parts cut to head and tail until the rest fits.

Used by the last tier alone, at the edge of what it keeps and inside what nothing may fold. Cuts results, and outside
the open round the assistant's own text, what a host wrote under the user's name, and the strings inside call arguments,
which stay valid JSON with the same keys (NousResearch/hermes-agent#13574). Never the user's words, never reasoning.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import notice
from foldline.core.clamp import fit_head, fit_tail, head_and_tail
from foldline.core.clamp_json import clamp_json
from foldline.core.edit import Edit, Frame, Replace
from foldline.core.message import Message, Part, Text, ToolCall, ToolResult, is_injected
from foldline.core.rounds import Outline, Unit
from foldline.passes.budget_reduction import common_cap
from foldline.passes.results import Found
from foldline.passes.shorten import Limit, shorten

TOKENS_MIN = 120
"""No part is clamped below this: its notice alone costs about 40."""
HEAD_PERCENT = 75
"""Share of a clamped part that is its head; the rest is its tail (requirement CMP-12)."""
CARRY_PERCENT = 50
CARRY_TOKENS_MAX = 2500
"""What a clamped result may spend on facts of what was cut out of it."""

NOTICE_TOKENS = 60
"""What a notice adds at most."""


class Clamped(Struct, frozen=True, kw_only=True):
    """Cuts, and what they free."""

    edits: tuple[Edit, ...]
    tokens_freed: int


_Cuttable: TypeAlias = Text | ToolCall | ToolResult


class _Part(Struct, frozen=True, kw_only=True):
    seq: int
    part: _Cuttable
    tokens: int


def clamp(structure: Outline, units: Iterable[Unit], *, excess: int, frame: Frame) -> Clamped:
    """Cut the parts of `units` that are larger than a common cap, the highest that frees `excess` tokens, as far as parts
    may be cut. Pinned messages stay whole; of an open round only results are cut (law TAIL)."""
    parts = [part for part in _parts(structure, units, frame=frame) if part.tokens > 2 * TOKENS_MIN]
    cap = max(TOKENS_MIN, common_cap([part.tokens for part in parts], sum(p.tokens for p in parts) - excess))
    edits: list[Edit] = []
    freed = 0
    for part in sorted(parts, key=lambda p: (-p.tokens, p.seq, p.part.slot)):
        if part.tokens <= cap or freed >= excess:
            break
        edit = _cut(part, max(TOKENS_MIN, cap - NOTICE_TOKENS), frame=frame)
        gain = part.tokens - frame.counter.part(edit.part) if edit is not None else 0
        if edit is not None and gain > 0:
            edits.append(edit)
            freed += gain
    return Clamped(edits=tuple(edits), tokens_freed=freed)


def _parts(structure: Outline, units: Iterable[Unit], *, frame: Frame) -> Iterable[_Part]:
    for unit in units:
        for item in structure.items[unit.start : unit.end]:
            if item.seq in frame.pins or item.message.synthetic is not None:
                continue
            for part, tokens in zip(item.message.parts, item.weights, strict=True):
                if not isinstance(part, _Cuttable) or part.slot < 0:
                    continue
                if _may_cut(part, item.message, is_open=unit.open):
                    yield _Part(seq=item.seq, part=part, tokens=tokens)


def _may_cut(part: _Cuttable, message: Message, *, is_open: bool) -> bool:
    match part:
        case ToolResult():
            return not part.server
        case Text():
            return not is_open and (message.role == "assistant" or _is_hosts(message))
        case ToolCall():
            return not is_open and not part.server
        case _:
            assert_never(part)


def _is_hosts(message: Message) -> bool:
    """Text under the user's name that no user wrote: command output, reminders."""
    return message.role == "user" and is_injected(message)


def _cut(part: _Part, size: int, *, frame: Frame) -> Replace | None:
    carry = min(CARRY_TOKENS_MAX, size * CARRY_PERCENT // 100)
    head = (size - carry) * HEAD_PERCENT // 100
    limit = Limit(size=size, head=head, tail=size - carry - head, unit="tokens", carry=carry)
    address, count = frame.part_address(part.seq, part.part), frame.counter.text
    match part.part:
        case ToolResult() as result:
            whole = frame.original_of(part.seq, result)
            found = Found(
                seq=part.seq,
                part=whole,
                tokens=part.tokens if whole is result else frame.counter.part(whole),
                kind="other",
                name="",
                arguments="",
                round=0,
                turn=0,
                movable=True,
            )
            return shorten(found, limit, frame=frame)
        case Text() as text:
            head, tail = (
                fit_head(text.text, limit.head, measure=count),
                fit_tail(text.text, limit.tail, measure=count),
            )
            cut = head_and_tail(text.text, head, tail=tail) or (text.text, "")  # which gains nothing
            mark = notice(f"{part.tokens - size:,} tokens omitted", address)
            new: Part = replace(text, text=f"{cut[0]}\n{mark}\n{cut[1]}", edited=True)
        case ToolCall() as call:
            mark = notice(f"{part.tokens - size:,} tokens omitted", address)
            chars = size * len(call.arguments) // max(1, part.tokens)
            arguments = clamp_json(call.arguments, chars, mark=mark, strings_only=True)
            if arguments is None:
                return None
            new = replace(call, arguments=arguments, edited=True)
        case _:
            assert_never(part.part)
    return Replace(seq=part.seq, slot=part.part.slot, part=new, address=address)
