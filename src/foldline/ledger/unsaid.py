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

_UNSAYS: Final = re.compile(
    r"\btake (?:that|this|it|my words?|what i said) back\b|\b(?:scratch|forget|ignore|disregard|strike|undo|cancel) (?:(?:that|this|it)(?=\s*(?:[.,;:!?—–-]|$|about|please|for now))|what i\b|(?:the|my) (?:last|previous|earlier|prior)\b)"
    r"|\bnever ?mind\b|(?:\bwrong|\b(?:was|meant|intended) (?:\w+ )?for (?:an|the|a|some)?\s?(?:other|different)) (?:chat|window|thread|channel|tab|person|project|repo|repository|session|conversation)\b"
    r"|\b(?:wait|actually|hmm|hm|sorry|hold on|no)[ ,.!…–—-]{1,3}(?:sorry[ ,.!]{1,2})?(?:no|not|don['’]?t|wait|do not)\b|(?:^|[.!,;–—-]\s{0,3})not yet\b|\bon second thoughts?\b"
    r"|\bi(?:['’]ve| have)? changed my mind\b|\bi (?:misread|misspoke|mistyped|was wrong|was mistaken|got (?:it|that) wrong)\b|\bmy (?:mistake|bad)\b|\bthat was (?:a mistake|wrong|meant for)\b"
    r"|收回|发错|發錯|忽略(?:上一|前一|刚才|我)|当我没说|當我沒說|说错|說錯|搞错|看错|弄错|算了|先别|先不要|还是(?:别|不)|(?:^|[，。！,!])(?:不对|等等)(?=[，。！,!]|$)|刚才(?:说|的).{0,8}(?:不算|作废|取消|忘)"
    r"|\bnehme (?:das|es) zurück\b|\bvergiss (?:das|es)\b|\bdoch nicht\b|\boublie (?:ça|cela)\b|\bfinalement non\b|\bolv[ií]da(?:lo| eso)\b|\bmejor no\b|取り消|やっぱり|間違え|취소",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w{4,}")
_RULE: Final = r"(?:rules?|bans?|restrictions?|limits?|prohibitions?|constraints?|instructions?|conditions?|polic(?:y|ies))"
_AGAIN: Final = re.compile(
    rf"\b{_RULE}\b[^.!?\n]{{0,80}}\b(?:again|still|stands?|applies|apply|holds?|back|force|effect|reinstated|restored|as before)\b"
    rf"|\b(?:reinstate|restore|bring back|back to|return to|revert to)\b[^.!?\n]{{0,40}}\b(?:{_RULE}|what i said)\b"
    r"|(?:规则|规定|限制|禁令|要求|约定)[^。！？\n]{0,12}(?:恢复|又|重新|仍|依然|照旧|生效|有效)|(?:恢复|按)(?:之前|原来|以前)的(?:规则|规定|限制|要求|约定)",
    re.IGNORECASE,
)


def undone(
    text: str, before: Sequence[tuple[int, str]], *, done: Sequence[Done], found: Sequence[Supersession]
) -> list[Done]:
    """Of what earlier messages did, what a message undoes: all that the newest one near did, where it takes that back and gives nothing in
    its place; of what was lifted or taken back, where it lets a rule stand again, what it may mean. `before`: ordinals and texts of the
    earlier ones; `found`: what the message itself does."""
    if done and _says_again(text):
        fell = [one for one in done if one[1].how in ("allowed", "withdrawn", "reset")]
        texts, words = dict(before), _words(text)
        return [one for one in fell if words & _words(texts[one[1].ordinal])] or fell
    if not done or not _unsays(text):
        return []
    causes = {by for by, _ in done}
    cause = next((ordinal for ordinal, _ in reversed(before[-NEAR:]) if ordinal in causes), None)
    if any(one.ordinal == cause and one.how in ("updated", "replaced") for one in found):
        return []
    return [one for one in done if one[0] == cause]


def _unsays(text: str) -> bool:
    return len(text) <= UNSAID_CHARS_MAX and _UNSAYS.search(text) is not None


def _says_again(text: str) -> bool:
    return len(text) <= AGAIN_CHARS_MAX and _AGAIN.search(text) is not None


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}
