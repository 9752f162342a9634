"""Rules that a later permission lifts: "you may now touch src/db", "adding requests is OK after all", "现在可以加 requests 了".

Knows texts alone. Conservative: a permission lifts the rule about exactly its object; or the one rule that forbids its act
for a whole kind of things ("don't add dependencies"), where it names one of them and no other rule forbids the act. The
permission itself is kept like a rule (`foldline.ledger.ranks`), so that what is allowed can be read where the rule was.
Counterpart: `rules_taken_back`, for rules that are named to be dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from foldline.ledger.rules_taken_back import stems
from foldline.ledger.sentences import sentences

RULE_CHARS_MAX = 400
"""No longer rule is lifted: too much in it could still stand."""

TEXTS_MAX = 512
"""Texts whose permissions are remembered."""

_ALLOWS = re.compile(
    r"\byou (?:may|can) now\b|\byou (?:may|can|are (?:now )?(?:allowed|free) to)\b.{0,160}\b(?:now|again|after all)\b|\byou are now (?:allowed|free) to\b|\b(?:it['’]?s|it is) (?:now )?(?:ok|okay|fine|alright|allowed) (?:now )?to\b.{0,160}\b(?:now|again|after all)\b|\b(?:it['’]?s|it is) now (?:ok|okay|fine|alright|allowed) to\b"
    r"|\b(?:is|are) (?:now )?(?:allowed|permitted|ok|okay|fine|writable)\s+(?:now|again|after all)\b|\b(?:is|are) now (?:allowed|permitted|ok|okay|fine|writable|editable)\b|\bno longer (?:forbidden|off[- ]limits|frozen|read-only|applies|prohibited|banned)\b|\byou no longer (?:have|need) to\b"
    r"|现在(?:可以|能|允许)|(?:可以|允许).{1,30}了|不再(?:禁止|限制|需要)|解除|(?:もう|今は).{0,20}(?:てもいい|て(?:いい|よい|構)|可能)|이제.{0,20}(?:해도|도)\s?(?:돼|됩니다|좋)",
    re.IGNORECASE,
)
_PERMISSION = frozenset(
    "you may can now are allowed free to it is it's its ok okay fine alright again after all the a an please no longer forbidden permitted do not don't dont never must should"
    " shall any in of on at and or for with need have applies frozen read-only off-limits off limits under without banned prohibited writable editable rule this that be i we us me"
    " touch change edit modify alter update write use leave alone untouched unchanged intact ever".split()
)
"""Words that name no object of a rule; "touch", "change" and the like are one verb."""
_THING = re.compile(r"`[^`]+`|(?<![\w~.-])[\w~.-]*[\w~]/[\w./*-]*\w|(?<!\w)\w+\.[A-Za-z]\w*|(?<!\w)\w*_\w+")
_WORD = re.compile(r"[^\W_][\w'’-]*")
_HAN_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")

_ACTS = (
    "add install introduce include import pull bring",
    "touch change edit modify alter update write rewrite",
    "delete remove drop",
    "rename",
    "create make",
    "run execute start launch",
    "use",
    "commit push merge deploy publish release",
    "log print",
    "mock stub skip disable",
)
_ACT_OF = {word: number for number, words in enumerate(_ACTS) for word in words.split()}
"""Verbs that forbid or allow the same."""
_GERUND = {
    stem: _ACT_OF[word]
    for word in _ACT_OF
    for stem in (
        word.removesuffix("e") + "ing",
        word + "ing",
        word + word[-1] + "ing",
    )
}
_KINDS = (
    "dependency dependencies package packages library libraries module modules framework frameworks plugin plugins",
    "file files folder folders directory directories",
    "table tables",
    "column columns field fields",
    "endpoint endpoints route routes api apis",
    "test tests",
    "comment comments docstring docstrings",
    "commit commits",
    "branch branches",
    "tag tags",
    "service services",
    "tool tools",
    "import imports",
    "script scripts",
    "migration migrations",
    "class classes",
    "function functions method methods",
    "variable variables",
    "setting settings option options flag flags",
    "log logs",
    "feature features",
    "user users",
    "secret secrets password passwords",
    "command commands",
)
_PACKAGES = 0
_KIND_OF = {word: number for number, words in enumerate(_KINDS) for word in words.split()}
"""Names of kinds of things, of which a permission may name one."""
_ADJECTIVES = r"(?:(?:any|new|more|further|extra|additional|other|third-party|external|the|our|existing|all|such|python|npm)\s{1,3}){0,4}"
_WHERE = r"(?:\s{1,3}(?:please|here|at all|for now|either|anywhere|to (?:the|this) (?:project|repo|repository|code|codebase)|in (?:the|this) (?:project|repo|repository|code|codebase)))?"
_FORBIDS = re.compile(
    rf"^(?:\W{{0,3}}|.{{0,40}}[:,—–-]\s{{1,3}})(?:please\s{{1,3}})?(?:(?:do\s?n[o'’]?t|don’t|do not|never|must not|mustn['’]t|should not|shouldn['’]t|may not|you (?:can ?not|can['’]t|may not))\s{{1,3}}(?:ever\s{{1,3}})?"
    rf"(?P<act>[a-z]+)|(?P<no>no)(?=\s{{1,3}}(?:new|more|further|extra|additional)\s))\s{{1,3}}{_ADJECTIVES}(?P<kind>[a-z]+){_WHERE}\s{{0,3}}[.!]?\s*$",
    re.IGNORECASE,
)
_LETS = re.compile(
    r"\b(?P<gerund>[a-z]+ing)\s{1,3}(?P<a>[^.,;:!?\n]{1,60}?)\s{1,3}(?:is|are)\s{1,3}(?:now\s{1,3})?(?:ok|okay|fine|alright|all right|allowed|permitted|acceptable)\b"
    r"|\b(?:you (?:may|can)|(?:it['’]?s|it is) (?:now )?(?:ok|okay|fine|alright|allowed) (?:now )?to|(?:allowed|free) to)\s{1,3}(?:now\s{1,3}|please\s{1,3})?(?P<verb>[a-z]+)\s{1,3}(?P<b>[^.,;:!?\n]{1,60}?)(?=\s{1,3}(?:now|again|after all)\b|\s*[.,;:!?\n]|\s*$)",
    re.IGNORECASE,
)
_ARTICLES = frozenset("the a an this that one some also just our my in on to from for of with".split())
_SEVERAL = re.compile(
    r"\b(?:and|or|but|unless|except|without|only|not|any|all|every|more|new|other)\b", re.IGNORECASE
)
"""In what is allowed: more than one thing, or a whole kind again."""

_HAN_ACTS = (
    "添加|增加|新增|引入|安装|加入|加|装",
    "修改|改动|更改|编辑|改|动|碰|触碰",
    "删除|移除|删",
    "重命名|改名",
    "新建|创建|建",
    "运行|执行|跑",
    "使用|用",
    "提交|推送|合并|部署|发布",
)
_HAN_KINDS = (
    "第三方依赖|外部依赖|依赖包|依赖项|依赖|第三方库|库|软件包|包|框架|插件",
    "文件|目录|文件夹",
    "数据表|表",
    "字段|列",
    "接口|端点",
    "测试|用例",
    "注释",
    "分支",
    "服务",
    "脚本",
    "函数|方法",
    "变量",
    "功能",
    "命令",
)
_HAN_ACT = "|".join(rf"(?P<act{n}>{words})" for n, words in enumerate(_HAN_ACTS))
_HAN_KIND = "|".join(rf"(?P<kind{n}>{words})" for n, words in enumerate(_HAN_KINDS))
_HAN_FORBIDS = re.compile(
    rf"^[\W]{{0,3}}(?:请)?(?:不要|别|不得|不准|不许|禁止|严禁|请勿|切勿|不能|不可)(?:再|随便|随意|擅自)?(?:{_HAN_ACT})(?:任何|新的?|额外的?|其他的?|别的)?(?:{_HAN_KIND})[。！!.]?\s*$"
)
_HAN_LETS = re.compile(
    rf"(?:可以|允许|能)(?:再)?(?:{_HAN_ACT})\s?(?P<object>[^，。！？；,.;!?\s和或与、][^，。！？；,;!?\n]{{0,30}}?)(?:了|吧)?\s?[，。！,.!]?\s*$"
)
_HAN_SEVERAL = re.compile(r"[、和或与及]|任何|所有|全部|其他|别的")


_ALIKE = frozenset({_ACT_OF["use"], _ACT_OF["commit"], _ACT_OF["mock"]})
"""Lists of acts that a rule about a whole kind may mean together, and a rule about one thing does not."""
_TOUCHES = frozenset({"touch"})
_BARS = re.compile(
    r"\b(?:do ?n[o'’]?t|do not|never|must not|mustn['’]t|should not|shouldn['’]t|may not|can ?not|can['’]t|no|avoid|hands off|stay away|keep (?:out|away)"
    r"|(?:is|are|stays?|remains?) (?:off[- ]limits|frozen|read[- ]only|forbidden|prohibited|banned|not to be)|off[- ]limits|refrain|leave)\b",
    re.IGNORECASE,
)
"""What forbids. A rule that has none of these, or two, is lifted by no permission."""
_OTHERWISE = re.compile(
    r"\b(?:only|always|except|unless|without|until|before|when|if|but|and|or|nor|must(?! not)|every|because|since)\b|[;:]",
    re.IGNORECASE,
)
"""What makes a rule more than the ban of one act: it could still stand where the act is allowed."""
_NARROWS = re.compile(
    r"\b(?:only|except|unless|but|if|when|until|once|without|just|for (?!now\b)|to (?:read|test|check|see))\b",
    re.IGNORECASE,
)
_ALLOWED_VERB = re.compile(
    r"\b(?:you (?:may|can)|(?:allowed|free) to|(?:ok|okay|fine|alright)(?: now)? to)\s{1,3}(?:(?:now|please|again|also|freely)\s{1,3})?([a-z]+)",
    re.IGNORECASE,
)
_BARRED_VERB = re.compile(
    r"\b(?:do ?n[o'’]?t|do not|never|must not|mustn['’]t|should not|shouldn['’]t|may not|can ?not|can['’]t)\s{1,3}(?:ever\s{1,3})?([a-z]+)",
    re.IGNORECASE,
)
_HAN_BARS = re.compile(
    r"^\W{0,3}(?:请|絶対に|绝对|千万|也)?(?:不要|别|不得|不准|不许|禁止|严禁|请勿|切勿|勿|不能|不可)(?:再|随便|随意|擅自)?"
)
_HAN_FREES = re.compile(
    r"(?:好[，,]?)?(?:你)?(?:现在)?(?:可以|允许|能)(?:再)?|(?<=.)(?:了|吧)\s?[。！!.]?\s*$"
)
_HAN_BARE = re.compile(r"(?<![。！!.，,、；;])[。！!.，,、；;]++(?=$|[\s\u3400-\u9fff])|任何|`")
"""What carries no meaning of its own; white space goes too, where this is used."""


_LIKE_CODE = re.compile(r"[`./_\\\d]|[a-z][A-Z]")
"""What names a file, a table or the like without saying so; a package may have any name."""


class _Permission(Struct, frozen=True):
    """What is allowed of one thing."""

    act: int
    kinds: frozenset[int]
    """The kinds that its name names itself: "the audit table"."""
    thing: str
    is_han: bool

    def is_one_of(self, kind: int) -> bool:
        """Whether the thing may be one of a kind."""
        if self.kinds:
            return self.kinds == {kind}
        return kind == _PACKAGES or _LIKE_CODE.search(self.thing) is not None


class _Ban(Struct, frozen=True):
    """What a rule forbids for a whole kind of things."""

    act: int
    kind: int
    is_han: bool


def allows(sentence: str) -> bool:
    """Whether a sentence allows what was forbidden; a question allows nothing."""
    return _ALLOWS.search(sentence) is not None and not sentence.endswith(("?", "？"))


@lru_cache(maxsize=TEXTS_MAX)
def permissions(text: str) -> tuple[str, ...]:
    """The sentences of a person's text that allow something, as they stand: each is kept like a rule."""
    if _ALLOWS.search(text) is None:
        return ()
    found = (text[start:end] for start, end in sentences(text) if end - start <= RULE_CHARS_MAX)
    return tuple(sentence for sentence in found if allows(sentence))


