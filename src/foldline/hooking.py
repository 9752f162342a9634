"""The hooks that settings name, made into what a session asks: the user's own, and a project's as far as the user approved
them.

    user's foldline.toml      ─────────────────────────────────────────────► runs
    project's foldline.toml   ─ approved, unchanged, and a person is there ─► runs
                                 anything else                             ─► said, not run

Without a terminal (a job, a server, an editor's background) a project's hooks do not run even when approved, unless
`project_hooks=True` or `FOLDLINE_PROJECT_HOOKS=1` says so. Knows settings and homes; `foldline.hooks` knows neither.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from foldline.core.errors import InvalidOption
from foldline.home import Home, home_at
from foldline.hooks.approval import Approvals, Approved, Shown, shown
from foldline.hooks.command import search_path
from foldline.hooks.hooks import Hook, Hooks
from foldline.hooks.written import Written, read_hooks
from foldline.settings import environment, hooks_written, runs_project_hooks

State: TypeAlias = Literal["runs", "approved", "waiting", "unreadable"]
"""`runs`: the user's own · `approved`: a project's, agreed to as it is now · `waiting`: a project's that is new or has changed ·
`unreadable`: a project's that cannot be looked through."""


class Listed(Struct, frozen=True, kw_only=True):
    """One hook of the settings, and where it stands."""

    written: Written
    file: str
    """The settings file."""
    state: State
    shown: Shown | None = None
    """Of a project's: all that an approval is for."""
    why: str = ""
    """Of one that is unreadable: why."""

    @property
    def digest(self) -> str:
        """What `approve` takes; empty of the user's own."""
        return self.shown.digest if self.shown is not None else ""

    def to_dict(self) -> dict[str, Any]:
        """As `foldline hooks --json` lists it."""
        command = self.written.command
        return {
            "event": self.written.event,
            "argv": list(command.argv),
            "trigger": self.written.trigger,
            "timeout_s": command.timeout_s,
            "env": list(command.env),
            "blocks_on_exit_2": command.blocks_on_exit_2,
            "file": self.file,
            "state": self.state,
            "digest": self.digest or None,
            "program": self.shown.program if self.shown is not None else None,
            "files": [{"file": file, "sha256": sha} for file, sha in self.shown.files] if self.shown else [],
            "unwatched": (self.shown.unwatched if self.shown is not None else "") or None,
            "why": self.why or None,
        }


def listed(*, project: str | os.PathLike[str] | None = None, home: Home = None) -> tuple[Listed, ...]:
    """Every hook that the settings name, in the order in which they run. Raises `InvalidOption`."""
    return tuple(_listed(Path(project or "."), home))


def _listed(project: Path, home: Home) -> Iterator[Listed]:
    approved: dict[str, dict[str, str]] | None = None
    path = search_path(environment())
    for source in hooks_written(project=project):
        for written in read_hooks(source.table, file=source.file):
            if not source.is_project:
                yield Listed(written=written, file=source.file, state="runs")
                continue
            if approved is None:
                approved = Approvals(home_at(home)).all()
            try:
                seen = shown(
                    written.command,
                    event=written.event,
                    trigger=written.trigger,
                    project=str(project),
                    path=path,
                )
            except InvalidOption as error:
                yield Listed(written=written, file=source.file, state="unreadable", why=str(error))
                continue
            state: State = "approved" if seen.digest in approved else "waiting"
            yield Listed(written=written, file=source.file, state=state, shown=seen)


def configured(
    *,
    project: str | os.PathLike[str] | None = None,
    home: Home = None,
    project_hooks: bool | None = None,
    more: tuple[Hook, ...] = (),
) -> Hooks:
    """The hooks of the settings, ready to be asked, with those of the host behind them. `project`: the folder whose
    `foldline.toml` counts; left out, the working folder. `project_hooks`: whether a project's run that the user approved;
    left out, where a person is at a terminal. Raises `InvalidOption`."""
    found = listed(project=project, home=home)
    environ = environment()
    path = search_path(environ)
    allowed = _allowed(asked=project_hooks)
    hooks, notes = list[Hook](), list[str]()
    for one in found:
        if one.state == "approved" and one.shown is not None and allowed:
            agreed = Approved(digest=one.digest, project=one.shown.project, path=path)
            hooks.append(_hook(one.written, agreed))
        elif one.state == "runs":
            hooks.append(_hook(one.written, None))
        else:
            notes.append(_not_run(one))
    return Hooks(
        hooks=(*hooks, *more),
        environ=environ,
        redact=_redactor(home) if hooks else _as_it_is,
        notes=tuple(notes),
    )


def _hook(written: Written, approved: Approved | None) -> Hook:
    return Hook(
        event=written.event,
        does=written.command,
        trigger=written.trigger,
        origin="user" if approved is None else "project",
        approved=approved,
    )


def _allowed(*, asked: bool | None) -> bool:
    """Whether approved hooks of a project run."""
    said = runs_project_hooks() if asked is None else asked
    return _is_person_there() if said is None else said


def _is_person_there() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _not_run(one: Listed) -> str:
    what = f"hook {one.written.command.name} of {one.file} does not run"
    match one.state:
        case "approved":
            return f"{what}: no person is at a terminal, and FOLDLINE_PROJECT_HOOKS is not 1"
        case "waiting":
            return f"{what}: it is new or has changed; `foldline hooks` shows it, `foldline hooks approve DIGEST` approves it"
        case _:
            return f"{what}: {one.why}"


def approve(digest: str, *, project: str | os.PathLike[str] | None = None, home: Home = None) -> Listed:
    """Approve the project's hook that was shown under this digest, and no other: one that has changed since has another.
    Raises `InvalidOption` where none has it now."""
    for one in listed(project=project, home=home):
        if one.shown is not None and one.digest == digest.strip().lower():
            Approvals(home_at(home)).add(one.shown, name=one.written.command.name)
            return one
    why = "no hook of this project has this digest now; `foldline hooks` shows what there is"
    raise InvalidOption("digest", digest, why=why)


def revoke(digest: str, *, home: Home = None) -> None:
    """Take an approval back. Raises `InvalidOption` where there is none."""
    if not Approvals(home_at(home)).remove(digest.strip().lower()):
        raise InvalidOption("digest", digest, why="nothing is approved under this digest")


def _redactor(home: Home) -> Any:
    from foldline.privacy.key import redactor_in

    return redactor_in(home_at(home)).text


def _as_it_is(text: str) -> str:
    return text
