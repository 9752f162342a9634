"""Shell changes: what the commands of a shell line do to files, as far as the line says it in plain words.

Of a path the last thing that a line does to it is told. Reads `rm`, `mv`, `cp`, `mkdir`, `tee`, `sed -i`, `>` and what git does to a working tree. A path that a shell would make up
(a variable that the line does not set, a pattern, a substitution) is not told, nor what stands in a loop, a condition or behind
`||`. Knows nothing of results: whether a command went well is `outcomes`' affair, what becomes of earlier changes that of
`carrying`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.ledger.command_lines import CHARS_MAX, commands_of, is_plain, unwrapped

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
]
PATHS_MAX = 32
"""Files that are told of one line."""

_MAY = re.compile(r"\b(?:rm|rmdir|mv|cp|mkdir|tee|sed|git)\b|>")
"""One of these stands in a line that changes something in a way that is known here."""
_PIECE = re.compile(
    r"(?P<to>(?<![\w)])[1&]?>>?\|?|>>?\|?)(?!&)\s*|(?P<other>\d>&\d?-?|>&\d?-?|\d>>?|<<<|<<-?|<)\s*"
    r"|(?P<word>(?:[^\s'\"\\<>]|\\[\s\S]|'[^']*'|\"(?:\\[\s\S]|[^\"\\])*\")+)"
)
_QUOTES = re.compile(r"'([^']*)'|\"((?:\\[\s\S]|[^\"\\])*)\"|\\([\s\S])")
_SET = re.compile(r"(\w{1,40})=(\S*)$")
_VARIABLE = re.compile(r"\$\{?(\w{1,40})\}?")
_UNKNOWN = re.compile(r"[$`*?\n(){}\[\]\x00]")
"""What a shell would make something else of."""
_OPENS = re.compile(r"^\s{0,64}(?:(?:do|then|else)\s{1,8})?(?:for|while|until|if|case|select|function)(?=\s)")
_CLOSES = re.compile(r"^\s{0,64}(?:done|fi|esac)(?=\s|$)")
"""Where what is run only maybe begins and ends."""
_HEREDOC = re.compile(r"(?<!<)<<-?\s?['\"]?(\w{1,40})['\"]?")
_GIT_OPTIONS = {"-C": 2, "-c": 2, "--no-pager": 1, "-P": 1}


class Change(Struct, frozen=True, kw_only=True, gc=False):
    """One thing that a line does."""

    kind: ChangeKind
    path: str = ""
    """With the folder that the line changed to, where it is known; empty for the whole working tree."""
    to: str = ""
    """Where it was moved to, or copied from; for git's own changes the commit."""
    by: str = ""
    """With what it was edited."""
    text: str = ""
    """What was written into it, where the line says it."""
    is_early: bool = False
    """Whether nothing before it in the line can have failed but changes that are told, too."""


class Changes(Struct, frozen=True, kw_only=True):
    """What a line does."""

    found: tuple[Change, ...] = ()
    is_all: bool = False
    """Whether the line does nothing else whose outcome anybody would ask for."""


def changes_in(script: str, *, folder: str = "") -> Changes:
    """What a shell's line changes. Linear in the line."""
    if len(script) > CHARS_MAX or _MAY.search(script) is None:
        return Changes()
    found: list[Change] = []
    is_all, depth = True, 0
    names: dict[str, str] = {}
    emptied: dict[str, str] = {}
    texts = list(_heredocs(script)) if "<<" in script else []
    for join, command in commands_of(script):
        words, targets = _words(unwrapped(command), names)
        here = next((text for line, text in texts if command.strip() in line), "")
        depth += len(_OPENS.findall(command)) - len(_CLOSES.findall(command))
        if not words and not targets:
            continue
        if words[:1] == ["cd"]:
            is_known = len(words) == 2 and _is_plain(words[1])
            folder = posixpath.normpath(posixpath.join(folder, words[1])) if is_known else ""
            emptied = {}
            continue
        meant = list(_changes_of(words, targets, text=here)) if join != "||" and depth <= 0 else []
        emptied |= {
            change.path.removesuffix("/*"): change.to.removesuffix("/*")
            for change in meant
            if change.kind == "moved" and change.path.endswith("/*")
        }
        meant = [_moved_whole(change, emptied) for change in meant]
        known = [change for change in meant if _is_plain(change.path) and _is_plain(change.to)]
        is_told = known == meant and (len(known) > len(targets) or _is_aside(command, words))
        if not is_told:
            found = [change for change in found if not _is_made_anew(change, words)]
        found += [_placed(change, folder, is_early=is_all) for change in known]
        is_all = is_all and is_told
    return Changes(found=tuple(_last(found))[:PATHS_MAX], is_all=is_all)


def _is_made_anew(change: Change, words: list[str]) -> bool:
    """Whether a command that may do anything is given what was removed before it."""
    name = posixpath.basename(change.path.rstrip("/"))
    return change.kind == "removed" and any(
        word == name or word.endswith((f"/{name}", f"={name}")) for word in words
    )


def _last(changes: Iterable[Change]) -> Iterable[Change]:
    """Path by path the last thing that a line does to it. What is added to a file that it wrote belongs to that, and what it
    moved away before it put something else in its place is told where it went."""
    last: dict[object, Change] = {}
    for change in changes:
        if not change.path or change.kind == "cleaned":
            last[change] = change
            continue
        key = posixpath.normpath(change.path)
        before = last.pop(key, None)
        if before is not None and before.kind == "moved":
            last[posixpath.normpath(before.to)] = replace(
                before, kind="copied", path=before.to, to=before.path
            )
        if change.kind == "moved":
            last.pop(posixpath.normpath(change.to), None)
        last[key] = change if before is None else _both(before, change)
    return last.values()


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


