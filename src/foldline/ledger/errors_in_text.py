"""Failures in a text: lines that report one, of any tool and in any of the languages agents work in.

Knows only the text. The key of a failure leaves out what changes from run to run (numbers, times, addresses,
directories), so that the newest of each kind can be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foldline.ledger.facts import Fact

LINE_CHARS_MAX = 240
"""What is quoted of a line: a failure is named within it, and a longer line is data around one."""
_LEAD_CHARS = 60
"""What is quoted before the word that names the failure, in a line too long to quote whole."""
KEY_CHARS_MAX = 120

_SIGNS = (
    "error", "err!", "fail", "exception", "traceback", "fatal", "panic", "denied", "refused", "no such file",
    "not found", "timed out", "timeout", "exit code", "exited with", "exit status", "eisdir", "enoent", "eacces",
    "segmentation fault", "segfault", "core dumped", "killed", "aborted", "unhandled", "cannot ", "could not",
    "unable to", "unexpected", "undefined reference", "invalid", "conflict", "http/", "status code", "\ne  ",
    "错误", "失败", "异常", "錯誤", "失敗", "異常", "报错", "エラー", "例外", "오류", "실패", "无法", "超时", "拒绝",
)  # fmt: skip
"""Lower-case words without which no line reports a failure; each is looked for once."""

_REPORT = re.compile(
    r"(?:\b|_|(?<=[a-z]))(?:[Ee]rror|ERROR|[Ee]xception|EXCEPTION|[Ff]ailure|FAILURE|[Ww]arning)\b[\w\[\]() ]{0,24}:"
    r"|\b(?:FAILED|FAIL|ERROR|FATAL|PANIC|CRITICAL|ERR!|Traceback \(most recent call last\))"
    r"|\b(?:fatal|panic|error)(?:\[\w+\])?:|panicked at|npm ERR!|error (?:TS|CS|C|LNK|E)\d{2,5}\b"
    r"|\b(?:[Ff]ailed|[Uu]nable|[Cc]ould not|[Cc]annot|[Cc]an't|couldn't) (?:to )?[a-z]+"
    r"|\b\d+ (?:failed|errors?\b|failures?\b)|\b(?:tests?|build|command|it|run|job|check)s? (?:has )?failed\b"
    r"|[Nn]o such file|[Nn]ot found\b|[Pp]ermission denied|[Aa]ccess denied|auto-denied|[Cc]onnection refused|[Tt]imed out"
    r"|\bE(?:NOENT|ACCES|ISDIR|PERM|EXIST|CONNREFUSED|CONNRESET|TIMEDOUT|ADDRINUSE|PIPE|NOTFOUND|RESOLVE)\b"
    r"|(?:[Ee]xit(?:ed)?(?: with)?|returned)(?: non-zero)?[ _](?:code|status|exit status)?[ :=]{0,3}-?[1-9]\d{0,2}\b"
    r"|[Ss]egmentation fault|core dumped|\b(?:[Kk]illed|[Aa]borted)\b[.:]?\s*$|\bunhandled\b|undefined reference"
    r"|(?:HTTP/[\d.]+|[Ss]tatus(?: code)?|HTTP)[ :=]{1,3}[45]\d\d\b|\b[A-Z][A-Za-z]+(?:Error|Exception)\b(?!\()"
    r"|^E {2,}\S|CONFLICT \(|[Ii]nvalid [a-z]+|unexpected [a-z]+"
    r"|错误|失败|异常|錯誤|失敗|異常|报错|エラー|例外|오류|실패|无法|超时|拒绝"
)
_NONE = re.compile(
    r"\b(?:0|no|without) (?:errors?|failures?|failed|warnings?)\b|(?:errors?|fail(?:ed|ures?)?)[\"']?\s*[:=]\s*(?:0|null|false|none|\[\])\b"
    r"|(?:exit|status) ?code:? 0\b|没有错误|无错误|未失败",
    re.IGNORECASE,
)
_CHANGING = re.compile(
    r"\d{4}-\d\d-\d\d[T ]?(?:\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|0x[0-9a-fA-F]+|\b[0-9a-f]{7,64}\b|(?:[\w.@~-]*/)+|\d+(?:\.\d+)*"
)
_SPACES = re.compile(r"\s+")


def errors_in(text: str, opened: str) -> Iterator[Fact]:
    """Each kind of failure once, with its first line. `opened` is `text` with escapes laid open, character by
    character; the line quoted comes from `text`."""
    seen: set[str] = set()
    for start, end in _lines(opened):
        quoted = _quoted(opened, start, end)
        if quoted is None:
            continue
        line = text[slice(*quoted)]
        if line not in seen:
            seen.add(line)
            yield Fact(kind="errors", key=key_of(line), text=line)


def key_of(line: str) -> str:
    """A failure without what changes from run to run."""
    return _SPACES.sub(" ", _CHANGING.sub("#", line)).strip()[:KEY_CHARS_MAX]


def _lines(text: str) -> list[tuple[int, int]]:
    """Start and end of the lines with one of the signs, in order; each sign skips to the end of the line it found."""
    lowered = text.replace("\u0130", "I").lower()
    found: dict[int, int] = {}
    for sign in _SIGNS:
        at = lowered.find(sign)
        while at >= 0:
            begin = at + 1 if sign[0] == "\n" else at
            start = lowered.rfind("\n", 0, begin) + 1
            end = lowered.find("\n", begin)
            end = len(lowered) if end < 0 else end
            found[start] = end
            at = lowered.find(sign, end)
    return sorted(found.items())


def _quoted(text: str, start: int, end: int) -> tuple[int, int] | None:
    """What is quoted of a line, or `None` when it reports no failure."""
    match = _REPORT.search(text, start, end)
    if match is None or _NONE.search(text, max(start, match.start() - 16), min(end, match.end() + 8)):
        return None
    if end - start > LINE_CHARS_MAX:
        start = max(start, match.start() - _LEAD_CHARS)
        end = min(end, start + LINE_CHARS_MAX)
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return start + left, start + len(piece.rstrip())
