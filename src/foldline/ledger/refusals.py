"""Refusals: what was called done and is not, in the words of those it was done for.

    agent: task_done ──► ok          user or host: "ERROR! Your patch is empty."          refused at m473
    agent: "fixed"                   user: "still broken" · "nope, same error"            refused by the user ×2

A tool that ends the work says of itself that it went well; whether it did is said by the next message. A user who says twice that it is
not right, or says the same words again, in whatever language, is heard before anything else that failed. Where the user says that it
works, or has gone on to something else for two messages, that is over. Knows texts and entries; who speaks is told by `compose`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from foldline.core.message import Message, Text, ToolCall
from foldline.ledger.entries import Entry
from foldline.ledger.lines import OUTCOME_CHARS, one_line
from foldline.ledger.marks import REFUSED_AT
from foldline.ledger.outcomes import names_failure, opens_failed
from foldline.ledger.requests import is_answer, requests

REFUSED, AGAIN = "refused by the user: ", "said again by the user: "
"""What the line of a user opens with who refused what was done, or who had to say the same again."""
CHARS_MAX = 400
"""A longer message says more than that something is not right."""
SAME_CHARS_MIN = 2
LONGER_MOST = 3
TIMES_MIN = 2
"""Who says once that something is not right is heard where it stands."""
MOVED_ON = 2
"""So many messages that refuse nothing, and the user is at something else."""

_NOT_RIGHT = re.compile(
    r"(?<!\bi )(?<!\bwe )\b(?:still|again|yet|even now)\b[^.!?\n]{0,40}(?:\b(?:not|no|broken|fail\w*|wrong|errors?|crash\w*|same|empty|missing|bugs?|happens?|issues?|problems?|red)\b|n['’]t\b)"
    r"|\b(?:not|n['’]t) work(?:ing|s)?\b|\b(?:did|does|do|is|was|has)(?:n['’]t| not) (?:\w{1,12} )?(?:work|help|fix|change|look right)|\bno (?:change|difference|luck|effect|better)\b|\b(?:same|another) (?:\w{1,12} )?(?:error|problem|issue|result|bug|thing)\b"
    r"|\b(?:is|it['’]s|that['’]s|this is) (?:\w{1,12} )?(?:wrong|broken|incorrect|not (?:right|it|fixed|done|correct|what))\b|\bnot what i (?:asked|wanted|meant)\b|\byou (?:broke|forgot|did(?:n['’]t| not))\b|^\W*(?:nope|no,? (?:still|not (?:that|this|it)|(?:that|this|it)(?:['’]s| is| was)? ?(?:not|n['’]t|wrong)))\b"
    r"|\b(?:geht|funktioniert|klappt|läuft|stimmt)\b[^.!?\n]{0,20}\bnicht\b|\bimmer noch\b|\bkaputt\b|\b(?:marche|fonctionne|passe)\b[^.!?\n]{0,20}\bpas\b|\btoujours (?:pas|cassé|faux|la même)\b"
    r"|\b(?:sigue|todav[ií]a|aún|ainda|continua)\b[^.!?\n]{0,30}\b(?:no|não|sin|sem|mal|fall\w+|err\w+|rot[oa])\b|\bno funciona\b|\bnão funciona\b|(?:всё|все) (?:ещё|еще|равно)|\bпо-прежнему\b|не (?:работает|помогло)|неправильно"
    r"|不行|不对|不對|(?:还是|還是|仍然|依然|仍旧)(?!用|选|要|想|可以|把)|(?:没|没有|沒|沒有)(?:用|效果|变化|變化|解决|解決|修好|改)|又(?:报错|错|失败|坏|崩)|报错|不(?:起作用|工作|能用)|有问题|错了|失败了|坏了"
    r"|(?:まだ|やっぱり|また)[^。\n]{0,20}(?:ない|ません|だめ|ダメ|エラー|失敗|壊れ)|(?:動|直|変わ)(?:か|ら|って)(?:い)?(?:ない|ません)|ダメ|駄目|(?:아직|여전히|또|계속)[^.\n]{0,20}(?:안|않|못|오류|에러|실패)|안 ?(?:돼|되|됩|됨)|틀렸",
    re.IGNORECASE,
)
_THANKS = (
    r"(?:(?:many )?thanks?(?: you| a lot| so much)?|thank you(?: so much| very much)?|thx|ty|cheers|danke\w*(?: schön| sehr)?|vielen dank|merci(?: beaucoup)?|(?:muchas )?gracias|(?:muito )?obrigad[oa]|спасибо(?: большое)?"
    r"|(?:谢谢|感谢|多谢|谢啦)[你您啦了]{0,2}|ありがと[うぅーございましたす]{0,9}|고마\w{0,6}|감사(?:합|해|드)\w{0,4})(?: for (?:(?:your|the|all|that) ){1,2}\w{2,12})?"
)
_PRAISE = (
    r"(?:(?:perfect(?:ly)?|great|excellent|awesome|amazing|wonderful|fantastic|brilliant|nice|neat|lovely|good|cool)(?: (?:job|work|stuff|one))?|(?:it|this|that|everything)(?:['’]s| is) (?:now |all )?(?:good|fine|right|correct|perfect|great|ok)|well done|lgtm|bingo|hooray|yay"
    r"|super|perfekt|klasse|prima|toll|parfait|génial|nickel|impeccable|perfecto|genial|perfeito|ótimo|отлично|супер"
    r"|(?:好了|行了|没问题|没有问题|完美|很好|太好|太棒|真棒|棒|不错|不錯)[了啊呀]{0,2}|完璧(?:です)?|素晴らし\w{0,4}|いいね|最高(?:です)?|완벽\w{0,4}|좋아요)"
)
"""What says of the work that it is good, and not what of it."""
_RIGHT = re.compile(
    r"\W*+(?:(?:ok(?:ay)?|yes|yeah|yep|ah|oh|wow|hey|and|now|finally|cool|alright|so|thanks?|thank you)\b\W+){0,3}"
    rf"(?:(?:{_PRAISE}|{_THANKS})\W+(?:it |now )?){{0,3}}"
    r"(?:(?:(?:it |that |this |all |everything )?looks? (?:good|great|fine|right|perfect|correct|nice)|(?:that|this) (?:did it|fixed it|solved it|is it|is right|is better)|all (?:good|green|set|fine)"
    r"|(?:(?:it|this|that|everything|all of it|the \w{1,20})(?:['’]s| is| does)? )?(?:(?:now|finally|all|really) )?(?:works?|worked|working|runs|passes|fixed|solved|resolved)"
    r"|passt|(?:es |das |jetzt )*(?:geht|funktioniert|klappt|läuft)(?: es| das)?(?: jetzt)?|(?:ça|cela) (?:marche|fonctionne)(?: maintenant)?"
    r"|(?:ya |ahora |agora |já )?funciona|funcionou|deu certo|(?:теперь |всё |все )*(?:работает|заработало))"
    r"(?=\W*$|\s?[,.!;:~…—–)]|\s-|\s(?:and|now|then|that|it|this|thanks?|thank|well|fine|great|perfectly|nicely|as expected|so much|a lot|very much|vielen|muchas|beaucoup|for (?:me|your|all)|you)\b)"
    r"|yes\s?!+\W*$|(?:可以了|搞定|解决了|修好了|成功了|能用了|正常了)(?=\W|$|[你您谢啦]|现在|接下|然后|那|下一)"
    r"|(?:(?:(?:でき|動き|直り)ました|できた|動いた|直った|うまくい(?:った|きました))(?![らりかの])|잘 ?(?:돼|됩|된다)|됐|해결(?:됐|되었))"
    rf"|(?:{_PRAISE}|{_THANKS})\W*$)",
    re.IGNORECASE,
)
"""How a message opens whose writer has what was asked for; praise and thanks say so where nothing follows them: "nice, now it overlaps"."""
_DOUBTS = re.compile(
    r"[?？]|吗|\b(?:but|only|except|however|though|although|yet|if|unless|until|still|almost|nearly|not|no|again|same|another|fail\w*|errors?|broken|wrong|issues?|problems?|bugs?|crash\w*|missing|try|idea|plan"
    r"|point|question|suggestion|catch|start|aber|nur|nicht|doch|mais|sauf|pas|pero|salvo|mas|porém|но|не)\b|n['’]t\b|但|可是|不过|只是|除了|还是|還是|仍|报错|でも|けど|ただ|しかし|하지만|그런데|근데|지만",
    re.IGNORECASE,
)
"""What a message says beside its praise that leaves open whether all is well."""
_CONSENTS = re.compile(
    r"(?:(?:ok(?:ay)?|k|yes|yeah|yep|yup|sure|fine|alright|right|exactly|agreed|ja|oui|sí|si|sim|да|хорошо)\b\W*){1,4}|(?:好的?|嗯+|行|可以|是的?|对的?|はい|うん|了解|네|예|응)\W*",
    re.IGNORECASE,
)
"""Says yes, to what was done or to what comes next: one step towards something else."""
_GOES_ON = re.compile(
    r"\W*(?:(?:and|ok(?:ay)?|now|please|pls|the|one|step|page|go|keep|do|on|it|run|next|more|another|again|continue|resume|proceed|going|weiter|nächste[rs]?|suivante?|suite|siguiente|sigue|próxim[oa]|дальше|далее|следующий)\b\W*){1,5}"
    r"|\W*(?:再|来|看|请|继续|一个|一页|一步|下一个|下一步|下一页|下一条|下一张|次|次へ|続けて|다음|계속)+\W*",
    re.IGNORECASE,
)
"""Asks for no more than what comes next: who says it twice has what was asked for."""
_SAYS_OF_TEST = re.compile(
    r"^\W{0,3}(?:(?:please|pls|ok(?:ay)?|now|also|and|then|so|next|(?:can|could|would) you|let['’]?s|you (?:should|must))\W{1,3}){0,4}"
    r"(?:add|write|make|create|document|say|ensure|assert|verify|check|test|note(?! that\b)|mention|describe|explain|tell|state|warn|print|raise)\b"
    r"(?:(?!\b(?:still|again|yet)\b)[^,.;:!?\n]){0,120}?\b(?:that|which|where|when|whether|if)\b(?:(?!\b(?:still|again|yet)\b)[^,.;:!?\n]){0,120}"
    r"|^\W{0,3}(?:请|再|也|帮我|给我|然后){0,3}(?:添?加|增加|编?写|补充?)(?:上|个|一个|一下|一条)?(?:(?!还是|仍|依然|又)[^。；！？\n]){0,12}(?:测试|用例|提示|校验|检查|断言)(?:(?!还是|仍|依然|又)[^。；！？\n]){0,40}",
    re.IGNORECASE,
)
"""An order to test or to tell something, up to the end of what that is: "add a test that it does not work without a key"."""
_TOLD = re.compile(rf"`[^`\n]{{1,200}}` → {REFUSED_AT}(\d{{1,9}})\b")
"""A call that was refused, as a ledger tells it."""
_LETTERS = re.compile(r"[\W_]+")


def refuses(text: str) -> bool:
    """Whether a message says, in few words, that what was done is not right, or opens with a failure."""
    said = text.strip()
    if not 0 < len(said) <= CHARS_MAX:
        return False
    return opens_failed(said) or _NOT_RIGHT.search(_SAYS_OF_TEST.sub("", said)) is not None


def answers_in(messages: Iterable[tuple[int, Message]]) -> Mapping[int, tuple[int, str]]:
    """Call of a message → the next text of a user or a host, with its ordinal, where nothing else was called before it."""
    found: dict[int, tuple[int, str]] = {}
    called = -1
    for seq, message in messages:
        if message.role == "assistant":
            called = seq if any(type(part) is ToolCall for part in message.parts) else called
        elif message.role == "user" and not message.synthetic and called >= 0:
            said = "\n".join([part.text for part in message.parts if isinstance(part, Text)])
            if said.strip():
                found[called], called = (seq, said), -1
    return found


def refused(
    entries: Iterable[Entry], answers: Mapping[int, tuple[int, str]], *, said: Iterable[tuple[int, str]]
) -> Iterator[Entry]:
    """The entries, a call that only says that the work is done as one that was refused, where the answer to it says so and nothing
    that a user `said` since that it is right; nor is one refused any more that an earlier ledger tells so. Of a call that brings
    values (a mail, a booking) the next words may be about something else."""
    texts = tuple(said)
    for entry in entries:
        by, answer = answers.get(entry.seq, (0, ""))
        told = _TOLD.match(entry.text) if entry.section == "risks" else None
        if _ends_work(entry) and refuses(answer) and not _is_accepted(texts, since=by):
            text = f"`{entry.key}` → {REFUSED_AT}{by}: {one_line(answer, OUTCOME_CHARS)}"
            yield replace(entry, section="risks", text=text)
        elif told is not None and _is_accepted(texts, since=int(told[1])):
            yield replace(entry, section="mutations", text=f"`{entry.key}` → ok")
        else:
            yield entry


def _ends_work(entry: Entry) -> bool:
    """Whether an entry is of a call that says that the work is done, and does not say itself that it failed."""
    if entry.section != "mutations" or entry.origin != "tool" or " " in entry.key:
        return False
    return entry.text.startswith(f"`{entry.key}` → ") and not names_failure(entry.text.partition("` → ")[2])


def _is_accepted(said: Iterable[tuple[int, str]], *, since: int) -> bool:
    return any(seq > since and is_over(text) for seq, text in said)


def is_complaint(entry: Entry) -> bool:
    """Whether an entry says that a user refused what was done."""
    return entry.section == "risks" and entry.origin == "user"


def complaint(
    said: Sequence[tuple[int, str]], before: Entry | None, *, refuses: Callable[[str], bool] = refuses
) -> Entry | None:
    """What a user refuses who has done so more than once, in the newest words, until the user says that it is right or has gone on to
    something else; `before`: what an earlier ledger says of it."""
    stands, others, last = before, 0, ""
    for seq, text in said:
        if before is not None and seq <= before.seq:
            last = text
        elif is_over(text):
            stands, others, last = None, 0, ""
        elif is_answer(text):
            others = max(others, 1) if _CONSENTS.fullmatch(text.strip()) is not None else others
        else:
            is_same = bool(last) and _is_same(text, last)
            if is_same or refuses(text):
                times = stands.times if stands is not None else int(is_same)
                stands, others = _refused(seq, text, times=times + 1), 0
            else:
                others += 1
                stands = None if others >= MOVED_ON else stands
            last = text
    return stands if stands is not None and stands.times >= TIMES_MIN else None


def _refused(seq: int, text: str, *, times: int) -> Entry:
    quoted = f'{REFUSED if refuses(text) else AGAIN}"{one_line(text, OUTCOME_CHARS)}"'
    return Entry(section="risks", key=quoted, text=quoted, seq=seq, origin="user", times=times)


def is_over(text: str) -> bool:
    """Whether a message opens by saying that what was done is right, and has nothing against it."""
    said = text.strip()[:CHARS_MAX]
    opening = _RIGHT.match(said)
    return opening is not None and _DOUBTS.search(said) is None and not refuses(said)


def _is_same(text: str, before: str) -> bool:
    """Whether a short message says the words of the one before, maybe with a few more, and asks for nothing to be done."""
    if (
        max(len(text), len(before)) > CHARS_MAX
        or _GOES_ON.fullmatch(text) is not None
        or any(asked.kind == "task" for asked in requests(text))
    ):
        return False
    long, short = sorted(
        (_LETTERS.sub("", text.casefold()), _LETTERS.sub("", before.casefold())), key=len, reverse=True
    )
    return len(short) >= SAME_CHARS_MIN and short in long and len(long) <= LONGER_MOST * len(short)