def _heredocs(script: str) -> Iterator[tuple[str, str]]:
    """Each line that brings a text, up to where it says so, with the text. Linear: one that does not end is the last."""
    lines = script.split("\n")
    at = 0
    while at < len(lines):
        found = _HEREDOC.search(lines[at])
        at += 1
        if found is not None:
            end = next((n for n in range(at, len(lines)) if lines[n].strip() == found[1]), len(lines))
            yield lines[at - 1][: found.start()], "\n".join(lines[at:end])
            at = end + 1


def _is_aside(command: str, words: list[str]) -> bool:
    """Whether nobody asks what a command came to beside what it wrote, or it is told apart (a commit)."""
    is_kept = words[:2] == ["git", "reset"] and "--hard" not in words
    return is_plain(command) or is_kept or words[:2] in (["git", "add"], ["git", "commit"])


def _words(command: str, names: dict[str, str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The words of a command, and where its output goes, each with how."""
    words: list[str] = []
    targets: list[tuple[str, str]] = []
    into = ""
    for piece in _PIECE.finditer(command):
        if piece[0].startswith("#"):
            break
        if piece["word"] is None:
            into = piece["to"] or piece["other"]
            continue
        word = _plain(piece["word"], names)
        if not into:
            words.append(word)
        elif ">" in into and "&" not in into[1:] and into[:1] not in "023456789":
            targets.append((into, word))
        into = ""
    settings = [_SET.match(word) for word in words]
    if not all(settings):
        return words, targets
    names |= {
        found[1]: found[2] for found in settings if found is not None
    }  # of the line, not of one command
    return [], targets


def _plain(word: str, names: Mapping[str, str]) -> str:
    """A word as the shell reads it; a sign of the unknown stays in it where it cannot be told."""
    if "'" not in word and "$" in word:
        word = _VARIABLE.sub(lambda found: names.get(found[1], found[0]), word)
    return _QUOTES.sub(lambda found: found[1] if found[1] is not None else (found[2] or found[3] or ""), word)


def _is_plain(path: str) -> bool:
    return _UNKNOWN.search(path) is None and not path.startswith(("-", "/dev/"))


def _placed(change: Change, folder: str, *, is_early: bool) -> Change:
    def within(path: str) -> str:
        if not path or not folder.startswith("/"):
            return path
        end = "/" if path.endswith("/") else ""
        return posixpath.normpath(posixpath.join(folder, path)) + end

    if change.kind == "cleaned":
        return replace(change, path=folder)
    to = within(change.to) if change.kind in ("moved", "copied") else change.to
    return replace(change, path=within(change.path), to=to, is_early=is_early)


def _changes_of(words: list[str], targets: list[tuple[str, str]], *, text: str) -> Iterator[Change]:
    """What one command changes."""
    for how, path in targets:
        if path != "/dev/null":
            yield Change(kind="appended" if ">>" in how else "written", path=path, text=text)
    options = [word for word in words[1:] if word.startswith("-")]
    paths = [word for word in words[1:] if word and not word.startswith("-")]
    match words[:1]:
        case ["rm"] | ["rmdir"]:
            yield from (Change(kind="removed", path=path) for path in paths)
        case ["mkdir"]:
            yield from (Change(kind="made", path=f"{path.rstrip('/')}/") for path in paths)
        case ["mv"] | ["cp"] if len(paths) > 1 and "-t" not in options:
            yield from _moved(paths, "moved" if words[0] == "mv" else "copied")
        case ["tee"]:
            kind: ChangeKind = "appended" if "-a" in options else "written"
            yield from (Change(kind=kind, path=path, text=text) for path in paths)
        case ["sed"] if any(
            option.startswith("-") and "i" in option.partition(".")[0][:4] for option in options
        ):
            yield from _edited(words[1:])
        case ["git"]:
            yield from _by_git(words[1:])
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
    while words and words[0] in _GIT_OPTIONS:
        words = words[_GIT_OPTIONS[words[0]] :]
    options = [word for word in words[1:] if word.startswith("-")]
    rest = [word for word in words[1:] if not word.startswith("-")]
    paths = words[words.index("--") + 1 :] if "--" in words else []
    match words[:1]:
        case ["rm"] if "--cached" not in options:
            yield from (Change(kind="removed", path=path) for path in rest)
        case ["mv"] if len(rest) > 1:
            yield from _moved(rest, "moved")
        case ["reset"] if "--hard" in options:
            yield Change(kind="reset", to=" ".join(rest[:1]))
        case ["clean"] if any("f" in option for option in options):
            yield Change(kind="cleaned")
        case ["stash"] if not rest or rest[0] in ("push", "save", "pop", "apply"):
            yield Change(kind="stashed", to="" if not rest or rest[0] in ("push", "save") else rest[0])
        case ["checkout"] | ["restore"]:
            only_index = words[0] == "restore" and "--staged" in options and "--worktree" not in options
            where = paths or (rest if words[0] == "restore" or rest == ["."] else [])
            yield from (_restored(path) for path in where if not only_index)
        case _:
            pass


def _restored(path: str) -> Change:
    return Change(kind="reset") if path == "." else Change(kind="restored", path=path)
