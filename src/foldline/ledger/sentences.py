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

LIST_SENTENCES_MAX = 60
"""Sentences of a list that belong to what it stands under."""

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
MEASURED = re.compile(r"\d\s?(?:ms|s|sec|min|h|p|g|m)$", re.IGNORECASE)
"""A number with its unit, which may end a sentence as any word may."""
NUMBER = re.compile(r"(?:^|[^\w.])(\d{1,3})$")
LABELLED = re.compile(
    r"(?:option|plan|step|task|item|idea|variant|part|phase|version|etc)(?: [A-Z])?$", re.IGNORECASE
)
MONTH = re.compile(
    r"\s+(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)\b",
    re.IGNORECASE,
)
"""After a number and a full stop: a date, as it is written in German."""
COUNTED_BACK_MAX = 2_000
"""How far back the number before is looked for in a list that stands in one line."""
PASTED = re.compile(r"<(foldline-[a-z]{1,20})\b[^<>]{0,300}>")
"""What opens a block that this library wrote: in a person's own text it was pasted, and what it says is not theirs."""
GOES_ON = re.compile(
    r"(?:or|nor|and|of|to|from|in|into|on|with|without|unless|until|because|than|which|the|a|an|any|all|its|their|these|those)\s"
)
"""Words that open the rest of a sentence rather than one of its own."""
OPEN_END = re.compile(
    r"\b(?:not|never|the|an?|any|to|of|in|on|for|with|without|and|or|nor|my|our|your|its|must|should|may"
    r"|add|alter|change|commit|create|delete|deploy|drop|edit|expose|install|log|merge|modify|move|overwrite|push|remove|rename|run|send"
    r"|share|store|touch|use|write)[ \t]*$",
    re.IGNORECASE,
)
"""A line that stops before the thing it speaks of."""
OPEN_END_CHARS = 24


@lru_cache(maxsize=TEXTS_MAX)
def sentences(text: str) -> tuple[Span, ...]:
    """Every sentence, in order; bullets, numbers, quote signs and blank space around it left out.

    A line of fenced code is one piece, whatever stops stand in it; the fences themselves are none.
    """
    found: list[Span] = []
    shown = _without_pasted(text)
    for start, end, is_code in _blocks(shown):
        if is_code:
            found += _trimmed(shown, (start, end))
        else:
            for piece in _pieces(shown, (start, end)):
                found += _trimmed(shown, piece)
    return tuple(found)


def list_under(text: str, spans: tuple[Span, ...], *, head: int) -> int:
    """The place of the last sentence of the list that the sentence at `head` opens; `head` itself where it opens none."""
    start, end = spans[head]
    line, is_item = _line_of(text, start)
    depth = start - line if is_item else -1
    if text[end - 1] not in ":：" and (is_item or text[end - 1] in ".!?…。！？"):
        return head
    last = head
    for place in range(head + 1, min(len(spans), head + 1 + LIST_SENTENCES_MAX)):
        first = spans[place][0]
        between = text[spans[place - 1][1] : first]
        if "<foldline-" in between:
            break
        if "\n" in between:
            line, is_item = _line_of(text, first)
            if not is_item or (depth >= 0 and first - line <= depth):
                break
        elif last == head:
            break
        last = place
    return last


def is_in_list(text: str, start: int) -> bool:
    """Whether a sentence that begins there stands in an item of a list, or in a quoted line."""
    line = text.rfind("\n", 0, start) + 1
    opening = OPENING.match(text, line)
    return opening is not None and bool(opening[0].strip())


def _line_of(text: str, at: int) -> tuple[int, bool]:
    """Where the line of a sentence that opens it begins, and whether it is an item of a list."""
    line = text.rfind("\n", 0, at) + 1
    return line, bool(text[line:at].strip("> \t\r#"))


def _without_pasted(text: str) -> str:
    """The text with blank lines in the place of every block that this library wrote; one that nothing closes goes to the
    end. Every place in the text stays what it was."""
    if "<foldline-" not in text:
        return text
    pieces, at = [], 0
    while (opening := PASTED.search(text, at)) is not None:
        closing = f"</{opening[1]}>"
        found = text.find(closing, opening.end())
        end = found + len(closing) if found >= 0 else len(text)
        pieces += [text[at : opening.start()], "\n" * (end - opening.start())]
        at = end
    return "".join([*pieces, text[at:]])


def code_lines(text: str) -> frozenset[int]:
    """Where each line of fenced code begins, as `sentences` gives it."""
    if "```" not in text and "~~~" not in text:
        return frozenset()
    return frozenset(
        first
        for start, end, is_code in _blocks(_without_pasted(text))
        if is_code
        for first, _ in _trimmed(text, (start, end))
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
    wrapped = before - last_break > WRAPPED_FROM or _is_cut(text, body, before=before)
    return not opened and wrapped and text[body].islower() and text[before - 1] not in ".!?:;…"


def _is_cut(text: str, body: int, *, before: int) -> bool:
    """Whether a line stops in the midst of a sentence, and the next opens as its rest does."""
    last = text[max(0, before - OPEN_END_CHARS) : before]
    return GOES_ON.match(text, body) is not None and " " in last.strip() and OPEN_END.search(last) is not None


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
    text, at = match.string, match.start()
    before = text[max(start, at - SHORT_CHARS_MAX) : at]
    if before.strip().isdigit() and not text[start:at].strip(" \t0123456789"):
        return True
    if SHORT.search(before) is None or before.endswith("no"):
        return False
    opens = text[match.end() : match.end() + 2].strip()[:1]
    if opens.islower() or opens.isdigit():
        return True
    number = NUMBER.search(before)
    if number is not None:
        return _counts(text, (start, at), number=number[1])
    return MEASURED.search(before) is None and LABELLED.search(before) is None


def _counts(text: str, span: Span, *, number: str) -> bool:
    """Whether a number before a full stop numbers what follows, or a day of a month: elsewhere it ends what it stands in."""
    start, end = span
    before = text[max(start, end - COUNTED_BACK_MAX) : end - len(number)].rstrip()
    if not before or before[-1] in ":(;,：" or MONTH.match(text, end + 1) is not None:
        return True
    return number != "1" and f" {int(number) - 1}. " in f" {before} "


def _trimmed(text: str, span: Span) -> list[Span]:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return [(start, end)] if end > start else []
