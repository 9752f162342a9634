"""Entries of shell calls: what a command line did to files and to a repository, and else what it came to.

What is told as a change verifies nothing, and has no line of its own beside it. One that may not have been made has no line but
its command's. Counterparts: `shell_changes`, which reads the line, `shell_doubts`, which asks whether it was made, and
`outcomes`, which reads the answer.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from posixpath import commonprefix

from msgspec.structs import replace

from foldline.core.message import result_text
from foldline.ledger.carrying import COMMIT
from foldline.ledger.changes import gist_of
from foldline.ledger.command_lines import commands_of, hides_status, moves_on, only_looks
from foldline.ledger.entries import Done, Entry, Undoing
from foldline.ledger.lines import one_line, unticked
from foldline.ledger.outcomes import (
    COMMITS,
    COMMITTED,
    ENDS_CHARS,
    NOTHING_FOUND,
    PRINTED,
    PRINTED_NOTHING,
    names_failure,
    outcome_of,
    status_of,
    told_in,
)
from foldline.ledger.runs import ran_well, run_of, runs_in
from foldline.ledger.shell_changes import Change, changes_in
from foldline.ledger.shell_doubts import is_made
from foldline.ledger.successes import line_says_done

FOLDER_CHARS = 1_000
"""How far from its end an output is searched for the folder that its host says the shell is in."""
SCRIPT_CHARS = 48
HOOKS = "git commit: its checks"
"""In place of a command's line: what git ran before it committed, where the output does not name it."""
CLEANED_MAX = 64

_FOLDER = re.compile(r"^[(\[]Current (?:working )?directory: (/[^\n]{1,512}?)[)\]]$", re.MULTILINE)
_CLEANED = re.compile(r"^Removing (\S[^\n]{0,512})$", re.MULTILINE)
_BACK_AT = re.compile(r"^HEAD is now at [^\n]{1,200}", re.MULTILINE)
_BROUGHT_BACK = re.compile(r"^Updated \d{1,6} paths? from ", re.MULTILINE)
"""What git says of a checkout of files, which is no switch of branches."""
_UP_TO_DATE = re.compile(r"^Current branch \S{1,200} is up to date\.", re.MULTILINE)
_DELETED = re.compile(r"^Deleted branch [^\n]{1,200} \(was ([0-9a-f]{7,40})\)", re.MULTILINE)
_SWITCHED = re.compile(r"^(?:Switched to |HEAD is now at )", re.MULTILINE)
_SCRIPT = re.compile(
    r"^> (?:@[\w.-]{1,80}/)?[\w.-]{1,80}@\d[\w.+-]{0,40} ([\w:.-]{1,80})(?: /\S{1,512})?$", re.MULTILINE
)
"""How npm and pnpm say which script they run: the first one ran the others."""


def shell_entries(done: Done, *, command: str, script: str, folder: str) -> Iterator[Entry]:
    """What a call did, change by change, and its command with its outcome where that is more."""
    outcome = outcome_of(done.result, hidden=hides_status(script), script=script)
    is_failure = names_failure(outcome)
    whole = result_text(done.result) if done.result is not None else ""
    if moves_on(script, folder=folder) and _is_moved(script, outcome=outcome, text=told_in(whole)):
        yield Entry(section="evidence", key=run_of(command), text="", seq=done.seq, origin="tool")
    if (not is_failure or outcome in NOTHING_FOUND) and only_looks(script):
        return
    text = told_in(whole)
    said = _FOLDER.findall(text[-FOLDER_CHARS:])
    changes = changes_in(script, folder=folder or "".join(said[-1:]))
    is_ended = bool(changes.found) and status_of(whole, script=script) == 0
    made = [
        change
        for change in changes.found
        if is_made(change, changes, outcome=outcome, text=text, is_ended=is_ended)
    ]
    told = [entry for change in made for entry in _told(change, done, text=text)]
    commits = _commits(done, script=script, text=text, folder=changes.folder)
    undoes = tuple(
        undoing
        for one, step in changes.undone
        if is_made(step, changes, outcome=outcome, text=text, is_ended=is_ended)
        for undoing in _of_branches(one, text=text)
    )
    settles = runs_in(command) if commits or ran_well(command, outcome) else ()
    entries = [*told, *commits]
    if entries:
        entries[0] = replace(entries[0], undoes=undoes, settles=settles)
    yield from entries
    if commits:
        yield from _hooks(done, command=command, text=text)
    says_nothing = outcome.startswith(PRINTED_NOTHING)
    is_known = says_nothing or (told and COMMITS.search(script) is None)
    is_told = changes.is_all and (commits or (is_known and len(made) == len(changes.found)))
    if is_failure or not is_told or (undoes and not entries):
        yield Entry(
            section="evidence",
            key=run_of(command),
            text=f"`{command}` → {outcome}",
            seq=done.seq,
            origin="tool",
            undoes=() if entries else undoes,
            settles=() if entries else settles,
        )


