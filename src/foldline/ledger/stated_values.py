"""Stated values: "the port is 9090 now" read as a key and its value, so that the newest can be told from the older.

The key is every word of the clause that is neither the value nor grammar, so that "the staging port" and "the port of
staging" are one key and "the production port" is another. A clause with two values states none: which is meant is
guesswork, and a wrong guess hides a fact. `foldline.ledger.supersession` compares what is found here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from foldline.ledger.assigning import Assigned, assigned
from foldline.ledger.sentences import Span, sentences

CLAUSE_CHARS_MAX = 160
"""A longer clause is prose, not a statement of a value."""
KEY_WORDS_MAX = 6
LANGUAGE = "language"
"""The sort of the values that say in which language to answer."""

CLAUSE = re.compile(r"(?:[,;](?=\s)|[，；、]|\s(?:and|but|und|et|y|e)\s)")
DAY = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|today|tomorrow|tonight"
    r"|(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? )?(?:january|february|march|april|june|july|august|september|october|november|december)(?: \d{1,2}(?:st|nd|rd|th)?)?"
    r"|may \d{1,2}(?:st|nd|rd|th)?|\d{1,2}(?:st|nd|rd|th)?(?: of)? may"
    r"|(?:周|星期|礼拜)[一二三四五六日天]|\d{1,2}月\d{1,2}[日号]"
)
_LETTER = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""Of a script that sets blanks between words."""
VALUE = re.compile(
    rf"`(?P<code>[^`]+)`|[\"“](?P<quoted>[^\"”]+)[\"”]|(?<![\w])(?P<day>{DAY})(?![a-z])"
    rf"|(?<!{_LETTER})(?<!\.)(?<!\w-)(?P<number>[$€£¥]?-?\d[\d.,:_/%-]*(?:\s?(?:ms|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|kb|mb|gb|tb|px|rpm|usd|eur|%|个|秒|分钟|小时|天|元|万|次|行|条))?)(?!{_LETTER})"
    r"|(?<![\w])(?P<flag>true|false|enabled|disabled|(?:(?<!now )on|off)(?=(?:\snow|\splease)?[.!]?\s*$)|(?:(?<=turn )|(?<=switch ))o(?:n|ff)(?=\s\w))(?![\w])",
    re.IGNORECASE,
)
PLAIN_NAMES = "debug|info|warn|warning|dark|light|dev|develop|development|staging|prod|production|main|master|json|yaml|toml|csv|xml"
"""Small words that name what a setting is set to; another one may say how a thing is ("slow")."""
NAMED = re.compile(
    r"(?:\b(?i:is|be|now|to|with|use|using|=|:)\s+(?:now\s+)?|[是为成到用]\s?)"
    rf"(?P<name>[A-Z][\w+#-]*(?:\s[A-Z][\w-]*)?|[A-Za-z](?=[A-Za-z_./:-]{{0,40}}\d)[\w./:-]{{0,60}}\w|(?:{PLAIN_NAMES})\b)"
    r"(?=\s+for\b|\s*(?:now|instead|了)?[.!。！]?$)"
)
"""What stands for a value by its name: a capital within, letters and a digit ("gpt-4"), …"""
SET_TO = re.compile(
    r"^[^=＝]{1,80}(?<![!<>])[=＝]\s{0,3}(?P<name>[A-Za-z][\w./:-]{0,60})(?=\s*(?:now|instead)?[.!。！]?$)"
)
"""… and behind a "=" any word."""
FLAGS = {"true": "on", "enabled": "on", "false": "off", "disabled": "off"}
STATES = re.compile(
    r"\b(?:is|are|was|be|becomes?|use|uses|using|set|sets|now|move[sd]?|change[sd]?|changing|run|runs|listens?|stays?|goes|go back|equals|make (?:the|our|my)|will|should|must|switch(?:es|ed)?|update[sd]?|raise[sd]?|lower(?:s|ed)?|bump(?:s|ed)?|reschedule[sd]?|postpone[sd]?|budget|deadline|limit|at|on|off"
    r"|(?:upgrade|downgrade|migrate)[sd]?|most|least|max(?:imum)?|min(?:imum)?|up to|(?:more|less|fewer) than)\b"
    r"|[=:：＝]|是|为|用|改|设|调|换|变|定在|移到|推迟|提前|[升降]级到|迁移到|[最至]多|[最至]少|は|を|に|은|는|을|를|이|가"
    r"|\b(?:ist|sind|wird|est|sera|es|será|é|agora|jetzt|maintenant|ahora)\b",
    re.IGNORECASE,
)
MEASURES = {
    unit: units.split()[0]
    for units in (
        "ms s sec second seconds min minute minutes h hour hours day days week weeks 秒 分钟 小时 天",
        "kb mb gb tb",
        "usd eur $ € £ ¥ 元 万",
        "%",
        "px",
        "rpm",
    )
    for unit in units.split()
}
"""What a unit measures; a value of another measure is another value."""
UNIT = re.compile(r"^[$€£¥]|(?<![^\W\d_])[^\W\d_]+$|%$")
CHANGES = re.compile(
    r"\b(?:now|actually|change[sd]?|changing|correction|update[sd]?|moves?|moved|becomes?|became|no longer|instead|from now on|switch(?:es|ed)?|rescheduled?|postponed?|new|raise[sd]?|lower(?:s|ed)?|bump(?:s|ed)?|make (?:it|that)"
    r"|jetzt|maintenant|ahora|agora|doch|теперь)\b|改成|改为|改到|调整|换成|变成|变为|现在|更正|更新|推迟|提前|变更|変更|に変え|修正|변경|바꿔|바꾸|이제|로\s?수정",
    re.IGNORECASE,
)
FROM_TO = re.compile(
    r"\bfrom\s{1,8}\S{1,80}(?=\s{1,8}to\b)|从\s{0,8}\S{1,40}?(?=\s{0,8}(?:改|换|变|调|到))|[,，]?\s{0,8}(?:not(?!\s{1,8}(?:be|use|set|to|exceed|change)\b)|instead of|rather than|no longer|而不是|不是)\s{1,8}\S{1,80}",
    re.IGNORECASE,
)
"""The older value in a clause that names both."""
DENIES = re.compile(
    r"\b(?:not|never|cannot|neither|nor|without)\b|n['’]t\b|不(?!再|超|少|多|低|高|大|小)|别|別|勿|没有|沒有|禁止|\b(?:nicht|kein\w{0,2}|nie|pas|jamais|nunca|não)\b|ない|지\s?마",
    re.IGNORECASE,
)
"""A clause with one of these says what a value is not."""
PAST = re.compile(
    r"\b(?:was|were|used to|had been)\b(?!\s{1,8}(?:now|changed|moved|raised|lowered|set|bumped))|昨天|以前|原来|之前是",
    re.IGNORECASE,
)
"""A clause with one of these says what a value was."""
DEMANDS = re.compile(
    r"\b(?:must|should|shall|ought|has to|have to|needs? to|required?|at (?:most|least)|under|below|above|over|within|up to|(?:more|less|fewer|later|longer) than"
    r"|exceed(?:s|ing)?|max(?:imum)?|min(?:imum)?|stays?|keep|kept|remains?|limited|capped)\b"
    r"|必须|必須|务必|应该|不得|不超过|不少于|不低于|不高于|低于|高于|至少|至多|最多|最少|以内|以下|以上|保持",
    re.IGNORECASE,
)
"""A clause with one of these says what a value has to be, or how far it may go."""
COMMANDS = re.compile(
    r"\b(?:must|should|shall|ought|has to|have to|needs? to|change|make|set|use|raise|lower|bump|switch|update|move|correction|limit|budget|deadline|cap|quota|target"
    r"|threshold|required?|requirement|allowed|at (?:most|least)|max(?:imum)?|min(?:imum)?|from now on|instead)\b"
    r"|改成|改为|改到|调整|换成|设|必须|应该|至少|至多|最多|以内|上限|下限|预算|截止",
    re.IGNORECASE,
)
"""A clause with one of these asks for a value; without one it may only report what was measured."""
ANSWERS_IN = re.compile(
    r"\b(?i:answer|reply|respond|write|speak|talk|communicate)(?:\s(?:to\s)?(?:me|us|back))?(?:\s(?:always|only))?\sin\s(?P<english>[A-Z][a-z]{3,20})\b"
    r"|\b(?i:antworte[nt]?|schreibe?n?|sprich)(?:\s(?:mir|uns|bitte|immer|nur|Sie|ab jetzt)){0,3}\s(?:auf|in)\s(?P<german>[A-Z][a-zäöü]{3,20})\b"
    r"|\b(?i:réponds|répondez|écris|responde|escribe)(?:[ -](?:moi|me|toujours|siempre|sempre)){0,2}\s(?:en|em)\s(?P<romance>[a-zçñê]{4,20})\b"
    r"|(?:请)?(?:用|以|使用)(?P<han>[中英德法日韩俄西葡意][文语]|汉语)(?:来)?(?:回答|回复|答复|交流|写)"
)
"""In which language somebody wants to be answered. What is to be written in it, a commit or a page, is another matter."""
LANGUAGES = {
    name: names.split()[0]
    for names in (
        "english englisch anglais inglés inglês 英文 英语",
        "german deutsch allemand alemán alemão 德文 德语",
        "french französisch français francés francês 法文 法语",
        "spanish spanisch espagnol español espanhol 西语 西文",
        "portuguese portugiesisch portugais portugués português 葡语 葡文",
        "italian italienisch italien italiano 意语 意文",
        "chinese mandarin chinesisch chinois chino chinês 中文 汉语",
        "japanese japanisch japonais japonés japonês 日文 日语",
        "korean koreanisch coréen coreano 韩文 韩语",
        "russian russisch russe ruso russo 俄文 俄语",
    )
    for name in names.split()
}
LASTS = re.compile(
    r"\b(?:always|henceforth|from here on|going forward|ab (?:jetzt|sofort)|immer|künftig|toujours|désormais|à partir|siempre|sempre|a partir)\b|以后|今后|从现在|总是|始终|一直",
    re.IGNORECASE,
)
"""A clause with one of these is meant for more than the next answer."""
DEPENDS = re.compile(
    r"\b(?:when|whenever|if|unless|except|until|for|wenn|falls|außer|bis|quand|si|sauf|cuando|salvo|quando|se)\b|如果|除非|除了|的时候|时[,，]?",
    re.IGNORECASE,
)
MAY_STATE = re.compile(r"[^\sA-Za-z,.;!?()'/-]|(?!^)[A-Z]")
"""What stands in a sentence that states a value: a digit, a quotation mark, a name, another script …"""
MAY_STATE_WORDS = re.compile(
    rf"\b(?:true|false|enabled|disabled|on|off|responde|escribe|{PLAIN_NAMES}|{DAY})(?![a-z])", re.IGNORECASE
)
"""… or one of these."""
WORD = re.compile(r"[^\W_][\w.-]*(?<![.-])")
MOST = re.compile(r"\b(?:no more than|up to|max(?:imum)?(?: of)?)\b", re.IGNORECASE)
"""Other words for "most"."""
TURNS_TO = re.compile(
    r"\blet['’]s\b|\b(?:upgrade|downgrade|migrate)[sd]?\s(?=(?:back\s)?to\b)", re.IGNORECASE
)
TURNS_ON = re.compile(r"^\W{0,3}(?:(?:please|now)\s)?(?:turn|keep|leave)\b", re.IGNORECASE)
"""What a clause does with its value, or with a flag, and is no part of the name."""
CIRCUMSTANCE = re.compile(
    r"\s*(?:and\s|but\s)?(?:with|without|if|when|whenever|while|where|unless|until|once|for|in|on|at|under|during|inside|outside|behind|after|before|as long as|as soon as)\s"
    r"(?!(?:now|second thoughts?|fact|short|general|any case|the end|the way|addition|that|this|all|last|least|most|once|me|us|you|it)\b[^,;]{0,12}$)"
    r"|\s*(?:如果|若|当|假如|遇到|要是|在)|.{1,20}(?:时|时候|里|中|下|的话|情况下)$",
    re.IGNORECASE,
)
"""A clause in front of a value that says when it holds: it is none that holds always."""
ANOTHERS = re.compile(r"\b(?:its|their|his|her)\s|(?:它|他|她)们?的|其(?=[\u4e00-\u9fff])", re.IGNORECASE)
"""Whose value it is only what was said before tells."""
HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
PARTICLES = re.compile(
    r"请|把|将|这个|那个|我们|的值|的|现在|应该|已经|了|吧|改用|切换到|[升降]级到|迁移到|是|为|改成|改为|改到|调整为|调整到|调整|调为|换成|变成|变更|设置为|设置|设为|设成|定在|移到|推迟到|推迟|提前到|提前|更正|更新|使用|用|到|在|に変更|に変えて|してください|してください|です|は|を|に|が|으로|로|은|는|을|를|이제|이|가|변경|바꿔|주세요|해줘|입니다|[\s：:＝=，。！]"
)
GRAMMAR = frozenset(
    "the a an is are was be been being will should must shall can may to at on in of by as it its we our my your this that these those there"
    " now actually change changes changed changing correction update updates updated moves moved move becomes become became new please instead use uses using set sets"
    " from with has have had so ok okay sorry no longer not rather than and or but also just only then i you let's lets let make makes switch switches switched"
    " run runs listen listens value go goes raise raised raises lower lowered bump bumped reschedule rescheduled postponed equals stays"
    " der die das ist sind wird jetzt doch auf le la les est sera maintenant el los es será ahora o os é agora para".split()
)


