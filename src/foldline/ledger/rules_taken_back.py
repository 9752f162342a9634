"""Rules that a sentence takes back by naming them: "forget what I said about tabs", "drop the rule about pushing", "stop
running the linter", "you don't need to run the linter any more".

Knows texts alone. Conservative: a rule falls only where it says little beside what is named, and where "the rule" could
mean two, neither does. Counterpart: `supersession`, which knows whose words these are and in which order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from foldline.ledger.cues import is_turned

NAME_CHARS = 60
BESIDE_MAX = 2
"""Words a rule may have beside those that name it; in a longer one too much could still stand."""

_OPENS = r"(?:^|[,.;:!—–-]\s{0,3}|\b(?:please|can|may|should|let['’]?s|now|so|ok|okay|also|and|then|just|actually)\s{1,3})"
_NAME = rf"\s{{1,3}}(?P<name>[^.,;:!?\n—–]{{1,{NAME_CHARS}}})"
_DROPS = re.compile(
    rf"{_OPENS}(?:forget|ignore|disregard|drop|scrap|lift)\s{{1,3}}(?:about\s{{1,3}})?"
    r"(?:(?P<all>(?:what|everything|anything|all)\s{1,3}(?:that\s{1,3})?i(?:['’]ve)?\s{1,3}(?:said|told you|wrote)\s{1,3}(?:about|regarding|on)"
    r"|(?:the|my|our|those|these|all)\s{1,3}(?:\w{1,12}\s{1,3})?(?:rules|instructions|constraints)\s{1,3}(?:about|regarding|on|against|for))"
    r"|(?:the|my|our|that|this)\s{1,3}(?:earlier\s|previous\s|prior\s|old\s|first\s|last\s)?\s{0,3}(?:rule|instruction|constraint)"
    rf"\s{{1,3}}(?:about|regarding|on|against|for)){_NAME}",
    re.IGNORECASE,
)
_STOPS = re.compile(
    rf"{_OPENS}(?:stop|quit)\s{{1,3}}(?P<name>\w{{2,20}}ing\b[^.,;:!?\n—–]{{0,{NAME_CHARS}}})", re.IGNORECASE
)
_SPARES = re.compile(
    rf"{_OPENS}you (?:no longer (?:need|have) to|(?:do not|don['’]t) (?:need|have) to(?=[^.,;:!?\n—–]{{1,{NAME_CHARS}}}\b(?:any ?more|any longer|now)\W*$))"
    rf"\s{{1,3}}(?P<name>[^.,;:!?\n—–]{{1,{NAME_CHARS}}})",
    re.IGNORECASE,
)
"""What says of a duty that it is none any more."""
_FORBIDS = re.compile(
    r"\b(?:not|never|no|avoid|without|stop|forbidden|cannot|nothing)\b|n['’]t\b", re.IGNORECASE
)
_SEVERAL = re.compile(r"[,;:]|\b(?:and|or|but|unless|except|also)\b", re.IGNORECASE)
"""What joins two rules in one sentence: naming one of them must not take back the other."""
_WORD = re.compile(r"[^\W_]+")
_FILLER = frozenset(
    "the a an my our your this that these those it its to of in on at for with by from as is are be i we you me us any some"
    " please now again all any anymore more longer entirely altogether completely always every time must should shall may can never not"
    " do don t no make sure need have ever".split()
)
_ENDINGS = (("ies", 3), ("ing", 2), ("ed", 3), ("es", 2), ("s", 3), ("e", 2), ("y", 3))
"""What is cut from a word, and how much of it has to be left."""


def taken_back(sentence: str, rules: Sequence[str]) -> tuple[int, ...]:
    """Which of `rules` (each a sentence) a later sentence takes back, by their places."""
    if sentence.rstrip().endswith(("?", "？")):
        return ()
    places: list[int] = []
    for cue in _DROPS.finditer(sentence):
        if not is_turned(sentence, cue.start()):
            hits = [place for place, rule in enumerate(rules) if _is_named(rule, cue["name"])]
            places += hits if cue["all"] or len(hits) == 1 else []
    for cue in (*_STOPS.finditer(sentence), *_SPARES.finditer(sentence)):
        if not is_turned(sentence, cue.start()):
            places += [
                place
                for place, rule in enumerate(rules)
                if _FORBIDS.search(rule) is None and _is_named(rule, cue["name"])
            ]
    return tuple(sorted(set(places)))


def stems(words: Iterable[str]) -> frozenset[str]:
    """Words without their endings: "pushing" and "push" are one."""
    return frozenset(_stem(word.lower()) for word in words)


def _stem(word: str) -> str:
    for ending, left in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= left:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def _is_named(rule: str, name: str) -> bool:
    wanted, there = telling(name), telling(rule)
    return (
        bool(wanted)
        and wanted <= there
        and len(there - wanted) <= BESIDE_MAX
        and _SEVERAL.search(rule) is None
    )


def telling(text: str) -> frozenset[str]:
    """The words of a text without their endings, and without those that say nothing by themselves."""
    return stems(word for word in _WORD.findall(text) if word.lower() not in _FILLER)
