"""Shell changes: what the commands of a shell line do to files, as far as the line says it in plain words.

Of a path the last thing that a line does to it is told. Reads `rm`, `mv`, `cp`, `mkdir`, `tee`, `sed -i`, `>` and what git does to a working tree. A path that a shell would make up
(a variable that the line does not set, a pattern, a substitution) is not told, nor what stands in a loop, a condition or behind
`||`. Knows nothing of results: whether a command went well is `outcomes`' affair, what becomes of earlier changes that of
`carrying`.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.ledger.command_lines import CHARS_MAX, always_passes, commands_of, is_plain, unwrapped
from foldline.ledger.entries import Undoing
from foldline.ledger.lines import unticked
from foldline.ledger.shell_undoing import MAY_UNDO, pattern_of, undone_by
from foldline.ledger.shell_words import Words, heredocs, words_of

ChangeKind: TypeAlias = Literal[
    "removed",
    "moved",
    "copied",
    "made",
    "written",
    "appended",
    "edited",
    "restored",
    "reset",
    "cleaned",
    "stashed",
    "undone",
]
PATHS_MAX = 32
"""Files that are told of one line."""

_MAY = re.compile(rf"\b(?:rm|rmdir|mv|cp|mkdir|tee|sed|git|{MAY_UNDO})\b|>")
"""One of these stands in a line that changes something in a way that is known here."""
_UNKNOWN = re.compile(r"[$`*?\n(){}\[\]\x00]")
"""What a shell would make something else of."""
_OPENS = re.compile(r"^\s{0,64}(?:(?:do|then|else)\s{1,8})?(?:for|while|until|if|case|select|function)(?=\s)")
_CLOSES = re.compile(r"^\s{0,64}(?:done|fi|esac)(?=\s|$)")
"""Where what is run only maybe begins and ends."""
_SILENT = frozenset(
    "rm rmdir mv cp mkdir touch ln chmod chown cd pushd export set unset shopt alias umask true : sleep".split()
)
"""Commands that print nothing where they go well …"""
_VERBOSE = re.compile(r"-[a-zA-Z]{0,8}[vx]|--verbose|--interactive|-[a-zA-Z]{0,8}i$")
"""… unless they are asked to."""
_NOTHING = (["true"], [":"], ["exit"], ["return"])
"""What may stand behind `||` and says nothing of what failed before it."""
_SHOWS = frozenset(("cat", "echo", "printf"))
"""Commands that print nothing where what they show goes into a file."""
_ASKS = re.compile(
    r"(?:(?:\[|\[\[|test|which|type|hash|pgrep|diff|cmp|grep|egrep|fgrep|rg|command -v)(?=\s|$)|git [^\n]{0,200}(?:-q\b|--quiet|--exit-code))"
)
"""Commands that may end with a failure of which nothing is printed."""
_ASKED_FIRST = {
    "rm": re.compile(r"-[a-zA-Z]{0,8}[iI]|--interactive"),
    "mv": re.compile(r"-[a-zA-Z]{0,8}[niu]|--(?:no-clobber|interactive|update)"),
    "cp": re.compile(r"-[a-zA-Z]{0,8}[niu]|--(?:no-clobber|interactive|update)"),
}
"""With these a command may leave a file as it is and end well."""
_IN_PLACE = re.compile(r"-[a-zA-Z]{0,6}i|--in-place")
_DRY_RUN = re.compile(r"-[a-zA-Z]{0,6}n|--dry-run")
_PICKS = frozenset(("-p", "--patch"))
"""With one of these git asks piece by piece."""
_GIT_OPTIONS = {"-C": 2, "-c": 2, "--no-pager": 1, "-P": 1}


class Change(Struct, frozen=True, kw_only=True, gc=False):
    """One thing that a line does."""

    kind: ChangeKind
    path: str = ""
    """With the folder that the line changed to, where it is known; for a whole working tree that folder, or empty."""
    to: str = ""
    """Where it was moved to, or copied from; for git's own changes the commit, or what it does with a stash."""
    by: str = ""
    """With what it was edited, or `git`."""
    text: str = ""
    """What was written into it, where the line says it."""
    at: int = 0
    """The command of the line that makes it, counted from 0."""
    is_reached: bool = False
    """Whether nothing that may have failed stands between it and the `;` before it, but changes that are told, too."""
    is_early: bool = False
    """Whether nothing before it in the line can have kept it from being reached."""
    is_seen: bool = True
    """Whether an output shows that it failed, or that it was not reached: not behind `[ -f x ] &&`, nor before `2>/dev/null` or
    another way (`|| cp b a`)."""