def lifted(sentence: str, rules: Sequence[str]) -> tuple[int, ...]:
    """Which of `rules` (each a sentence) a sentence that allows something lifts, by their places."""
    same = tuple(n for n, rule in enumerate(rules) if _same_object(sentence, rule))
    if same:
        return same
    let = _let_one(sentence)
    if let is None:
        return ()
    bans = [(n, ban) for n, rule in enumerate(rules) if (ban := _ban(rule)) is not None]
    here = [(n, ban) for n, ban in bans if (ban.act, ban.is_han) == (let.act, let.is_han)]
    others = sum(_speaks_of(rule, let.act, is_han=let.is_han) for rule in rules)
    if len({rules[n] for n, _ in here}) != 1 or others != len(here):
        return ()
    return tuple(n for n, ban in here if let.is_one_of(ban.kind))


def _let_one(sentence: str) -> _Permission | None:
    """The act that is allowed of one thing, where a sentence says so."""
    han = _HAN_LETS.search(sentence)
    if han is not None:
        act = _group(han, "act", count=len(_HAN_ACTS))
        if act is None or _HAN_SEVERAL.search(han["object"]):
            return None
        kinds = frozenset(n for n, words in enumerate(_HAN_KINDS) if re.search(words, han["object"]))
        return _Permission(act, kinds, han["object"], True)
    match = _LETS.search(sentence)
    if match is None:
        return None
    verb = (match["gerund"] or match["verb"]).lower()
    number = _GERUND.get(verb) if match["gerund"] else _ACT_OF.get(verb)
    thing = match["a"] or match["b"]
    words = [word.lower() for word in _WORD.findall(thing) if word.lower() not in _ARTICLES]
    if number is None or not words or _SEVERAL.search(thing):
        return None
    kinds = frozenset(_KIND_OF[word] for word in words if word in _KIND_OF)
    return _Permission(number, kinds, thing, False)


