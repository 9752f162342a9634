"""Sentences: where each begins and ends in what a person wrote, in any script.

Knows prose, lists, headings, quotes and fenced code; full stops of the world's scripts; and what looks like an end and
is none: abbreviations, numbers, paths, addresses, code between backticks. Knows nothing of what a sentence says; that
is `foldline.ledger.constraints` and `foldline.ledger.requests`. Linear in the text, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""Start and end of a piece of a text, in characters; `text[start:end]` is the piece."""

WRAPPED_FROM = 60
"""A line at least this long that ends in no full stop may have been wrapped: the next may go on with it."""

TEXTS_MAX = 8
"""Texts whose sentences are remembered: rules, requests and values are looked for in the same one after another."""

LINE = re.compile(r"[^\n\r\u2028\u2029]+")
FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
OPENING = re.compile(
    r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+•·‣▪◦–—●○■□]|#{1,6}|\(?(?:\d{1,3}|[a-zA-Z])[.)]|[(（]?[一二三四五六七八九十\d]{1,3}[、.)）])"
    r"(?:[ \t]+|(?<=[、）•·●]))(?:\[[ xX]\][ \t]+)?)?"
)
"""What a line may open with and does not belong to its first sentence: quote signs, one bullet or number, a box."""
STOP = re.compile(
    r"`[^`\n]*`"  # code between backticks: passed over
    r"|(?<![.!?…])[.!?…]+[\"'”’»)\]*_]*(?=\s)"
    r"|[。！？｡．।॥؟۔።]+[」』）”’\"')\]】》]*"
)
SHORT = re.compile(
    r"(?:^|[\s(\[\"'“])(?:e\.g|i\.e|etc|vs|cf|al|approx|incl|excl|esp|resp|fig|no|nr|vol|pp?|ca|mr|mrs|ms|dr|prof|st|jr|sr"
    r"|dept|est|min|max|ref|sec|ch|ed|z\.\s?b|d\.\s?h|u\.\s?a|bzw|usw|ggf|evtl|p\.\s?ex|ej|sra?|[A-Z]|\d{1,3})$",
    re.IGNORECASE,
)
SHORT_CHARS_MAX = 12
"""How far back an abbreviation is looked for."""


@lru_cache(maxsize=TEXTS_MAX)
def sentences(text: str) -> tuple[Span, ...]:
    """Every sentence, in order; bullets, numbers, quote signs and blank space around it left out.

    A line of fenced code is one piece, whatever stops stand in it; the fences themselves are none.
    """
    found: list[Span] = []
    for start, end, is_code in _blocks(text):
        if is_code:
            found += _trimmed(text, (start, end))
        else:
            for piece in _pieces(text, (start, end)):
                found += _trimmed(text, piece)
    return tuple(found)


def code_lines(text: str) -> frozenset[int]:
    """Where each line of fenced code begins, as `sentences` gives it."""
    if "```" not in text and "~~~" not in text:
        return frozenset()
    return frozenset(
        first for start, end, is_code in _blocks(text) if is_code for first, _ in _trimmed(text, (start, end))
    )


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Lines, a wrapped line joined with what goes on with it; whether they are fenced code."""
    fence = ""
    open_from = open_to = -1
    for match in LINE.finditer(text):
        start, end = match.span()
        mark = FENCE.match(text, start, end)
        if mark is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            if open_from >= 0:
                yield open_from, open_to, False
                open_from = -1
            continue
        if fence:
            yield start, end, True
            continue
        opening = OPENING.match(text, start, end)
        body = opening.end() if opening is not None else start
        if open_from >= 0:
            if _goes_on(text, (start, body, end), before=open_to):
                open_to = end
                continue
            yield open_from, open_to, False
        open_from = body
        open_to = end
    if open_from >= 0:
        yield open_from, open_to, False


def _goes_on(text: str, line: tuple[int, int, int], *, before: int) -> bool:
    """Whether a line goes on with the one that ends at `before`: no blank line between, no opening, a small letter."""
    start, body, end = line
    if start - before > 2 or text.count("\n", before, start) > 1 or body == end:
        return False
    opened = text[start:body].strip()
    last_break = max(text.rfind("\n", max(0, before - WRAPPED_FROM), before), before - WRAPPED_FROM - 1)
    wrapped = before - last_break > WRAPPED_FROM
    return not opened and wrapped and text[body].islower() and text[before - 1] not in ".!?:;…"


def _pieces(text: str, span: Span) -> Iterator[Span]:
    start, end = span
    for match in STOP.finditer(text, start, end):
        if text[match.start()] == "`" or (text[match.start()] == "." and _is_short(match, start)):
            continue
        yield start, match.end()
        start = match.end()
    yield start, end


def _is_short(match: re.Match[str], start: int) -> bool:
    """Whether a full stop only ends an abbreviation or a number of a list."""
    if len(match[0]) > 1:
        return False
    before = match.string[max(start, match.start() - SHORT_CHARS_MAX) : match.start()]
    return (SHORT.search(before) is not None and not before.endswith("no")) or before.strip().isdigit()


def _trimmed(text: str, span: Span) -> list[Span]:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return [(start, end)] if end > start else []
