"""Failures in a text: lines that report one, of any tool and in any of the languages agents work in.

Knows only the text. A line of a program that speaks of failures reports none (`except OSError:`); where it holds the
words of a message it is kept apart, its key marked `IN_CODE`. The key of a failure leaves out what changes from run to
run (numbers, times, addresses, directories), so that the newest of each kind can be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from foldline.ledger.facts import INITIALS, Fact, Named

LINE_CHARS_MAX = 240
"""What is quoted of a line: a failure is named within it, and a line as long as this is data around one, of which no more is quoted."""
_LEAD_CHARS = 60
"""What is quoted before the word that names the failure, in a line too long to quote whole."""
KEY_CHARS_MAX = 120
_NONE_CHARS = 24
"""How far before the name of a failure what denies it may begin."""
_INITIAL = INITIALS["errors"]
IN_CODE = "in code: "
"""How the key of a line begins that does not report a failure but would print or handle one."""

_NAMED = r"(?:\[\w{1,12}\]| ?\([^()\n]{1,24}\))?:"
_VERB = r"(?:(?<=[:>\]\"'`✗✖×❌]) ?|(?<=[:>\]] )|^)(?:{}) (?:to )?[a-z]+"
_CLASS = r"(?:^|[\s'\"])(?:[\w.]{{1,60}}\.)?[A-Z]\w*{}(?=$|:| at |\(\")"
_STATUS = r"(?:HTTP/[\d.]+|[Ss]tatus(?:[ _]?[Cc]ode)?|HTTP)[\"']?[ :=]{1,3}[45]\d\d\b"
_EXIT = r"(?:[Ee]xit(?:ed)?(?: with)?|returned)(?: non-zero)?[ _](?:code|status|exit status)?[\"']?[ :=]{0,3}-?[1-9]\d{0,2}\b"
_SYSTEM = r"\bE(?:NOENT|ACCES|ISDIR|PERM|EXIST|CONN[A-Z]+|TIMEDOUT|ADDRINUSE|PIPE|NOTFOUND|RESOLVE)\b"
_FAIL = (
    r"\bFAIL(?:ED|URE)?\b|"
    + _VERB.format("[Ff]ailed")
    + r"|\b[1-9]\d{0,5} (?:tests? )?(?:failed|failures)\b|[Ff]ailures?:"
    r"|\b(?:[Tt]ests?|[Bb]uild|[Cc]ommand|[Cc]ompilation|[Jj]ob|[Cc]heck|[Rr]equest|[Ii]nstall|script `\w+`)"
    r" (?:has |have )?failed\b"
)
_ERROR = (
    rf"[Ee]rror{_NAMED}|\bERROR\b|\b(?:npm|yarn|pnpm) error\b|\berror (?:TS|CS|C|LNK|E)?\d{{2,5}}\b"
    r"|\b[1-9]\d{0,5} (?:errors\b|error\b(?! \w))|" + _CLASS.format("Error")
)
_ODD = (
    r"(?:异常|異常)(?=[\s:：,，。.;；!！?？)）\]】」』、\"'`（(]|$|退|终|終|中断|信息|堆|抛|关|结束|发生|码|类|返回|报|错|処理|[がをのではに]|情况|状|日志|捕)"
    r"|(?:抛出?|发生|出现|捕获|引发|触发|遇到|产生|报|运行时?|系统|程序|网络|连接|服务|接口|数据库?|请求|参数|执行|解析|读取|写入|加载|调用|启动|未知|指针|内部)(?:了|的|一个){0,2}异常"
)
"""As a noun; before an adjective it is "very"."""

_PATTERNS = {
    "error": _ERROR,
    "err!": r"ERR!",
    "fail": _FAIL,
    "exception": rf"[Ee]xception{_NAMED}|" + _CLASS.format("Exception"),
    "traceback": r"Traceback \(most recent call last\)",
    "fatal": r"\bFATAL\b|[Ff]atal(?: error)?:",
    "panic": r"\bPANIC\b|[Pp]anic:|panicked at",
    "critical": r"[\d\[] {0,4}CRITICAL\b|\bCRITICAL:\w",
    "denied": r"[Pp]ermission denied|[Aa]ccess denied|auto-denied",
    "refused": r"[Cc]onnection refused",
    "no such file": r"[Nn]o such file",
    "not found": r"\b(?:command|[Ff]ile|[Mm]odule|[Pp]ackage|method|404) [Nn]ot [Ff]ound\b|: not found$",
    "timed out": r"[Tt]imed out\b",
    "exit": _EXIT,
    "returned": _EXIT,
    "enoent": _SYSTEM,
    "econn": _SYSTEM,
    "eacces": _SYSTEM,
    "eaddr": _SYSTEM,
    "eisdir": _SYSTEM,
    "segmentation": r"[Ss]egmentation fault",
    "sigsegv": r"SIGSEGV",
    "core dumped": r"core dumped",
    "killed": r"\b[Kk]illed[.:]?\s*\d*\s*$",
    "aborted": r"\b[Aa]borted[.:]?\s*(?:\(core|$)",
    "unhandled": r"^(?:[\w.]+ )?[Uu]nhandled",
    "cannot ": _VERB.format("[Cc]annot"),
    "can't ": _VERB.format("[Cc]an't"),
    "could not": _VERB.format("[Cc]ould not"),
    "couldn't": _VERB.format("[Cc]ouldn't"),
    "unable to": _VERB.format("[Uu]nable"),
    "undefined reference": r"undefined reference",
    "conflict (": r"CONFLICT \(",
    "http/": _STATUS,
    "status": _STATUS,
    "\ne  ": r"^E {2,}\S",
    "异常": _ODD,
    "異常": _ODD,
    **{word: word for word in "错误 失败 錯誤 失敗 报错 超时 拒绝 无法 エラー 例外 오류 실패".split()},
}
"""What stands, in lower case, in a line that reports a failure -> how such a line looks."""
_REPORTS = {sign: re.compile(pattern) for sign, pattern in _PATTERNS.items()}
_NEAR = {
    "error": re.compile(
        rf"ERROR\b|[Ee]rror{_NAMED}|Error(?=\s|$|\(\")|(?<=\d )errors?\b|error (?:TS|CS|C|LNK|E)?\d|(?<=pm )error\b"
        r"|(?<=yarn )error\b"
    )
}
"""A sign that words of code and prose hold too -> what is there at a sign that may report a failure."""
_ALONE = {"E": "\ne  "}
"""What is a word of its own -> its sign."""
_CUES = {max(re.findall(r"\w+", sign), key=len): sign for sign in _PATTERNS if sign not in _ALONE.values()}
"""The longest word of any other sign -> the sign: in a text without the word, nobody has to look for the sign."""
_ASCII_CUES = {cue: sign for cue, sign in _CUES.items() if cue.isascii()}
_LETTERS = bytes(byte if byte >= 128 or chr(byte).isalpha() else ord(" ") for byte in range(256))
"""No cue holds anything else: words are asked for many cues piece by piece, each piece once."""
_NONE = re.compile(
    r"(?=[0nNwWeEfFsS没无未并零错失异报超修解处消已])(?:\b(?:0|no|without) (?:(?:tests?|build) )?(?:errors?\b|error\(s\)|failures?\b|failed\b|failing\b|warnings?\b)"
    r"|(?:errors?|error\(s\)|fail(?:ed|ing|ures?)?|fatal|exceptions?)(?:[ _](?:count|tests?|rate|found|total|number))?[\"']?(?:\s{0,3}[:=]\s{0,8}|\s{1,8}\(|\s(?=0\s*$))"
    r"(?:0|null|false|none|\(none\)|undefined|nil|\[\]|\"\")(?=\s*$|\s?[,;)\]}|%]|[ \t]{1,8}\w{1,20}\s?[:=(])"
    r"|(?:exit|status)[ _]?code:? 0\b"
    r"|(?:并?没有?|并?无|未|零|(?<!\d)0 ?[个次项])(?:发现|出现|检测到|产生|发生|报告|任何|有){0,3}(?:错误|失败|异常|报错|超时|拒绝)"
    r"|(?:错误|失败|异常|报错|超时)(?:数量?|个数|总数|次数|率)? ?[:：= ] ?(?:0|零|无|没有)(?= ?[个次项条%]?\s*(?:$|[，,。；;、）)]))"
    r"|(?:修复|解决|修正|处理|消除)了?[^，。；\s]{0,8}?(?:错误|异常|报错|超时)|(?:修复|解决|修正|消除)了[^，。；\s]{0,8}?失败|已(?:经)?(?:修复|解决|修正)[^，。；\s]{0,6}?失败的"
    r"|(?:错误|异常|失败|报错|超时)[^，。；\s]{0,6}?已(?:经|被)?(?:修复|解决|处理|修正)|错误(?:处理|码)(?! ?[:：=])|超时(?:时间|设置|限制|阈值|上限|参数)|超时 ?= ?\d|超时设?(?:为|成))",
    re.IGNORECASE,
)
"""What says that there is no failure, that it was mended, or speaks of failures in general."""
_NUMBERED = re.compile(r"\s*\d{1,6}(?:\t|→|\s*\||:(?= {2}|\t))")
_CODE = re.compile(
    r"[+-]?\s*+(?:\}?\s*+(?:except|catch|raise|throw|try|if|elif|else|for|while|with|return|def|class|function|const|let|var"
    r"|import|from|assert|case|await|async|public|private|static|final|export|func|match|new|type|interface)\b"
    r"|(?:self|this|console|logger|logging|log|warnings|sys|process|chalk|pytest)\.|print(?:f|ln)?\(|echo "
    r"|(?!(?i:error|err|message|msg|reason|details?|stderr|stdout|output|exception|cause|failure|status|result)\b)\w{1,40}\??\s{0,2}[:=]\s{0,2}[\"'`][^\n]{1,400}[\"'`][,;]?$"
    r"|//|/\*|\* |#|\"\"\"|`|'|\"|[})\]:?|&.]|[\w.]{1,60}(?:\(|\?? ?[:=] ?[\w{\[(]*[,.(]|: [\w.]{1,60},?$| = )|.*[;{(\[]$|.*\) ?=>|(?>.*?\w\()(?>.*\)):?,?$)",
    re.ASCII,
)
_PLAIN = re.compile(
    r"\{\"|\[\{|(?![a-z_]{1,40}[A-Z]\w{0,60}:? ?[\w.!(]{1,80},?$)[\w.]{0,60}(?:[Ee]rror|Exception):? |\S{1,200}\(\d+,\d+\): |[A-Z]{4,8}\b|E {2,}|\"(?:error|message|reason|detail|stderr)\": ?\""
    r"|[+-]?\s*(?:npm|error|fatal|panic|Command|Traceback)\b"
)
_EPILOGUE = re.compile(
    r"(?:npm|pnpm|yarn) (?:error|ERR!) (?:(?:path|workspace|location|command|in workspace|at location|cwd|prefix|gyp info|A complete log)\b|$)"
)
"""What a package manager adds to every failure of a script: where it ran. What failed stands before it."""
_MESSAGE = re.compile(r"[Ee]rror:|except [\w.]+:|Failed to|Could not|Cannot ")
_CHANGING = re.compile(
    r"\d{4}-\d\d-\d\d[T ]?(?:\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|0x[0-9a-fA-F]+|\b[0-9a-f]{7,64}\b|(?<![\w.@~-])(?:[\w.@~-]{0,80}/)+|\d+(?:\.\d+)*"
)
_SPACES = re.compile(r"\s+")


def signs_in(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What words say to look for in the text they come from; most words say nothing and are left out."""
    found: dict[str, tuple[str, ...]] = {}
    joined = "\n".join(words)
    lowered = _lower(joined)
    letters = b" ".join(set(lowered.encode(errors="surrogatepass").translate(_LETTERS).split()))
    for cue, sign in (_ASCII_CUES if lowered.isascii() else _CUES).items():
        at = lowered.find(cue) if cue.encode() in letters else -1
        while at >= 0:
            end = lowered.find("\n", at)
            word = joined[lowered.rfind("\n", 0, at) + 1 : end if end >= 0 else None]
            found[word] = (*found.get(word, ()), sign)
            at = lowered.find(cue, end) if end >= 0 else -1
    found |= {word: (sign,) for word, sign in _ALONE.items() if word in words}
    return found


