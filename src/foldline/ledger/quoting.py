"""Quoting: what the ledger repeats of a message of a user's that left and is too long for a line.

What a person wants stands before or behind what the person pasted. So a quotation has the first words and the last sentences
that are the person's own. Those are whole, and a list is quoted with what it stands under: without the "never" before them
words would say the opposite. Knows one text alone.
"""

from __future__ import annotations

from foldline.ledger.lines import one_line
from foldline.ledger.own_words import spoken
from foldline.ledger.sentences import FENCE, Span, is_in_list, list_under, sentences

QUOTE_CHARS = 400
"""How much is quoted of a text …"""
LAST_CHARS, LAST_CHARS_MOST = QUOTE_CHARS // 2, QUOTE_CHARS * 3 // 4
"""… and of it of the last sentences: the second, where no fewer can stand alone."""
READ_CHARS = 50_000
"""How much of a longer text is read at its begin, and as much at its end."""
_GAP = "…"


def quotation(said: str) -> str:
    """A user's words on one line of at most `QUOTE_CHARS` characters, with … where something is left out."""
    if len(said) > 2 * READ_CHARS:
        said = f"{said[:READ_CHARS]}\n\n{said[-READ_CHARS:]}"
    if len(flat := " ".join(said.split())) <= QUOTE_CHARS:
        return flat
    spans = sentences(said)
    strange = set(spans) - set(spoken(said, spans))
    own = [place for place, span in enumerate(spans) if span not in strange]
    if not own:
        return one_line(flat, QUOTE_CHARS)
    begin = spans[own[0]][0] if _opens_strange(said) else 0
    last, end = _last(said, spans, own=own)
    before, behind = f"{_GAP} " * (begin > 0), f" {_GAP}" * (end < len(said.rstrip()))
    closing = f" {' '.join(said[last:end].split())}{behind}"
    opening = one_line(said[begin:last], QUOTE_CHARS - len(before) - len(closing))
    return f"{before}{opening}{closing}".replace(f"{_GAP} {_GAP}", _GAP).replace("  ", " ").strip()


def _last(text: str, spans: tuple[Span, ...], *, own: list[int]) -> Span:
    """The last sentences that are quoted whole, with the list that the last one opens; nothing where they are too long."""
    end = begin = spans[list_under(text, spans, head=own[-1])][1]
    for place in reversed(own):
        start = spans[place][0]
        if end - start > (LAST_CHARS if begin < end else LAST_CHARS_MOST):
            break
        stands_under = place > 0 and text[spans[place - 1][1] - 1] in ":："
        if not stands_under and not is_in_list(text, start):
            begin = start
    return begin, end


def _opens_strange(text: str) -> bool:
    """Whether a text opens with what a person pasted or a host put before it."""
    return FENCE.match(text) is not None or text.lstrip()[:1] == "<"
