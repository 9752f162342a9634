"""What a call came to, as far as its result says so: the status its host states, or a line that names a failure.

Three answers, never two: done, not done, not said. Nothing is called `ok` without a stated status of 0, and no edit is
made without something that says so (`successes`): what says neither is told in its own words, and counts neither as done nor
as failed. No words of an output are a status unless they stand in the shape in which hosts write one. Knows results, not
the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from foldline.core.json_text import object_in
from foldline.core.message import ToolResult, result_text
from foldline.core.pairing import INTERRUPTED
from foldline.ledger.command_lines import only_reads, says_anyway, verifies
from foldline.ledger.failures import TAIL_CHARS, failure_in, unframed, why_in
from foldline.ledger.lines import OUTCOME_CHARS, last_line, one_line, untagged
from foldline.ledger.marks import FAILED, NOT_SEEN_TO_PASS, SHOWS_NONE
from foldline.ledger.successes import (
    is_rehearsal,
    says_done,
    shows_new_text,
    structured_success,
)
from foldline.ledger.verdicts import against_in, all_went_well, verdict_in

STATUS_LINES_FIRST, STATUS_LINES_LAST = 3, 8
"""Where hosts state a status: before the output, or behind it with the folder and the like."""
STATUS_CHARS = 1_000
"""What those lines are looked for in, at either end."""
EDIT_LINES = 5
"""Lines at the start of an edit's result that may say it failed; behind them stands the file."""
EDIT_CHARS = 400
ENDS_CHARS = 100
"""What is quoted of an output's last line where it is no failure …"""
PRINTED_CHARS = 60
"""… and where its command verifies nothing."""
PRINTED_NOTHING = "printed nothing"
"""What a command comes to that prints nothing where no status is stated …"""
SAID_ANYWAY = f"{PRINTED_NOTHING} else"
"""… and one that prints only what its script says however it goes."""
PRINTED = "printed: "
STOPPED = "stopped: "
"""What a command comes to that a person did not let run, or run to its end."""
NO_RESULT = "no result"
ASKED = "asked: "
"""What an edit comes to whose answer does not say whether it was made."""
FAILED_AT = re.compile(
    rf"(?P<mark>{FAILED}\d+)(?P<open>{NOT_SEEN_TO_PASS}(?P<why>: .{{1,200}})?|{SHOWS_NONE})?$"
)
"""Behind what a command came to: an earlier run of it had failed."""
ENDS = "; ends: "
_WHY = re.compile(rf"(?:failed(?: \(exit -?\d{{1,10}}\))?|shows): (.{{1,400}}?)(?:{ENDS}|$)")

