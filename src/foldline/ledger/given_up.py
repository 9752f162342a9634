"""Given up: what a text plainly does without from now on, in its own words: "forget Redis", "no caching please", "Redis is wrong here",
不要用 Redis.

Knows texts alone, and no more of a thing than the words that name it; what was decided or planned under that name is known to
`withdrawals` and `tasks`. In doubt nothing is given up: a question, a condition, what holds for now or in one case only, what
somebody else says, and what the next sentence withdraws say nothing. Counterpart: `supersession`, for what users asked and ruled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from foldline.ledger.cue_words import UNSURE
from foldline.ledger.cues import is_turned
from foldline.ledger.own_words import SENTENCE_CHARS, is_brought_in, is_question, is_reported, spoken
from foldline.ledger.sentences import Span, code_lines, sentences

How: TypeAlias = Literal["left", "deed", "judged", "unwanted"]


class GivenUp(Struct, frozen=True, kw_only=True, gc=False):
    """One thing that is given up."""

    what: str
    """The words that name it, in small letters, with what qualifies them."""
    how: How
    """Left out or no longer needed; by a deed, which may be asked for as well ("cancel the order"); called wrong or replaced; not
    wanted at all."""
    span: Span
    """Where in the text that is said, with the cue."""


def _cues(*cues: tuple[How, str], then: str = "") -> tuple[tuple[How, re.Pattern[str]], ...]:
    """A table of what gives up something, how and in which words."""
    return tuple((how, re.compile(words + then, re.IGNORECASE)) for how, words in cues)


_WHAT = r"(?P<what>(?:[^,.;:!?，。；：！？、\n—–()]|[.:](?=\w)){2,80})"
_OPENS = r"^\W{0,3}|[,;:!.—–(-]\s{1,3}|\b(?:please|pls|so|then|now|just|ok|okay|no|actually|sorry|better|let['’]?s|let us)\s{1,3}"
_MAY = r"(?:['’](?:ll|m|re|ve|d)|\s(?:will|am|are|have|should|must|can|shall))?(?:\s(?:just|now|then|also|already|really|simply))?\s{1,3}"
_NOT = (
    r"(?:(?:do not|don['’]?t|never|won['’]?t|will not|must(?: not|n['’]t)|should(?: not|n['’]t)|may not|not(?=\s(?:use|take|go|do|add|need|keep|stick|stay)\b)"
    r")\s{1,3})(?!\s{0,2}(?:forget|fail|hesitate)\b)"
)
_LEAD = rf"(?:{_OPENS}|\b(?:i|we|you){_MAY}|\b(?:and|but|again|decided to|going to|want(?: you)? to|like(?: you)? to|(?<!no )need to)\s{{1,3}})"
"""What stands before a word by which somebody gives up something, so that it is neither a description nor somebody else's deed."""
_AHEAD: Final = _cues(
    (
        "left",
        rf"(?:{_OPENS}|\b(?:we|you){_MAY}){_NOT}(?!want\s(?!to\b))(?:(?:need|have|want|like|bother) to\s{{1,3}})?",
    ),
    ("unwanted", rf"\b(?:i{_MAY}{_NOT}(?:need|want|like)|we{_MAY}{_NOT}want)\s{{1,3}}"),
    (
        "judged",
        rf"(?:\bi{_MAY}{_NOT}(?!(?:need|want|like)\b)|(?:{_OPENS}|\b(?:we|you)\s)(?:can['’]?t|cannot|can not)\suse\s{{1,3}})",
    ),
    (
        "left",
        rf"{_LEAD}(?:forget|abandon(?:ed|ing)?|scrap(?:ped|ping)?|ditch(?:ed|ing)?|g(?:a|i)v(?:e|ing) up(?: on)?|stop(?:ped|ping)? using|no more"
        r"|do (?:it|this|that) without)\s{1,3}(?:about\s{1,3})?",
    ),
    ("left", r"\bno longer (?:us(?:e|es|ing)|need(?:s|ed|ing)?|want)\s{1,3}"),
    (
        "deed",
        rf"{_LEAD}(?:drop(?:ped|ping)?|cancel(?:l?ed|l?ing)?|strike|avoid)\s{{1,3}}",
    ),
    (
        "judged",
        r"\b(?:(?:us(?:e|ing)|tak(?:e|ing)|pick|choose|chose|go(?:ing)? with)\s[^.;\n]{1,60}?\s(?:instead of|rather than|in place of)|(?:mov|switch)(?:e|ed|ing)? away from|prefer\b[^.;\n]{1,60}?\sover)\s{1,3}",
    ),
    (
        "judged",
        r"\b(?:us(?:e|ing)|tak(?:e|ing)|pick|choose|chose|prefer)\s[^.;!?\n]{1,60}?[,\s](?:and |but )?(?:not|(?:don['’]t|do not) use)\s{1,3}",
    ),
    (
        "left",
        r"(?<!不得)(?<![要能用会说是])(?:不(?:要|用|能|可以|许|准|需要|必|想要?|打算|考虑|再)|(?<![特区级类分识个性告辨鉴])[别別](?![的人名处])|無需|无需|用不着|忘掉|忘了|放弃|弃用|停用|抛弃|别管)(?:再|了)?(?:使用|采用|选用|选择|选|用|要|需要|考虑|管)?(?=[^了吧。！])",
    ),
    ("deed", r"(?:去掉|去除|移除|删掉|删除|删去|取消|跳过|卸载|撤掉|撤销|换掉)(?:了)?(?=[^了吧。！])"),
    ("judged", r"(?:(?:代替|替代|取代|替换掉?)(?:了)?|[用选][^。；\n]{1,40}?(?:而不是|而非))"),
    (
        "left",
        r"\b(?:vergiss|vergesst|(?:brauch|will|woll|benutz|verwend|nutz|nimm|nehm|mach)\w{0,3}\s(?:wir |bitte |doch ){0,2}(?:kein(?:e|en)?|nicht(?: mehr)?)|oublie[zr]?|laisse[zr]? tomber|(?:pas|plus) besoin d[e'’]|n['’]utilis\w{1,4} (?:pas|plus)"
        r"|olvid(?:a|e|emos)(?:te de)?|(?:no|ya no) (?:us(?:es|ar|emos|en|e)|hace falta|necesitamos)|esqueç?[ae]|não (?:us(?:e|ar|em|es)|precisamos d[eo]|precisa d[eo])|забудь(?:те)? (?:про|о)|не (?:используй(?:те)?|использовать|нужно|надо|нужен|нужна)|откажись от)\s?",
    ),
    (
        "judged",
        r"\b(?:statt|anstatt|anstelle von|au lieu d[eu'’]|plutôt que(?: d[e'’])?|en (?:vez|lugar) de|em vez d[eo]|ao invés d[eo]|вместо)\s?",
    ),
    then=_WHAT,
)
"""What stands before the words that name it."""
_AHEAD_OF_USERS: Final = _cues(
    (
        "left",
        r"(?:^\W{0,3}|[,;:!—–]\s{1,3}|\b(?:please|and|so|but|ok|okay)\s{1,3})(?:no(?! need\b)|kein(?:e|en)?|pas d[e'’]|nada de)\s{1,3}",
    ),
    then=_WHAT,
)
"""The same where a user says it: an agent tells with these words what it found."""
_SWAPPED = re.compile(
    r"\b(?:replace|swap)\s(?!with\b|by\b|for\b|in\b)(?P<what>[^,.;:\n]{2,60}?)(?:\s(?:with|by|for)\s|\W{0,3}$)|\b(?:switch|mov|migrat|chang)\w{0,4}\s(?:back |over |away )?from\s(?P<from>[^,.;:\n]{2,60}?)\s(?:back )?to\s"
    r"|(?:从|把|将|由)(?P<out>[^,，。；;\n]{2,40}?)(?:改用|换成(?!\s?\d)|换为|切换到|替换为|替换成|迁移到)|(?P<ja>[^、。\n]{2,40}?)(?:の代わりに|\s?대신)",
    re.IGNORECASE,
)
"""One thing for another."""
_BEHIND: Final = _cues(
    (
        "judged",
        r"\s(?:was|were) (?:the wrong (?:choice|idea|tool|approach|decision)|a mistake)(?!\w)|\s(?:is|are)\s(?:(?:completely|clearly|simply|just|really|probably|the|a|an) ){0,3}(?:(?:wrong|bad)(?:\s(?:choice|idea|tool|fit|approach|way|call|decision|path|direction))?|mistaken|mistake|incorrect"
        r"|obsolete|no longer used|over-?complicated|over-?engineered|overkill|out of the question|(?:not|no) (?:an )?option|(?:not|no longer) allowed|forbidden|out(?=\W*$))(?!\w)"
        r"|\s(?:isn['’]t|wasn['’]t) (?:an option|allowed)\b|\s(?:can['’]?t|cannot|can not|must(?: not|n['’]t)|may not|should(?: not|n['’]t)|won['’]?t) be used\b"
        r"|\s(?:ist|war) (?:falsch|ein fehler)\b|\s(?:nicht|nie) (?:verwenden|benutzen|nehmen|nutzen)\b",
    ),
    (
        "judged",
        r"\s?(?:(?:是|就是|完全)?(?:错(?:了|误的|的)|不对)(?=\W*$)|行不通|不可行|不能用|用不了|不可用|不合适|不适合)",
    ),
    (
        "left",
        r"\s(?:is|are|was|were)(?: now)? (?:unnecessary|off the table|cancell?ed|(?:no longer|not) (?:needed|required|necessary|wanted|part of the plan))\b"
        r"|\s(?:isn['’]t|aren['’]t) (?:needed|necessary|required|wanted)\b|\s(?:brauchen wir|ist|sind) (?:nicht(?: mehr)?|nicht länger)(?: nötig| notwendig)?(?=\W*$)|\s(?:n['’](?:est|a)) plus (?:nécessaire|besoin)"
        r"|\sya no (?:es necesari[oa]|hace falta)|\s(?:больше )?не (?:нужен|нужна|нужно)",
    ),
    (
        "left",
        r"\s?(?:不用做了?|不做了|不需要了?|不用了|不要了|作废|取消了?|算了)(?=\W*$)|\s?(?:は|を)?\s?(?:使わない|使わなくて|やめ|不要|いらない|要らない|必要ない|必要ありません)[ぁ-ん]{0,8}|\s?(?:은|는|을|를)?\s?(?:쓰지 ?마|사용하지 ?마|하지 ?마|필요 ?없|빼)[가-힣]{0,4}",
    ),
)
"""What stands behind the words that name it."""
_CUT = re.compile(
    r"\s(?:-{1,2}|because|since|due to|but|so|as (?:it|we|they|this|that|the)|in favou?r of|and (?:(?:then|now|instead|just|let['’]?s|i|we|i['’]ll|we['’]ll) ){0,2}(?:us|tak|go|went|put|switch|install|mov|do|try|add|keep|mak|writ|replac)\w{0,5}|sondern|weil|parce que|porque)\s|\s?(?:改用|换成|就用)|\s用",
    re.IGNORECASE,
)
"""Where something else begins than what is given up."""
_REASON = re.compile(
    r"(?<=\w)[,\s]\s?(?:because|since|due to|as (?:it|we|they|this|that|the))\b|(?<=\w)[，,\s]{0,2}(?:因为|由于)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,;:!?，；：。！？、—–()\n]|\.(?!\w)|\b(?:that|and|but|so|because|since|think|thought|believe|see|realised?|realized?|found|say|sorry|no|nope|nah|well|okay?|yes|please|actually|indeed|clearly|unfortunately|now)\b",
    re.IGNORECASE,
)
"""Where the clause of a subject begins."""
_OPEN = re.compile(
    rf"{UNSURE}|\b(?:not sure|why|how)\b|(?:n['’]t|\bnot)\b[^,.;]{{0,30}}\b(?:wrong|a mistake)|要不要|能不能|可不可以|用不用|需不需要|是不是|为什么|怎么",
    re.IGNORECASE,
)
_NARROWS = re.compile(
    r"\b(?:but|keep (?:it|them|that)|(?:put|add)\w* (?:it|them) back|by mistake|it (?:is|was) (?:great|good|fine|right|ok)|it should|only|except|besides|apart from|other than|until|yet|for now|right now|at first|for the moment|temporarily|by default|nur|erst|sauf|seulement|solo|salvo|только)\b"
    r"|[,;—–(-]\s?(?:no|wait|never\s?mind|just kidding|but (?:only|not|for|in|on|keep|with|without))\b|只|仅|除了|除非|暂时|先不|先别|まだ|だけ|아직|만 ",
    re.IGNORECASE,
)
"""What makes of giving up something for one case, or for a time."""


