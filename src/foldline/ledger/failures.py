"""Failures: which line of an output says what failed, where a command did not go well.

Runners end with how many failed (`1 failed, 3 passed`), build tools with what failed because of that (`make: *** [all] Error 2`), and
with hints: none of these says what did. So the last line is told that says more, behind the count where one stands.
Counterpart: `verdicts`, which knows what says that all went well.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from foldline.ledger.errors_in_text import IN_CODE, is_none, reports_in, signs_in
from foldline.ledger.found_in_text import laid_open
from foldline.ledger.lines import OUTCOME_CHARS, one_line

TAIL_CHARS = 4_000
"""How far from its end an output is searched for what failed."""
COUNT_CHARS = 80
"""What is told of a count before what failed."""

_SHOWN = re.compile(
    r"^\w{1,10}(?:\.exe)?(?:\[\d{1,4}\])?: \*\*\* .{0,200}\bError -?\d|^\s{0,8}(?:error|failed|failure|fatal|panic|aborted)\b(?![./\\_(]|\s{0,4}=)"
    r"|\b(?:failed|failing) to \w|: (?:error|failed|fatal)\b|\bdoes(?:n['’]t| not) want to proceed\b"
    r"|\b(?:interrupted|rejected|denied|declined|cancell?ed|refused) by (?:the )?user\b"
    r"|^\s{0,8}(?:the )?user (?:has )?(?:rejected|denied|declined|cancell?ed|refused)\b",
    re.IGNORECASE,
)
"""Lines that name a failure beside those that are facts (`foldline.ledger.errors_in_text`)."""
_LOGGED = re.compile(
    r"\W{0,3}(?:[\d:.,TZ/+ -]{4,30}\W{0,3})?(?:WARN(?:ING)?|INFO|DEBUG|NOTICE)\b", re.IGNORECASE
)
"""A line of a log that says itself that it is no failure."""
_HINTS = re.compile(
    r"\s*(?:(?:hint|note|help|info|= note|= help): |\[ERROR\] (?:Re-run Maven|To see the full|-> \[Help|For more information|After correcting)|\[ERROR\]\s*$"
    r"|> (?:Run with --|Get more help|There were failing tests)|For more information about this error|npm (?:ERR!|error) (?:This is probably|A complete log)"
    r"|(?:npm (?:ERR!|error)|failures|FAILURES!?|Failed examples|Failed tests?)\s?:?\s*$|!{5,} )",
    re.IGNORECASE,
)
"""Lines behind a failure that help with it, and headings: they are told where nothing else is."""
_FOLLOWS = re.compile(
    r"\s*(?:g?make(?:\.exe)?(?:\[\d{1,4}\])?: \*\*\* |ninja: build stopped|FAIL(?:\s+\S{1,200}(?:\s+[\d.]{1,10}s|\s+\[[\w ]{1,30}\]))?\s*$|exit status \d{1,3}\s*$"
    r"|error: (?:test failed, to rerun|could not compile|aborting due to|script \"[^\"]{1,80}\" exited)|.{0,40}\bCommand failed with exit code \d|(?:Error: )?Process completed with exit code"
    r"|(?:#\d{1,4} (?:\d{1,5}\.\d{1,4} )?)?ERROR: (?:failed to solve|process \"|Service '[^']{1,80}' failed to build)"
    r"|\[ERROR\] Failed to execute goal|\[INFO\] BUILD FAILURE|BUILD FAILED|FAILURE: Build failed|\* (?:Try|What went wrong):"
    r"|npm (?:ERR!|error) (?:code|errno|syscall|Exit status|Failed at|Lifecycle script|Test failed)|.{0,8}(?:ELIFECYCLE|ERR_PNPM_\w{1,60})\b|error Command failed)",
)
"""Lines of what failed because something before had."""
_LOCATED = re.compile(
    r"\s{0,4}(?:\S{1,300}\.\w{1,6}[:(]\d{1,7}(?:[:,]\d{1,6})?\)?:\s|\d{1,6}:\d{1,5}\s{1,4}error\s)"
)
"""A line that names a place in a file, and what is wrong there; or, under the name of the file, its row and column."""
_CASE = re.compile(r"\s{0,6}(?:● (?!Console\b)\S|Failure/Error: \S)")
"""What jest and RSpec head with what they say of a test that failed."""
_WORDS = re.compile(r"[A-Za-z]+")
_COUNTING = frozenset(
    "a all and assertion assertions at by checked deselected done duration elapsed error errors example examples expected fail failed failing fails"
    " failure failures file files filtered finished fix fixable found generated ignored in issue issues jobs m measured min ms of option or out pass passed"
    " passing pending potentially problem problems ran result results run runs s same sec seconds skipped source spec specs suite suites test tests the"
    " time todo total warning warnings with xfailed xpassed".split()
)
"""Words of a line that only counts."""
_RULES = "=*_#~─━!-"
RULES_MIN = 3


def unframed(line: str) -> str:
    """A line without what rules it off: `==== 1 failed ====`."""
    whole = line.strip()
    behind = whole.lstrip(_RULES)
    inner = behind.rstrip(_RULES)
    is_framed = min(len(whole) - len(behind), len(behind) - len(inner)) >= RULES_MIN
    return inner.strip() if is_framed else line


class _Line(Struct, frozen=True, kw_only=True, gc=False):
    """A line of an output that may say what failed."""

    text: str
    tells: Literal["failure", "count", "follows", "hint", "case", "place"]
    """What failed · how many did · what failed because of it · help · a test's name · a place in a file."""


