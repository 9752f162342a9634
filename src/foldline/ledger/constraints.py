"""Constraints: the rules a person gives, found wherever they stand and kept as they were written.

A list item, a clause of a long sentence, a question, a comment in code: the piece of the text is taken over as it
stands, never in other words. What words make a rule, by language, stands in `foldline.ledger.rule_words`; which rules
were taken back later, in `foldline.ledger.supersession`. Give it only what a person or the system prompt said: it
cannot know who speaks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from msgspec import Struct

from foldline.ledger.rule_words import ConstraintKind, Rows
from foldline.ledger.rules_east_asian import EAST_ASIAN
from foldline.ledger.rules_english import ENGLISH
from foldline.ledger.rules_european import EUROPEAN
from foldline.ledger.sentences import Span, code_lines, list_under, sentences

CHARS_MAX = 320
"""A sentence up to this long is kept whole; of a longer one the clauses around the rule."""
CHARS_LIMIT = 600
"""A single clause longer than this (pasted data) is cut at a blank, around the words that make the rule."""
LIST_CHARS_MAX = 1_200
"""A rule that opens a list is kept with as many of its items as stand within this."""
POINTS_BACK = 2
"""Sentences before a rule that only points back ("let's not do that again") which belong to it."""

TEXTS_MAX = 512
"""Texts whose rules are remembered: those of one history are asked for several times, and again at the next compaction."""

CLAUSE = re.compile(r"[,;:](?=\s)|[，；：、]|\s[—–-]{1,2}\s|\s(?:but|and|so|aber|und|mais|et|pero|mas)\s")
BACK = re.compile(
    r"\b(?:do|did|repeat|try|use|touch|change|want|allow|have|done)\s+(?:that|this|it|so|those|these|the same)\b"
    r"|^(?:that|this|it|these|those|both|same)\b[^.]{0,40}\.?$|(?:这样|这么|那样|那么|同样)(?:做|干|搞|写|来)?",
    re.IGNORECASE,
)
BACK_CHARS_MAX = 70
PARTED = re.compile(r"\n\n|<foldline-")
"""What no rule reaches over: a blank line, or a block of ours that was pasted."""
COMMENT = re.compile(r"(?:^|(?<=\s))(?:#+|//+|--|/\*+|<!--)\s+\S|^\*\s+\S")
CODE = re.compile(
    r"""[{}]|\$\s|at\s\S+\s?\(|File\s"|Traceback\s|(?:async\s)?def\s\w+\(|class\s\w+[(:]|function\s\w*\(|(?:const|var|let)\s\w+\s?="""
    r"""|[\w.]{1,80}(?:\[[^\]]{0,80}\])?\s?[-+*]?=\s|"[^"]{1,80}":\s"""
)
CODE_ENDS = ("{", "}", "};", ");", "){", "},", "],")
ROWS = Rows((*ENGLISH, *EUROPEAN), EAST_ASIAN)


class Constraint(Struct, frozen=True, kw_only=True, gc=False):
    """One rule, as it was given."""

    text: str
    """Verbatim piece of what was said."""
    kind: ConstraintKind
    start: int
    """Where it begins in the text that was searched, in characters."""

    @property
    def end(self) -> int:
        """Where it ends, in characters."""
        return self.start + len(self.text)


@lru_cache(maxsize=TEXTS_MAX)
def constraints(text: str) -> tuple[Constraint, ...]:
    """Every rule in a person's text, in order, none twice; pieces do not overlap."""
    spans = sentences(text)
    code = code_lines(text)
    found: list[Constraint] = []
    listed = 0
    for index, span in enumerate(spans):
        if span[0] < listed:
            continue
        cuts: tuple[int, ...] = ()
        rules = _rules_in(text, span, is_code=span[0] in code)
        if rules and (end := _end_of_list(text, spans, index=index)) > span[1]:
            found.append(Constraint(text=text[span[0] : end], kind=rules[0][0], start=span[0]))
            listed = end
            continue
        for kind, at in rules:
            if found and at < found[-1].end:
                continue
            cuts = cuts or _cuts(text, span)
            first, last = _piece(text, cuts, at=at)
            if last - first <= BACK_CHARS_MAX and BACK.search(text[first:last]):
                first = _antecedent(text, spans, index=index)
                if found and first < found[-1].end and last - found[-1].start <= CHARS_MAX:
                    first = found.pop().start  # what it points back to is a rule already: they are one
            if found and first < found[-1].end:
                first = found[-1].end
                first += len(text[first:last]) - len(text[first:last].lstrip())
            found.append(Constraint(text=text[first:last], kind=kind, start=first))
    return tuple(found)


