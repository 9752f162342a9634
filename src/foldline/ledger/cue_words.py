"""Cue words: what a person says to take something back, or to put something in its place.

A table of words and nothing else, beside `foldline.ledger.rules_english`. Whether such words are meant where they stand is
`foldline.ledger.cues`' affair, and what they take back that of `foldline.ledger.supersession`.
"""

from __future__ import annotations

import re

PLAN = re.compile(
    r"\b(?:let['’]?s|let us|we(?:['’]ll| will| should|['’]re going to| are going to)|i(?:['’]d)? (?:suggest|propose))\b(?! not\b)"
    r"|\b(?:current |new |our |the |initial )?(?:plan|approach|decision|direction|strategy|option \w)\b[^.\n]{0,60}(?::|\s[—–-]\s)|\bis the right call\b"
    r"|我们(?:就|先|可以|来|要|决定)|(?:方案|计划|决定)[:：是]|就(?:用|做|按)",
    re.IGNORECASE,
)
RESET = re.compile(
    r"\b(?:ignore|forget|disregard|scratch|scrap|discard)\s+(?:about\s+)?(?:everything|all)\b(?:\s+(?:of\s+)?(?:it|this|that|these|those)\b(?=\s*(?:[.,;:!?—–-]|$|(?:and|but|for now|please|instead|now|stuff|mess|ideas|plans|tasks|requests|instructions)\b))|\s+(?:that\s+)?(?:we|i)\b(?![^.!?\n]{0,40}\b(?:about|regarding|on)\b)|\s+(?:the\s+)?(?:above|previous|earlier|prior|so far)\b(?!\s+(?:line|row|column|the|this|that|\d))|\s*[.!,;—–-]|\s*$)"
    r"|(?:^|[.!;,:—–]\s{0,3})(?:a )?(?:total|complete|full) reset(?=\s{0,3}(?:[.!;,:—–]|please\b|$))|(?:之前|前面|以上)(?:说|讲|提)?(?:的|过的)?(?:(?:这些|那些|全部|所有|要求|计划|方案|话|内容|指令|任务|东西|一切|事|了){1,3})?[，,]?\s?(?:都|全部?)(?:不算|作废|忘(?:了|掉)|不要了?(?!忘|改|动|丢|删|碰|取)|取消)|推倒重来|忘(?:掉|了)?(?:之前|前面)(?:的|说的)",
    re.IGNORECASE,
)
EVERYTHING = re.compile(
    r"\beverything\b|\b(?:total|complete|full) reset\b|之前|前面|以上|推倒", re.IGNORECASE
)
CUES = (
    *"ignor forget disregard scratch scrap discard reset cancel drop strike skip abandon nevermind".split(),
    *(
        "never mind",
        "changed my mind",
        "off the table",
        "no longer",
        "not needed",
        " is out",
        " are out",
        "dropped",
    ),
    *"之前 前面 以上 推倒 忘 算了 改主意 当我没说 刚才 やっぱり さっき 今の 방금 아까 不做 取消 放弃 不要 不用 作废".split(),
    *"vergiss laisse oublie olvid esque deixa забудь".split(),
)
"""One of these stands in every message that takes something back by pointing at it or naming it."""
UNSURE = r"\b(?:if|whether|might|maybe|perhaps|could|would|unless)\b|[?？]|如果|要是|是否|也许|可能"
"""What leaves open whether something is given up, or chosen."""
JOINS = re.compile(r"^\W*(?:and|but|so|also|und|et|y)\s+", re.IGNORECASE)
OF = re.compile(
    r"\b(?:the|our|my)\s+([\w-]{2,40})\s+(?:in|with|using|as|on|via|through)\b|\buse\s+\S{1,40}\s+for\s+(?:the\s+)?([\w-]{2,40})",
    re.IGNORECASE,
)
KEEPS = re.compile(
    r"\b(?:let['’]?s|let us|we(?:['’]ll| will| should))\s+(?:keep|preserve|maintain|never|always|make sure|not)\b",
    re.IGNORECASE,
)
"""A plan that says what has to stay."""
_END = r"(?=\s*(?:[.,;:!?—–-]|$|and\b|for now\b|please\b|instead\b))"
THAT = re.compile(
    rf"\b(?:scratch|scrap|forget(?: about)?|disregard|ignore|strike)\s+(?:that|it|this|(?:the|my) (?:earlier|previous|last|prior) (?:instruction|request|plan|idea|message|one|approach|task)){_END}"
    r"|(?:^|[.,;!—–-]\s*)never\s?mind(?=\s*(?:[.,;:!?—–-]|$))|\bcancel (?:that|the (?:last|previous)) (?:request|task|plan|idea|instruction)\b|\bi(?:['’]ve| have)? changed my mind\b(?!\s+(?:about|on|regarding|re|with|as)\b)|\bdrop (?:that|this) (?:idea|plan|approach|task|request)\b"
    r"|^[\W]*算了(?:吧)?(?=[。！!.~～\s]*$|[，,]\s?(?:不|别|还是|先|我|改|就|换|直接|取消))|改主意|当我没说|刚才(?:说)?的(?:不算|作废|取消)|やっぱり(?:いい|やめ|なし)|(?:さっきの|今の)は?(?:忘れ|取り消|なし)|(?:방금|아까).{0,8}(?:취소|잊)|\bvergiss (?:das|es)\b|\blaisse tomber\b|\boublie (?:ça|cela)\b|\bolv[ií]da(?:lo| eso)\b|\besqueç?[ae] (?:isso|o anterior)\b|\bdeixa pra lá\b|\bзабудь (?:это|об этом)\b",
    re.IGNORECASE,
)
INSTEAD = re.compile(
    r"\binstead\b(?! of)|\bfinal answer\b|^\W*actually\b|\bon second thought\b|\bstattdessen\b|\bplutôt\b|\ben cambio\b|\bem vez disso\b|改成|改为|(?:^|[，。,]|我们|咱们|那|就)\s?还是(?=用|改|换|做|按|走|选|先)",
    re.IGNORECASE,
)
INSTEAD_CUES = (
    "instead",
    "final answer",
    "actually",
    "second thought",
    "stattdessen",
    "plutôt",
    "en cambio",
    "em vez disso",
    "改成",
    "改为",
    "还是",
)
"""One of these stands in every message that puts a plan in the place of another."""
LABEL = r"(?-i:(?:[Tt]ask|[Oo]ption|[Pp]lan|[Ss]tep|[Ii]tem|[Ii]dea|[Aa]pproach|[Vv]ariant|[Pp]art)\s+)?(?-i:[A-Z]|#?\d{1,3})\b"
DROPS_LABEL = re.compile(
    rf"\b(?:drop|forget(?: about)?|scrap|scratch|skip|ignore|abandon|cancel|never\s?mind)\s+(?P<labels>{LABEL}(?:(?:\s*,\s*|\s+(?:and|or)\s+){LABEL}){{0,5}})(?=\s*(?:[.,;:!?—–-]|$|for now|and\b))"
    r"|(?:不做|取消|放弃|不要|不用做?)(?:任务|方案|选项)?\s?(?P<han>[A-Z])(?:了)?",
    re.IGNORECASE,
)
_KIND = r"(?:task|idea|plan|request|feature|approach|part|option|todo)"
_CLAUSE_ENDS = r"(?=\s{0,3}(?:[.,;!—–-]|$|(?:now|for now|please|then|and|after all|entirely|completely|altogether|instead)\b))"
_HAN_KIND = r"(?:任务|功能|需求|计划|方案|想法|要求|部分)"
DROPS_NAMED = re.compile(
    r"\b(?:forget(?: about)?|scrap|abandon|never\s?mind)\s+(?:the |my |our |that |about )*(?P<a>[^.,;:!?—–]{3,60})"
    rf"|\b(?:drop|cancel|skip|ignore)\s+(?:the |my |our |that )*(?P<b>[^.,;:!?—–]{{3,60}}?)\s+{_KIND}{_CLAUSE_ENDS}"
    r"|\bi(?:['’]ve| have)? changed my mind (?:about|on|regarding) (?:the |my |our |that )*(?P<f>[^.,;:!?—–]{3,60})"
    rf"|\bthe (?P<c>[^.,;:!?—–]{{3,60}}?) (?:(?:{_KIND} )?(?:is|are) (?:off the table|no longer (?:needed|wanted|the plan|required)|not needed any ?more)"
    rf"|{_KIND} (?:is|are) (?:cancell?ed|dropped|scrapped|out)){_CLAUSE_ENDS}"
    r"|(?:不用(?:再)?做?|不做|取消|放弃|先不做)(?P<d>[^，。！？；\s]{2,20}?)(?:了|这个任务|的任务|功能)?(?=[，。！；\s]|$)"
    rf"|(?P<e>[^，。！？；\s]{{2,20}}?)(?:先)?(?:不用做了|不做了|{_HAN_KIND}(?:先)?(?:作废|取消(?:了|吧)))",
    re.IGNORECASE,
)
