"""Shell doubts: whether what a line was to change was changed, as far as its answer says so.

A change is told as made where its host states that all of the line went well, or where nothing speaks against it: no words
of the command, of its shell, of git or of who did not let it run, nothing that keeps such words out of sight, and no answer at all
where a line prints nothing that goes well. In doubt it is not told; its line stands with what it came to. Counterparts:
`shell_changes`, which reads the line, and `outcomes`, which says what it came to.
"""

from __future__ import annotations

import re

from foldline.ledger.outcomes import NO_RESULT, STOPPED, lines_said, names_failure, put_off
from foldline.ledger.shell_changes import Change, Changes

LISTED_LINES = 2_000
"""Of a longer output no more is searched for a line that lists a file."""
LS_SIZE = 4
"""Where `ls -l` has the size."""
_BRINGS_BACK = ("pop", "apply")
REFUSAL_LINES = 3
"""A host says in so few lines that it did not let a call run."""

_BEFORE = (
    r"^[ \t]{0,8}(?:\W{0,3}(?:stderr|stdout|error|output)\W{1,4}){0,2}"
    r"(?:(?:/\S{1,80}/)?-?(?:ba|da|z|k|a|fi)?sh: (?:line )?(?:\d{1,6}: )?|\(eval\):)?"
)
"""What may stand before the words of a command: its host's and its shell's."""
_FAILED = re.compile(
    rf"{_BEFORE}(?:\S{{0,200}}/)?(?:rm|rmdir|mv|cp|mkdir|sed|tee|git|cd|sudo|doas|\[sudo\])(?:\.exe)?(?::\d{{1,6}})?: "
    r"|^[ \t]{0,8}(?:\W{0,3}(?:stderr|error)\W{1,4}){0,2}(?:(?:/\S{1,80}/)?-?(?:ba|da|z|k|a|fi)?sh: |\(eval\):)(?![^\n]{0,400}(?:not found|warning: ))",
    re.MULTILINE | re.IGNORECASE,
)
"""How the commands that change files, or their shell, say that they failed; not that there is no such command."""
_UNDOES_NOT = re.compile(rf"{_BEFORE}(?:unlink|trash(?:-put)?|patch|hg|svn|abort): ", re.MULTILINE)
"""How other commands that take back what was done say that they did not."""
_GIT_FAILED = re.compile(
    rf"{_BEFORE}(?:fatal: |error: |CONFLICT |No local changes to save|No stash entries found)", re.MULTILINE
)
_GIT_DID = {
    "stashed": re.compile(r"^Saved working directory and index state |\bWIP on [^\n]{1,200}: ", re.MULTILINE),
    "popped": re.compile(r"^Dropped (?:refs/stash|stash)@", re.MULTILINE),
    "reset": re.compile(r"^HEAD is now at ", re.MULTILINE),
    "restored": re.compile(r"^Updated [1-9]\d{0,6} paths? from ", re.MULTILINE),
    "cleaned": re.compile(r"^Removing ", re.MULTILINE),
}
"""How git says that it failed, and that it did what it was told."""
_WITHHELD = re.compile(
    r"\b(?:requires?|needs?|await\w{0,3}|waiting for|pending)\b[^\n]{0,60}\b(?:approv\w{1,4}|confirm\w{1,6}|permission|authori[sz]\w{1,6}|consent)\b"
    r"|\b(?:deny|denied|denies|reject\w{0,4}|refus\w{1,4}|declin\w{1,4}|block(?:ed|s)|forbid\w{0,4}|prohibit\w{0,3}|disallow\w{0,3}|unauthori[sz]ed|cancell?ed|abort\w{0,3}|interrupted)\b"
    r"|\b(?:not|n['’]t) (?:be )?(?:permitted|allowed|authori[sz]ed|executed?|run|approved|in the sudoers)\b|\btimed[ -]?out\b"
    r"|拒绝|禁止|不允许|未(?:执行|授权|批准|获)|取消|中断|超时|拒否|許可|거부|취소",
    re.IGNORECASE,
)
"""What says in a short answer that a call was not let run, or not to its end."""
_HOSTS = re.compile(
    r"(?:Wall time|Chunk ID|Process exited|Original token count|Total output lines)\b|(?:Output|stdout|stderr):\s{0,4}$|(?:Command|Directory): |[\w ]{1,40}: \((?:none|empty)\)$"
    r"|[^\n]{0,80}\b(?:no|without|any) (?:std)?output\b|[^\n]{0,40}\b(?:ran|executed|completed|finished) successfully\b",
    re.IGNORECASE,
)
"""A line in which a host says how a command ran, or that it printed nothing."""
_FRAME = re.compile(
    r"<(returncode|exit_?code|status)>0</\1>|</?(?:(?:bash-|command-)?(?:output|stdout|stderr|result)|empty)>|\x1b\[[\d;]{0,12}[A-Za-z]"
    r"|^\s{0,8}(?:observation|execution result of \[\w{1,40}\]):",
    re.IGNORECASE,
)
"""In what a host sets an answer, with a status of 0."""
_NO_WORDS = re.compile(
    r"[\s\[\]{}()<>`'\"$#%:.=_~*|\u200b-]{0,200}(?:(?:ok|success|none|null|empty|(?:(?:the |your )?(?:command|cmd|script|process|execution) (?:has |was |is )?)?"
    r"(?:done|completed|executed|finished|ran|succeeded)(?: successfully)?)[.!)>\s]{0,4})?"
    r"|(?:exit|rc|status|code)\s?[:=]\s?0|(?:took|duration|(?:execution |elapsed )?time|elapsed)[:\s]{1,3}[\d.]{1,12}\s?(?:ms|s|secs?|seconds?)\.?"
    r"|Shell cwd was reset to [^\n]{1,400}"
    r"|(?:[\w.-]{1,64}@[\w.-]{1,64}(?::[^\s$#]{0,200})?|(?:ba|z)?sh-[\d.]{1,8})[$#%]"
    r"|[(（]?(?:(?:命令|指令|操作)?已?(?:(?:执行|运行)(?:成功|完成|完毕)?|成功(?:执行|运行)?|完成))?[，,。；\s]{0,4}(?:(?:无|没有)(?:任何)?输出)?[。！)）]{0,2}",
    re.IGNORECASE,
)
"""All that a line is in which a host says no more than that a call ran, how long, or where: it is no answer of the command."""
_NOISE = re.compile(r"[^\n]{0,80}\bwarning: setlocale: [^\n]{1,200}: cannot change locale\b")
"""What a shell says as it starts, whatever it runs."""
_OF_OTHERS = re.compile(
    r"(?![^\n]{0,400}\b(?:user|tool|command|call|request|operation|execution|action|error|policy|hook|sandbox|agent|rm|rmdir|mv|cp|mkdir|tee|sed|git|sudo|doas|(?:ba|da|z|k|a|fi)?sh)\b)"
    r"[^\n]{0,400}\w\W{1,4}(?:permission|access) denied\b",
    re.IGNORECASE,
)
"""No rights, in a line that names neither a call nor a command that changes files: a later command may print it of anything."""