def errors_in(text: str, opened: str, *, signs: Set[str]) -> Iterator[Fact]:
    """Each line that reports a failure once, in order (`reports_in`)."""
    seen: set[str] = set()
    for _, (_, fact) in reports_in(text, opened, signs=signs):
        if fact.text not in seen:
            seen.add(fact.text)
            yield fact


def reports_in(text: str, opened: str, *, signs: Set[str]) -> Iterator[tuple[int, Named]]:
    """Where a line reports a failure, in order, and the failure. `opened` is `text` with escapes laid open, character by
    character; the line quoted comes from `text`. `signs` are those of the text's words."""
    for (begin, stop), code in sorted(_reports(opened, signs).items()):
        line = text[begin:stop]
        key = (IN_CODE if code else "") + key_of(line)
        yield begin, (_INITIAL + key, Fact(kind="errors", key=key, text=line))


def key_of(line: str) -> str:
    """A failure without what changes from run to run."""
    return _SPACES.sub(" ", _CHANGING.sub("#", line)).strip()[:KEY_CHARS_MAX]


def key_of_listed(line: str) -> str:
    """The key of a line that was found before, and now stands alone."""
    code = _PLAIN.match(line) is None and _CODE.match(line) is not None
    return (IN_CODE if code else "") + key_of(line)