class Changes(Struct, frozen=True, kw_only=True):
    """What a line does."""

    found: tuple[Change, ...] = ()
    is_all: bool = False
    """Whether the line does nothing else whose outcome anybody would ask for."""
    is_silent: bool = False
    """Whether none of its commands prints anything where all goes well."""
    last_other: int = -1
    """The last command that may fail and is no change that is told."""
    undone: tuple[tuple[Undoing, Change], ...] = ()
    """What it may undo of what was done before it, each with the step that does."""
    folder: str = ""
    """Where its last command runs."""


class _Way(Struct):
    """How surely a line comes to where it is read."""

    is_strict: bool = False
    """Whether `set -e` holds."""
    may_stop: bool = False
    is_unseen: bool = False
    may_fail: bool = False
    fails_unseen: bool = False
    was_unseen: bool = False
    """Of the command just read, and of the one before."""
    is_left: bool = False
    is_left_unseen: bool = False
    """Whether the line may have been left (`exit`), and so that nothing shows it."""

    def go(self, join: str) -> None:
        """To the next command."""
        if join == "" and not self.is_strict:
            self.may_stop = self.is_unseen = False
        elif join in ("", "&&"):
            self.may_stop |= self.may_fail
            self.is_unseen |= self.fails_unseen
        self.was_unseen, self.may_fail, self.fails_unseen = self.fails_unseen, False, False

    def passed(self, words: Words, join: str, *, may_fail: bool) -> None:
        """Past a command."""
        said = words.said
        self.may_fail = may_fail
        self.fails_unseen = may_fail and (words.hides_errors or _ASKS.match(" ".join(said)) is not None)
        if join == "||" and not may_fail:
            self.may_stop = self.is_unseen = False
        if said[:1] == ["set"]:
            on = [word for word in said[1:] if word.startswith("-") and "e" in word] or "errexit" in said
            self.is_strict = bool(on) or (self.is_strict and "+e" not in said)
        is_end = said[:1] in (["exit"], ["return"])
        self.is_left |= is_end
        self.is_left_unseen |= is_end and self.was_unseen


