"""Decisions: the sentences in which the agent says what it does and why.

A decision is told where a sentence gives a reason or says that one was made, and none where it is left open: a question, a
guess, what should or could be done. Counterparts: `book`, which makes the entries, and `withdrawals`, for what later words take
back of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foldline.ledger.lines import one_line
from foldline.ledger.sentences import sentences

DECISION_CHARS = 240

_REASONS = (
    *("because", "since", "so that", "instead of", "rather than", "decid", "chose", "cause", "turns out"),
    *("因为", "由于", "决定", "改用", "原因", "而不是", "因此", "所以", "选择", "采用", "选用", "选定"),
    *("opted", "go with", "going with", "went with"),
)
_BECAUSE = re.compile(
    r"\bbecause\b|\bsince\b|\bso that\b|\binstead of\b|\brather than\b|\bdecided\b|\bdecision\b|\bchose\b|\bthe (?:root )?cause\b"
    r"|\bturns out\b|\bopted\b|\b(?:i['’]ll|we['’]ll|i will|we will) go with\b|\b(?:going|went) with\b|(?:选择|采用|选用|选定)了?[“\"「『]|因为|由于|决定|改用|原因|而不是|因此|所以",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"(?:n['’]t|\bnot|\bnever|\byet to|\bstill to|\bneed to|\bhave to|\bmust|\bshould|\bwill|\blet me|\bto|\bcannot) (?:yet |even |fully |really )?(?:been )?(?:decid|cho[so])"
    r"|\b(?:maybe|perhaps|possibly|should probably|(?:it|we) could|could (?:also|either|just|simply|even))\b|\bundecided\b|\bdecid\w* (?:yet )?(?:whether|if|between)\b|(?:\bnot|n['’]t) (?:\w{1,12} )?because\b|[?？][\"'”’)\]]{0,3}$"
    r"|(?:还没|没有|尚未|还未|未曾|未)(?:有)?(?:做)?(?:出)?决定|(?:不是|并非|并不是)(?:因为|由于)|(?:是否|要不要)",
    re.IGNORECASE,
)
"""What speaks of a decision that was not made, or denies a reason."""
_REVERSES = re.compile(
    r"\W*(?:(?:but|oh|hmm|and|so|well|ok|okay)\W+){0,2}(?:actually|wait|no\b|nope|on (?:reflection|second thoughts?)|thinking (?:about it )?again|scratch that|forget that|never\s?mind|correction|instead"
    r"|(?:that|this|it) (?:was|is) (?:wrong|a mistake|not right|incorrect)|(?:that|it)['’]s (?:wrong|not right)|i was (?:wrong|mistaken)|i take that back|i (?:have )?changed my mind|however)\b"
    r"|\W*(?:不对|等等|等一下|算了|其实|更正|重新考虑|改主意|转念|不过|但是|错了)",
    re.IGNORECASE,
)
"""How a sentence opens that may take back the one before."""
_LEFT_TO = re.compile(
    r"(?:让|由|请|给|交给)(?:我|你|您|用户)(?:们)?(?:来|自己|自行)?决定|(?:你|您|用户|他们)(?:来|自己|自行)?决定|\b(?:let|lets|asked) (?:me|you) decide\b|\b(?:you|they|the user) decides?\b",
    re.IGNORECASE,
)
"""Who is to decide is no decision."""
_GUESSED = re.compile(
    r"^(?:(?!\b(?:because|decided|chose)\b).){0,400}?\b(?:(?:i|we|it|this|that|they|you) should|probably|might|seems?|appears?|presumably|i guess|i suppose|i wonder)\b"
    r"|\b(?:let['’]?s|let me|we can|i can|we could|i(?:['’]ll| will)|we(?:['’]ll| will)|to) (?:\w{1,20} )?try\b"
    r"|^(?:(?!\b(?:because|decided|chose|cause)\b).){0,400}?\b(?:i|we|you) (?:still |also )?(?:need|have) to\b|\b(?:is|['’]s) (?:(?:a bit|kind of|almost|just) )?like\b"
    r"|\b(?:i|we)(?:['’]ll| will) (?:now|first|next)\b|\bassum(?:e|ing|ption)\b"
    r"|^(?:(?!决定|改用|采用).){0,400}?(?:应该|应当)|可能|也许|或许|大概|似乎|好像|不确定|可以(?:选择|采用|考虑|先)",
    re.IGNORECASE,
)
"""What is guessed, wished or tried is not decided."""
_MUSES = re.compile(
    r"\W*(?:(?:actually|wait|hmm+|oh|well|but|so|ok|okay|now)\W+){1,3}(?:(?:looking|thinking|reading|checking) (?:at|about|again|more|into|through|this|that|it)\b|let me\b|i (?:see|wonder|think|notice|realize|realise)\b)",
    re.IGNORECASE,
)
"""How a sentence opens that only thinks on: what stands before it was not decided."""
_TIDIES = re.compile(
    r"^\W*(?:a |an |some |just |only )?(?:(?:minor|small|trivial|tiny|cosmetic)[\s,]+(?:(?:and|code|style|doc\w*|comment|format\w*|lint\w*|type|test|naming|readability)\s){0,2}"
    r"(?:clean-?ups?|fix(?:es)?|tweaks?|tid(?:y|ying|ies)|polish\w*|corrections?|adjustments?|improvements?|edits?|changes?|refactor\w*|rename|typos?|nits?)\b|(?:code )?clean-?ups?\s?[(:—–])"
    r"|\bclean(?:ing|ed)? up\b",
    re.IGNORECASE,
)
"""What only tidies up needs no reason that anybody asks for later."""
_NAME = re.compile(r"`[^`\n]*`")
_ANNOUNCES = re.compile(r"[,，][^,，]{0,40}[:：]$")
_CHOICE = re.compile(
    r"决定|选择|采用|选用|选定|\b(?:decided|chose|opted|go with|going with|went with)\b", re.IGNORECASE
)
"""What says by itself that something was decided."""
_DIFF = re.compile(r"^(?:diff --git |@@ -\d|--- a/|\*\*\* Begin Patch)", re.MULTILINE)
"""Where a patch begins that the agent quotes: what stands in it, files say."""


def reasons_in(said: str) -> Iterator[str]:
    """Sentences in which the assistant gives a reason, each with the next one where that turns against it, and none that the
    next one only doubts; one that announces what follows says nothing by itself. What a patch says is no reason of the agent's."""
    diff = _DIFF.search(said)
    said = said if diff is None else said[: diff.start()]
    spans = sentences(said) if _may_give_reason(said) else ()
    for place, (start, end) in enumerate(spans):
        end = start + len(_announced(said[start:end]))
        if not _decides(said[start:end]):
            continue
        after = spans[place + 1] if place + 1 < len(spans) else (end, end)
        turns = _REVERSES.match(said, *after) is not None
        if turns and (_UNDECIDED.search(said[slice(*after)]) or _MUSES.match(said, *after)):
            continue
        yield one_line(said[start : after[1] if turns else end], DECISION_CHARS)


def _decides(sentence: str) -> bool:
    told = _LEFT_TO.sub("", sentence)
    return (
        _may_give_reason(told)
        and not told.endswith((":", "："))
        and _BECAUSE.search(told) is not None
        and not _UNDECIDED.search(told)
        and not _GUESSED.search(told)
        and not _MUSES.match(told)
        and not (_TIDIES.search(_NAME.sub(" ", told)) and not _CHOICE.search(told))
    )


def _announced(sentence: str) -> str:
    """What a sentence says before the clause that announces what follows it."""
    before = _ANNOUNCES.sub("", sentence)
    return before if _CHOICE.search(before) is not None else sentence


def _may_give_reason(text: str) -> bool:
    """Whether a text holds a word of `_BECAUSE`; far cheaper than the expression."""
    lowered = text.lower()
    return any([word in lowered for word in _REASONS])
