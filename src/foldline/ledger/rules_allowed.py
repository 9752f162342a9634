"""Rules that a later permission lifts: "you may now touch src/db", "adding requests is OK after all", "现在可以加 requests 了".

Knows texts alone. Conservative: only a sentence that is a permission and nothing else lifts anything
(`foldline.ledger.permissions`): the rule about exactly its object; or the one rule that forbids its act for a whole kind of
things ("don't add dependencies"), where it names one of them and no other rule forbids the act. Counterpart:
`rules_taken_back`, for rules that are named to be dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from foldline.ledger.permissions import Allowed, allowed_by
from foldline.ledger.rules_taken_back import stems

RULE_CHARS_MAX = 400
"""No longer rule is lifted: too much in it could still stand."""

_PERMISSION = frozenset(
    "you may can now are allowed free to it is it's its ok okay fine alright again after all the a an please no longer forbidden permitted do not don't dont never must should"
    " shall any in of on at and or for with need have applies frozen read-only off-limits off limits under without banned prohibited writable editable rule this that be i we us me"
    " touch change edit modify alter update write use leave alone untouched unchanged intact ever".split()
)
"""Words that name no object of a rule; "touch", "change" and the like are one verb."""
_THING = re.compile(r"`[^`]+`|(?<![\w~.-])[\w~.-]*[\w~]/[\w./*-]*\w|(?<!\w)\w+\.[A-Za-z]\w*|(?<!\w)\w*_\w+")
_WORD = re.compile(r"[^\W_][\w'’-]*")

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
_IRREGULAR = {
    "write": ["written"],
    "rewrite": ["rewritten"],
    "run": ["run"],
    "make": ["made"],
    "modify": ["modified"],
}
_GERUND = {
    stem: _ACT_OF[word]
    for word in _ACT_OF
    for stem in (
        word.removesuffix("e") + "ing",
        word + "ing",
        word + word[-1] + "ing",
    )
}
_PARTICIPLE = {
    stem: _ACT_OF[word]
    for word in _ACT_OF
    for stem in (word.removesuffix("e") + "ed", word + word[-1] + "ed", *_IRREGULAR.get(word, ()))
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
_ARTICLES = frozenset("the a an this that one some also just our my in on to from for of with".split())
_SEVERAL = re.compile(
    r"\b(?:and|or|but|unless|except|without|only|not|any|all|every|more|new|other|in|on|at|by|with|via|from|during|before|after|as|once|twice|under|inside)\b",
    re.IGNORECASE,
)
"""In what is allowed: more than one thing, a whole kind again, or only at some place or time."""

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
_TOUCHED = stems(word for words in _ACTS[1:2] for word in words.split())
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


def lifted(sentence: str, rules: Sequence[str]) -> tuple[int, ...]:
    """Which of `rules` (each a sentence) a sentence that allows something lifts, by their places."""
    allowed = allowed_by(sentence)
    if allowed is None:
        return ()
    same = tuple(n for n, rule in enumerate(rules) if _same_object(allowed, rule))
    if same:
        return same
    let = _let_one(allowed)
    if let is None:
        return ()
    bans = [(n, ban) for n, rule in enumerate(rules) if (ban := _ban(rule)) is not None]
    here = [(n, ban) for n, ban in bans if (ban.act, ban.is_han) == (let.act, let.is_han)]
    others = sum(_speaks_of(rule, let.act, is_han=let.is_han) for rule in rules)
    if len({rules[n] for n, _ in here}) != 1 or others != len(here):
        return ()
    return tuple(n for n, ban in here if let.is_one_of(ban.kind))


def _let_one(allowed: Allowed) -> _Permission | None:
    """The act that is allowed of one thing, where a permission says so."""
    if allowed.is_han:
        han = _HAN_LETS.search(allowed.text)
        act = None if han is None else _group(han, "act", count=len(_HAN_ACTS))
        if han is None or act is None or _HAN_SEVERAL.search(han["object"]):
            return None
        kinds = frozenset(n for n, words in enumerate(_HAN_KINDS) if re.search(words, han["object"]))
        return _Permission(act, kinds, han["object"], True)
    number = _ACT_OF.get(allowed.verb, _GERUND.get(allowed.verb, _PARTICIPLE.get(allowed.verb)))
    words = [word.lower() for word in _WORD.findall(allowed.thing) if word.lower() not in _ARTICLES]
    if number is None or not words or _SEVERAL.search(allowed.thing):
        return None
    kinds = frozenset(_KIND_OF[word] for word in words if word in _KIND_OF)
    return _Permission(number, kinds, allowed.thing, False)


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


def _same_object(allowed: Allowed, rule: str) -> bool:
    """Whether just what a rule forbids is allowed: the same act, of the same things, and in no narrower a place."""
    if len(rule) > RULE_CHARS_MAX:
        return False
    if allowed.is_han:
        return _same_han(allowed.text, rule)
    barred = rule.strip()
    bans = list(_BARS.finditer(barred))
    if len(bans) != 1 or _OTHERWISE.search(barred) or _NARROWS.search(allowed.text):
        return False
    act, acts = _act_allowed(allowed), _acts_of(barred)
    if act is None:  # "src/db is no longer frozen"
        agree = acts in (frozenset(), _TOUCHES, frozenset({_act_named("use")}))
    else:
        agree = acts == act or (not acts and act == _TOUCHES)
    ruled, free = _objects(barred), _objects(f"{allowed.verb} {allowed.thing}")
    return agree and bool(ruled) and ruled == free and _things(allowed.thing) == _things(rule)


def _act_allowed(allowed: Allowed) -> frozenset[str] | None:
    """What is allowed to be done, as far as it is said; none where a thing is set free with no act named."""
    if allowed.verb:
        return frozenset({_act_named(allowed.verb)})
    return _acts_of(allowed.thing) or None


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
    number = _ACT_OF.get(verb, _GERUND.get(verb, _PARTICIPLE.get(verb)))
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
    return (
        stems([*_things(text), *(w for w in _WORD.findall(bare) if w.lower() not in _PERMISSION)]) - _TOUCHED
    )


def _things(text: str) -> frozenset[str]:
    return frozenset(found.strip("`./") for found in _THING.findall(text))