def changes_in(script: str, *, folder: str = "") -> Changes:
    """What a shell's line changes. Linear in the line."""
    if len(script) > CHARS_MAX or _MAY.search(script) is None:
        return Changes()
    found: list[Change] = []
    undone: list[tuple[Undoing, Change]] = []
    is_all, is_silent, last_other, depth, where = True, True, -1, 0, folder
    names: dict[str, str] = {}
    emptied: dict[str, str] = {}
    way = _Way()
    texts = list(heredocs(script)) if "<<" in script else []
    for at, (join, command) in enumerate(commands_of(script)):
        words = words_of(unwrapped(command), names)
        here = next((text for line, text in texts if command.strip() in line), "")
        depth += len(_OPENS.findall(command)) - len(_CLOSES.findall(command))
        if not words.said and not words.targets:
            continue
        way.go(join)
        if join == "||" and words.said[:1] not in _NOTHING:
            found = [replace(change, is_seen=change.is_seen and change.at != at - 1) for change in found]
        is_silent = is_silent and _is_silent(words)
        if words.said[:1] == ["cd"]:
            folder = _folder_behind(words.said, folder)
            emptied = {}
            continue
        may = list(_changes_of(words, text=here))
        meant = may if join != "||" and depth <= 0 else []
        emptied |= {
            change.path.removesuffix("/*"): change.to.removesuffix("/*")
            for change in meant
            if change.kind == "moved" and change.path.endswith("/*")
        }
        meant = [_moved_whole(change, emptied) for change in meant]
        known = [change for change in meant if _is_plain(change.path) and _is_plain(change.to)]
        is_change = known == meant and len(known) > len(words.targets)
        is_told = known == meant and (is_change or _is_aside(command, words.said))
        where = _folder_of_git(words.said, folder)
        step = _step(words, way, at=at, is_early=is_all and not way.may_stop)
        anew = [change for change in found if not is_told and _is_made_anew(change, words.said)]
        undone += [
            *((undoing, step) for undoing in _undone(words.said, may, folder=where)),
            *((Undoing(paths=(change.path,)), step) for change in anew),
        ]
        found = [change for change in found if change not in anew]
        found += [
            replace(
                _placed(change, where),
                at=at,
                is_reached=step.is_reached,
                is_early=step.is_early,
                is_seen=not (way.is_unseen or way.is_left_unseen or _hides(words, change)),
            )
            for change in known
        ]
        may_fail = not (is_change or always_passes(command))
        way.passed(words, join, may_fail=may_fail)
        last_other = at if may_fail else last_other
        is_all = is_all and is_told
    return Changes(
        found=tuple(_last(found))[:PATHS_MAX],
        is_all=is_all,
        is_silent=is_silent,
        last_other=last_other,
        undone=tuple(undone[:PATHS_MAX]),
        folder=where,
    )


def _step(words: Words, way: _Way, *, at: int, is_early: bool) -> Change:
    """A command that may undo what was done before it, as one whose outcome is asked for."""
    is_reached = not (way.may_stop or way.is_left)
    return Change(kind="undone", by="".join(words.said[:1]), at=at, is_reached=is_reached, is_early=is_early)


def _undone(words: list[str], may: Iterable[Change], *, folder: str) -> Iterator[Undoing]:
    """What a command may undo: what only a shell can tell of the files that it removes, moves or restores, too."""
    said = ["git", *_behind_options(words[1:])] if words[:1] == ["git"] else words
    yield from (replace(undoing, folder=folder) for undoing in undone_by(said))
    for change in may:
        is_unknown = change.kind in ("removed", "moved", "restored") and not _is_plain(change.path)
        if is_unknown and (pattern := pattern_of(change.path)):
            yield Undoing(folder=folder, paths=(pattern,))


def _folder_behind(words: list[str], folder: str) -> str:
    """Where a `cd` leads; empty where that cannot be told."""
    is_known = len(words) == 2 and _is_plain(words[1])
    return posixpath.normpath(posixpath.join(folder, words[1])) if is_known else ""


def _hides(words: Words, change: Change) -> bool:
    """Whether a command keeps to itself that a change failed; of a file that cannot be opened its shell says so."""
    return words.hides_errors and change.kind not in ("written", "appended")


def _is_silent(words: Words) -> bool:
    """Whether a command prints nothing where it goes well."""
    if not words.said:
        return True
    name, *rest = words.said
    is_quiet = not any(_VERBOSE.match(word) for word in rest)
    if (name == "sed" and any(map(_IN_PLACE.match, rest))) or (name in _SHOWS and words.targets):
        return True
    return is_quiet and (name in _SILENT or (name == "git" and rest[:1] in (["mv"], ["restore"])))


def _is_made_anew(change: Change, words: list[str]) -> bool:
    """Whether a command that may do anything is given what was removed before it."""
    name = posixpath.basename(change.path.rstrip("/"))
    return change.kind == "removed" and any(
        word == name or word.endswith((f"/{name}", f"={name}")) for word in words
    )