def _reports(text: str, signs: Set[str]) -> dict[tuple[int, int], bool]:
    """Where the lines that report a failure are to be quoted, and whether they are code. Each sign goes on behind the
    line it was found in."""
    lowered = _lower(text)
    found: dict[tuple[int, int], bool] = {}
    for sign in sorted(signs):
        pattern, near = _REPORTS[sign], _NEAR.get(sign)
        at = lowered.find(sign)
        while at >= 0:
            if near is not None and near.match(text, at) is None:
                at = lowered.find(sign, at + len(sign))
                continue
            begin = at + 1 if sign[0] == "\n" else at
            start = lowered.rfind("\n", 0, begin) + 1
            end = lowered.find("\n", begin)
            end = len(lowered) if end < 0 else end
            code = _kind_of_line(text, (start, begin, end), pattern=pattern)
            if code is not None:
                found[code[0]] = code[1]
            at = lowered.find(sign, end)
    return found


def is_none(line: str, named: tuple[int, int]) -> bool:
    """Whether what seems to name a failure in a line says that there is none."""
    for none in _NONE.finditer(line, max(0, named[0] - _NONE_CHARS)):
        if none.end() > named[0]:
            return none.start() < named[1]
    return False


def _lower(text: str) -> str:
    """In lower case, every character at its place."""
    return text.lower() if text.isascii() else text.replace("\u0130", "I").lower()