def _ban(rule: str) -> _Ban | None:
    """The act and the kind that a rule forbids, where it says nothing else."""
    if len(rule) > RULE_CHARS_MAX:
        return None
    han = _HAN_FORBIDS.match(rule)
    if han is not None:
        act, kind = _group(han, "act", count=len(_HAN_ACTS)), _group(han, "kind", count=len(_HAN_KINDS))
        return None if act is None or kind is None else _Ban(act, kind, True)
    match = _FORBIDS.match(rule)
    if match is None:
        return None
    number = _ACT_OF.get((match["act"] or "add").lower())
    named = _KIND_OF.get(match["kind"].lower())
    return None if number is None or named is None else _Ban(number, named, False)


def _group(match: re.Match[str], name: str, *, count: int) -> int | None:
    return next((n for n in range(count) if match[f"{name}{n}"]), None)


def _speaks_of(rule: str, act: int, *, is_han: bool) -> bool:
    """True for a rule in which the act occurs, whatever it says of it."""
    if is_han:
        return re.search(_HAN_ACTS[act], rule) is not None
    words = {word.lower() for word in _WORD.findall(rule)}
    bare = act == 0 and re.search(r"\bno (?:new|more|further|extra|additional)\b", rule, re.IGNORECASE)
    return bool(bare) or any(_ACT_OF.get(word) == act or _GERUND.get(word) == act for word in words)