def _last(changes: Iterable[Change]) -> Iterable[Change]:
    """Path by path the last thing that a line does to it; nothing where it moves a file away and back. What is added to a file that it wrote belongs to that, and what it
    moved away before it put something else in its place is told where it went."""
    last: dict[object, Change] = {}
    for change in changes:
        if change.kind in ("cleaned", "reset", "stashed"):
            last[change] = change
            continue
        key = posixpath.normpath(change.path)
        before = last.pop(key, None)
        if change.kind == "moved" and _came_from(last, key) == posixpath.normpath(change.to):
            last.pop(posixpath.normpath(change.to))
            continue
        if before is not None and before.kind == "moved":
            last[posixpath.normpath(before.to)] = replace(
                before, kind="copied", path=before.to, to=before.path
            )
        if change.kind == "moved":
            last.pop(posixpath.normpath(change.to), None)
        last[key] = change if before is None else _both(before, change)
    return last.values()


def _came_from(last: Mapping[object, Change], place: str) -> str:
    """Where the file that a line moved to a place stood before; empty where it moved none there."""
    moved = (change for change in last.values() if change.kind == "moved")
    return next((posixpath.normpath(one.path) for one in moved if posixpath.normpath(one.to) == place), "")


def _both(before: Change, change: Change) -> Change:
    """What two changes of one file come to."""
    adds = change.kind in ("appended", "edited")
    if adds and before.kind in ("written", "copied"):
        return before
    return replace(change, kind="written") if adds and before.kind == "removed" else change


def _moved_whole(change: Change, emptied: Mapping[str, str]) -> Change:
    """A folder that goes after all that stood in it was moved: it is moved with that."""
    to = emptied.get(change.path.rstrip("/"), "") if change.kind == "removed" else ""
    return replace(change, kind="moved", to=to) if to else change


def _is_aside(command: str, words: list[str]) -> bool:
    """Whether nobody asks what a command came to beside what it wrote, or it is told apart (a commit)."""
    is_kept = words[:2] == ["git", "reset"] and "--hard" not in words
    return is_plain(command) or is_kept or words[:2] in (["git", "add"], ["git", "commit"], ["git", "revert"])


def _is_plain(path: str) -> bool:
    return _UNKNOWN.search(path) is None and not path.startswith(("-", "/dev/"))


def _placed(change: Change, folder: str) -> Change:
    is_known = folder.startswith("/")

    def within(path: str) -> str:
        if not path or not is_known:
            return path
        end = "/" if path.endswith("/") else ""
        return posixpath.normpath(posixpath.join(folder, path)).rstrip("/") + end

    if change.kind in ("cleaned", "reset", "stashed"):
        return replace(change, path=folder if is_known else "")
    to = within(change.to) if change.kind in ("moved", "copied") else change.to
    return replace(change, path=within(change.path), to=to)


def _changes_of(words: Words, *, text: str) -> Iterator[Change]:
    """What one command changes."""
    for how, path in words.targets:
        if path != "/dev/null":
            yield Change(kind="appended" if ">>" in how else "written", path=path, text=text)
    name, said = "".join(words.said[:1]), words.said[1:]
    options = [word for word in said if word.startswith("-")]
    paths = [word for word in said if word and not word.startswith("-")]
    if name in _ASKED_FIRST and any(map(_ASKED_FIRST[name].match, options)):
        return
    match name:
        case "rm" | "rmdir":
            yield from (Change(kind="removed", path=path) for path in paths)
        case "mkdir":
            yield from (Change(kind="made", path=f"{path.rstrip('/')}/") for path in paths)
        case "mv" | "cp" if len(paths) > 1 and "-t" not in options:
            yield from _moved(paths, "moved" if name == "mv" else "copied")
        case "tee":
            kind: ChangeKind = "appended" if "-a" in options else "written"
            yield from (Change(kind=kind, path=path, text=text) for path in paths)
        case "sed" if any(map(_IN_PLACE.match, options)):
            yield from _edited(said)
        case "git":
            yield from (replace(change, by="git") for change in _by_git(said))
        case _:
            pass


