"""Template summaries: what a folded span held, one line a message, without a model.

Every line says who spoke and keeps user text as a quotation; nothing that tools or files said is repeated, so it
cannot become a task. Quoted text cannot open a foldline block. Counterpart: the ledger, which says what follows
from it. Knows messages and a budget in tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import assert_never

from foldline.core.address import escape_tags, read_block
from foldline.core.message import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    speaks_for_user,
)
from foldline.core.view import Item

USER_CHARS = 200
"""User text is quoted up to this length (requirement COL-2)."""
REMOVED_CHARS = 80
"""A removed message is quoted up to this length (requirement SNP-5)."""
NAMES_MAX = 12
"""Tools named in one line."""


def line_of(item: Item) -> str:
    """One message in one line (requirement COL-2); an earlier fold gives the lines it holds."""
    message = item.message
    before = carried(message)
    if message.synthetic in ("fold", "notice"):
        return "\n".join(before)
    if speaks_for_user(message):
        said = "\n".join(p.text for p in message.parts if isinstance(p, Text) and read_block(p.text) is None)
        return "\n".join([*before, f'm{item.seq} user: "{quote(said, USER_CHARS)}"{_media(message)}'])
    called = [part.name for part in message.parts if isinstance(part, ToolCall)]
    if called:
        return f"m{item.seq} {message.role} called {names(called)}"
    if any(isinstance(part, ToolResult) for part in message.parts):
        return f"m{item.seq} tool result, {item.tokens:,} tokens"
    return f"m{item.seq} {message.role}, {item.tokens:,} tokens{_media(message)}"


def removed_lines(item: Item) -> list[str]:
    """The first characters of a removed message (requirement SNP-5); an earlier notice gives the lines it holds."""
    before = carried(item.message)
    if item.message.synthetic in ("fold", "notice"):
        return before
    return [*before, f'm{item.seq} {item.message.role}: "{quote(gist(item.message), REMOVED_CHARS)}"']


def gist(message: Message) -> str:
    """What a message begins with, whatever it is made of."""
    return next(filter(None, map(_gist_of, message.parts)), "")


def _gist_of(part: Part) -> str:
    """What a part says; empty where that is nothing."""
    match part:
        case Text():
            return part.text if part.text.strip() and read_block(part.text) is None else ""
        case ToolCall():
            return f"called {part.name}"
        case ToolResult():
            return next((p.text for p in part.content if isinstance(p, Text) and p.text.strip()), "")
        case Media():
            return part.kind
        case Reasoning() | Opaque():
            return ""
        case _:
            assert_never(part)


def quote(text: str, chars: int) -> str:
    """Text on one line, at most `chars` characters, unable to open a block or end its quotation."""
    flat = " ".join(text[: chars * 4].split())
    cut = flat if len(flat) <= chars and len(text) <= chars * 4 else flat[: chars - 1].rstrip() + "…"
    return escape_tags(cut.replace('"', "'"))


def names(called: Sequence[str]) -> str:
    """Tool names with how often each was called, most frequent first."""
    if len(called) == 1:
        return quote(called[0], 64)
    counted = sorted(
        Counter(quote(name, 64) for name in called).items(), key=lambda pair: (-pair[1], pair[0])
    )
    shown = [name if times == 1 else f"{name} ×{times}" for name, times in counted[:NAMES_MAX]]
    more = [f"and {len(counted) - NAMES_MAX} more"] if len(counted) > NAMES_MAX else []
    return ", ".join([*shown, *more])


def carried(message: Message) -> list[str]:
    """The lines of an earlier fold or notice, to be carried on unchanged: a summary is never summarised."""
    if message.role != "user":
        return []
    for part in message.parts:
        if isinstance(part, Text) and (found := read_block(part.text)) is not None:
            return [line for line in found[2].splitlines() if line.startswith(("m", "("))]
    return []


def body(items: Sequence[Item], budget: int, *, count: Callable[[str], int]) -> str:
    """The lines of a span within `budget` tokens: all of them if they fit; else the user's lines, newest first, and
    the rest in numbers; nothing where not even those fit."""
    lines = [line for item in items for line in line_of(item).splitlines() if line]
    text = "\n".join(lines)
    if count(text) <= budget:
        return text
    said = [line for line in lines if " user: " in line]
    rest = _in_numbers(items)
    if count(rest) > budget:
        return ""
    left = budget - count(rest) - 12
    kept: list[str] = []
    for line in reversed(said):
        cost = count(line) + 1
        if cost > left:
            break
        kept.append(line)
        left -= cost
    omitted = len(said) - len(kept)
    head = [f"({omitted} older user messages not listed)"] if omitted else []
    return "\n".join([*head, *reversed(kept), rest])


def _in_numbers(items: Sequence[Item]) -> str:
    called = [part.name for item in items for part in item.message.parts if isinstance(part, ToolCall)]
    results = sum(isinstance(part, ToolResult) for item in items for part in item.message.parts)
    what = (
        f"(calls: {names(called)}; {results} result{'s' if results != 1 else ''})"
        if called
        else f"({len(items)} message{'s' if len(items) != 1 else ''} without a call)"
    )
    return what


def _media(message: Message) -> str:
    media = [part.kind for part in message.parts if isinstance(part, Media)]
    return "".join(f" + {n} {kind}" for kind, n in sorted(Counter(media).items())) if media else ""