def _same_object(allowed: str, rule: str) -> bool:
    """Whether a sentence allows just what a rule forbids: the same act, of the same things, and in no narrower a place."""
    if len(rule) > RULE_CHARS_MAX:
        return False
    if _HAN_RUN.search(allowed):
        return _same_han(allowed, rule)
    barred = rule.strip()
    bans = list(_BARS.finditer(barred))
    if len(bans) != 1 or _OTHERWISE.search(barred) or _NARROWS.search(allowed):
        return False
    if _things(allowed) != _things(rule):
        return False
    act, acts = _act_allowed(allowed), _acts_of(barred)
    if act is None:  # "src/db is no longer frozen"
        agree = acts in (frozenset(), _TOUCHES, frozenset({_act_named("use")}))
    else:
        agree = acts == act or (not acts and act == _TOUCHES)
    ruled, free = _objects(barred), _objects(allowed)
    return agree and bool(ruled) and ruled <= free and (bool(_things(rule)) or ruled == free)


def _act_allowed(sentence: str) -> frozenset[str] | None:
    """What is allowed to be done, as far as it is said; none where a thing is set free with no act named."""
    verb = _ALLOWED_VERB.search(sentence)
    if verb is not None:
        return frozenset({_act_named(verb[1].lower())})
    gerund = _LETS.search(sentence)
    if gerund is not None and gerund["gerund"]:
        return frozenset({_act_named(gerund["gerund"].lower())})
    return _acts_of(sentence) or None


def _acts_of(text: str) -> frozenset[str]:
    """Every act that is named in a rule, its bare objects left out."""
    bare = _THING.sub(" ", text)
    words = [word.lower() for word in _WORD.findall(bare)]
    named = {_act_named(word) for word in words if word in _ACT_OF or word in _GERUND}
    for verb in _BARRED_VERB.finditer(bare):
        named.add(_act_named(verb[1].lower()))
    return frozenset(named)


def _act_named(verb: str) -> str:
    """One word for what forbids or allows the same; of acts that only resemble each other each its own."""
    number = _ACT_OF.get(verb, _GERUND.get(verb))
    if number is None or number in _ALIKE:
        return next(iter(stems([verb])))
    return _ACTS[number].split()[0]


def _same_han(allowed: str, rule: str) -> bool:
    """Whether what stands behind the words that forbid and those that allow is the same."""
    if not _HAN_BARS.search(rule):
        return False
    barred = _han_core(_HAN_BARS.sub("", rule, count=1))
    free = _han_core(_HAN_FREES.sub("", allowed))
    return bool(barred) and barred == free


def _han_core(text: str) -> str:
    plain = "".join(_HAN_BARE.sub("", text).split())
    for words in _HAN_ACTS[1:4]:
        plain = re.sub(words, words.split("|")[-1], plain)
    return plain


def _objects(text: str) -> frozenset[str]:
    bare = _THING.sub(" ", text)
    return stems([*_things(text), *(w for w in _WORD.findall(bare) if w.lower() not in _PERMISSION)])


def _things(text: str) -> frozenset[str]:
    return frozenset(found.strip("`./") for found in _THING.findall(text))