def is_made(change: Change, line: Changes, *, outcome: str, text: str, is_ended: bool) -> bool:
    """Whether a change was made, as far as the outcome of its line and the `text` that it printed say. `is_ended`: its host
    states status 0, of its last command at least."""
    if _is_said(change, text):
        return True
    if change.kind == "stashed" and not change.to.startswith(_BRINGS_BACK):
        return False  # it ends well, too, where there was nothing to put away
    if outcome == "ok" or outcome.startswith("ok: "):
        return True
    answered = [told for told in lines_said(text) if not _is_no_answer(told)]
    said = [told for told in answered if _HOSTS.match(told.strip()) is None]
    against = [told for told in said if not _is_of_others(told, change, last_other=line.last_other)]
    if _is_denied(change, against, outcome=outcome, text=text):
        return False
    if not names_failure(outcome) or (outcome.startswith("shows: ") and not answered):
        return is_ended or not (said and line.is_silent)
    if change.kind in ("written", "appended") and not change.text:
        return outcome.startswith("shows: ") and _is_listed(change.path, text)
    if line.is_silent:
        return False
    if outcome.startswith("failed (exit "):
        return change.is_early and change.at < line.last_other and bool(said)
    return outcome.startswith("shows: ") and change.is_reached


def _is_no_answer(told: str) -> bool:
    """Whether a line says nothing of what a command did."""
    return _NOISE.match(told) is not None or _NO_WORDS.fullmatch(_FRAME.sub("", told).strip()) is not None


def _is_of_others(told: str, change: Change, *, last_other: int) -> bool:
    """Whether a line that says that there were no rights is a later command's, of something else."""
    name = change.path.rpartition("/")[2]
    return change.at < last_other and bool(name) and name not in told and _OF_OTHERS.match(told) is not None


def _is_said(change: Change, text: str) -> bool:
    """Whether git says that it did so."""
    if change.by != "git" or "CONFLICT " in text:
        return False
    is_back = change.kind == "stashed" and change.to.startswith(_BRINGS_BACK)
    did = _GIT_DID.get("popped" if is_back else change.kind)
    return did is not None and did.search(text) is not None


def _is_denied(change: Change, said: list[str], *, outcome: str, text: str) -> bool:
    """Whether something speaks against a change, or nothing could."""
    if outcome.startswith((STOPPED, NO_RESULT)) or not change.is_seen or _FAILED.search(text) is not None:
        return True
    if change.kind == "undone" and _UNDOES_NOT.search(text) is not None:
        return True
    if change.by == "git" and _GIT_FAILED.search(text) is not None:
        return True
    is_short = 0 < len(said) <= REFUSAL_LINES
    return is_short and (put_off(text) or any(map(_WITHHELD.search, said)))


def _is_listed(path: str, text: str) -> bool:
    """Whether an output says by `wc` or `ls -l` that a file is there and not empty."""
    names = (path, path.rpartition("/")[2])
    lines = [line.split() for line in text.split("\n")[:LISTED_LINES] if line.rstrip().endswith(names[1])]
    return any(_lists(words) for words in lines if words and words[-1] in names)


def _lists(words: list[str]) -> bool:
    """Whether a line is one of `wc` or `ls -l` with a size above 0."""
    if words[0].startswith("-") and len(words) > LS_SIZE + 1:
        return words[LS_SIZE] != "0"
    return len(words) > 1 and all(map(str.isdecimal, words[:-1])) and words[-2] != "0"
