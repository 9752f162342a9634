"""A command that runs as a hook: its words, its limits, and the few variables it sees.

The words go to the system as they are, never through a shell, so that nothing in a tool's name, a path or a session's id can
become a command. Owns the value and the environment; `foldline.hooks.running` runs it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

SEARCH_PATH: Final = "PATH"
TIMEOUT_S: Final = 30.0
TIMEOUT_S_MAX: Final = 600.0
SEEN_ALWAYS: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ"),
    *("LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES"),
)
"""Variables every command sees. What else it needs is named in its `env`: keys of providers are not handed on by accident."""
PROJECT_VARIABLE: Final = "CLAUDE_PROJECT_DIR"
"""Holds the folder the command runs in, under the name that scripts written for Claude Code look for."""
CACHE_VARIABLE: Final = "PYTHONPYCACHEPREFIX"
"""Where Python looks for compiled modules."""
SECRET_CHARS_MIN: Final = 6
"""A shorter value of a named variable stands in too many places to be taken out of what is shown."""


class Command(Struct, frozen=True, kw_only=True):
    """A program and its arguments."""

    argv: tuple[str, ...]
    timeout_s: float = TIMEOUT_S
    """After so long it is ended with everything it started."""
    env: tuple[str, ...] = ()
    """Further variables it sees, by name."""
    files: tuple[str, ...] = ()
    """Files beside those in `argv` that an approval is for: what a script loads itself."""
    blocks_on_exit_2: bool = False
    """Whether exit code 2 blocks, as in Claude Code. By itself it is shown and nothing else (requirement HOK-2)."""

    @property
    def name(self) -> str:
        """How it is called where a person reads of it: the last word that could be a script, without its folders."""
        words = [word for word in self.argv[:3] if not word.startswith("-")]
        return (words[-1] if words else self.argv[0]).rstrip("/").rpartition("/")[2][:80]


def seen_by(command: Command, environ: Mapping[str, str], *, cwd: str) -> dict[str, str]:
    """The environment of a command. Python's own caches are neither read nor written: what lies in a `__pycache__` would run in the
    place of the source that was approved."""
    seen = {name: environ[name] for name in (*SEEN_ALWAYS, *command.env) if name in environ}
    seen = {CACHE_VARIABLE: os.devnull, **seen}
    return {**seen, PROJECT_VARIABLE: cwd} if cwd else seen


def search_path(environ: Mapping[str, str]) -> str:
    """Where programs are looked for."""
    return environ.get(SEARCH_PATH, os.defpath)


def without_values(text: str, command: Command, *, environ: Mapping[str, str]) -> str:
    """What a command said, the values of its further variables taken out: they may be secrets, and what is said is shown
    and kept."""
    values = {environ[name]: name for name in command.env if len(environ.get(name, "")) >= SECRET_CHARS_MIN}
    for value in sorted(values, key=lambda value: (-len(value), value)):
        text = text.replace(value, f"⟦env:{values[value]}⟧")
    return text
