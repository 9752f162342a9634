"""Own words: which sentences of a message are the person's own plain assertions or orders.

Only such a sentence takes anything back. What stands in a fence, a block quote, a tag or under a head that brings in
somebody's text is not the person's; a question, a condition, a report of what somebody says, a denied belief and what the
next sentence withdraws assert nothing. In doubt a sentence is not plain: what it would take back then stands. Knows one text
alone. Which words take back what is `foldline.ledger.supersession`'s affair, and whether a cue within a plain sentence is
meant that of `foldline.ledger.cues`.
"""

from __future__ import annotations

import re

from foldline.ledger.sentences import Span, code_lines

SENTENCE_CHARS = 400
"""How much of a sentence is read: what takes something back is short."""
INDENT_MIN = 4
"""Blanks before a line that is shown as it stands."""
PREFIX_CHARS_MAX = 240

_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]{0,40})(?:\s[^<>\n]{0,180})?>")
_OWN_HEAD = re.compile(
    r"\W*(?:(?:ok|okay|so|also|and|now|then|well|right|yes|please|actually|the|my|our|some|a|an|one|two|three|few|more|new|next|other|small|last|final|current|important|quick"
    r"|updated|revised)\W+){0,5}"
    r"(?:(?:task|option|plan|step|item|idea|approach|variant|part)\s#?\w{1,3}(?:\sinstead)?"
    r"|(?:plan|change|update|correction|decision|rule|task|todo|to-do|step|thing|point|note|priority|prioritie|approach|instruction|requirement|constraint|setting|value|goal|scope"
    r"|request|answer|reminder)s?(?:\s(?:for|of|to|about|from|instead|now|here|first|is|are)\b[^:\n]{0,40})?"
    r"|please|instead|fyi|ok|next|now|first|no|yes|wait|actually|sorry|never\s?mind|scratch that)\s*",
    re.IGNORECASE,
)
_OWN_HAN_HEAD = re.compile(
    r"\W*(?:好的?|那|新的?|最终|另外|几个|一些|以下|我的)*(?:计划|方案|变更|更新|更正|修正|决定|规则|任务|要求|步骤|注意|另外|补充|改动|说明)[一二三四A-Z\d]?\s*"
)
_HEAD_END = re.compile(r":(?=\s|$)|：")
_ASKS = re.compile(
    r"\W*(?:(?:so|and|but|or|well|ok|okay|now|then|wait|hmm|also|please|tell me|i wonder)\W+){0,3}"
    r"(?:(?:is|are|was|were|isn['’]t|aren['’]t|may|might|must) (?:i|we|you|it|he|she|they|there|this|that|these|those|the|a|an|my|our|your|any\w*)\b"
    r"|(?:do|does|did|don['’]t|doesn['’]t|didn['’]t|have|has|had|am|can|could|should|shall|would|will) (?:i|we|you|it|he|she|they|there)\b(?! (?:own|all))"
    r"|(?:why|how|what|which|who|whose|whether|where)\b)",
    re.IGNORECASE,
)
_HAN_ASKS = re.compile(r"\W*(?:为什么|为何|为啥|怎么|是不是|能不能|可不可以|是否|难道|谁|哪)")
_QUOTES = ("'", '"', "“", "‘", "「", "『", "«")
_ENDS_ASKING = ("?", "？", "吗", "么", "呢")
_POLITE = re.compile(
    r"\W*(?:(?:please|ok|okay|so|now|and|actually|hmm|wait)\W+)*(?:can|could|would|will)\s+(?:you|we)\b",
    re.IGNORECASE,
)
"""A question that asks to have something done."""
_SPEAKS = (
    r"(?:says?|said|saying|told|tells?|claim(?:s|ed|ing)?|wrote|writes|stat(?:es|ed|ing)|reads?|report(?:s|ed)|mention(?:s|ed)|suggest(?:s|ed)"
    r"|thinks?|thought|believ(?:es|ed)|ask(?:s|ed)|answer(?:s|ed)|replie[sd]|heard|announce[sd]|promise[sd]|insist(?:s|ed)|insinuate[sd]|print(?:s|ed)|show(?:s|ed)|quote[sd]?|decide[sd]|wants)"
)
_REPORTS = re.compile(
    rf"(?<!\bi )(?<!\bwe )(?<!\bi['’]ve )(?<!\bwe['’]ve )(?<!\bi have )(?<!\bwe have )(?<!\bi just )(?<!\bi had )(?<!\bi already )(?<!\bsecond )\b{_SPEAKS}\b(?! so far\b)"
    r"|^\W*(?:please )?(?:quote|translate)\b|\baccording to\b|\bin the words of\b|\b(?:i|we)(?:['’]ve)?(?: have| had)? (?:never|not|once) (?:said|told|wrote)\b"
    r"|\bi (?:told|heard|read|asked|wonder\w*) (?!you\b|for\b)|\b(?:it is|it['’]s|that is|that['’]s) what\b"
    r"|(?<![我前才刚面上])(?<!我们)说(?![的过明中英话不])|据说|听说|据[^，。]{1,12}称|写着|写道|声称|[他她它]们?(?:认为|觉得|表示|提到)|告诉|^\W*请?(?:翻译|引用)",
    re.IGNORECASE,
)
"""What brings in words of somebody else, or of another time."""
_DENIES = re.compile(
    r"\b(?:is|it['’]s|was|are|were)\s(?:simply |just |plainly |all )?(?:false|untrue|wrong|incorrect|a (?:lie|myth|joke|mistake|rumou?r)|not (?:true|right|correct|so|the case))(?=\s+that\b|\W*$)"
    r"|\b(?:do not|don['’]t|never|nobody|no one|cannot|can['’]t|doesn['’]t|won['’]t|would not|wouldn['’]t) (?:really |ever |just )?(?:believe|think|trust|assume|suppose|pretend|say|imagine)\b"
    r"|\b(?:pretend|imagine|suppose|supposing|assume|assuming|let['’]?s (?:say|pretend|assume)|i (?:wish|doubt|fear|hope|dreamt|dreamed)|as if|as though|hypothetically|in theory|far from|by no means|no way"
    r"|under no circumstances|hardly|scarcely)\b|不相信|别信|不要相信|假装|想象|不是说|并不(?:是|代表|意味)|谁说",
    re.IGNORECASE,
)
"""What takes away from a sentence that it is so."""
_DEPENDS = re.compile(
    r"\b(?:if(?! you (?:want|like|wish|prefer|need to)\b)|unless|when|whenever|once|until|till|as soon as|as long as|provided|providing|in case|in the event|depending|only after|should (?:the|you|we|he|she|it|they|any\w*)"
    r"|(?:maybe|perhaps|possibly|probably|might)(?!\W+(?:scratch|forget|ignore|drop|cancel)))\b"
    r"|如果|假如|假设|要是|只要|除非|万一|倘若|等到?[^，。]{1,16}(?:后|了)[，,就再]|的时候|也许|可能|或许|一旦",
    re.IGNORECASE,
)
"""What makes a sentence true in some case only."""
_WITHDRAWS = re.compile(
    r"\W*(?:(?:oh|ah|hmm|hm|haha|lol|oops|sorry|but|and|ok|okay|wait|well|actually|just|only|i['’]?m|i am|was|i was|that was|it was|this was)\W+){0,4}"
    r"(?:kidding|joking|a joke|jk|sarcas\w+|ironic\w*|psych|not really|not true|not a chance|as if|no way|fat chance|in your dreams|of course not|certainly not|never\s?mind(?=\W*(?:$|that\b|it\b|this\b))|or not|april fool\w*"
    r"|(?:no|nope|nah|not|stop|hold on|not yet|not now)(?=\W*(?:$|wait|forget|scratch|never|don['’]t|do not|strike|not|stop|hold))|(?:please )?(?:don['’]t|do not)(?=\W*$)"
    r"|(?:(?:please|no|you can|let['’]?s)\W+){0,2}(?:forget|scratch|strike|ignore|disregard|cancel) (?:that|it|this|what i(?: just)? said|the above|my last \w+)\b"
    r"|on second thoughts?|i take (?:that|it) back|i did(?:n['’]t| not) mean)"
    r"|\W*(?:wait|hold on)\W*(?:$|no\b|not\b|don['’]t)"
    r"|\W*(?:but|only|except|unless|though|provided)\b|\W*\w{1,20} only\W*$|\W*(?:please |always |just )?(?:ask|check with|tell) (?:me|us|him|her|them|\w+) (?:first|before)\b"
    r"|\W*(?:wrong|false|untrue|incorrect|nonsense|lies?|bullshit)\W*$|\W*(?:that|this|it)(?:['’]s| is| was) (?:what|how|a\b|an\b|not\b|wrong|false|untrue|from|only|just)"
    r"|\W*(?:开玩笑|逗你|骗你|不对|等等|等一下|算了|假的|才怪|别当真|当我没说|收回|但|不过|除了|仅|只(?=有|限|能|在)|先问)",
    re.IGNORECASE,
)
"""How a sentence opens that withdraws the one before, or narrows it."""
_BREAKS_OFF = re.compile(r"(?:[,;…—–(，；]|\s-|\.\.\.)\s{0,4}(?=\S)")
"""Where a sentence may turn against itself."""


