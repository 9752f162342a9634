"""Overruling: a user who orders the very thing that a decision went against.

    agent: "I use sqlite instead of bolt because it is easier to query."      decided against: bolt
    user:  "Actually let's go with bolt, sqlite needs cgo."                   orders: bolt

Conservative: the thing is one word, and the order says nothing of where it holds. Knows texts alone; what was decided, and when, is
`withdrawals`' affair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from foldline.ledger.cue_words import UNSURE
from foldline.ledger.own_words import own_sentences
from foldline.ledger.sentences import sentences

ORDER_CHARS_MAX = 160
"""In a longer sentence too much beside the order could still stand."""

_THING = r"(?:the |a |an |using |plain )?[`\"“'‘]?(?P<{name}>[A-Za-z][\w.+#-]{{0,38}}[\w+#])[`\"”'’]?"
_AGAINST = re.compile(
    r"\b(?:instead of|rather than|over|as opposed to|(?<=, )not)\s"
    + _THING.format(name="a")
    + r"(?=[,.;:)，。；]|\W*$|\s(?:because|since|as|so|for|to|which|due|here|there|and)\b)"
    r"|(?:而不是|不用|不选|没有选)\s?[`“\"]?(?P<b>[A-Za-z][\w.+#-]{1,39})",
    re.IGNORECASE,
)
_BEHIND = r"(?=(?:\s(?:instead|then|please|after all|again|now|anyway|here))*(?:[,.;!)]|\W*$|\s(?:because|since|as|it is|not|rather than|instead of|over)\b|\s-))"
"""What may follow an order without saying where it holds."""
_ORDERED = re.compile(
    r"(?:\b(?:use|go (?:back to|with)|going (?:back to|with)|switch(?:ing)? (?:back )?to|change (?:it |this |that )?(?:back )?to|(?:come |get )?back to|"
    r"rather (?:have|use|take|go with)|prefer|stick (?:to|with)|take|choose|pick|(?:let['’]?s|let us) (?:do|have))\s"
    + _THING.format(name="a")
    + _BEHIND
    + r"|(?:^|[,;:.]\s|\bso |\bthen )"
    + _THING.format(name="b")
    + r"(?: it is\b|(?:,? (?:instead|then|please|after all)){1,3}(?=\W*$))"
    r"|(?:还是用|还是选|改用|换成|改成|换回|用回)\s?[`“\"]?(?P<c>[A-Za-z][\w.+#-]{1,39}))",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:no|not|never|without|avoid\w*|neither|nor|stop|who|what|why|one could|used to|they|he|she|it|(?:some\w* )?(?:people|users|others|teams?|projects?|tests?|docs))\b|n['’]?t\b|不|别|[沒没]",
    re.IGNORECASE,
)
"""What stands before an order in its clause and makes it none."""
_CLAUSE_END = re.compile(r"[,;:!?，；：。！？—–()\n]|\.(?!\w)|\s-\s|\b(?:and|but|so|because|since|then)\b")
_UNSURE = re.compile(UNSURE, re.IGNORECASE)
_NOTHING = frozenset(
    "that this it these those them one ones both all another other others more less time".split()
)


def decided_against(sentence: str) -> frozenset[str]:
    """What a decision did not take, in small letters."""
    return _named(_AGAINST.finditer(sentence))


def orders_in(said: str) -> frozenset[str]:
    """What a user orders to have or to use from here on, wherever it is, in small letters."""
    found: set[str] = set()
    for start, end in own_sentences(said, sentences(said)):
        sentence = said[start:end]
        if len(sentence) <= ORDER_CHARS_MAX and _UNSURE.search(sentence) is None:
            found |= _named(
                hit
                for hit in _ORDERED.finditer(sentence)
                if _DENIED.search(_CLAUSE_END.split(sentence[: hit.start()])[-1]) is None
            )
    return frozenset(found)


def _named(hits: Iterable[re.Match[str]]) -> frozenset[str]:
    named = [hit[hit.lastgroup].lower() for hit in hits if hit.lastgroup is not None]
    return frozenset([name for name in named if name not in _NOTHING])