_STATUS = re.compile(
    r"\s{0,8}(?:Command executed[^\n]{0,200}\. )?(?:<\w{1,20}>\s?)?(?:error:\s?)?[\[(<]?\s?"
    r"(?:(?:the )?(?:command|process|shell|script|program)(?: has)?"
    r" (?:completed|exited|failed|finished|terminated|ended|returned)(?: with)?(?: non-?zero)?(?: exit)? (?:status|code)"
    r"|exit[ _]?(?:status|code)|exited(?: with)?(?: exit)?(?: status| code)?|return[ _]?code|(?<=[\[(])exit|exit(?=:))"
    r"(?:\s?[:=>]\s?|\s)(-?\d{1,10})"
    r"(?:,? (?:in|after) [\d.]{1,8} ?\w{1,12})?\s?[.)\]]{0,3}(?:</\w{1,20}>)?\s{0,8}$",
    re.IGNORECASE,
)
_STATUS_WORDS = ("exit", "status", " code", "_code", "returncode")
"""One of these stands in each of those lines."""
_RAISED = re.compile(
    r"^Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\w[\w.]{0,80}(?:Error|Exception|Exit|Interrupt|Warning)\b.*)",
    re.MULTILINE,
)
"""A Python traceback with the line that says what was raised: how a command without an exit status says it failed."""
_NOT_ONE = re.compile(
    r"\b(?:0|no|without) (?:\w{1,20} )?(?:errors?|failed|failures?|failing)\b", re.IGNORECASE
)
_NOT_EDITED = re.compile(
    r"\bnot (?:been )?(?:found|applied|apply|exist|match|appear|unique|read yet|written|allowed|permitted|a file)\b"
    r"|\bmust (?:be )?(?:first )?read\b|\bmodified since\b|\brequest interrupted\b|\bE(?:NOSPC|ACCES|PERM|ROFS|NOENT|ISDIR|EXIST|BUSY|DQUOT|MFILE)\b"
    r"|\btimed[ -]out\b|^\W{0,3}abort(?:ed)?\b|\b(?:execution|edit|write|request|call) (?:was )?(?:denied|skipped|aborted|cancell?ed|blocked|interrupted)\b"
    r"|^\W{0,3}0 (?:\w{1,20} )?(?:replacements?|occurrences?|changes?|edits?)\b|\bnothing (?:was )?(?:changed|to (?:change|replace)|replaced)\b|\b(?:already exists|identical to)\b"
    r"|未找到|找不到|没有找到|未能|无法|^\W{0,3}(?:错误|失败)|(?:写入|编辑|替换|修改|更新|创建|保存|操作|执行|请求)(?:已)?(?:失败|超时|中断|取消)|被拒绝|已中断|已取消"
    r"|n['’]t (?:exist|match|apply|want to proceed|find)\b|\bno (?:such file|match|matches|replacement|changes? (?:were |was )?(?:made|applied)|occurrences?)\b"
    r"|\b(?:permission|access) denied\b|\bfailed\b|\bread-only\b|\bis a directory\b|\brejected\b|\bmultiple (?:matches|occurrences)\b"
    r"|\b(?:error|invalid|unable|cannot|could not|couldn['’]t|can['’]t)\b(?![./\\_])",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:waiting|awaiting|waits|pending|needs|requires|queued)\b[^.\n]{0,40}\b(?:approval|approved|confirmation|permission|review)\b|\bdry[- ]?run\b|\bpreview only\b"
    r"|^\W{0,3}(?:skipp(?:ed|ing)|conflict|queued|pending|deferred|postponed|discarded|ignored|simulated|no-?op)\b(?![./\\_-]\w)|\b(?:chose|decided|opted|elected) not to\b|\bdeclined (?:to|the|this)\b"
    r"|\b(?:edit|change|changes|patch|write|update|modification|operation|diff|suggestion)s? (?:was |were |has been |have been |is |are )?(?:discarded|rejected|skipped|reverted|dropped|ignored|queued|deferred|undone|withheld|refused|not saved|pending)\b"
    r"|\bwould (?:have )?(?:be )?(?:edit|change|write|create|update|modify|replace|delete|remove|overwrite|written|edited|changed|updated|modified)\w{0,2}\b"
    r"|(?:已|被)?跳过|^\W{0,3}(?:冲突|排队)|(?:等待|待|需要|需)[^，。\n]{0,8}(?:审批|批准|确认|审核|授权|同意)|用户(?:选择)?(?:不|未|拒绝|取消)|(?:试|预)(?:运行|演)|(?:未|不)(?:被)?(?:应用|写入|保存)|(?:已|被)丢弃",
    re.IGNORECASE,
)
"""What says of an edit that it is still to be made, or never will be."""
_NOT_EDITED_CUES = (
    *"not read modified interrupted enospc eacces eperm erofs enoent eisdir eexist ebusy edquot emfile timed abort denied".split(),
    *"skip cancel blocked nothing already identical n't failed directory rejected multiple error invalid unable".split(),
    *"approv confirmation permission review dry conflict queued pending deferred postponed discarded ignored".split(),
    *"simulated no-op noop declined reverted dropped undone withheld refused would".split(),
    "0 ",
    "no ",
)
"""One of these stands, in small letters, in every ASCII line of which either is true: most say none, which costs a tenth."""
_NOT_SO = re.compile(r"\"[\w -]{1,60}\"\s{0,4}:\s{0,4}(?:false|null)\b")
"""A field that says of an answer what it is not."""
_REFUSED = re.compile(
    r"\bdoes(?:n['’]t| not) want to proceed\b|\brequest interrupted\b|^\W{0,3}(?:aborted|timed out|tool execution denied)\b"
    r"|\b(?:interrupted|rejected|denied|declined|cancell?ed|refused) by (?:the )?user\b",
    re.IGNORECASE,
)
_STOPPED = re.compile(
    r"\W{0,3}(?:(?:the )?(?:command|process|execution|operation|request|run|tool(?: use| call)?) )?(?:was |has been )?(?:aborted|interrupted|cancell?ed|stopped|rejected|declined|denied)(?: by (?:the )?user)?(?: for tool use)?\W{0,3}$"
    r"|\W{0,3}(?:the )?user (?:has )?(?:aborted|interrupted|cancell?ed|stopped|rejected|declined|denied)\b|.{0,40}\bdoes(?:n['’]t| not) want to proceed\b"
    r"|\W{0,3}(?:命令|操作|请求|执行)?(?:已|被|已被)(?:用户)?(?:中断|取消|中止|终止|拒绝)\W{0,3}$|\W{0,3}用户(?:已)?(?:中断|取消|中止|终止|拒绝)",
    re.IGNORECASE,
)
"""The line in which a host says that a call was stopped, or not let run: that is no failure of what it ran."""
_LINE_NUMBER = re.compile(r"\s{0,8}\d{1,7}\s?[\t|:→]")
_TAKEN_BACK = re.compile(r"\b(?:undone|reverted|undid|rolled back|restored)\b", re.IGNORECASE)
"""How an editor says that it undid an edit, where it was asked to."""
NOTHING_FOUND = ("failed (exit 1): (no output)", "failed (exit 1): no output")
"""What a search comes to that finds nothing."""
COMMITS = re.compile(r"\bgit\s(?:-C\s{1,4}\S{1,512}\s)?(?:[^\n;&|]{0,80}\s)?(?:commit|revert|cherry-pick)\b")
COMMITTED = re.compile(r"^\[[^\]\n]{1,80} ([0-9a-f]{7,40})\] ([^\n]{1,200})", re.MULTILINE)
"""What git says of a commit: its branch, its hash, its subject."""
_ECHOES = re.compile(r"(?:> |\+ |\$ )\S|\(no output\)$")
"""A line in which a runner repeats what it runs, or a host says that nothing was printed."""
_STANDING = re.compile(
    r"bash-\$\s*$|\((?:Open file|Current directory): [^\n]*\)$|\[(?:Current working directory|Python interpreter): [^\n]*\]$"
)
"""A line in which a host says where the agent stands, whatever was run: SWE-agent's prompt, OpenHands' footer."""
_TOLD = ("output", "stdout", "stderr")
_STATUS_KEYS = ("exit_code", "exitCode", "returncode", "return_code", "returnCode")
_BESIDE = frozenset((*_TOLD, *_STATUS_KEYS, "metadata", "success", "interrupted", "isImage", "duration_ms"))
_MARKS_END = re.compile(r"///PROCESS-DONE:(-?\d{1,5}):PROCESS-DONE///")
"""With what SWE-agent asks a shell for the end of a command, and its status, where that reached the output."""
_IN_OBJECT = re.compile(
    r"\{\s{0,8}\"(?:output|stdout|stderr|metadata|exit_?code|return_?code|success|interrupted)\"",
    re.IGNORECASE,
)
"""In which fields of an object a host gives what a program said, and what may stand beside them."""
_OPENS_FAILED = re.compile(
    r"\s{0,8}(?:<\w{1,20}>\s?)?(?:(?:\w{1,20})?error(?:[:!]|$|\s)|(?:failed|failure|fatal|exception)\b[: ]"
    r"|(?:unable|cannot|could not|couldn['’]t|can['’]t) \w)",
    re.IGNORECASE,
)