def failure_in(text: str) -> str:
    """What the end of an output says that failed, on one line; empty where it names no failure."""
    lines = _lines(text[-TAIL_CHARS:])
    return _told(lines) if any(line.tells not in ("case", "place") for line in lines) else ""


def why_in(text: str) -> str:
    """The same for an output of something that is known to have failed, where a place in a file is enough; may be empty."""
    return _told(_lines(text[-TAIL_CHARS:]))


def _told(lines: Sequence[_Line]) -> str:
    at = {line.tells: n for n, line in enumerate(lines)}
    what = max(at.get("failure", -1), at.get("case", -1))
    what = what if what >= 0 else at.get("place", -1)
    count = at.get("count", -1)
    if what < 0:
        rest = max(count, at.get("follows", -1))
        rest = rest if rest >= 0 else at.get("hint", -1)
        return one_line(unframed(lines[rest].text), OUTCOME_CHARS) if rest >= 0 else ""
    if count < what:
        return one_line(lines[what].text, OUTCOME_CHARS)
    counted = one_line(unframed(lines[count].text), COUNT_CHARS)
    return f"{counted}: {one_line(lines[what].text, OUTCOME_CHARS - len(counted) - 2)}"


def _lines(tail: str) -> list[_Line]:
    """The lines of an output that may say what failed, in order."""
    opened = laid_open(tail)
    signs = {sign for found in signs_in(list(dict.fromkeys(opened.split()))).values() for sign in found}
    facts = [(at, fact) for at, (_, fact) in reports_in(tail, opened, signs=signs)]
    named = {
        at: fact.text for at, fact in facts if not (fact.key.startswith(IN_CODE) or _LOGGED.match(fact.text))
    }
    places = sorted(named)
    found: list[_Line] = []
    at = 0
    for line in opened.split("\n"):
        end = at + len(line)
        inner = places[bisect_left(places, at) : bisect_right(places, end)]
        if not _LOGGED.match(line) and any(
            not is_none(line, shown.span()) for shown in _SHOWN.finditer(line)
        ):
            found.append(_line(line))
        elif inner:
            found += [_line(named[place]) for place in inner]
        elif found and found[-1].text.lstrip().startswith("--- FAIL: ") and line.startswith("  "):
            found[-1] = replace(found[-1], text=f"{found[-1].text.lstrip()}: {line.strip()}")
        elif _CASE.match(line) or _LOCATED.match(line):
            found.append(_Line(text=line, tells="case" if _CASE.match(line) else "place"))
        at = end + 1
    return found


def _line(text: str) -> _Line:
    if _HINTS.match(text):
        return _Line(text=text, tells="hint")
    if _FOLLOWS.match(text):
        return _Line(text=text, tells="follows")
    return _Line(text=text, tells="count" if _only_counts(text) else "failure")


def _only_counts(line: str) -> bool:
    words = _WORDS.findall(line)
    return (
        bool(words)
        and any(map(str.isdigit, line))
        and all(word.lower() in _COUNTING for word in words)
        and all(letter.isascii() for letter in line if letter.isalpha())
    )
