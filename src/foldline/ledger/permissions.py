"""Permissions: sentences that allow what was forbidden, and what just they allow.

Two readings, each on its safe side. `allows` is generous: such a sentence is kept like a rule, so that what is allowed can be
read where the rule was. `allowed_by` is strict: only a sentence that is a permission from its first word to its last, and
names what it allows, may lift a rule; one that a report, a place, a time or another clause stands around lifts none. Knows
one sentence; whose words it is has to be known before (`foldline.ledger.own_words`), what falls is `rules_allowed`'s affair.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from foldline.ledger.sentences import sentences

SENTENCE_CHARS_MAX = 400
"""No longer sentence is kept as a permission."""
PLAIN_CHARS_MAX = 200
"""No longer sentence is nothing but a permission."""
TEXTS_MAX = 512
"""Texts whose permissions are remembered."""

_ALLOWS = re.compile(
    r"\byou (?:may|can) now\b|\byou (?:may|can|are (?:now )?(?:allowed|free) to)\b.{0,160}\b(?:now|again|after all)\b|\byou are now (?:allowed|free) to\b|\b(?:it['’]?s|it is) (?:now )?(?:ok|okay|fine|alright|allowed) (?:now )?to\b.{0,160}\b(?:now|again|after all)\b|\b(?:it['’]?s|it is) now (?:ok|okay|fine|alright|allowed) to\b"
    r"|\b(?:is|are) (?:now )?(?:allowed|permitted|ok|okay|fine|writable)\s+(?:now|again|after all)\b|\b(?:is|are) now (?:allowed|permitted|ok|okay|fine|writable|editable)\b|\bno longer (?:forbidden|off[- ]limits|frozen|read-only|applies|prohibited|banned)\b|\byou no longer (?:have|need) to\b"
    r"|\b(?:can|may) (?:now|again) be \w|\b(?:can|may) be \w{1,20} (?:now|again|after all)\b|\b(?:scratch that|changed my mind|on second thought)\W{1,3}.{0,80}\b(?:can|may)\b"
    r"|现在(?:可以|能|允许)|(?:可以|允许).{1,30}了|不再(?:禁止|限制|需要)|解除|(?:もう|今は).{0,20}(?:てもいい|て(?:いい|よい|構)|可能)|이제.{0,20}(?:해도|도)\s?(?:돼|됩니다|좋)",
    re.IGNORECASE,
)
_CHANGED = r"(?:i(?:['’]ve| have)? changed my mind|on (?:second thoughts?|reflection)|scratch that|never\s?mind(?: that)?|forget that)"
_LEAD = re.compile(
    r"\W{0,3}(?:(?:ok|okay|alright|all right|right|fine|good|great|perfect|yes|yeah|no|well|actually|now|thanks|thank you|hey|hi|please note(?: that)?|note(?: that)?|also"
    rf"|update|change|correction|from now on|starting now|as of (?:now|today)|(?P<changed>{_CHANGED})"
    r"|the (?:\w{1,20} ){1,3}(?:is|are) (?:over|done|finished|lifted|gone|merged|approved))\b[\s,.:;!—–-]{1,6}(?:(?:so|and|but)\s)?){0,4}",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?P<when>(?:[\s,]{1,3}(?:now|again|after all|any ?more|from now on|too|as well|freely|please|thanks|thank you|if you (?:want|like|wish|need)(?: to)?)){0,4})\s{0,3}[.!]{0,3}\s{0,3}$",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\b(?:now|again|after all|from now on|any ?more|no longer)\b", re.IGNORECASE)
"""A permission with one of these was none before."""
_FINE = r"(?:ok|okay|fine|alright|all right|allowed|permitted|acceptable)"
_NO_VERB = r"(?!(?:not|never|only|hardly|now|again|also|still|already|see|want|think|be|have|wish|tell|say|imagine|as|no|read the)\b)"
_WORDS = r"(?:[^\s,;:.!?\"“”«»`]|[.:](?=\S)|`[^`\s]{1,80}`){1,80}"
_OBJECT = rf"{_WORDS}(?:\s{_WORDS}){{0,8}}"
_FORM = re.compile(
    rf"(?:you (?:may|can|are (?:now )?(?:allowed|free|permitted|welcome) to)|(?:it['’]?s|it is) (?:now )?{_FINE}(?: now)?(?: for you)? to)"
    rf"\s(?:(?:now|again|please|also|freely)\s)?{_NO_VERB}(?P<verb>[a-z]{{2,20}})(?:\s(?P<b>{_OBJECT}))?"
    rf"|(?P<gerund>[a-z]{{2,20}}ing)\s(?P<a>{_OBJECT}) (?:is|are) (?:now )?{_FINE}"
    rf"|(?P<c>{_OBJECT}) (?:is|are) (?:now )?(?:{_FINE}|writable|editable|no longer (?:forbidden|off[- ]limits|frozen|read-only|prohibited|banned))"
    rf"|(?P<d>{_OBJECT}) (?:can|may) (?:now |again )?be (?P<participle>[a-z]{{2,20}})",
    re.IGNORECASE,
)
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_HAN_LEAD = r"\W{0,3}(?:(?:好的?|行|嗯|对了|那么?|改主意了|我改主意了|更新|更正|注意|另外|从现在起|从现在开始|谢谢)[，,。：:！!\s]{1,3}){0,3}"
_HAN_PLAIN = re.compile(
    rf"{_HAN_LEAD}(?:(?:你|您|你们|我们|咱们)?(?:现在|以后|从现在起|今后)?(?:已经)?(?:可以|能|允许(?:你)?)|(?:现在)?不再(?:禁止|限制)|(?:现在)?解除[^，。]{{0,20}}禁)[^，,。；;！？!?：:\n\"“”「」]{{1,60}}[。！.!]{{0,2}}\s{{0,3}}$"
    rf"|{_HAN_LEAD}[^，,。；;！？!?：:\n\"“”「」]{{1,60}}(?:现在)?(?:可以|允许|能)[^，,。；;！？!?：:\n\"“”「」说不没别]{{1,6}}了[。！.!]{{0,2}}\s{{0,3}}$"
    rf"|{_HAN_LEAD}[^，,。；;！？!?：:\n\"“”「」]{{1,40}}(?:もう|今は|이제)[^。！？!?\n\"“”「」]{{1,30}}[。！.!]{{0,2}}\s{{0,3}}$"
)
_HAN_NARROWS = re.compile(
    r"只|仅|除|但|先|再|之前|之后|以前|以后再|如果|才|一次|一下|明天|测试环境|沙箱|不能|不可以|不允许|别"
)


class Allowed(Struct, frozen=True, kw_only=True):
    """What a sentence allows, and nothing else in it."""

    text: str
    """The permission without what it opens with and ends on."""
    verb: str
    """What is allowed to be done, as it is written, in small letters; empty where only a thing is named."""
    thing: str
    """What it may be done to."""
    is_han: bool


def allows(sentence: str) -> bool:
    """Whether a sentence allows what was forbidden; a question allows nothing."""
    return _ALLOWS.search(sentence) is not None and not sentence.endswith(("?", "？"))


@lru_cache(maxsize=TEXTS_MAX)
def permissions(text: str) -> tuple[str, ...]:
    """The sentences of a person's text that allow something, as they stand: each is kept like a rule."""
    if _ALLOWS.search(text) is None:
        return ()
    found = (text[start:end] for start, end in sentences(text) if end - start <= SENTENCE_CHARS_MAX)
    return tuple(sentence for sentence in found if allows(sentence))


def allowed_by(sentence: str) -> Allowed | None:
    """What a sentence allows that is a permission and nothing else."""
    if len(sentence) > PLAIN_CHARS_MAX or not allows(sentence):
        return None
    if _HAN.search(sentence):
        return _allowed_in_han(sentence)
    lead = _LEAD.match(sentence)
    opened = lead.end() if lead is not None else 0
    tail = _TAIL.search(sentence, opened)
    if tail is None:
        return None
    core = sentence[opened : tail.start()]
    form = _FORM.fullmatch(core)
    has_changed = lead is not None and lead["changed"] is not None
    if form is None or not (has_changed or _SINCE.search(sentence)):
        return None
    verb = form["verb"] or form["gerund"] or form["participle"] or ""
    thing = form["a"] or form["b"] or form["c"] or form["d"] or ""
    return Allowed(text=core, verb=verb.lower(), thing=thing.strip(), is_han=False)


def _allowed_in_han(sentence: str) -> Allowed | None:
    lead = re.match(_HAN_LEAD, sentence)
    core = sentence[lead.end() if lead is not None else 0 :]
    if _HAN_PLAIN.match(sentence) is None or _HAN_NARROWS.search(core):
        return None
    return Allowed(text=core, verb="", thing=core, is_han=True)