def _is_moved(script: str, *, outcome: str, text: str) -> bool:
    """Whether a line that may change the folder, the branch or the environment did so: in doubt it did, where other commands stand
    beside the one that may."""
    if _SWITCHED.search(text) is not None:
        return True
    commands = [command.strip() for _, command in commands_of(run_of(script))]
    if names_failure(outcome):
        return not (outcome.startswith("failed") or moves_on(commands[-1]) == "all" or len(commands) == 1)
    switches = [command for command in commands if moves_on(command) == "all"]
    checkouts = [command for command in commands if command.startswith(("git checkout ", "git switch "))]
    is_alone = len(switches) == 1 and switches == checkouts
    return not (is_alone and _BROUGHT_BACK.search(text) is not None)


def _of_branches(undoing: Undoing, *, text: str) -> list[Undoing]:
    """What a command may undo, as far as its answer says: nothing, or the commits that its branches ended with."""
    if undoing.commits == "all" and not undoing.is_tree and _UP_TO_DATE.search(text) is not None:
        return []
    if undoing.commits != "deleted":
        return [undoing]
    return [replace(undoing, commits=f"one {sha}") for sha in _DELETED.findall(text)]


def _commits(done: Done, *, script: str, text: str, folder: str) -> list[Entry]:
    """The commits that an output shows, by their hashes."""
    if COMMITS.search(script) is None:
        return []
    found = [(match[1], match[2]) for match in COMMITTED.finditer(text)]
    return [
        replace(
            _entry(done, f"{COMMIT}{sha}` → {one_line(subject, SCRIPT_CHARS * 2)}", key=f"git commit {sha}"),
            folder=folder,
        )
        for sha, subject in found
    ]


def _hooks(done: Done, *, command: str, text: str) -> Iterator[Entry]:
    """What the checks say that git ran before a commit, where that is that all went well: else there is no commit. Where the
    output names the command, it is one more run of that."""
    committed = COMMITTED.search(text)
    before = text[: committed.start()] if committed is not None else ""
    said = next((line.strip() for line in reversed(before.split("\n")) if line.strip()), "")
    if line_says_done(said):
        named = _SCRIPT.search(before)
        folder, joined, _ = command.partition(" && ")
        run = f"npm {'' if named[1] == 'test' else 'run '}{named[1]}" if named is not None else HOOKS
        key = f"{folder} && {run}" if named is not None and joined and folder.startswith("cd ") else run
        line = f"`{key}` → {PRINTED}{one_line(said, ENDS_CHARS)}"
        yield Entry(section="evidence", key=key, text=line, seq=done.seq, origin="tool")


def _told(change: Change, done: Done, *, text: str) -> Iterator[Entry]:
    """The lines of a change that was made."""
    match change.kind:
        case "cleaned":
            for name in _CLEANED.findall(text)[:CLEANED_MAX]:
                path = f"{change.path}/{name}" if change.path.startswith("/") else name
                yield _entry(done, f"{path} removed by git clean", key=path)
        case "reset" | "stashed":
            back = _BACK_AT.search(text)
            where = f"cd {shlex.quote(unticked(change.path))} && " if change.path else ""
            name = "stash" if change.kind == "stashed" else "reset --hard"
            line = unticked(f"{where}git {name} {change.to}".rstrip())
            yield _entry(done, f"`{line}` → {back[0] if back is not None else 'done'}", key=line)
        case _:
            told = _entry(done, f"{change.path} {_verb(change)}", key=change.path)
            yield replace(told, to=change.to) if change.kind == "moved" else told


def _verb(change: Change) -> str:
    match change.kind:
        case "moved":
            return f"moved to {below(change.path, change.to)}"
        case "copied":
            return f"copied from {below(change.path, change.to)}"
        case "written":
            return f"written{gist_of({'content': change.text}, change.path) if change.text else ''}"
        case "appended":
            return f"edited{gist_of({'content': change.text}, change.path) if change.text else ''}"
        case "edited":
            return f"edited, by sed: `{one_line(change.by.replace('`', chr(39)), SCRIPT_CHARS)}`"
        case "restored":
            return "restored by git"
        case _:
            return change.kind


def below(path: str, other: str) -> str:
    """Another path without the folders that both have in common, of whole paths."""
    if not (path.startswith("/") and other.startswith("/")):
        return other
    common = path[: len(commonprefix([path, other]))].rpartition("/")[0]
    return other[len(common) + 1 :] if common else other


def _entry(done: Done, text: str, *, key: str) -> Entry:
    return Entry(section="mutations", key=key, text=text, seq=done.seq, origin="assistant")
