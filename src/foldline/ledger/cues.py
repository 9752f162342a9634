"""Cues: whether words that would take something back are meant so where they stand.

"Don't forget that", "why did you ignore everything I said?", "the linter will ignore it", "a button that says 'cancel
that request'": negated, told of somebody else, quoted. Knows texts alone; which words are a cue, and what they take back, is
in `foldline.ledger.supersession` and `foldline.ledger.rules_taken_back`; which sentences are read for them, in `own_words`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from foldline.ledger.own_words import breaks_off, is_brought_in, is_question
from foldline.ledger.sentences import Span

BEFORE_CHARS = 24
"""How far before such words a "not" turns them round."""
HAN_BEFORE_CHARS = 4
CLAUSE_CHARS_MAX = 120
"""How far back the clause of a cue is read."""

_TURNED = re.compile(
    r"\b(?:not|never|without|cannot|nicht|kein\w{0,2}|niemals|jamais|nunca|não)\b|n['’]t\b|\b(?:no)\s*$|\bне\b",
    re.IGNORECASE,
)
_HAN_TURNED = re.compile(r"(?:不要|别|別|不能|不可|不许|不得|不准|没有?|沒有?|勿|不)(?:再|都|要)?$")
_HAN_KEPT = re.compile(r"(?:不要|别|別|不能|不可|勿|没)(?:再)?(?:忘|取消|放弃|作废|改主意)")
QUOTED = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|‘[^’\n]{1,400}’|「[^」\n]{1,400}」|『[^』\n]{1,400}』|«[^»\n]{1,400}»|`[^`\n]{1,400}`"
    r"|(?<!\w)'[^'\n]{1,400}'(?!\w)"
)
_VERB = re.compile(r"(?:scratch|scrap|forget|disregard|ignore|strike|discard|cancel|drop)\b", re.IGNORECASE)
"""What a person tells another to do: it opens its clause, or stands behind what asks for it."""
_ASKS = re.compile(
    r"\W*(?:(?:please|pls|ok|okay|oh|hmm|hm|no|nah|wait|sorry|actually|now|so|just|then|and|but|also|well|alright|right|yes|yeah|instead|simply|again|first|guys"
    r"|let['’]?s|let us|you (?:can|may|should|could)|(?:can|could|would|will) (?:you|we)|we (?:can|should|could|will)|we['’]ll|(?:i|we) (?:want|need) (?:you )?to|i['’]d like (?:you )?to"
    r"|better|maybe|perhaps|thanks|thank you|on second thought|kindly|totally|completely|hey|hi)\b\W*)*",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.,;:!?…\n—–()]\s|\s-{1,2}\s|\n|[。！？，；：]")

Cues: TypeAlias = "Iterator[re.Match[str]]"


def meant(text: str, spans: tuple[Span, ...], *, cues: Cues) -> Cues:
    """The cues that take something back: in one of the sentences at `spans`, neither negated, quoted nor told."""
    quoted: list[Span] | None = None
    at = 0
    for cue in cues:
        while at < len(spans) and spans[at][1] <= cue.start():
            at += 1
        if at == len(spans) or spans[at][0] >= cue.end():
            continue
        if quoted is None:
            quoted = [found.span() for found in QUOTED.finditer(text)]
        start, end = spans[at]
        inside = any(first <= cue.start() and cue.end() <= last for first, last in quoted)
        if not inside and is_meant(text[start:end], max(0, cue.start() - start), behind=cue.end() - start):
            yield cue


def is_meant(sentence: str, at: int, *, behind: int | None = None) -> bool:
    """Whether a cue at `at` in a sentence, which ends at `behind`, is neither negated, asked, told nor taken back itself."""
    if is_turned(sentence, at) or is_question(sentence) or is_brought_in(sentence, at):
        return False
    if breaks_off(sentence, at if behind is None else behind):
        return False
    if _VERB.match(sentence, at) is None:
        return True
    low = max(0, at - CLAUSE_CHARS_MAX)
    for stop in _CLAUSE_END.finditer(sentence, low, at):
        low = stop.end()
    asks = _ASKS.match(sentence, low, at)
    return asks is not None and asks.end() == at


def is_quoted(text: str, span: Span) -> bool:
    """Whether a piece of a text stands between quotation marks."""
    return any(found.start() <= span[0] and span[1] <= found.end() for found in QUOTED.finditer(text))


def is_turned(sentence: str, at: int) -> bool:
    """Whether a "not" before a cue, or one within it, turns it round."""
    if _TURNED.search(sentence, max(0, at - BEFORE_CHARS), at) is not None:
        return True
    if sentence.isascii():
        return False
    before = sentence[max(0, at - HAN_BEFORE_CHARS) : at]
    return _HAN_TURNED.search(before) is not None or _HAN_KEPT.search(sentence, max(0, at - 2)) is not None
