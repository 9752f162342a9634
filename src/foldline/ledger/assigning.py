"""Assigning: whether a clause gives a value to its key, or only says something of one of many.

"The port is 8080" leaves one port; "look at PR 12", "run it with 4 workers", "room 12 is booked" and "add 3 tests" stay true,
and stay asked for, beside the next of their kind. Which noun names one of many no list can say, so that it is told by where the
value stands: behind "is", "=", "to" of a verb that sets, or "use" and a setting. Knows one clause and the place of its value;
counterpart: `foldline.ledger.stated_values`, which finds both and compares.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from foldline.ledger.requests import TASK_EAST, VERBS
from foldline.ledger.sentences import Span

NAMES = frozenset(("name", "code", "quoted"))
"""The sorts of values that are no number, day or flag."""
FILLERS_MAX = 5
"""Small words between what assigns and the value, "is now at most 5"."""

_ADDS = re.compile(
    r"\b(?:also|too|as well|another|additional(?:ly)?|besides|auch|noch|außerdem|aussi|encore|également|también|otr[oa]|também|outr[oa])\b|也|还要|還要|另外|も|또",
    re.IGNORECASE,
)
"""A clause with one of these says something beside what was said, and takes nothing back."""
_NOW = re.compile(
    r"\b(?:now|no longer|from now on|jetzt|maintenant|ahora|agora|теперь)\b|现在|이제", re.IGNORECASE
)
_TURNS = re.compile(
    r"[`\"'”」]?\s{0,3}(?:(?:now|please)\s{1,3})?(?:instead\b(?!\s{1,3}of\b)|stattdessen\b|à la place\b|en su lugar\b|em vez disso\b)",
    re.IGNORECASE,
)
"""Directly behind a value, what says that it stands in the place of another."""
_TOKEN = re.compile(r"[=:：＝]|[^\W_][\w'’-]*")
_GLUED = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?=[A-Za-z])")
"""Where a name stands behind a word without a blank."""
_SIGNS = ("=", ":", "：", "＝")
_EQUALS = ("=", "＝")
_COLONS = (":", "：")
_NUMBERED = re.compile(r"\d|^[a-z]")
"""A name that may be one of many: "use ABC-12 for the demo"."""
_IS = frozenset(_SIGNS) | frozenset(
    "is are be becomes become equals ist sind wird sei est sont sera soit es son será sea é são seja è sono".split()
)
_FILLERS = frozenset(
    "now currently still only exactly precisely about around roughly approximately just at on by to in kept limited capped done finished ready due"
    " under below above over within up most least no more less fewer later earlier than max maximum min minimum"
    " jetzt nun ab auf am bei maintenant désormais à au ahora agora em para теперь 이제".split()
)
_SETTERS = frozenset(
    "make set sets keep keeps hold limit limits cap caps change changes changed move moves moved switch switches raise raises raised lower lowers lowered bump bumps bumped"
    " update updates updated reschedule rescheduled postpone postponed increase increased decrease decreased reduce reduced extend extended".split()
)
"""Verbs behind which "to" and a value give the key between them its value …"""
_STILL = frozenset("set sets keep keeps hold limit limits cap caps".split())
"""… and those of them that may leave it as it is, or only bound it."""
_TO_BOUNDS = frozenset("to at under below above over within".split())
_USES = frozenset("use uses listens runs".split())
_RUNTIMES = frozenset(
    "python node nodejs java jdk ruby go golang rust php perl scala kotlin swift typescript postgres postgresql mysql mariadb sqlite redis mongodb"
    " django flask rails react vue angular spring gcc clang llvm cuda ubuntu debian kubernetes terraform".split()
)
"""What a project has in one version, to which it may switch as well …"""
_SETTINGS = _RUNTIMES | frozenset(
    "port timeout limit budget deadline threshold cap quota target seed temperature tolerance interval delay ttl concurrency parallelism precision version size rate".split()
)
"""… and what "use" gives a number by its bare name; "use template 3" names a template."""
_SWITCHES = frozenset("switch move upgrade downgrade migrate go".split())
_EAST_SWITCHES = re.compile(
    r"(?:请|现在|我们|还是|就)*(?:使用|改?用|[换改]成|[换改]为|切换到|[升降]级到|迁移到)"
)
_TURNS_ON = ("turn", "switch")
_TOGGLES = (*_TURNS_ON, "keep", "leave")
_DATES = frozenset(
    "deadline due date delivery eta cutoff frist termin stichtag abgabe limite échéance fecha plazo data prazo 截止 截止日期 日期 締め切り 期限 마감 마감일".split()
)
"""What has but one day; of classes, meetings and trains there may be another on the next."""
_MODALS = frozenset("must should shall has have needs need will may can".split())
_MEASURES = frozenset(
    "finish finishes complete end ends start starts stay stays remain remains take takes last lasts cost costs exceed fit has have needs allows".split()
)
_PERSONS = frozenset("i you we he she it they er sie wir ich il elle ils nous vous él ella ele ela".split())
_LEADS = frozenset("please now then next also and so but first finally ok okay just always".split())
_BEFORE_VERB = _LEADS | _MODALS | _PERSONS | {"let's", "lets"}
_DEFINITE = frozenset(
    "the our my your its der die das unser mein le la les notre mon el los nuestro mi o os".split()
)
_NO_SUBJECT = _LEADS | _PERSONS | _DEFINITE | frozenset("this that these those here what".split())
_INDEFINITE = frozenset(
    "a an another one some each every any there ein eine einen einer einem un une uno una um uma".split()
)
_NO_KEY = _INDEFINITE | frozenset("then next first second third finally last".split())
"""A clause that opens with one of these speaks of one among others, or of a step among others."""
_ENDS = frozenset("now instead please again from on max maximum total".split())
_DIRECTS = frozenset(
    "me us him her it this that these those them the a an my our your at with on for in into to over through whether if how all each every".split()
)
_TELLS = frozenset(("note", "use")) | _SETTERS
"""Verbs of an order that sets something, or only says that something is so."""
_TRIES = frozenset(
    "try solve run rerun check see verify validate compute calculate evaluate benchmark".split()
)
"""Verbs of an order that is done with one value after the other: "try timeout = 5"."""
_ORDERS = frozenset(VERBS) | frozenset(
    "prüfe lies schau sieh teste behebe öffne starte mach mache lis regarde vérifie corrige ouvre lance fais lee mira revisa prueba abre ejecuta haz"
    " leia veja verifique corrija abra execute faça".split()
)
_ONE_OF_MANY = frozenset(
    "pr prs mr pull merge request requests issue issues bug bugs ticket tickets story task tasks job jobs todo step steps phase phases stage part parts chapter chapters section"
    " sections paragraph page pages slide figure table line lines row rows column file files test tests case cases example exercise question questions problem problems puzzle item items"
    " point entry record order commit round iteration sprint milestone lesson option plan idea attempt experiment sample image picture episode"
    " error errors failure failures message output result results answer answers solution found says"
    " next last previous current first second third other open closed done fixed then today"
    " he she they this that it one er sie il elle él ella ele ela guess input expected actual got total sum scene status code exit flight booking for in here id name no number nr who when where"
    " nummer número numéro aufgabe aufgaben schritt teil kapitel abschnitt seite zeile datei frage fehler antwort ergebnis punkt nächste nächster nächstes"
    " tâche étape partie chapitre ligne fichier erreur réponse résultat prochaine prochain"
    " tarea paso fase parte capítulo página línea archivo pregunta respuesta resultado punto siguiente"
    " tarefa passo etapa linha pergunta erro resposta próximo próxima"
    " 编号 它 他 她 我 你 我们 你们 他们 这 那 这个 那个 それ これ 그것 番号 번호 任务 步骤 阶段 章节 章 页 行 文件 问题 错误 答案 结果 下一步 下一个 测试 步 タスク ステップ ページ ファイル 質問 エラー 答え 結果 次 작업 단계 장 페이지 줄 파일 질문 오류 답 결과 다음".split()
)
"""A key of nothing but these is a heading, or what one thing of many came to: "task: …", "the error is …"."""
_EAST_SETS = tuple(
    "改成 改为 改到 调整为 调整到 调到 调为 换成 变成 变更为 推迟到 提前到 移到 更新为 设为 設為 设置为 设成 定在".split()
)
_EAST_IS = ("是", "为")
_EAST_TOPIC = ("이제", "は", "が", "은", "는", "이", "가")
_EAST_OBJECT = ("を", "을", "를")
_EAST_BECOMES = ("に", "へ", "으로", "로")
_RESOURCES = frozenset(
    "worker workers thread threads process processes core cores cpu cpus gpu gpus jobs connection connections replica replicas instance instances node nodes server servers"
    " shard shards partition partitions retry retries attempts epoch epochs layer layers spaces space columns digits decimals places bits bytes seconds minutes"
    " threads prozesse kerne leerzeichen fils processus espaces hilos procesos espacios 线程 进程 核 核心 空格 副本 连接 分片 重试 スレッド プロセス 스레드 프로세스".split()
)
"""What "use" gives a number before its noun; how many sentences or eggs to use is asked for once."""
_AT_ONCE = frozenset(
    "worker workers thread threads process processes core cores cpu cpus gpu gpus job jobs connection connections replica replicas instance instances node nodes server servers"
    " shard shards partition partitions retry retries attempt attempts 线程 进程 核 核心 副本 连接 分片 重试".split()
)
"""What a bound holds for without a name: "at most 5 jobs"; how many tests to add at most is asked for once."""
_BOUNDS = frozenset("most least more less fewer max maximum min minimum up".split())
_BOUNDS_OF = _BOUNDS | frozenset("at no than to of only".split())
_HOLDS = frozenset("run allow keep have use permit open".split())
_BOUND_ENDS = frozenset("at most least max maximum min minimum a time once in parallel total".split())
_EAST_BOUNDS = re.compile(
    r"(?:请|同时|只能|可以|并发|并行|运行|跑|开|用)*(?:[最至]多|[最至]少|不超过)(?:同时|只能|可以|并发|并行|运行|跑|开|用)*"
)
_WITHIN = frozenset("with for in on where when if a an whose of".split())
"""Behind one of these a "=" gives a value to one of many: "a user with role = admin"."""
_EAST_ENDS = frozenset(("", *"です だ である になりました になります 입니다 이다 이에요 예요".split()))


class Assigned(Struct, frozen=True, kw_only=True, gc=False):
    """What a clause does with its value."""

    sets: bool = False
    """Whether it gives the value to its key, which then has no other."""
    turns: bool = False
    """Whether it says of itself that it changes what was said, in whichever way that was said."""
    orders: bool = False
    """Whether it is an order by that, and no report of what is."""
    lists: bool = False
    """Whether it has but a sign between the two, as settings have, and the lines of a record of which there are many."""


def assigned(clause: str, place: Span, *, key: Collection[str], sort: str) -> Assigned:
    """What a clause does with the value of a sort at a place of it."""
    if _ADDS.search(clause):
        return Assigned()
    before, value, after = clause[: place[0]], clause[slice(*place)], clause[place[1] :]
    turns = _TURNS.match(after) is not None
    words = [word.lower() for word in _TOKEN.findall(_GLUED.sub(" ", before))]
    sign = words[-1] if words and words[-1] in _SIGNS else ""
    if _is_bound(words, after) or (sort == "flag" and _is_toggled(words, after)):
        return Assigned(sets=True, turns=turns, orders=True)
    if not words or words[0] in _NO_KEY or all(map(_is_one_of_many, key)):
        return Assigned(turns=turns, lists=bool(sign))
    is_now = _NOW.search(clause) is not None
    if _is_set(words, after):
        return Assigned(sets=True, turns=turns or not _STILL & {*words})
    if _is_set_in_east(words[-1], after):
        return Assigned(sets=True, turns=True)
    if _is_said(words, is_flag=sort == "flag") or _is_said_in_east(words[-1], after):
        is_order = not clause.isascii() and TASK_EAST.search(clause) is not None
        sets = not is_order and _has_one(words, after, key=key, sort=sort)
        return Assigned(sets=sets, turns=turns or (is_now and not sign), lists=bool(sign))
    is_of_many = sort == "name" and _NUMBERED.search(value) is not None
    is_used = not is_of_many and _is_used(words, after, is_name=sort in NAMES)
    sets = is_used or _is_switched(words, after, before=before)
    return Assigned(sets=sets, turns=turns or (is_now and _is_measured(words)), lists=bool(sign))


def _has_one(words: Sequence[str], after: str, *, key: Collection[str], sort: str) -> bool:
    """Whether what is said to be a value of this sort is so for good. There may be many names, whatever has to have or be one
    ("the button must be `primary`"), and many days on which something is; and what goes on behind the value of a "=" says
    something of what has that value ("the test for limit = 5 fails")."""
    if words[-1] in _EQUALS:
        is_within = sort == "name" and not _WITHIN.isdisjoint(words)
        return not is_within and _ENDS >= {*_TOKEN.findall(after.lower())}
    return sort not in NAMES and (sort != "day" or not _DATES.isdisjoint(key))


def _is_one_of_many(word: str) -> bool:
    return (len(word) == 1 and word.isascii()) or word.lower() in _ONE_OF_MANY


def _without_fillers(words: Sequence[str]) -> Sequence[str]:
    """The words before a value without the small ones that stand directly before it."""
    low = max(1, len(words) - FILLERS_MAX)
    end = len(words)
    while end > low and words[end - 1] in _FILLERS:
        end -= 1
    return words[: end - 1] if low < end < len(words) and words[end - 1] == "set" else words[:end]


def _is_set(words: Sequence[str], after: str) -> bool:
    """ "Set KEY to N", "KEY moves to N", "keep KEY below N", "make KEY N"."""
    if _is_order(words):
        return False
    verbs = (n for n, word in enumerate(words[:-1]) if word in _SETTERS)
    return any(words[n + 1] not in _INDEFINITE and _sets(words, n, after=after) for n in verbs)


def _sets(words: Sequence[str], verb: int, *, after: str) -> bool:
    """What a verb that sets does at its place."""
    if words[verb] == "make":
        return words[verb + 1] in _DEFINITE and {*_TOKEN.findall(after.lower())} <= _ENDS
    if words[verb : verb + 2] == ["set", "up"]:
        return False
    small = {*words[len(_without_fillers(words)) :]}
    if words[verb] in _STILL:  # nouns too
        return bool(small & _TO_BOUNDS) and _BEFORE_VERB >= {*words[:verb]}
    return "to" in small


def _is_toggled(words: Sequence[str], after: str) -> bool:
    """ "Turn KEY on", "turn off KEY", "keep KEY on"."""
    verb, *rest = [word for word in words if word not in _BEFORE_VERB] or [""]
    if verb not in _TOGGLES or words[0] in _NO_KEY or not (_INDEFINITE | {"to"}).isdisjoint(rest[:1]):
        return False
    return bool(rest) or (verb in _TURNS_ON and _INDEFINITE.isdisjoint(_TOKEN.findall(after.lower())[:1]))


def _is_bound(words: Sequence[str], after: str) -> bool:
    """ "At most 5 jobs", "run at most 5 jobs in parallel", "5 workers max"."""
    noun, *rest = _TOKEN.findall(after.lower()) or [""]
    if noun.lstrip("个") not in _AT_ONCE or not _BOUND_ENDS >= {*rest}:
        return False
    if words and not words[-1].isascii():
        return len(words) == 1 and _EAST_BOUNDS.fullmatch(words[0]) is not None
    holds = [word for word in words if word not in _BEFORE_VERB and word not in _BOUNDS_OF]
    return not _BOUNDS.isdisjoint((*words, *rest)) and len(holds) <= 1 and _HOLDS >= {*holds}


def _is_switched(words: Sequence[str], after: str, *, before: str) -> bool:
    """ "Switch to Python 3.12"; "switch to step 3" and "… to node 3" go there, and "… to see whether it fails" tries it."""
    if words[-1] not in _RUNTIMES or before.rstrip().endswith("node"):
        return False
    rest = _TOKEN.findall(after.lower())
    if not words[0].isascii():
        return len(words) == 2 and _EAST_SWITCHES.fullmatch(words[0]) is not None and {"了", "吧"} >= {*rest}
    verb, *to = [word for word in words if word not in _BEFORE_VERB]
    return verb in _SWITCHES and [word for word in to[:-1] if word != "back"] == ["to"] and "to" not in rest


def _is_said(words: Sequence[str], *, is_flag: bool) -> bool:
    """ "KEY is N", "KEY: N", "KEY must stay below N", where that is no part of an order."""
    head = _without_fillers(words)
    subject = head[:-1]
    if _NO_SUBJECT >= {*subject}:
        return False
    is_noun = len(subject) == 1 and (is_flag or head[-1] not in _COLONS)  # "debug is"; "fix:" is an order
    if not is_noun and _is_order(subject):
        return False
    if head[-1] in _IS:
        return True
    return head[-1] in _MEASURES and bool(_MODALS & {*subject}) and not _PERSONS & {*subject}


def _is_order(words: Sequence[str]) -> bool:
    """ "Run it with limit =", "look at:", "fix:": the next may ask for another value beside it."""
    verb, *rest = [word for n, word in enumerate(words) if word not in _LEADS or n == len(words) - 1]
    if verb not in _ORDERS or verb in _TELLS:
        return False
    return verb in _TRIES or not rest or rest[0] in _DIRECTS


def _is_set_in_east(last: str, after: str) -> bool:
    """ "KEY 改成 N", "KEY を N に"."""
    return last.endswith(_EAST_SETS) or (
        last.endswith(_EAST_OBJECT) and after.lstrip().startswith(_EAST_BECOMES)
    )


def _is_said_in_east(last: str, after: str) -> bool:
    """ "KEY 是 N", "KEY は N です"."""
    if last.endswith(_EAST_IS):
        return last[:-1] not in _ONE_OF_MANY
    return last.endswith(_EAST_TOPIC) and after.strip(" 。.!！") in _EAST_ENDS


def _is_used(words: Sequence[str], after: str, *, is_name: bool) -> bool:
    """ "Use 4 workers", "use MySQL for the database", "use port 7000"."""
    head = _without_fillers(words)
    rest = _TOKEN.findall(after.lower())
    uses = head[-1].endswith("用") or (head[-1] == "use" and head[-2:-1] != ["to"])
    if is_name:
        return uses and rest[:1] == ["for"]
    if uses:
        return any(word.lstrip("个") in _RESOURCES for word in rest[:2])
    return (
        words[-1] in _SETTINGS and not _USES.isdisjoint(words) and not _is_order(words) and rest[:1] != ["as"]
    )


def _is_measured(words: Sequence[str]) -> bool:
    """ "The job runs at N", "the plan costs N": with "now" beside it that is a change."""
    head = _without_fillers(words)
    return words[0] in _DEFINITE and (len(head) < len(words) or head[-1] in _MEASURES)
