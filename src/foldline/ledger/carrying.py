"""Carrying entries on: what a newer line of the ledger makes of older ones.

Of one key the newest stands; a run that passed settles one that failed; a file that was moved or removed takes the changes in it
along, and what throws a working tree away (`git reset --hard`, `git stash`) is told behind each change that is older. All of it goes by
the texts of entries, so that it holds for those of an earlier ledger, too. Counterparts: `book`, which makes the entries, and
`compose`, which merges those of two ledgers.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from fnmatch import fnmatchcase
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.ledger.command_lines import moves_on, names_folder
from foldline.ledger.entries import Entry, Section, Undoing
from foldline.ledger.home_folder import home_of
from foldline.ledger.lines import one_line, unticked
from foldline.ledger.marks import (
    BEFORE_RESET,
    BEFORE_RESTORED,
    CALLED_AGAIN,
    DONE,
    FAILED,
    MAYBE_UNDONE,
    MOVED_ON,
    NOT_SEEN_TO_PASS,
    PASSED,
    PUT_AWAY,
)
from foldline.ledger.outcomes import (
    FAILED_AT,
    PRINTED_NOTHING,
    failed,
    names_failure,
    why_failed,
)
from foldline.ledger.runs import filters, ran_well
from foldline.ledger.successes import is_doubted

Book: TypeAlias = dict[tuple[Section, str], Entry]
"""Entries by their section and key, in the order of their last mention."""

UNDONE = " edit undone"
LAST_UNDONE = "; last edit undone"
ANSWER_CHARS = 100
REPORT_CHARS = 60
"""What is told of an answer is this long where it is a report, not a word that may say that something waits."""
_COMMITS_BACK = re.compile(r"(?:HEAD|@)(?:[~^]|~(?P<back>\d{1,3}))?$|(?P<sha>[0-9a-f]{7,40})$")
"""A commit as it is named by what it is behind, or by its hash."""
COMMIT = "`git commit "
"""What the entry of a commit opens with."""
MADE, MOVED, REMOVED_BY_CLEAN = " made", " moved to ", " removed by git clean"

_SETTLED = re.compile(rf"(?:{CALLED_AGAIN}\d+, .*|(?:{DONE}|{PASSED})\d+)$")
_PASSED = re.compile(rf"{PASSED}\d+$")
_MARKED = re.compile(rf"(?:{BEFORE_RESET}|{PUT_AWAY}|{BEFORE_RESTORED}|{MAYBE_UNDONE})\d+$")
_GONE = re.compile(r" (?:removed(?: by git clean)?|moved to (?P<to>[^`]{1,512}))$")
"""What stands behind a file that is no longer where it was."""
_RESTORED = " restored by git"
_ONCE = re.compile(rf"(?:{_MARKED.pattern})|(?:{_GONE.pattern})|(?:{MADE}|{_RESTORED})$")
"""What is no change that a later one of the same file adds to."""
_RESET = re.compile(
    r"`(?:cd (?P<folder>(?:'[^'`]{0,512}'|\"'\"|[^\s'\"`]){1,512}) && )?git (?:reset --hard(?: (?P<commit>[^`]{1,200}))?"
    r"|(?P<stash>stash)(?: (?P<back>pop|apply)| push (?P<paths>[^`]{1,1024}))?)`"
)


_BACK_AT = re.compile(r" → HEAD is now at ([0-9a-f]{7,40})\b")


class _Reach(Struct, frozen=True):
    """Which files git does something with."""

    folder: str = ""
    """Where it was told to; empty where that is not known: then all."""
    paths: tuple[str, ...] = ()
    """Those alone, or what is below them."""
    home: str = ""
    """Where the agent stands, as far as its commands say."""

    def holds(self, path: str) -> bool:
        """Whether it may be the repository of the file: the folder is above it, or it stands above the folder."""
        stands = posixpath.join(self.home, unticked(path))
        if self.paths:
            return any(_is_at(stands, posixpath.join(self.folder, unticked(name))) for name in self.paths)
        if not (self.folder and stands.startswith("/")):
            return True
        return _share(posixpath.dirname(stands), self.folder)


def _share(folder: str, other: str) -> bool:
    """Whether one of two folders is in the other, and that is not the root of all."""
    above, below = sorted((f"{folder.rstrip('/')}/", f"{other.rstrip('/')}/"), key=len)
    return above != "/" and below.startswith(above)


def _is_at(path: str, named: str) -> bool:
    """Whether a file is the one that is named, or below it; by what both say where the folder of one is not known."""
    name = posixpath.normpath(named)
    if _is_below(path, name):
        return True
    patterns = (
        (name, f"{name}/*") if name.startswith("/") else (name, f"{name}/*", f"*/{name}", f"*/{name}/*")
    )
    return any(sign in name for sign in "*?[") and any(fnmatchcase(path, pattern) for pattern in patterns)


def _is_below(path: str, name: str) -> bool:
    if name == "." or path.startswith("/") == name.startswith("/"):
        return name == "." or f"{path}/".startswith(f"{name.rstrip('/')}/")
    if path.startswith("/"):
        return f"/{name}/" in f"{path}/"
    return any(
        f"{name}/".endswith(f"/{place}/") for place in (path, *map(posixpath.normpath, _folders_of(path)))
    )


def put(book: Book, entry: Entry) -> None:
    """Take an entry into a book: the newest of its key stands, and what it says of other files' changes holds from now on. One
    without a text only says that the agent moved on."""
    if not entry.text:
        _moved_on(book, entry, is_all=moves_on(entry.key) == "all")
        return
    carried = _carried(book, entry) if entry.to else []
    before = book.pop((entry.section, entry.key), None)
    book[entry.section, entry.key] = entry if before is None else carried_on(before, entry)
    if entry.section == "mutations":
        _changed(book, entry, carried=carried)
    for run in entry.settles:
        known = book.get(("evidence", run))
        if known is not None and known.seq < entry.seq and _is_open(known):
            book["evidence", run] = replace(known, text=f"{known.text}{PASSED}{entry.seq}")
    for undoing in entry.undoes:
        _undo(book, entry, undoing=undoing)


def _changed(book: Book, entry: Entry, *, carried: list[Entry]) -> None:
    """What a change says of those before it."""
    if entry.text.endswith(MADE):
        book.pop(("mutations", entry.key.rstrip("/")), None)
    elif _MARKED.search(entry.text) is None and (gone := _GONE.search(entry.text)) is not None:
        _take_along(book, entry.key, to=gone["to"] or "")
        book |= {(known.section, known.key): known for known in carried}
    elif entry.text.endswith(_RESTORED):
        _mark(book, entry, mark=BEFORE_RESTORED, reach=_Reach(paths=(entry.key,), home=_home(book)))
    elif (reset := _RESET.match(entry.text)) is not None:
        _thrown_away(book, entry, reset=reset)


def _carried(book: Book, entry: Entry) -> list[Entry]:
    """The edits of what was moved, under the names that their files have now."""
    place, to = entry.key.rstrip("/"), entry.to.rstrip("/")
    return [
        replace(known, key=f"{to}{key[len(place) :]}", text=f"{to}{known.text[len(place) :]}")
        for (section, key), known in book.items()
        if section == "mutations"
        and f"{key}/".startswith(f"{place}/")
        and known.text.startswith((f"{key} edited", f"{key} written"))
    ]


def _undo(book: Book, entry: Entry, *, undoing: Undoing) -> None:
    """Mark what a command may have undone: files that it may have changed back, and commits."""
    undone = [book[key] for key in _commits_undone(book, entry, undoing=undoing)]
    for known in undone:
        if _MARKED.search(known.text) is None:
            book["mutations", known.key] = replace(known, text=f"{known.text}{MAYBE_UNDONE}{entry.seq}")
    if undoing.is_tree:
        reach = _Reach(folder=undoing.folder, paths=undoing.paths, home=_home(book))
        _mark(book, entry, mark=MAYBE_UNDONE, reach=reach, keeps_commits=undoing.keeps_commits)


def _commits_undone(book: Book, entry: Entry, *, undoing: Undoing) -> list[tuple[Section, str]]:
    """The commits that stand no longer; of a repository whose folder is not known in doubt, too."""
    which, _, name = undoing.commits.partition(" ")
    known = [
        key
        for key, one in book.items()
        if one.text.startswith(COMMIT)
        and one.seq < entry.seq
        and (not (one.folder and undoing.folder) or _share(one.folder, undoing.folder))
    ]
    found = _COMMITS_BACK.match(name)
    if not which or not known or found is None:
        return known if which else []
    if found["sha"] is None:
        back = int(found["back"] or name.endswith(("~", "^")))
        at = len(known) - back - (which == "one")
    else:
        at = next((n for n, (_, key) in enumerate(known) if _is_hash(key, found["sha"])), -1)
        if at < 0:
            return known if which == "since" else []
        at += which == "since"
    return known[max(at, 0) :] if which == "since" else known[at : at + 1] if at >= 0 else []


def _is_hash(key: str, name: str) -> bool:
    """Whether a commit is the one of this hash; either may be cut."""
    sha = key.rpartition(" ")[2]
    return sha.startswith(name) or name.startswith(sha)


def _home(book: Book) -> str:
    return home_of(known.text for known in book.values() if known.section == "evidence")


def _moved_on(book: Book, entry: Entry, *, is_all: bool) -> None:
    """Say of each failure that it is older than a change of the branch or the environment, or of the shell's folder: what runs
    next under its name is another run, and settles nothing of it."""
    before = list(book.items())
    book.clear()
    for (section, key), known in before:
        is_left = section == "evidence" and key != entry.key and (is_all or not names_folder(key))
        if is_left and _is_open(known):
            key = f"{key}{MOVED_ON}{entry.seq}"
            known = replace(known, key=key, text=f"{known.text}{MOVED_ON}{entry.seq}")
        book[section, key] = known


def _is_open(entry: Entry) -> bool:
    """Whether a command failed here, and no later run of it is known to have gone well. An edit is none."""
    outcome = outcome_in(entry) if entry.text.startswith("`") else ""
    if not outcome or MOVED_ON in outcome or _SETTLED.search(outcome):
        return False
    at = FAILED_AT.search(outcome)
    return failed(outcome) if at is None else at["open"] is not None or failed(outcome[: at.start()])


def _thrown_away(book: Book, entry: Entry, *, reset: re.Match[str]) -> None:
    """What a reset or a stash makes of the changes before it."""
    reach = _Reach(
        folder="".join(_words(reset["folder"] or "")),
        paths=tuple(_words(reset["paths"] or "")),
        home=_home(book),
    )
    if reset["stash"]:
        _moved_on(book, entry, is_all=True)
    if reset["back"] is None:
        keeps_commits = reset["commit"] in (None, "HEAD", "@")
        mark = PUT_AWAY if reset["stash"] else BEFORE_RESET
        _mark(book, entry, mark=mark, reach=reach, keeps_commits=keeps_commits)
        return
    for key, known in list(book.items()):
        if PUT_AWAY in known.text and reach.holds(known.key):
            book[key] = replace(known, text=known.text.rpartition(PUT_AWAY)[0])


def _words(line: str) -> list[str]:
    """What stands in a line as a shell reads it; nothing where its quotes are not whole."""
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _take_along(book: Book, path: str, *, to: str) -> None:
    """Forget what holds no longer where a file or folder is gone, and what stood where it was moved to."""
    _drop_below(book, path)
    for folder in ("", *_folders_of(path)) if to else ():
        if (place := f"{folder}{to}") != path:
            book.pop(("mutations", place), None)


def _folders_of(path: str) -> list[str]:
    """The folders that a path stands in, each with its stroke."""
    return [path[: found.end()] for found in re.finditer("/", path)]


def _drop_below(book: Book, path: str) -> None:
    """Forget the changes within a folder that is gone, but for where files were moved, and that what is gone was read."""
    folder = f"{path.rstrip('/')}/"
    for (section, key), known in list(book.items()):
        is_within = section in ("mutations", "read") and key.startswith(folder) and key != path
        if (section, key) == ("read", path) or (is_within and MOVED not in known.text):
            del book[section, key]


def _mark(book: Book, entry: Entry, *, mark: str, reach: _Reach, keeps_commits: bool = True) -> None:
    """Say of each change to a file that it is older than what threw the working tree away; of none that was committed before,
    where that goes back to the last commit, or to the one that its answer names."""
    back_at = _BACK_AT.search(entry.text)
    commit = "" if back_at is None else back_at[1]
    kept = [
        known.seq
        for known in book.values()
        if known.text.startswith(COMMIT) and (keeps_commits or (commit and _is_hash(known.key, commit)))
    ]
    committed = max(kept, default=-1)
    for key, known in book.items():
        is_file = key[0] == "mutations" and not known.text.startswith("`") and reach.holds(known.key)
        if is_file and committed < known.seq < entry.seq and not _outlasts(known.text, mark=mark):
            book[key] = replace(known, text=f"{known.text}{mark}{entry.seq}")


def _outlasts(text: str, *, mark: str) -> bool:
    """Whether what took the working tree back leaves a change as it is, or has been told of it: a file that git does not know, and
    a move that may stand in the index where files are only restored from that."""
    if _MARKED.search(text) is not None or text.endswith((MADE, REMOVED_BY_CLEAN)):
        return True
    return mark == BEFORE_RESTORED and MOVED in text and _GONE.search(text) is not None


def carried_on(before: Entry, entry: Entry) -> Entry:
    """The newer of two entries of one key. A run that says that it went well settles that one before it had not; one that
    says nothing of it leaves that open."""
    if entry.section == "mutations" and (entry.text.endswith(UNDONE) or before.text.endswith(UNDONE)):
        return _undone(before, entry)
    is_anew = any(map(_ONCE.search, (before.text, entry.text)))
    times = entry.times if entry.section == "mutations" and is_anew else before.times + entry.times
    outcome = outcome_in(before)
    if not outcome or failed(outcome_in(entry)) or FAILED_AT.search(entry.text):
        return replace(entry, times=times)
    return replace(entry, text=f"{entry.text}{_since(before, entry)}", times=times)


def _since(before: Entry, entry: Entry) -> str:
    """Where a command failed and, unless a run since is known to have gone well, why."""
    outcome, last = outcome_in(before), outcome_in(entry)
    passed = _PASSED.search(outcome)
    outcome = outcome if passed is None else outcome[: passed.start()]
    at = FAILED_AT.search(outcome)
    if failed(outcome[: at.start()] if at is not None else outcome):
        mark, why = f"{FAILED}{before.seq}", f": {why_failed(outcome)}"
    elif at is not None and at["open"]:
        mark, why = at["mark"], at["why"] or ""
    else:
        return at[0] if at is not None else ""
    command = command_in(entry)
    if (
        passed is not None
        or ran_well(command, last)
        or (last.startswith(PRINTED_NOTHING) and filters(command, why.removeprefix(": ")))
    ):
        return mark
    return f"{mark}{NOT_SEEN_TO_PASS}{why}"


def _undone(before: Entry, entry: Entry) -> Entry:
    """A change to a file that was taken back, or one made after that: what is left of it is told, once."""
    if not entry.text.endswith(UNDONE) or before.text.endswith(UNDONE) or before.times < 2:
        return replace(entry, times=1)
    text = f"{before.text.removesuffix(LAST_UNDONE)}{LAST_UNDONE}"
    return replace(entry, text=text, times=before.times - 1)


def outcome_in(entry: Entry) -> str:
    """What a command or an action came to, as its entry says; empty for other entries."""
    is_told = entry.section in ("evidence", "risks", "mutations") and "` → " in entry.text
    return entry.text.rpartition("` → ")[2] if is_told else ""


def command_in(entry: Entry) -> str:
    """The command that an entry tells of, with what bounds its output."""
    return entry.text.partition("` → ")[0].removeprefix("`")


def settled(entry: Entry, *, by: Entry) -> Entry:
    """An action that failed, with what a later one for the same task came to."""
    outcome, text = outcome_in(by), _SETTLED.sub("", entry.text)
    if names_failure(outcome):
        return entry
    if outcome.startswith("ok") or (len(outcome) >= REPORT_CHARS and not is_doubted(outcome)):
        return replace(entry, section="evidence", text=f"{text}{DONE}{by.seq}")
    return replace(entry, text=f"{text}{CALLED_AGAIN}{by.seq}, {one_line(outcome, ANSWER_CHARS)}")