class Stated(Struct, frozen=True, kw_only=True, gc=False):
    """A value that a clause states."""

    key: frozenset[str]
    """The words that say what it is the value of, in small letters."""
    value: str
    sort: str
    """What kind of value it is; values of two sorts are never one updated."""
    span: Span
    """The sentence it stands in."""
    assigned: Assigned
    """What the clause does with it."""
    demands: bool = False
    """Whether it says what the value has to be, or how far it may go."""
    commands: bool = False
    """Whether it asks for the value: a plain report of what is does not change what has to be."""
    clause: Span = (0, 0)
    """The clause it stands in."""


def stated_values(text: str) -> tuple[Stated, ...]:
    """Every value that is stated with a key, in order. Questions state none."""
    found = []
    for start, end in sentences(text):
        sentence = text[start:end]
        if sentence.rstrip().endswith(("?", "？")):
            continue
        if MAY_STATE.search(sentence) is None and MAY_STATE_WORDS.search(sentence) is None:
            continue
        under = frozenset[str]()
        for first, last in _clauses(sentence):
            clause = sentence[first:last]
            stated = _stated(clause, (start, end))
            is_told = stated is not None and stated.sort != "flag"
            if not is_told and last < len(sentence) and CIRCUMSTANCE.match(clause):
                under |= _key(clause)
            elif stated is not None:
                found.append(replace(stated, key=stated.key | under, clause=(start + first, start + last)))
    return tuple(found)


