"""Where the words of a command lead: the project's files that they may run, and whether they may run others.

    sh hooks/b.sh · python3 hooks · python3 -m hooks.b · sh -c ". ./hooks/b.sh" · make -C hooks · node --require ./hooks/b · -xhooks/b.sh

A word, or a piece of one, that names a file or a folder beneath the project counts, as a path, as a module, or as a path whose ending
is left out; of a folder all its files. Too many is no error: it is said that they are not watched. Reads names, no contents;
counterpart: `foldline.hooks.approval`, which reads the bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

PATH_CHARS_MAX: Final = 4_096
"""A longer word names no file."""
PIECES_MAX: Final = 256
"""Pieces of all words that are looked at."""
GLUED_CHARS_MAX: Final = 24
"""Longest option that stands before a path with nothing between them."""
FILES_MAX: Final = 256
"""Most files that an approval is for."""
LOOKED_MAX: Final = 4_096
"""Most names of a folder that are looked at."""
PASSED_OVER: Final = frozenset({".git", "__pycache__", "node_modules", ".venv"})
"""Folders in a folder that a run itself writes, or that are too large to be looked through."""
FILES_OF_TOOLS: Final = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "gmake": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", ".justfile", "Justfile"),
    "rake": ("Rakefile", "rakefile"),
    "npm": ("package.json",),
    "npx": ("package.json",),
    "pnpm": ("package.json",),
    "yarn": ("package.json",),
    "bun": ("package.json",),
    "tox": ("tox.ini", "pyproject.toml"),
    "pytest": ("conftest.py", "pyproject.toml"),
    "cargo": ("Cargo.toml", "build.rs"),
}
"""What a tool reads where it runs without being told, by its name."""
LAUNCHERS: Final = frozenset(
    {"env", "xargs", "find", "parallel", "sudo", "nohup", "nice", "time", "timeout", "watch", "git", "docker"}
)
"""Programs that run what their words name in their own way."""
INTERPRETERS: Final = re.compile(
    r"(?:ba|da|z|fi|k|c|tc)?sh|python[\d.]*|pypy[\d.]*|node|nodejs|deno|tsx|ts-node|ruby|perl|php|lua\w*|Rscript|pwsh|uv|pipx?"
)
RUNS_MORE: Final = re.compile(
    r"-[a-zA-Z]*[cemSrIxM][\s\S]*|--(?:eval|print|require|import|rcfile|init-file|loader|module|directory|file)\b[\s\S]*"
)
"""Options of an interpreter that run a text, a module or a file beside the script."""
HERE: Final = "."
UNWATCHED: Final = "these words may run files that are not watched"

_PIECE: Final = re.compile(r"[^\s;|&<>()\"'`$={},:]+")
_MODULE: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


class Led(Struct, frozen=True, kw_only=True):
    """What there is to watch."""

    files: tuple[str, ...]
    """From the project's folder, or as a word names them."""
    unwatched: str
    """Why that may not be all; empty where nothing speaks for it."""


def led(argv: tuple[str, ...], root: str, *, program: str) -> Led:
    """Where the words lead, in their order. `root`: the project's folder, links resolved."""
    seeker = _Seeker(root)
    words = argv[1:]
    for word in dict.fromkeys((*words, *(word.partition("=")[2] for word in words))):
        seeker.word(word)
    for piece in _pieces(words):
        seeker.piece(piece)
    name = os.path.basename(argv[0])
    for folder in ("", *seeker.folders):
        for file in FILES_OF_TOOLS.get(name, ()):
            seeker.piece(os.path.join(folder, file))
    return Led(files=tuple(seeker.found), unwatched=_unwatched(argv, seeker, program=program))


def _pieces(words: Iterable[str]) -> list[str]:
    """The project's folder is named by a word of its own alone: in a longer one the dot is the shell's word for "read this file"."""
    found = dict.fromkeys(
        piece
        for word in words
        for piece in _PIECE.findall(word[:PATH_CHARS_MAX])
        if piece != HERE or word == HERE
    )
    return list(found)[:PIECES_MAX]


