"""Unsaid: whether a message takes back what was said just before it, or lets an old rule stand again.

    Never push to main.  ·  You may push to main now.  ·  I take that back.            the rule stands again
    Use port 8080.       ·  Use port 9090.             ·  Sorry, wrong chat.           so does 8080

What a taking-back had taken back stands again with it. Reads generously: where it is wrong two things stand in the place of one, and
nothing is lost. Counterpart: `foldline.ledger.supersession`, which knows what was struck by what.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from foldline.ledger.superseded import Supersession

Done: TypeAlias = tuple[int, Supersession]
"""The ordinal of a message, and what it did to another."""
NEAR: Final = 3
"""So many messages back stands what is taken back."""
UNSAID_CHARS_MAX: Final = 200
"""Who takes his last words back says little else."""
AGAIN_CHARS_MAX: Final = 400

_END: Final = r"(?=\s*(?:[.,;:!—–-]|$|please\b|for now\b|about (?:that|this|it)\b))"
"""Where a clause ends, so that it speaks of nothing but the words before it."""
_WORDS_OF_MINE: Final = r"(?:message|msg|comment|instruction|request|order|remark|note|sentence|line|point|thing|one|text|post|prompt|answer|statement|update|correction|permission)s?"
_UNSAYS: Final = re.compile(
    r"\btake (?:that|this|it|my words?|what i said) back\b"
    r"|\b(?:scratch|forget|ignore|disregard|strike|undo|cancel|never ?mind) "
    rf"(?:(?:that|this|it){_END}|what i\b|(?:the|my|that) (?:last|previous|earlier|prior)(?: {_WORDS_OF_MINE})?{_END})"
    rf"|\bnever ?mind{_END}"
    r"|(?:\bwrong|\b(?:was|meant|intended) (?:\w+ )?for (?:an|the|a|some)?\s?(?:other|different)) (?:chat|window|thread|channel|tab|person|project|repo|repository|session|conversation)\b"
    r"|\b(?:wait|actually|hmm|hm|sorry|hold on|no)[ ,.!…–—-]{1,3}(?:sorry[ ,.!]{1,2})?"
    rf"(?:no|not(?: (?:yet|now|today))?|wait|(?:don['’]t|do not)(?: do (?:that|this|it))?){_END}"
    rf"|(?:^|[.!,;–—-]\s{{0,3}})not yet{_END}|\bon second thoughts?\b"
    rf"|\bi(?:['’]ve| have)? changed my mind\b|\bi (?:misspoke|mistyped|(?:misread|was wrong|was mistaken|got (?:it|that) wrong){_END})"
    rf"|\bmy (?:mistake|bad)\W*$|\bthat was (?:a mistake{_END}|wrong{_END}|meant for\b)"
    r"|收回|发错|發錯|忽略(?:上一|前一|刚才|我)|当我没说|當我沒說|说错|說錯|搞错|看错|弄错|算了|先别|先不要|还是(?:别|不)|(?:^|[，。！,!])(?:不对|等等)(?=[，。！,!]|$)|刚才(?:说|的).{0,8}(?:不算|作废|取消|忘)"
    r"|\bnehme (?:das|es) zurück\b|\bvergiss (?:das|es)\b|\bdoch nicht\b|\boublie (?:ça|cela)\b|\bfinalement non\b|\bolv[ií]da(?:lo| eso)\b|\bmejor no\b|取り消|やっぱり|間違え|취소",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w{4,}", re.ASCII)
_RULE: Final = r"(?:rules?|bans?|restrictions?|limits?|prohibitions?|constraints?|instructions?|conditions?|polic(?:y|ies))"
_HOLDS: Final = r"(?:stands?|holds?|appl(?:y|ies)|counts?)"
_AGAIN: Final = re.compile(
    rf"\b{_RULE}\b[^.!?\n]{{0,40}}?\b(?:still {_HOLDS}\b|{_HOLDS}(?: (?:again|still|as before)\b|{_END})"
    r"|(?:is|are|be) (?:again|still|back|in (?:force|effect)|reinstated|restored|as before)\b)"
    rf"|\b(?:reinstate|restore|bring back|back to|return to|revert to)\b[^.!?\n]{{0,40}}\b(?:{_RULE}|what i said)\b"
    r"|(?:规则|规定|限制|禁令|要求|约定)[^。！？\n]{0,12}(?:恢复|又|重新|仍|依然|照旧|生效|有效)|(?:恢复|按)(?:之前|原来|以前)的(?:规则|规定|限制|要求|约定)",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"[.!?。！？\n]|$")
_SAYS_NO_MORE: Final = re.compile(
    rf"{_RULE}|{_HOLDS}|still|again|from|here|now|back|into|force|effect|reinstated?|restored?|bring|return|revert|before|what|that|this|those|these|same|previous|earlier|original|please|okay"
)
"""Words beside a rule that do not say which."""


def undone(
    text: str,
    messages: Sequence[tuple[int, str]],
    *,
    place: int,
    done: Sequence[Done],
    found: Sequence[Supersession],
) -> list[Done]:
    """Of what earlier messages did, what a message undoes: all that the newest one near did, where it takes that back and gives nothing in
    its place; of what was lifted or taken back, where it lets a rule stand again, what it may mean. `messages`: ordinals and texts, of which it
    stands at `place`; `found`: what the message itself does."""
    if not done:
        return []
    if (again := _says_again(text)) is not None:
        fell = [one for one in done if one[1].how in ("allowed", "withdrawn", "reset")]
        texts, words = (
            dict(messages[:place]),
            {word for word in _words(again) if not _SAYS_NO_MORE.fullmatch(word)},
        )
        return [one for one in fell if not words or words & _words(texts[one[1].ordinal])]
    if not _unsays(text):
        return []
    causes = {by for by, _ in done}
    cause = next(
        (ordinal for ordinal, _ in reversed(messages[max(0, place - NEAR) : place]) if ordinal in causes),
        None,
    )
    if any(one.ordinal == cause and one.how in ("updated", "replaced") for one in found):
        return []
    return [one for one in done if one[0] == cause]


def _unsays(text: str) -> bool:
    return len(text) <= UNSAID_CHARS_MAX and any(not _asks(text, hit.end()) for hit in _UNSAYS.finditer(text))


def _says_again(text: str) -> str | None:
    """The sentence that lets a rule stand again."""
    for hit in _AGAIN.finditer(text) if len(text) <= AGAIN_CHARS_MAX else ():
        if not _asks(text, hit.end()):
            begin = max(text.rfind(end, 0, hit.start()) for end in ".!?。！？\n") + 1
            return text[begin : _end_of(text, hit.end())]
    return None


def _end_of(text: str, at: int) -> int:
    end = _SENTENCE_END.search(text, at)
    return len(text) if end is None else end.start()


def _asks(text: str, at: int) -> bool:
    """Whether the sentence around `at` is a question, which takes nothing back."""
    return text[_end_of(text, at) :][:1] in ("?", "？")


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}