def outcome_of(result: ToolResult | None, *, hidden: bool = False, script: str = "") -> str:
    """What a command came to: `ok` where its host states status 0, or `failed` with its exit status and why, or with
    what it raised where no status stands. Else only what the output shows is said, with its last line where it went on, or what
    it printed last: that it ran is not said by an answer that may be its host's. So too where the status is
    `hidden`, since it is not that of every command (`foldline.ledger.command_lines`). A status that stands word for word in
    the `script` was printed by it; one that a script which only shows files and logs seems to have failed with stands in them,
    unless the host says besides that it failed."""
    if result is None:
        return NO_RESULT
    whole = result_text(result)
    if whole == INTERRUPTED:
        return NO_RESULT
    status = status_of(whole, script=script, shows=not result.is_error and only_reads(script))
    text = told_in(whole)
    raised = list(_RAISED.finditer(text[-TAIL_CHARS:])) if status is None else []
    fails = result.is_error or _says_failed(whole)
    if fails and (stopped := _stopped(whole, text, status=status)):
        return f"{STOPPED}{one_line(stopped, PRINTED_CHARS)}"
    if raised:
        return f"failed: {one_line(raised[-1].group(1), OUTCOME_CHARS)}"
    if fails or status not in (None, 0):
        return f"failed{f' (exit {status})' if status else ''}: {_why(text)}"
    committed = COMMITTED.search(text) if COMMITS.search(script) else None
    if status == 0 and not hidden:
        return f"ok: {committed[0]}" if committed is not None else "ok"
    return _shown(text, script=script, committed="" if committed is None else committed[0])