def _kind_of_line(
    text: str, line: tuple[int, int, int], *, pattern: re.Pattern[str]
) -> tuple[tuple[int, int], bool] | None:
    """What is quoted of a line (its start, its sign, its end), and whether it is code; `None` when it reports nothing."""
    start, at, end = line
    numbered = _NUMBERED.match(text, start, end)
    if numbered is not None:
        start = numbered.end()
    if end - start > LINE_CHARS_MAX and at - start > LINE_CHARS_MAX - _LEAD_CHARS:
        start = at - _LEAD_CHARS
    piece = text[start : min(end, start + 4 * LINE_CHARS_MAX)]
    start += len(piece) - len(piece.lstrip())
    quoted = _cut(piece.strip())
    if _EPILOGUE.match(quoted) or all(is_none(quoted, match.span()) for match in pattern.finditer(quoted)):
        return None
    code = _PLAIN.match(quoted) is None and (numbered is not None or _CODE.match(quoted) is not None)
    if code and _MESSAGE.search(quoted) is None:
        return None
    return (start, start + len(quoted)), code


def _cut(line: str) -> str:
    """A line as it is quoted: what is cut is as long as the bound or longer, what is whole is shorter."""
    if len(line) < LINE_CHARS_MAX:
        return line
    end = LINE_CHARS_MAX
    while end < len(line) and line[end - 1].isspace():
        end += 1
    return line[:end]