def _end_of_list(text: str, spans: tuple[Span, ...], *, index: int) -> int:
    """Where the list ends that a rule opens ("Never:", and items that say what): head and items are one rule. Items that
    are rules each by itself stand alone."""
    start, end = spans[index]
    if end - start > CHARS_MAX:
        return end
    items = spans[index + 1 : list_under(text, spans, head=index) + 1]
    if all(_rules_in(text, item, is_code=False) for item in items):
        return end
    return max((last for _, last in items if last - start <= LIST_CHARS_MAX), default=end)


def _rules_in(text: str, span: Span, *, is_code: bool) -> list[tuple[ConstraintKind, int]]:
    """Kind and place of each rule in a sentence, in order of place; in code only comments are read."""
    start, end = span
    sentence = text[start:end]
    offset = start
    if is_code or CODE.match(sentence) or sentence.endswith(CODE_ENDS):
        comment = COMMENT.search(sentence)
        if comment is None:
            return []
        sentence, offset = sentence[comment.start() :], start + comment.start()
    places = [
        (offset + match.start(), kind)
        for kind, _, pattern in ROWS.for_sentence(sentence)
        for match in pattern.finditer(sentence)
    ]
    places.sort(key=lambda place: place[0])
    return [(kind, at) for at, kind in places]


def _cuts(text: str, span: Span) -> tuple[int, ...]:
    """Where a sentence may be cut: its ends, and if it is long, where its clauses begin."""
    start, end = span
    if end - start <= CHARS_MAX:
        return span
    return (start, *(match.end() for match in CLAUSE.finditer(text, start, end)), end)


def _piece(text: str, cuts: tuple[int, ...], *, at: int) -> Span:
    """The clauses around `at`, up to `CHARS_MAX`: what follows goes before what precedes."""
    here = min(max(bisect_right(cuts, at) - 1, 0), len(cuts) - 2)
    first, last = here, here + 1
    while last + 1 < len(cuts) and cuts[last + 1] - cuts[first] <= CHARS_MAX:
        last += 1
    while first > 0 and cuts[last] - cuts[first - 1] <= CHARS_MAX:
        first -= 1
    low, high = cuts[first], cuts[last]
    if high - low > CHARS_LIMIT:
        low, high = _around(text, (low, high), at=at)
    while low < high and text[low].isspace():
        low += 1
    return low, high - (high - low - len(text[low:high].rstrip()))


def _around(text: str, span: Span, *, at: int) -> Span:
    """At most `CHARS_LIMIT` characters around `at`, whole words where there are words."""
    low, high = max(span[0], at - CHARS_LIMIT // 4), min(span[1], at + 3 * CHARS_LIMIT // 4)
    if low > span[0]:
        blank = text.find(" ", low, at)
        low = blank + 1 if blank >= 0 else low
    if high < span[1]:
        blank = text.rfind(" ", at, high)
        high = blank if blank > at else high
    return low, high


def _antecedent(text: str, spans: tuple[Span, ...], *, index: int) -> int:
    """Where a rule that points back begins: the sentences before it, as far as they are near."""
    first = spans[index][0]
    for before in reversed(spans[max(0, index - POINTS_BACK) : index]):
        if spans[index][1] - before[0] > CHARS_MAX or PARTED.search(text, before[1], first):
            break
        first = before[0]
    return first
