"""Verdicts: which line of an output says how all of it went, and whether that line says that all of it went well.

A closed set of forms, each of which holds for a whole run (`12 passed in 3.05s`, `BUILD SUCCESSFUL in 3s`): a word of success in
another line is none, nor is a line about one case, and a form counts nothing where the rest of what is shown speaks against it.
What is in no form is not known to have gone well. Counterparts: `successes`, for what editors and tools answer, and
`errors_in_text`, for lines that report a failure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline.core.json_text import object_in

LINE_CHARS_MAX = 400
"""A longer line is no verdict, and is not read for what speaks against one."""

_FRAME = " \t=-*─━#✓✔✅ℹ🎉✨"
_PREFIX = re.compile(r"\[?(?:INFO|info)\]?:? {1,4}|\d\d:\d\d \+\d{1,6}(?: ~\d{1,6})?: ")
"""What stands around a verdict, and before it."""
_FORMS = re.compile(
    r"(?:(?:tests?|build|checks?) )?(?:ok|pass(?:ed)?|success(?:ful)?|succeeded)[.!]?"
    r"|BUILD SUCCESS(?:FUL)?(?: in [\w. ]{1,20})?|(?:BUILD|TEST) SUCCEEDED|Result: PASS"
    r"|OK \((?:skipped=\d{1,6}|expected failures=\d{1,6}|, )+\)|OK \([1-9]\d{0,6} tests?, \d{1,7} assertions?\)"
    r"|all (?:(?:the |of the )?(?:\d{1,6} )?(?:tests?|checks?|specs?|suites?|files?|steps?|jobs?) )?(?:have |has |are |is )?(?:passed|pass|passing|succeeded|successful|green|ok)[.!]?"
    r"|OK \([1-9]\d{0,6} tests?\)|Tests: [1-9]\d{0,6}, Failures: 0(?:, Errors: 0)?|found 0 errors\. watching for file changes\.|(?:webpack )?compiled successfully[.!]?"
    r"|finished (?:`?\w{1,20}`? profile|dev|release|test) \[[\w +]{1,40}\](?: target\(s\))? in [\d.]{1,8}s"
    r"|all matched files use prettier code style[.!]?|success: no issues found in \d{1,6} source files?"
    r"|(?:found )?(?:no|0) (?:errors?|issues|problems|warnings or errors|vulnerabilities)(?: found)?[.!]?"
    r"|checked \d{1,6} files?(?: in [\w.]{1,12})?\. no fixes applied\."
    r"|\d{1,6} files? (?:would be )?left unchanged\.|\d{1,6} files? already formatted"
    r"|executed (?P<ran>\d{1,6}) (?:out )?of (?P<of>\d{1,6})(?: tests?: (?P=of) tests? pass(?:es)?\.| success \([^()]{1,60}\))"
    r"|executed [1-9]\d{0,6} tests?, with 0 failures \(0 unexpected\) in [\d.() seconds]{1,40}"
    r"|100% tests passed, 0 tests failed out of [1-9]\d{0,6}"
    r"|test result: ok\. \d{1,6} passed; 0 failed(?:; [\w.; ]{1,100})?"
    r"|ok +\S{1,200} +(?:[\d.]{1,10}s|\(cached\))(?: +coverage: [\w.% ]{1,40}| +\[no tests to run\])?"
    r"|fail 0|done in [\d.]{1,8} ?m?s\.?|built in [\d.]{1,8} ?m?s|webpack \S{1,20} compiled successfully in \d{1,8} ms"
    r"|(?:the )?(?:all )?(?:script|build|tests?|run|job|program|execution|deployment|migration|installation|compilation|validation|verification)s? (?:completed|finished|ran) successfully(?:, no errors)?[.!]?(?: result: true)?"
    r"|(?:\[build\] )?(?:complete!|\d{1,7} page\(s\) built in [\d.]{1,8}(?:ms|s))|\S{1,128}: digest: sha256:[0-9a-f]{64} size: \d{1,9}|successfully (?:installed(?: [\w.+\[\]-]{1,80}){1,60}…?|(?:built|tagged) \S{1,200})"
    r"|apply complete! resources: [\d, a-z]{1,60}\.|\w{1,30} \"[\w.-]{1,80}\" successfully rolled out|HTTP/[\d.]{1,3} 20\d(?: OK)?"
    r"|\S{1,80} : ok=[1-9]\d{0,5} +changed=\d{1,6} +unreachable=0 +failed=0(?: +\w{1,10}=\d{1,6}){0,3}"
    r"|(?:全部|所有)(?:的)?(?: ?\d{1,6} ?[个项条])?(?:测试|检查|用例)?(?:均|都|已)?(?:全部)?通过[。!！]?|(?:测试|检查)(?:已|全部|均|都){0,2}通过[。!！]?|(?:构建|编译|部署)成功[。!！]?|(?:没有|未发现)错误[。!！]?",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"(?:(?:test files|test suites|tests(?! run)|passed!|ok)(?:[:\s|]+-?\s*|$))?(?P<parts>[\w:. ()\[\]|,;=-]{1,200})",
    re.IGNORECASE,
)
_PART = re.compile(
    r"(?P<good>\d{1,7}) (?:tests? |subtests? |specs? |checks? )?(?:passed|passing|pass|passes|succeeded)|passed: ?(?P<good_>\d{1,7})"
    r"|(?P<ran>\d{1,7}) (?:tests?|examples?|runs?|specs?)|tests run: (?P<ran_>\d{1,7})"
    r"|(?P<beside>\d{1,7}) (?:skipped|skips|ignored|todo|pending|xfailed|xpassed)|skipped: ?(?P<beside_>\d{1,7})"
    r"|\d{1,7} (?:deselected|assertions?|expectations?|filtered out|measured|informations?)|(?P<warned>\d{1,7}) warnings?"
    r"|(?P<none>0) (?:tests? )?(?:failed|failing|failures?|fail|errors?|error\(s\)|flaky|crashed)|(?:failed|failures|errors): ?(?P<none_>0)"
    r"|(?P<total>\d{1,7}) total|total: ?(?P<total_>\d{1,7})|(?:finished )?in [\d.]{1,10} ?\w{0,8}(?: \([\d:]{1,10}\))?|duration: ?[\d.]{1,8} ?\w{1,4}(?: - \S{1,80}(?: \(\S{1,20}\))?)?",
    re.IGNORECASE,
)
"""The parts of a line that counts, each of which is known."""
_BEHIND = re.compile(r"(?:(?<=passing)|(?<=failed)) \([\d.]{1,8} ?\w{1,4}\)$| \((?P<total>\d{1,7})\)$")
"""Behind the counts: the time, where other counts stand on lines of their own behind it or before it on this one, or the sum."""
_IN = re.compile(r"(?<=[a-z]) (?=in [\d.])")
_JOINS = re.compile(r"[,;|]")

_TRAILER = re.compile(
    r"\s*(?:\[INFO\]\s*(?:-*|(?:Total time|Finished at): .*)|Time: +[\d.]+ .{0,40}|Snapshots: +.{1,60}|Ran all test suites\b.{0,100}"
    r"|Start at +[\d:]{4,10}|Duration +[\d.].{0,160}|Randomized with seed \d+|Finished in [\d.]+ .{0,80}|Total Test time \(real\) = .{0,40}"
    r"|Time Elapsed [\d:.]+|Ran \d+ tests across \d+ files?\..{0,40}|\d+ actionable tasks?: .{0,80}|(?:real|user|sys)\s+\d+m[\d.]+s"
    r"|[#ℹ] (?:(?:cancelled|skipped|todo|suites) 0|duration_ms [\d.]+))\s*"
)
"""A line behind the one that says how it went: how long, when, with what seed."""

_NONE = re.compile(
    r"\b(?:0|no|zero|without) (?:\w{1,20} ){0,2}?(?:errors?|fail(?:ed|ures?|ing|s)?|warnings?|problems?|issues|crashed|cancelled)\b"
    r"|\b(?:errors?|fail(?:ed|ures?|s)?|cancelled|unreachable)\s?[:=]?\s{0,8}0\b",
    re.IGNORECASE,
)
_CASE = re.compile(
    r"^ {0,12}(?:[✓✔√]|ok \d|PASS\b|\[ {1,7}(?:OK|PASSED) )|(?:\bPASSED(?: {1,4}\[ {0,3}\d{1,3}%\])?|\.\.\. ?ok|: PASS)$"
)
"""A line that says that one case went well, whatever that is called."""
_AGAINST = re.compile(
    r"\bfail(?:s|ed|ing|ures?)?\b|[\"']?: ?false\b|=false\b|\b(?:halted|broken|crash\w{0,8}|unhealthy|unreachable|degraded|incomplete|aborted|killed|denied)\b"
    r"|(?-i:\bRED\b|\bDOWN\b)|\b[1-9]\d{0,6} red\b|[\"']down\b|\bis down\b|\b(?:exceeded|segfault)\b|\b(?:exit|rc|err_?code|exit_?code)\s?[:= ]\s?[1-9]|\bnot (?:ok|ready|reachable|passed|met)\b|\bwould be reformatted\b|\btimed out\b"
    r"|\b[1-9]\d{0,6} (?:errors?|problems?|cancelled|flaky)\b|\b(?:errors?|cancelled)\s?[:= ]\s?[1-9]"
    r"|(?<![\d.])\d{1,2}(?:\.\d{1,4})?% (?:\w{1,12} ){0,2}(?:pass|succe|ok\b)|\bpass\w{0,4}(?: rate)?[:= ]{1,3}\d{1,2}(?:\.\d{1,4})?%"
    r"|[✗✕✖✘❌]|不合格|失败|错误|异常|未通过|未完成|不足|通过率 ?\d{1,2}(?:\.\d{1,4})?%",
    re.IGNORECASE,
)
_SHARE = re.compile(r"\b(\d{1,6}) ?(?:/|of|out of) ?(\d{1,6})\b")
_OF_ALL = re.compile(r"pass|succe|\bok\b|ready|green|通过", re.IGNORECASE)


def all_went_well(line: str) -> bool:
    """Whether a line says of a whole run that all of it went well."""
    if len(line) > LINE_CHARS_MAX:
        return False
    said = line.strip(_FRAME)
    prefix = _PREFIX.match(said)
    said = said[prefix.end() :] if prefix is not None else said
    form = _FORMS.fullmatch(" ".join(said.split()))
    if form is not None:
        return form["ran"] == form["of"]
    return _states_well(said) if said.startswith("{") else _counts_well(said)


def _counts_well(said: str) -> bool:
    """Whether a line counts what passed, or that nothing failed, in parts that are all known, and no fewer than there are."""
    counted = _COUNTED.fullmatch(" ".join(said.split()))
    if counted is None:
        return False
    behind = _BEHIND.search(counted["parts"])
    parts = counted["parts"] if behind is None else counted["parts"][: behind.start()]
    counts: dict[str, int] = {}
    if behind is not None and behind["total"]:
        counts["total"] = int(behind["total"])
    for part in _JOINS.split(_IN.sub(", ", parts).rstrip(".")):
        known = _PART.fullmatch(part.strip())
        if known is None:
            return False
        counts |= {
            name.rstrip("_"): int(count) for name, count in known.groupdict().items() if count is not None
        }
    if counts.get("good", 0) + counts.get("beside", 0) < counts.get("total", 0):
        return False
    if "good" in counts:
        return counts["good"] > 0
    return "none" in counts and counts.get("ran", 1) > 0 and not counts.get("warned")


def _states_well(said: str) -> bool:
    """Whether an object says that all is well, and nothing else."""
    value = object_in(said)
    return bool(value) and all(
        each is True
        or (isinstance(each, str) and each.lower() in ("ok", "up", "healthy", "pass", "passed", "success"))
        for each in value.values()
    )


def is_trailer(line: str) -> bool:
    """Whether a line stands behind the one that says how it went."""
    return _TRAILER.fullmatch(line[:LINE_CHARS_MAX]) is not None


def verdict_in(lines: Sequence[str]) -> str:
    """The last line that may say how all of it went; the last of all where every one is a trailer."""
    return next((line for line in reversed(lines) if not is_trailer(line)), lines[-1] if lines else "")


def against_in(lines: Sequence[str]) -> str:
    """The last line that speaks against all having gone well; empty where none does."""
    return next((line for line in reversed(lines) if _speaks_against(line)), "")


def _speaks_against(line: str) -> bool:
    if len(line) > LINE_CHARS_MAX or _CASE.search(line.rstrip()) is not None:
        return False
    said = _NONE.sub("", line)
    if _AGAINST.search(said) is not None:
        return True
    shares = [(int(part), int(whole)) for part, whole in _SHARE.findall(said)]
    return any(part < whole for part, whole in shares) and _OF_ALL.search(said) is not None