def given_up_in(said: str, *, is_users: bool) -> tuple[GivenUp, ...]:
    """What a text of a user or of the agent gives up, sentence by sentence."""
    spans = sentences(said)
    if is_users:
        spans = spoken(said, spans)
    elif code := code_lines(said):
        spans = tuple([span for span in spans if span[0] not in code])
    return tuple(
        [
            each
            for start, end in spans
            for each in _of_sentence(said[start:end], start=start, is_users=is_users)
        ]
    )


def _of_sentence(sentence: str, *, start: int, is_users: bool) -> Iterator[GivenUp]:
    """What one sentence gives up, which begins at `start`."""
    told = _REASON.split(sentence[:SENTENCE_CHARS], maxsplit=1)[0]
    if _OPEN.search(told) or _NARROWS.search(told) or is_question(told) or (is_users and is_reported(told)):
        return
    for how, what, (cue_start, cue_end), (low, high) in _found(told, is_users=is_users):
        named = what.strip().lower()
        if named and not is_turned(told, cue_start) and not is_brought_in(told, cue_end):
            yield GivenUp(what=named, how=how, span=(start + low, start + high))


def _found(told: str, *, is_users: bool) -> Iterator[tuple[How, str, Span, Span]]:
    """How and what, where in the sentence the words stand that give it up, and where they and its name do."""
    for how, pattern in (*_AHEAD, *_AHEAD_OF_USERS) if is_users else _AHEAD:
        for cue in pattern.finditer(told):
            what = _named(cue["what"])
            yield how, what, cue.span(), (cue.start(), cue.start("what") + len(what))
    for cue in _SWAPPED.finditer(told):
        group = cue.lastgroup or 0
        yield "judged", _named(cue[group]), cue.span(), cue.span(group)
    for how, pattern in _BEHIND:
        for cue in pattern.finditer(told):
            subject = _CLAUSE.split(told[: cue.start()])[-1]
            about = _CLAUSE.split(told[cue.end() :], maxsplit=1)[0]
            named = _named(f"{subject} {about}")
            yield how, named, cue.span(), (cue.start() - len(subject), cue.end())


def _named(what: str) -> str:
    """Words up to where something else begins than they name."""
    return _CUT.split(f"{what} ", maxsplit=1)[0][: len(what)]