def _clauses(sentence: str) -> Iterator[Span]:
    at = 0
    for start, end in (*(match.span() for match in CLAUSE.finditer(sentence)), (len(sentence), 0)):
        if 0 < start - at <= CLAUSE_CHARS_MAX:
            yield at, start
        at = end


def _stated(clause: str, span: Span) -> Stated | None:
    asked = ANSWERS_IN.search(clause)
    if asked is not None:
        return _language(clause, (asked[asked.lastgroup or 0]).lower(), span=span)
    if not STATES.search(clause):
        return None
    plain = FROM_TO.sub(" ", clause)
    if DENIES.search(plain) or PAST.search(plain) or ANOTHERS.search(plain):
        return None
    values = [*VALUE.finditer(plain)] or [*SET_TO.finditer(plain)] or [*NAMED.finditer(plain)]
    if len(values) != 1:
        return None
    (match,) = values
    sort = match.lastgroup or ""
    rest = f"{plain[: match.start(sort)]} {plain[match.end(sort) :]}"
    key = _key(TURNS_ON.sub("", rest) if sort == "flag" else rest)
    if not 0 < len(key) <= KEY_WORDS_MAX:
        return None
    place, value = match.span(sort), match[sort].strip().rstrip(".,:").lower()
    does = assigned(plain, place, key=key, sort=sort)
    return Stated(
        key=key,
        value=FLAGS.get(value, value),
        sort=sort,
        span=span,
        assigned=does,
        demands=DEMANDS.search(clause) is not None,
        commands=does.orders or COMMANDS.search(clause) is not None,
    )