def _moved(paths: list[str], kind: Literal["moved", "copied"]) -> Iterator[Change]:
    *sources, last = paths
    into_folder = len(sources) > 1 or last.endswith("/") or last in (".", "..")
    for source in sources:
        to = posixpath.join(last, posixpath.basename(source.rstrip("/"))) if into_folder else last
        yield Change(kind=kind, path=source if kind == "moved" else to, to=to if kind == "moved" else source)


def _edited(words: list[str]) -> Iterator[Change]:
    """The files of a `sed -i`, with its first script."""
    scripts = [after for word, after in pairwise(words) if word in ("-e", "--expression")]
    rest = [word for word in words if word and not word.startswith("-") and word not in scripts]
    if not scripts:
        scripts, rest = rest[:1], rest[1:]
    yield from (Change(kind="edited", path=path, by=scripts[0]) for path in rest if scripts)


def _by_git(words: list[str]) -> Iterator[Change]:
    """What git does to the working tree."""
    words = _behind_options(words)
    options = [word for word in words[1:] if word.startswith("-")]
    rest = [word for word in words[1:] if not word.startswith("-")]
    paths = words[words.index("--") + 1 :] if "--" in words else []
    if words[:1] != ["stash"] and any(map(_DRY_RUN.match, options)):
        return
    match words[:1]:
        case ["rm"] if "--cached" not in options:
            yield from (Change(kind="removed", path=path) for path in rest)
        case ["mv"] if len(rest) > 1:
            yield from _moved(rest, "moved")
        case ["reset"] if "--hard" in options:
            yield Change(kind="reset", to=" ".join(rest[:1]))
        case ["clean"] if any("f" in option for option in options):
            yield Change(kind="cleaned")
        case ["stash"]:
            yield from _stashed(words[1:])
        case ["checkout"] | ["restore"] if not _PICKS.intersection(options):
            only_index = words[0] == "restore" and "--staged" in options and "--worktree" not in options
            sources = [after for word, after in pairwise(words) if word in ("-s", "--source")]
            said = [word for word in rest if word not in sources] if words[0] == "restore" else []
            where = paths or said or rest[-1:] * (rest[-1:] == ["."])
            yield from (Change(kind="restored", path=_tree(path)) for path in where if not only_index)
        case _:
            pass


def _behind_options(words: list[str]) -> list[str]:
    """What git is told to do."""
    while words and words[0] in _GIT_OPTIONS:
        words = words[_GIT_OPTIONS[words[0]] :]
    return words


def _folder_of_git(words: list[str], folder: str) -> str:
    """Where a command does what it does: git goes elsewhere with `-C`."""
    before = words[1 : len(words) - len(_behind_options(words[1:]))] if words[:1] == ["git"] else []
    for word, after in pairwise(before):
        folder = _folder_behind(["cd", after], folder) if word == "-C" else folder
    return folder


def _stashed(words: list[str]) -> Iterator[Change]:
    """What a `git stash` puts away or brings back, with the files where it names some."""
    how = next((word for word in words if not word.startswith("-")), "push")
    if words[:1] and not words[0].startswith("-") and words[0] not in ("push", "save", "pop", "apply"):
        return
    if how in ("pop", "apply", "save"):
        yield Change(kind="stashed", to="" if how == "save" else how)
        return
    rest = words[1:] if words[:1] == ["push"] else words
    said = [after for word, after in pairwise(rest) if word in ("-m", "--message")]
    paths = [word for word in rest if not word.startswith("-") and word not in said]
    if not _PICKS.intersection(rest):
        named = [shlex.quote(unticked(path)) for path in paths]
        yield Change(kind="stashed", to=" ".join(["push", *named]) if named else "")


def _tree(path: str) -> str:
    return "./" if path == "." else path