def _shown(text: str, *, script: str, committed: str) -> str:
    """What an output shows where no status speaks for its command: a failure, a commit, or what it says of how it went; of what
    verifies something, or ends well, what speaks against that, too."""
    anyway = says_anyway(script)
    said = [line for line in lines_said(text) if line.strip() not in anyway]
    last = one_line(unframed(verdict_in(said)), OUTCOME_CHARS)
    if shown := failure_in(text):
        return f"shows: {shown}{_end(last, beside=shown)}"
    if committed or not last:
        if committed:
            return f"{PRINTED}{committed}"
        return SAID_ANYWAY if anyway and said != lines_said(text) else PRINTED_NOTHING
    is_asked = verifies(script) or COMMITS.search(script) is not None or all_went_well(last)
    if is_asked and (against := one_line(against_in(said), ENDS_CHARS)):
        return f"{PRINTED}{against}{_end(last, beside=against)}"
    return f"{PRINTED}{one_line(last, ENDS_CHARS if is_asked else PRINTED_CHARS)}"


def _end(last: str, *, beside: str) -> str:
    """How an output ends, where that says more than what is told of it."""
    return "" if not last or last in beside or beside in last else f"{ENDS}{one_line(last, ENDS_CHARS)}"


def names_failure(outcome: str) -> bool:
    """True for an outcome that names a failure, or that there was none to see."""
    return not outcome.startswith(("ok", "ran", "printed", "answered", ASKED))


def failed(outcome: str) -> bool:
    """True for an outcome of something that ran and did not go well."""
    return names_failure(outcome) and not outcome.startswith((STOPPED, NO_RESULT))


def went_well(outcome: str) -> bool:
    """True for an outcome that says that all went well: a stated status, or a printed line that says so."""
    said = FAILED_AT.sub("", outcome)
    if said.startswith(PRINTED):
        return all_went_well(said.removeprefix(PRINTED)) or COMMITTED.match(said, len(PRINTED)) is not None
    return said == "ok" or said.startswith("ok: ")


def why_failed(outcome: str) -> str:
    """What an outcome of something that failed says of its failure, on one line."""
    why = _WHY.match(FAILED_AT.sub("", outcome))
    return one_line(why[1] if why is not None else outcome, ENDS_CHARS)


def is_unread(result: ToolResult) -> bool:
    """True where a result says, in place of a file, that it was not read."""
    text = result_text(result)
    if is_failed(result):
        return True
    shows_file = len(text) > EDIT_CHARS or _LINE_NUMBER.match(text) is not None
    return not shows_file and bool(_failure_of_edit(result, ""))


def put_off(text: str) -> bool:
    """True where an answer opens by saying that what was asked for is still to be done, or never will be."""
    first = next((line for line in text[:EDIT_CHARS].split("\n") if line.strip()), "")
    return _NOT_YET.search(_NOT_SO.sub("", first)) is not None


def _stopped(whole: str, text: str, *, status: int | None) -> str:
    """What says that a call was stopped: its host beside the output or, where no other status stands, the first or the last
    line of that; empty where neither does."""
    if True in _stated(whole, "interrupted"):
        return "interrupted"
    if status:
        return ""
    said = [line.strip() for line in text[-TAIL_CHARS:].splitlines() if line.strip()]
    return next((line for line in (*said[-1:], *said[:1]) if _STOPPED.match(line) is not None), "")


def _why(text: str) -> str:
    """What a failed command says of its failure: the line that names it, else its last one; not the status, which is told."""
    said = lines_said(text)
    return why_in("\n".join(said)) or (one_line(said[-1], OUTCOME_CHARS) if said else "no output")


def lines_said(text: str) -> list[str]:
    """The lines near the end of an output that say something, without its host's status and prompt, what a runner repeats, and
    what only rules off (`=====`) where there is more."""
    said = [
        line
        for line in text[-TAIL_CHARS:].splitlines()
        if line.strip() and not (_STATUS.match(line) or _ECHOES.match(line) or _STANDING.match(line))
    ]
    return [line for line in said if any(map(str.isalnum, line))] or said


def told_in(text: str) -> str:
    """What a program said, out of the object in which a host gives it: `{"output": "…", "metadata": {"exit_code": 0}}`, as Codex does,
    or `{"stdout": "…", "stderr": "…"}`."""
    if "PROCESS-DONE" in text:
        text = _MARKS_END.sub("", text)
    if _IN_OBJECT.match(text) is None:
        return text
    value = object_in(text)
    told = [value[key] for key in _TOLD if isinstance(value.get(key), str)]
    return "\n".join(filter(None, told)) if told and value.keys() <= _BESIDE else text


def is_failed(result: ToolResult) -> bool:
    """True where the host says that a call failed."""
    text = result_text(result)
    return result.is_error or _says_failed(text) or status_of(text) not in (None, 0)


