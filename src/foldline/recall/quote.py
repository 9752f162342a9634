"""Quoting: what recall gives a model, as text that says where it comes from and cannot be taken for anything else.

    <foldline-recall query="pool size" hits="2">
    1. m12.3@5f0c9a1e result of read_file, line 40 of 120
       …max pool size is 20 connections…
    </foldline-recall>

All that is quoted is data: in it no tag and no notice of ours can open, a snippet is one line, and what foldline itself says
(addresses, how to go on) stands in the tag or at the beginning of a line, where nothing quoted begins. The tag marks the
result for the passes and the ledger (`foldline.core.address.is_recalled`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from foldline.core.address import NOTICE_OPENING, NOTICE_SPELT, RECALL_OPENING, escape_marks
from foldline.core.ports import TokenCounter
from foldline.log.said import time_told

if TYPE_CHECKING:
    from foldline.recall.find import Found, Hit
    from foldline.recall.opening import Opened

ATTRIBUTE_CHARS: Final = 160
"""Characters of a query or title in the tag."""
CLOSING: Final = "</foldline-recall>"


def _attribute(text: str) -> str:
    one_line = " ".join(text.split())
    shown = one_line if len(one_line) <= ATTRIBUTE_CHARS else one_line[:ATTRIBUTE_CHARS] + "…"
    for letter, spelt in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        shown = shown.replace(letter, spelt)
    return shown.replace(NOTICE_OPENING, NOTICE_SPELT)


def _block(attributes: Sequence[tuple[str, str]], body: str) -> str:
    told = " ".join(f'{name}="{_attribute(value)}"' for name, value in attributes if value)
    return f"{RECALL_OPENING}{told}>\n{body}\n{CLOSING}"


def quote_found(found: Found, *, counter: TokenCounter, tokens_max: int, names: bool) -> str:
    """The hits as text, as many as fit. `names`: with the session of each."""
    told: list[str] = []
    tokens = 0
    for number, hit in enumerate(found.hits, 1):
        lines = _hit(number, hit, names=names)
        tokens += counter.text(lines)
        if told and tokens > tokens_max:
            break
        told.append(lines)
    left = len(found.hits) - len(told)
    notes = [*found.notes]
    if left or found.more:
        notes.insert(
            0, f"{'more' if found.more else left} not shown: ask with more words, a filter or a larger limit"
        )
    if not found.hits:
        told.append("nothing was found; try other or fewer words, or without a filter")
    attributes = [("query", found.query), ("hits", str(len(found.hits))), ("note", "; ".join(notes))]
    return _block(attributes, "\n".join(told))


def _hit(number: int, hit: Hit, *, names: bool) -> str:
    return f"{number}. {hit_told(hit, names=names)}\n   {one_line(hit.snippet)}"


def hit_told(hit: Hit, *, names: bool) -> str:
    """What a hit is and where, on one line. `names`: with its session."""
    what = f"{hit.kind} of {hit.tool}" if hit.tool else f"{hit.kind} of the {hit.role}"
    where = f", line {hit.line} of {hit.lines}" if hit.lines > 1 else ""
    parts = [f"{hit.address} {one_line(what)}{where}"]
    if names:
        parts.append(f"session {hit.session}")
    if hit.time_ms is not None:
        parts.append(time_told(hit.time_ms))
    if not hit.exact:
        parts.append("holds some of it")
    if hit.same:
        parts.append(f"the same at {', '.join(hit.same)}")
    return ", ".join(parts)


def one_line(text: str) -> str:
    """Quoted text on one line."""
    return " ".join(escape_marks(text).split())


def quote_opened(opened: Opened) -> str:
    """What stands at an address as text, its place in the tag."""
    attributes = [("address", opened.address), ("is", opened.title)]
    if opened.chars != (1, opened.chars_total):
        first, last = opened.lines
        attributes.append(("lines", f"{first}-{last} of {opened.lines_total}"))
        attributes.append(("chars", f"{opened.chars[0]}-{opened.chars[1]} of {opened.chars_total}"))
    if opened.rest:
        name, _, value = opened.rest.partition(" ")
        attributes.append(("next", f"{name}: {value}"))
    return _block(attributes, escape_marks(opened.text))


def quote_failure(why: str) -> str:
    """What went wrong, and what to do."""
    return _block([("failed", "true")], one_line(why))
