"""Approvals: which commands of a project the user has agreed to run, by the digest of all that was shown.

A project's `foldline.toml` comes with a repository, and may change with every pull. So its commands run only as long as they
are, to the byte, what the user saw: the words, the settings, the files that the words lead to (`foldline.hooks.leading`) and those
in `files`, and the program that the first word leads to. Another folder is another project. What a script loads by itself is not
seen, unless `files` names it; where the words themselves may lead to more, that is said.

    digest = SHA-256 of {project, event, trigger, argv, settings, program, [[file, SHA-256 of its bytes], …]}

Owns the digest and the file of approvals, for the user alone (0600) in the home:

    {"format": "foldline.approvals/1", "approved": {DIGEST: {"project", "event", "name"}}}

Knows no settings file and no terminal.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct, field

from foldline.core.errors import InvalidOption
from foldline.hooks.command import Command
from foldline.hooks.leading import Led, led
from foldline.hooks.occasion import Event, Trigger
from foldline.stores.fs import Open
from foldline.stores.real_fs import RealFs
from foldline.stores.whole import Document, KeptFile

FORMAT: Final = "foldline.approvals/1"
FILE: Final = "approvals"
SCRIPT_BYTES_MAX: Final = 16 << 20
"""Largest script that can be approved, bytes."""


class Shown(Struct, frozen=True, kw_only=True):
    """All that an approval is for."""

    project: str
    """The project's folder, links resolved."""
    event: Event
    trigger: Trigger | None
    argv: tuple[str, ...]
    timeout_s: float
    env: tuple[str, ...]
    blocks_on_exit_2: bool
    program: str
    """The file that the first word leads to; empty where it leads to none."""
    files: tuple[tuple[str, str], ...]
    """The files that the words lead to, each with the SHA-256 of its bytes."""
    unwatched: str = ""
    """Why the words may run more than these; empty where nothing speaks for it."""

    @property
    def digest(self) -> str:
        """64 hexadecimal digits: whole, since a part of it could be met by another hook made for it."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


class Approved(Struct, frozen=True, kw_only=True):
    """What the user agreed to, and with which eyes it is looked at again."""

    digest: str
    project: str
    path: str
    """The search path for programs, as it was and will be."""


def shown(command: Command, *, event: Event, trigger: Trigger | None, project: str, path: str) -> Shown:
    """What there is to approve, read now. `path`: the search path for programs. Raises `InvalidOption` where a file cannot be
    read or is too large to be looked through."""
    root = os.path.realpath(project)
    program = _program(command.argv[0], root, path=path)
    leads = led(command.argv, root, program=program)
    return Shown(
        project=root,
        event=event,
        trigger=trigger,
        argv=command.argv,
        timeout_s=command.timeout_s,
        env=command.env,
        blocks_on_exit_2=command.blocks_on_exit_2,
        program=program,
        files=tuple(_files(command, root, program=program, leads=leads)),
        unwatched=leads.unwatched,
    )


def why_not(approved: Approved, command: Command, *, event: Event, trigger: Trigger | None) -> str:
    """Why a command may not run: it is no longer what was approved. Empty where it is."""
    try:
        now = shown(command, event=event, trigger=trigger, project=approved.project, path=approved.path)
    except InvalidOption as error:
        return f"is no longer what was approved: {error.why}"
    if now.digest != approved.digest:
        return "is no longer what was approved; look at it and approve it again (`foldline hooks`)"
    return ""


def _program(word: str, root: str, *, path: str) -> str:
    """Where the first word leads to, as the system will look for it from the project's folder."""
    if "/" in word:
        return os.path.realpath(os.path.join(root, word))
    folders = os.pathsep.join(os.path.join(root, folder) for folder in path.split(os.pathsep))
    found = shutil.which(word, path=folders)
    return os.path.realpath(found) if found is not None else ""


def _files(command: Command, root: str, *, program: str, leads: Led) -> Iterator[tuple[str, str]]:
    """The files whose bytes count: those that words lead to, those the settings name, and the program where it is the
    project's own."""
    if program.startswith(root.rstrip("/") + "/"):
        yield program, _digest(program)
    for word in leads.files:
        yield word, _digest(os.path.join(root, word))
    for word in command.files:
        yield word, _digest(os.path.join(root, word))


def contents(shown: Shown) -> tuple[tuple[str, bytes], ...]:
    """The files of what was shown, with the very bytes that the digest is for. Raises `InvalidOption` where one has changed
    since."""
    found = []
    for word, digest in shown.files:
        data = _data(os.path.join(shown.project, word))
        if hashlib.sha256(data).hexdigest() != digest:
            raise InvalidOption("files", word, why="it has changed in this moment; look again")
        found.append((word, data))
    return tuple(found)


def _digest(path: str) -> str:
    return hashlib.sha256(_data(path)).hexdigest()


def _data(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > SCRIPT_BYTES_MAX:
                why = f"no file of at most {SCRIPT_BYTES_MAX:,} bytes, so nobody can look it through"
                raise InvalidOption("files", path, why=why)
            return file.read(SCRIPT_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidOption):
            raise
        raise InvalidOption("files", path, why=f"cannot be read ({error})") from error


class _File(Document, frozen=True, kw_only=True):
    """The file."""

    approved: dict[str, dict[str, str]] = field(default_factory=dict)


class Approvals:
    """The approvals of a home. Raises as `KeptFile`."""

    def __init__(self, home: str | os.PathLike[str], *, fs: Open = RealFs) -> None:
        remedy = " and approve again what you want to run"
        self._kept = KeptFile(home, name=FILE, empty=_File(format=FORMAT), remedy=remedy, fs=fs)

    def all(self) -> dict[str, dict[str, str]]:
        """What is approved, by digest."""
        return self._kept.read().approved

    def add(self, shown: Shown, *, name: str) -> None:
        """Approve exactly what was shown; durable when this returns."""
        row = {"project": shown.project, "event": shown.event, "name": name}
        with self._kept.changing() as file:
            file.approved[shown.digest] = row

    def remove(self, digest: str) -> bool:
        """Take an approval back; false where there was none."""
        with self._kept.changing() as file:
            return file.approved.pop(digest, None) is not None
