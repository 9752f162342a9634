"""Answers: what the agent told the user at the end of a turn, by its first words that say something.

    user: why does it hang?
    assistant: Good question! `drain()` returns before the worker has joined.      Answered: `drain()` returns before …

What users asked stays in view; without a line of what they were told, the reader of a ledger asks it again.
Counterpart: `decisions`, for the sentences that give a reason.
"""

from __future__ import annotations

import re

from foldline.ledger.lines import one_line
from foldline.ledger.sentences import code_lines, sentences

ANSWERED = "Answered: "
"""What such an entry opens with."""
ANSWER_CHARS = 200
WORDS_MIN, LETTERS_MIN = 4, 8
"""A sentence of fewer words says nothing by itself (`Done.`); one of a script without spaces has so many characters."""
READ_CHARS = 4_000
"""How far a text is read for its first words that say something."""
SENTENCES_MAX = 12
"""How many are looked through for one that says something."""

_OPENS = re.compile(
    r"\W*(?:(?:great|good|excellent|nice|fair|perfect|sure|okay|ok|thanks?|absolutely|of course|no problem|got it|understood|sorry|you['’]re (?:absolutely |totally )?right"
    r"|let me|now let|i['’]ll (?:now |start)|here(?:['’]s| is| are) (?:what|a|the)|happy to|glad)\b|好的|好，|没问题|明白|当然|抱歉|您?说得对|让我|我来|我先)",
    re.IGNORECASE,
)
"""How a sentence opens that only leads to what is said."""
_NAMES = re.compile(r"\d|`")
"""What makes a short sentence say something."""
_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\*\*[^*\n]{1,80}\*\*:?[ \t]*(?:\n|\Z)|\||-{3,}|={3,})")


def answer_in(said: str) -> str:
    """What a text tells, on one line of at most `ANSWER_CHARS` characters behind `ANSWERED`; empty where it only asks, or says that
    it is done."""
    said = said[:READ_CHARS]
    code = code_lines(said)
    for start, end in sentences(said)[:SENTENCES_MAX]:
        sentence = said[start:end]
        line = said.rfind("\n", 0, start) + 1
        if (
            start in code
            or sentence.endswith(("?", "？"))
            or _HEADING.match(said, line)
            or _OPENS.match(sentence)
        ):
            continue
        words = len(sentence.split())
        is_said = words >= WORDS_MIN or (words > 1 and _NAMES.search(sentence) is not None)
        if is_said or (not sentence.isascii() and len(sentence) >= LETTERS_MIN):
            return f"{ANSWERED}{one_line(said[start:], ANSWER_CHARS)}"
    return ""
