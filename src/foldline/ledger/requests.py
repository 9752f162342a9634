"""Requests: what a person asks to have done, and whether a message is only an answer.

Imperatives, polite questions, items of a list and what follows a label such as "Task A:", in the languages of
`foldline.ledger.rule_words`; kept as they were written. Whether a request was served is not to be read in one text:
the ledger knows, which sees what came after. What takes a request back is in `foldline.ledger.supersession`.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from msgspec import Struct

from foldline.ledger.constraints import constraints
from foldline.ledger.sentences import Span, code_lines, sentences

RequestKind: TypeAlias = Literal["task", "question"]
CHARS_MAX = 400
"""A request is cut at the end of a word here; its address gives the rest."""
ENDING_CHARS = 40
"""How much of a sentence's end says whether it asks."""
ANSWER_CHARS_MAX = 60
"""A longer message is never only an answer."""

VERBS = (
    "add adjust allow analyse analyze apply apologise ask assume audit benchmark book build bump calculate call cancel change "
    "check clean clear clone close collect combine commit compare complete compute configure confirm connect consider "
    "continue convert copy correct count create cut debug decide define delegate delete deploy describe design detect "
    "determine develop disable discuss display do document download draft draw drop edit emit enable evaluate examine execute "
    "expand explain explore export extend extract fetch figure fill finalise finalize find finish fix follow format "
    "generate get give go grep group handle help hide hook identify ignore implement import improve include increase "
    "initialise initialize inline insert inspect install integrate introduce investigate invoke keep kill leave let link list "
    "load locate log look lower make map measure merge migrate mock modify monitor move name normalise normalize note open "
    "optimise optimize order organise organize outline output parse pass paste patch pick plan polish post prepare "
    "print probe process produce profile propose prove provide publish pull push put read rebase rebuild reduce "
    "refactor reformat register release remind remove rename render reorder replace reply report reproduce request "
    "rerun research reset resolve respond restart restore restructure retry return revert review revise rework rewrite "
    "rollback run save scaffold scan schedule search see select send separate set setup ship show simplify sketch "
    "solve sort split start stop store study submit suggest summarise summarize support swap switch sync tackle take "
    "tell test tidy trace track train transform translate trim try tune turn undo uninstall unify update upgrade upload use "
    "validate verify view visit wait walk watch wire work wrap write"
).split()
_VERB = "(?:" + "|".join(VERBS) + ")"
LEAD = (
    r"(?:(?:please|pls|plz|ok(?:ay)?|alright|all right|right|now|then|next|also|and|so|but|first|finally|second|third|great|cool|thanks|thank you"
    r"|hi|hello|hey|yes|yeah|no|actually|wait|well|continue|just|instead|afterwards?|after that|once done)[\s,!.:—–-]+){0,4}"
)
TASK = re.compile(
    r"^\W{0,3}" + LEAD + _VERB + r"\b(?!['’])"
    r"|\b(?:can|could|would|will) (?:you|we|i get you to)\b|\bplease\b|\b(?:i|we)(?:['’]d| would)? (?:want|need|like) (?:you )?to\b|\bi(?:['’]d| would)? (?:want|need|like) you to\b"
    r"|\b(?:let['’]?s|let us)\b(?! not\b)|\bhelp me\b|\byour (?:task|job|goal) is\b|^\W{0,3}(?:we|you) (?:need|have|should|ought) (?:to )?"
    + _VERB
    + r"\b"
    r"|^\W{0,3}(?:todo|to-?do|task|goal|objective|action|next|step|fixme)(?: \w{1,3})?(?: instead)?\s?[:=–—]"
    r"|^\W{0,3}(?:bitte|kannst du|könntest du|können sie|por favor|puedes|podrías|necesito|pode|você pode|poderia|preciso|corrija|corrige|crie|crea|faça|haz|adicione|añade|explique|explica|mostre|escreva|escribe"
    r"|peux-tu|pouvez-vous|s['’]il (?:te|vous) plaît|corrigez|ajoute[zr]?|crée[zr]?|explique[zr]?|puoi|potresti|per favore|пожалуйста|сделай|исправь|добавь|напиши|помоги|проверь)\b",
    re.IGNORECASE,
)
TASK_EAST = re.compile(
    r"请(?!问)|請(?!問)|帮(?:我|忙|助)|幫|麻烦|麻煩|劳驾|给我|給我|替我|需要你|想让你|^[\W\d]{0,4}(?:再|先|然后|接着|现在|继续|最后)?(?:把|将|用|为|给|对|创建|新建|修复|修改|修正|实现|添加|增加|删除|移除|更新|检查|分析"
    r"|优化|重构|生成|编写|写|做|改|加|查|找|看看?|运行|测试|部署|解释|说明|总结|翻译|整理|继续|提交|完成|设计|列出|比较|调研|研究)"
    r"|(?:て|で)(?:ください|下さい|くれ|ほしい|欲しい|もらえ|いただけ|頂け|おいて|みて)|お願い|して(?:[。！!\s]|$)|(?:해|아|어|여|워|쳐|려|줘)\s?(?:줘|주세요|주십시오|줄래)|(?:하세요|하십시오|해라|부탁|쳐줘|해봐)"
)
QUESTION = re.compile(
    r"[?？؟]\W*$|(?:吗|呢|么|嗎)[。！\s]*$|(?:ですか|ますか|でしょうか|かな|니까|나요|까요)[。.！\s]*$"
)
ANSWER = re.compile(
    r"^\W*+(?:(?:yes|yeah|yep|yup|sure|no|nope|nah|ok(?:ay)?|k|right|correct|exactly|true|false|fine|good|great|nice|cool|perfect|thanks?|thank you|thx|ty|agreed|approved?|confirmed?|done"
    r"|go ahead|go for it|do it|continue|proceed|please do|sounds good|looks good|lgtm|that works|works|makes sense|not (?:yet|now|sure)|maybe|both|neither|all|none|either|skip|later"
    r"|(?:the )?(?:first|second|third|last|former|latter)(?: one| option)?|(?:option|choice|variant|number|answer|plan|alternative)? ?(?:[a-z]|\d{1,3})|option \w+"
    r"|please|it is|i (?:do|don['’]t|agree|am|think so)|of course|absolutely|definitely|wow|hi|hello|yo|hey"
    r"|ja|nein|genau|danke|oui|non|merci|d['’]accord|sí|si|gracias|vale|sim|não|obrigad[oa]|да|нет|хорошо|спасибо)\b[\s,.!;:)]*+){1,6}\W*+$"
    r"|^\W*+(?:好的?|可以|是的?|对的?|对|嗯+|行|没错|不是|不|否|继续吧?|同意|确认|谢谢|没问题|收到|就这样|选?第?[一二三四五\dA-Da-d][个项]?|方案[一二三四五\dA-Da-d]|はい|いいえ|うん|了解|お願いします|네|예|아니요|응|그래|좋아요?|계속)[。！!.~～\s]*$",
    re.IGNORECASE,
)