def opens_failed(text: str) -> bool:
    """True where a text opens with a line that says that something failed."""
    first = next((line for line in text[:EDIT_CHARS].split("\n") if line.strip()), "")
    return _OPENS_FAILED.match(first) is not None


def is_refused(result: ToolResult) -> bool:
    """True where a result opens by saying that its call was not carried out."""
    text = result_text(result)
    first = next((line for line in text[:EDIT_CHARS].split("\n") if line.strip()), "")
    return is_failed(result) or opens_failed(text) or _REFUSED.search(first) is not None


def status_of(text: str, *, script: str = "", shows: bool = False) -> int | None:
    """The exit status that a host states in a result; `None` where it states none, or two that differ. What stands in the
    `script` is its own; `shows`: so may be any failure that stands in the text."""
    found = next((status for status in _stated(text, *_STATUS_KEYS) if type(status) is int), None)
    marked = _MARKS_END.search(text, max(0, len(text) - STATUS_CHARS)) if "PROCESS-DONE" in text else None
    if found is None and marked is not None and int(marked[1]):
        found = int(marked[1])  # 0 says less than what was printed
    if found is not None:
        return found
    begin, end = text[:STATUS_CHARS], text[-STATUS_CHARS:]
    ends = f"{begin}\n{end}".lower()
    if not any(map(ends.__contains__, _STATUS_WORDS)):
        return None
    first = begin.split("\n")[:STATUS_LINES_FIRST]
    last = end.rstrip().split("\n")[-STATUS_LINES_LAST:]
    stated = {
        int(match[1])
        for line in (*first, *last)
        if (match := _STATUS.match(line)) is not None and not (script and line.strip() in script)
    }
    return stated.pop() if len(stated) == 1 and not (shows and any(stated)) else None


def _stated(text: str, *names: str) -> list[Any]:
    """What a host states under these names in the object in which it gives an output, as Codex and others do:
    `{"output": "…", "metadata": {"exit_code": 0}}`, `{"stdout": "…", "returncode": 1}`."""
    if not (text.startswith("{") and any([name in text for name in names])):
        return []
    value = object_in(text)
    if not value.keys() & {"output", "stdout"}:
        return []
    holders = [holder for holder in (value, value.get("metadata")) if isinstance(holder, dict)]
    return [holder[name] for holder in holders for name in names if name in holder]


def _says_failed(text: str) -> bool:
    """Whether a host states without a number that a call failed, or that it was stopped."""
    return False in _stated(text, "success") or True in _stated(text, "interrupted")


def unmade(result: ToolResult, path: str, *, arguments: Mapping[str, Any]) -> str:
    """What an edit of `path` came to that is not known to be made, on one line: `failed` and why, `not made` where it is
    still to be made or never will be, or `asked` and the answer where that says neither; empty where it says that it was
    made, or shows what the `arguments` were to write."""
    text = result_text(result)
    if is_rehearsal(text):
        return f"not made: dry run: {one_line(text, OUTCOME_CHARS)}"
    told = structured_success(text)
    failure = f"failed: {one_line(text, OUTCOME_CHARS)}" if told is False else _failure_of_edit(result, path)
    if failure or told or status_of(text) == 0:
        return failure
    said = text.replace(path, "") if path else text
    if str(arguments.get("command")).startswith("undo"):
        said = _TAKEN_BACK.sub("done", said)
    if says_done(untagged(said)) or shows_new_text(text, arguments, path=path):
        return ""
    return f"{ASKED}{one_line(untagged(text[:EDIT_CHARS]), ENDS_CHARS) or 'no answer'}"


def _failure_of_edit(result: ToolResult, path: str) -> str:
    text = result_text(result)
    if is_failed(result):
        return f"failed: {last_line(text)}"
    lines = [line for line in text[:EDIT_CHARS].split("\n") if line.strip()][:EDIT_LINES]
    for place, line in enumerate(lines):
        said = line.replace(path, "")
        may_say = place == 0 and _may_say_unmade(said)
        if may_say and _NOT_YET.search(said):
            return f"not made: {one_line(line, OUTCOME_CHARS)}"
        if _OPENS_FAILED.match(said) or (may_say and _NOT_EDITED.search(_NOT_ONE.sub("", said))):
            return f"failed: {one_line(untagged(line), OUTCOME_CHARS)}"
    return ""


def _may_say_unmade(line: str) -> bool:
    """False where neither `_NOT_YET` nor `_NOT_EDITED` is found in a line."""
    return not line.isascii() or any(map(line.lower().__contains__, _NOT_EDITED_CUES))