def _language(clause: str, name: str, *, span: Span) -> Stated | None:
    """The language of answers as a value. Another one changes it where it is meant to last."""
    if name not in LANGUAGES or DENIES.search(clause) or DEPENDS.search(clause):
        return None
    lasts = CHANGES.search(clause) is not None or LASTS.search(clause) is not None
    return Stated(
        key=frozenset(("answers",)),
        value=LANGUAGES[name],
        sort=LANGUAGE,
        span=span,
        assigned=Assigned(sets=True, turns=lasts),
        commands=True,
    )


def _key(rest: str) -> frozenset[str]:
    if HAN.search(rest):
        rest = PARTICLES.sub(" ", rest)
    told = TURNS_TO.sub(" ", MOST.sub(" most ", rest))
    words = (word if len(word) == 1 else word.lower() for word in WORD.findall(told))
    return frozenset(word for word in words if word not in GRAMMAR)


def updates(later: Stated, earlier: Stated) -> bool:
    """Whether a later statement gives the same thing another value. A word more or less in its name, of whatever language
    ("limit", "target", "staging"), may name another thing: what is measured, another port. And so may a number where
    nothing gives it to the name ("look at PR 12"), unless the later statement says that it changes something."""
    if later.key != earlier.key or later.sort != earlier.sort or later.value == earlier.value:
        return False
    if _measure(later) != _measure(earlier) and _measure(later) and _measure(earlier):
        return False
    both = later.assigned.sets and earlier.assigned.sets
    if later.sort == LANGUAGE and not later.assigned.turns:  # it may be for this once
        return False
    return (both or later.assigned.turns) and (later.commands or not earlier.demands)


def _measure(stated: Stated) -> str:
    """What a number measures, where its unit says so."""
    unit = UNIT.search(stated.value) if stated.sort == "number" else None
    return MEASURES.get(unit[0], "") if unit is not None else ""
