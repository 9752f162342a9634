"""Shell undoing: what a command may take back of what was done before it, though nobody can say which of it.

`git checkout -f` throws away what was not committed, `find -delete` what it finds, `git reset --soft HEAD~1` the last commit.
The counterpart `shell_changes` tells changes whose files are known; of these only that what is older may not stand any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foldline.ledger.entries import Undoing

MAY_UNDO = "unlink|trash|trash-put|find|patch|hg|svn"
"""Commands that are read here, beside git."""

_UNKNOWN = re.compile(r"[$`\n()\x00]")
_BRACES = re.compile(r"\{[^{}]{0,200}\}")
_FORCES = re.compile(r"-[a-zA-Z]{0,6}f|--(?:force|discard-changes)$")
_REVERSES = re.compile(r"-[a-zA-Z]{0,6}R|--reverse$")
_TRIES = frozenset(("--dry-run", "--check", "--stat", "--numstat", "--summary", "-h", "--help"))
_NEVER_MIND = frozenset(("--abort", "--quit", "--skip"))
_ENDS = frozenset(("--continue", "--edit-todo", "--show-current-patch"))
_HERE = frozenset(("", "HEAD", "@"))
_FIND_OPTIONS = frozenset(("-H", "-L", "-P"))
_DELETES = re.compile(r"-[a-zA-Z]{0,8}D|--force$")
"""Of branches, also those that nothing else holds."""
_NAMED = frozenset(("-name", "-iname"))
_WIDER = frozenset(("-o", "-or", "!", "-not", "\\!"))
"""With one of these a name is not all that is looked for."""
_OF_COMMITS = re.compile(r"(?:HEAD|@)(?:[~^]\d{0,4}|@\{[^}]{1,40}\}){1,8}$|[0-9a-f]{7,40}$")
"""What names a commit and no file."""


def pattern_of(path: str) -> str:
    """A path as a pattern of files; empty where only a shell can tell what it names."""
    return "" if not path or path.startswith("-") or _UNKNOWN.search(path) else _BRACES.sub("*", path)


def undone_by(words: Sequence[str]) -> Iterator[Undoing]:
    """What one command may undo. `words`: git's without what stands between `git` and what it is told to do."""
    name, said = "".join(words[:1]), list(words[1:])
    options = [word for word in said if word.startswith("-")]
    paths = [word for word in said if not word.startswith("-")]
    if _TRIES.intersection(options):
        return
    match name:
        case "git":
            yield from _by_git(said)
        case "unlink" | "trash" | "trash-put":
            yield from _named(paths)
        case "find" if "-delete" in said or {"rm", "unlink"}.intersection(said):
            yield from _named(_found([word for word in said if word not in _FIND_OPTIONS]))
        case "patch" if any(map(_REVERSES.match, options)):
            yield from _named(["."])
        case "hg" if said[:1] in (["revert"], ["update"], ["up"]) and not {"-n"}.intersection(options):
            is_clean = said[0] == "revert" or {"-C", "--clean"}.intersection(options)
            is_whole = said[0] != "revert" or {"-a", "--all"}.intersection(options)
            yield from ([Undoing()] if is_whole else _named(paths[1:])) if is_clean else ()
        case "svn" if said[:1] == ["revert"]:
            yield from _named(paths[1:])
        case _:
            pass


def _found(said: Sequence[str]) -> list[str]:
    """What `find` finds of its roots, as far as names alone say so; else all below them."""
    end = next((at for at, word in enumerate(said) if word[:1] in "-(!\\"), len(said))
    roots, tests = said[:end] or ["."], said[end:]
    if "-empty" in tests:
        return []  # no file of which anything is told, nor a folder of one
    names = [tests[at + 1] for at, word in enumerate(tests[:-1]) if word in _NAMED]
    if len(names) != 1 or _WIDER.intersection(tests):
        return list(roots)
    return [f"{root.rstrip('/')}/{below}{names[0]}" for root in roots for below in ("", "*/")]


def _named(paths: Sequence[str]) -> Iterator[Undoing]:
    found = tuple(filter(None, map(pattern_of, paths)))
    if found:
        yield Undoing(paths=found)


def _by_git(said: Sequence[str]) -> Iterator[Undoing]:
    does, words = "".join(said[:1]), said[1:]
    options = [word for word in words if word.startswith("-")]
    rest = [word for word in words if not word.startswith("-")]
    match does:
        case "checkout" | "switch" if any(map(_FORCES.match, options)):
            yield Undoing(keeps_commits=True)
        case "checkout" if len(rest) > 1 and "--" not in words and _OF_COMMITS.match(rest[0]):
            yield from _named(rest[1:])
        case "apply" if any(map(_REVERSES.match, options)) and "--cached" not in options:
            yield Undoing()
        case "worktree" if rest[:1] == ["remove"]:
            yield from _named(rest[1:])
        case "merge" | "rebase" | "cherry-pick" | "am" | "revert" if _NEVER_MIND.intersection(options):
            yield Undoing(keeps_commits=True)
        case "reset":
            yield from _reset(rest, words)
        case _ if not _ENDS.intersection(options):
            yield from _of_commits(does, options, rest=rest)
        case _:
            pass


def _of_commits(does: str, options: Sequence[str], *, rest: Sequence[str]) -> Iterator[Undoing]:
    """What git may take back of commits."""
    match does:
        case "rebase":
            yield Undoing(is_tree=False, commits="all")
        case "revert":
            yield Undoing(commits=f"one {rest[0]}" if len(rest) == 1 else "all")
        case "commit" if "--amend" in options:
            yield Undoing(is_tree=False, commits="one HEAD")
        case "branch" if any(map(_DELETES.match, options)):
            yield Undoing(is_tree=False, commits="deleted")
        case _:
            pass


def _reset(rest: Sequence[str], words: Sequence[str]) -> Iterator[Undoing]:
    """A reset to another commit; without one, or of some files, it takes no commit back."""
    target = "".join(rest[:1])
    is_moved = any(word in ("--soft", "--mixed", "--hard", "--keep", "--merge") for word in words)
    is_tree = any(word in ("--hard", "--keep", "--merge") for word in words)
    if target in _HERE:
        yield from [Undoing(keeps_commits=True)] * is_tree
    elif len(rest) == 1 and "--" not in words and (is_moved or _OF_COMMITS.match(target)):
        yield Undoing(is_tree=is_tree, commits=f"since {target}")