class Asked(Struct, frozen=True, kw_only=True, gc=False):
    """One thing asked for."""

    text: str
    """Verbatim."""
    kind: RequestKind
    start: int
    """Where it begins in the text that was searched, in characters."""


def requests(text: str) -> tuple[Asked, ...]:
    """Everything a person asks for in a text, in order. None in fenced code; none in a message that only answers."""
    if is_answer(text):
        return ()
    code = code_lines(text)
    barred = _barred(text)
    found = []
    for start, end in sentences(text):
        if start in code or any(first < start < last for first, last in barred):
            continue
        sentence = text[start:end]
        asked = _kind(sentence)
        if asked is not None:
            found.append(Asked(text=_cut(sentence), kind=asked, start=start))
    return tuple(found)


def _barred(text: str) -> list[Span]:
    """The lists of what is not to be done: an item of one asks for nothing."""
    if "\n" not in text:
        return []
    return [
        (one.start, one.end) for one in constraints(text) if one.kind == "prohibition" and "\n" in one.text
    ]


def _kind(sentence: str) -> RequestKind | None:
    opening = sentence[:CHARS_MAX]
    if TASK.search(opening) or (not opening.isascii() and TASK_EAST.search(opening)):
        return "task"
    return "question" if _is_question(sentence) else None


def _is_question(sentence: str) -> bool:
    return QUESTION.search(sentence[-ENDING_CHARS:]) is not None


def _cut(sentence: str) -> str:
    if len(sentence) <= CHARS_MAX:
        return sentence
    blank = sentence.rfind(" ", CHARS_MAX // 2, CHARS_MAX)
    return sentence[: blank if blank > 0 else CHARS_MAX]


def is_answer(text: str) -> bool:
    """Whether a message only answers ("yes", "option B", "好的"): it asks for nothing and supersedes nothing."""
    short = text.strip()
    return len(short) <= ANSWER_CHARS_MAX and ANSWER.match(short) is not None