_POINTS_ON = re.compile(r"\b(?:following|below|as follows)\b|以下|下面", re.IGNORECASE)
"""A sentence with one of these speaks of what stands behind it."""
_FORWARDED = re.compile(
    r"[-\s]{0,12}(?:begin |start of )?(?:forwarded|original) (?:message|mail|email)\b|(?:from|von|de|发件人) ?[:：] ?\S|on [^\n]{5,80} wrote:",
    re.IGNORECASE,
)
"""What opens a letter, which goes on to the end of the text."""


def own_sentences(text: str, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Of the sentences of a text those that are the person's own and plain, in order. Linear in the text."""
    return tuple(
        (start, end)
        for start, end in spoken(text, spans)
        if is_plain(text[start : min(end, start + SENTENCE_CHARS)])
    )


def spoken(text: str, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Of the sentences of a text those that stand where the person's own words stand, and that the next one does not withdraw."""
    strange = _strange(text, spans)
    found = []
    for place, span in enumerate(spans):
        after = spans[place + 1] if place + 1 < len(spans) else None
        if place not in strange and (
            after is None
            or _WITHDRAWS.match(text, after[0], min(after[1], after[0] + SENTENCE_CHARS)) is None
        ):
            found.append(span)
    return tuple(found)


def is_plain(sentence: str) -> bool:
    """Whether a sentence says by itself that something is so, or is to be done, whatever it is."""
    if sentence.startswith(_QUOTES) or is_question(sentence):
        return False
    return not (is_reported(sentence) or _DENIES.search(sentence) or _DEPENDS.search(sentence))


def is_reported(sentence: str) -> bool:
    """Whether a sentence brings in words of somebody else, or of another time."""
    return _REPORTS.search(sentence) is not None


def breaks_off(sentence: str, at: int) -> bool:
    """Whether a sentence turns against itself behind `at`: "… — no, wait, don't"."""
    return any(_WITHDRAWS.match(sentence, turn.end()) for turn in _BREAKS_OFF.finditer(sentence, at))


def is_question(sentence: str) -> bool:
    """Whether a sentence asks, with or without its mark; a polite order does not."""
    if _POLITE.match(sentence) is not None:
        return False
    if sentence.rstrip(" \"'”’)").endswith(_ENDS_ASKING):
        return True
    return _ASKS.match(sentence) is not None or _HAN_ASKS.match(sentence) is not None


def is_brought_in(sentence: str, at: int) -> bool:
    """Whether what stands at `at` comes behind a head that is no label of the person's own: "Bob: …", "the text: …"."""
    low = 0
    for end in _HEAD_END.finditer(sentence, 0, at):
        if not _is_own_head(sentence[low : end.start()]):
            return True
        low = end.end()
    return False


def _is_own_head(head: str) -> bool:
    return _OWN_HEAD.fullmatch(head) is not None or _OWN_HAN_HEAD.fullmatch(head) is not None


# ── where a sentence stands ──────────────────────────────────────────────────────────────────────────────────


def _strange(text: str, spans: tuple[Span, ...]) -> frozenset[int]:
    """The places of sentences that stand where other people's text stands."""
    code = code_lines(text)
    shown = {place for place, (start, _) in enumerate(spans) if start in code}
    tagged = _within(spans, _tagged(text)) if "<" in text else set()
    return frozenset(shown | tagged | _set_apart(text, spans) | _brought_in(text, spans, shown=shown))


def _brought_in(text: str, spans: tuple[Span, ...], *, shown: set[int]) -> set[int]:
    """Under a head that is no label of the person's own, up to the next blank line or the end of the code that it shows; in
    a letter, up to the end."""
    found: set[int] = set()
    is_head = False
    for place, (start, end) in enumerate(spans):
        goes_on = place - 1 in found and not (place - 1 in shown and place not in shown)
        if is_head or (goes_on and text.count("\n", spans[place - 1][1], start) < 2):
            found.add(place)
        if place in shown:
            is_head = False
        elif _FORWARDED.match(text, start, end):
            return found | {*range(place, len(spans))}
        else:
            is_head = _is_head(text[max(start, end - SENTENCE_CHARS) : end])
    return found


def _is_head(sentence: str) -> bool:
    """Whether a sentence brings in what follows it."""
    if sentence.endswith((":", "：")):
        return not _is_own_head(sentence[:-1])
    return _POINTS_ON.search(sentence) is not None


def _set_apart(text: str, spans: tuple[Span, ...]) -> set[int]:
    """In a line that is a block quote or a row of a table, or is shown as it stands."""
    found: set[int] = set()
    last = 0
    for place, (start, end) in enumerate(spans):
        line = text.rfind("\n", last, start) + 1
        if line or not place:
            opening = text[line : start + 1][:PREFIX_CHARS_MAX]
            opens = opening.lstrip(" \t")
            indent = opening[: len(opening) - len(opens)]
            if opens[:1] in (">", "|", "#") or (
                len(opens) == 1 and ("\t" in indent or len(indent) >= INDENT_MIN)
            ):
                found.add(place)
        elif place - 1 in found:
            found.add(place)
        last = end
    return found


def _within(spans: tuple[Span, ...], ranges: tuple[Span, ...]) -> set[int]:
    """The places of spans that one of the ranges meets; both in order."""
    found: set[int] = set()
    at = 0
    for place, (start, end) in enumerate(spans):
        while at < len(ranges) and ranges[at][1] <= start:
            at += 1
        if at < len(ranges) and ranges[at][0] < end:
            found.add(place)
    return found


def _tagged(text: str) -> tuple[Span, ...]:
    """What stands between tags of one name, in order and apart; a tag alone in its line that nothing closes brings in the
    rest."""
    opened: dict[str, Span] = {}
    found: list[Span] = []
    for tag in _TAG.finditer(text):
        name = tag[2].lower()
        if not tag[1]:
            opened.setdefault(name, tag.span())
        elif name in opened:
            found.append((opened.pop(name)[0], tag.end()))
    found += [(span[0], len(text)) for span in opened.values() if _is_alone(text, span)][:1]
    apart: list[Span] = []
    for start, end in sorted(found):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return tuple(apart)


def _is_alone(text: str, span: Span) -> bool:
    line = text.rfind("\n", 0, span[0]) + 1
    end = text.find("\n", span[1])
    return not text[line : span[0]].strip() and not text[span[1] : end if end >= 0 else len(text)].strip()