def _unwatched(argv: tuple[str, ...], seeker: _Seeker, *, program: str) -> str:
    names = {os.path.basename(argv[0]), os.path.basename(program)}
    if seeker.too_many:
        return f"{UNWATCHED}: {seeker.too_many} holds more than {FILES_MAX}"
    if names & (FILES_OF_TOOLS.keys() | LAUNCHERS):
        return f"{UNWATCHED}: {os.path.basename(argv[0])} runs what it is told elsewhere"
    more = next((word for word in argv[1:] if RUNS_MORE.fullmatch(word)), "")
    if more and any(INTERPRETERS.fullmatch(name) for name in names):
        return f"{UNWATCHED}: {more[:40]} may lead to others"
    if seeker.folders:
        return f"{UNWATCHED}: what {seeker.folders[0]} itself loads"
    return ""


class _Seeker:
    """What was found so far."""

    def __init__(self, root: str) -> None:
        self.root, self.too_many = root, ""
        self.found: dict[str, None] = {}
        self.folders: list[str] = []
        self._real: set[str] = set()

    def word(self, word: str) -> None:
        """A whole word may name a file anywhere."""
        if _is_name(word) and os.path.isfile(os.path.join(self.root, word)):
            self._take(word)

    def piece(self, piece: str) -> None:
        """A piece names what is beneath the project."""
        glued = range(1, min(len(piece), GLUED_CHARS_MAX)) if piece.startswith(("-", "@")) else ()
        for name in (piece, *(piece[at:] for at in glued)):
            if _is_name(name):
                self._path(name)
                self._module(name)

    def _path(self, name: str) -> None:
        path = os.path.join(self.root, name)
        if not self._is_beneath(path):
            return
        if os.path.isfile(path):
            self._take(name)
        elif os.path.isdir(path):
            self._folder(name)
        elif "/" in name:
            start = os.path.basename(name) + "."
            for one in sorted(_names(os.path.dirname(path))):
                if one.startswith(start) and os.path.isfile(os.path.join(os.path.dirname(path), one)):
                    self._take(os.path.join(os.path.dirname(name), one))

    def _module(self, name: str) -> None:
        """As Python names one: its file, and the packages above it, which run first."""
        if not _MODULE.fullmatch(name):
            return
        parts = name.split(".")
        for depth in range(1, len(parts)):
            self._file(os.path.join(*parts[:depth], "__init__.py"))
        self._file(os.path.join(*parts) + ".py")
        if len(parts) > 1 and os.path.isdir(os.path.join(self.root, *parts)):
            self._folder(os.path.join(*parts))

    def _file(self, name: str) -> None:
        path = os.path.join(self.root, name)
        if self._is_beneath(path) and os.path.isfile(path):
            self._take(name)

    def _folder(self, name: str) -> None:
        """All its files, or none of them where they are too many."""
        files = list(_within(os.path.join(self.root, name)))
        if len(files) + len(self.found) > FILES_MAX:
            self.too_many = self.too_many or name
            return
        self.folders.append(name)
        for file in files:
            self._take(os.path.join(name, file))

    def _take(self, name: str) -> None:
        real = os.path.realpath(os.path.join(self.root, name))
        if real not in self._real:
            self._real.add(real)
            self.found[name] = None

    def _is_beneath(self, path: str) -> bool:
        real = os.path.realpath(path)
        return real == self.root or real.startswith(self.root.rstrip("/") + "/")


def _is_name(word: str) -> bool:
    return bool(word) and "\0" not in word and len(word) < PATH_CHARS_MAX


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)[:LOOKED_MAX]
    except OSError:
        return []


def _within(folder: str) -> Iterator[str]:
    """The files of a folder, from it, in order; one more than may be watched is enough."""
    count = 0
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - PASSED_OVER)
        for file in sorted(files):
            path = os.path.join(where, file)
            if os.path.isfile(path):
                yield os.path.relpath(path, folder)
                count += 1
            if count > FILES_MAX:
                return
