"""Settings: written in `foldline.toml`, merged, resolved once and passed on as a value.

The user's file goes first, the project's (`foldline.toml` in the working folder) over it. What they may say:

    [models."my-model"]
    window = 65_536
    max_output = 8_192

    [policies.mine]
    …                       (docs/guides/policies.md)

    [[hooks.PreCompact]]
    …                       (docs/guides/hooks.md)

    [events]
    days = 7                (docs/guides/audit.md; the user's file alone)

What a policy says is read where one is asked for by its name (`foldline.policy_file`). Knows files and the environment, so
nothing below the facade may import it.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.budget import Room
from foldline.core.errors import InvalidOption
from foldline.environment import (
    FOLDLINE_CONFIG,
    FOLDLINE_HOME,
    FOLDLINE_PROJECT_HOOKS,
    XDG_CONFIG_HOME,
    XDG_STATE_HOME,
)
from foldline.tokens.models import WINDOW_DEFAULT, Model, looked_up

FILE = "foldline.toml"
EVENT_DAYS, EVENT_DAYS_MAX = 7, 36_500
"""How long events are kept unless the user says otherwise (requirement JRN-7), and at most."""
DAY_MS = 24 * 3_600_000
FILE_MAX = 1 << 20
"""Largest settings file read, bytes."""


class WrittenPolicy(Struct, frozen=True, kw_only=True):
    """A policy as a file has it, not judged yet."""

    table: dict[str, Any]
    file: str


class Settings(Struct, frozen=True, kw_only=True):
    """Resolved settings."""

    models: dict[str, dict[str, Any]] = {}
    """What the user says of models, by name: fields of `foldline.tokens.models.Override`."""
    policies: dict[str, WrittenPolicy] = {}
    """The user's own policies, by name."""
    sources: tuple[str, ...] = ()
    """The files that were read, first to last."""


def load(*, project: Path | None = None) -> Settings:
    """The user's settings with the project's over them: of a model key by key, of a policy, which is one value, the whole.
    Raises `InvalidOption` for a file that cannot be read."""
    models: dict[str, dict[str, Any]] = {}
    policies: dict[str, WrittenPolicy] = {}
    sources: list[str] = []
    for path in (_users_own(), (project or Path()) / FILE):
        if path is None or not path.is_file():
            continue
        written = _read(path)
        told = _tables(written, "models", path=path)
        models |= {name: {**models.get(name, {}), **row} for name, row in told.items()}
        policies |= {
            name: WrittenPolicy(table=row, file=str(path))
            for name, row in _tables(written, "policies", path=path).items()
        }
        sources.append(str(path))
    return Settings(models=models, policies=policies, sources=tuple(sources))


def event_days() -> int:
    """How long events are kept. A project's file has no say: events of all sessions would go with its wish. Raises `InvalidOption`."""
    path = user_file()
    table = _read(path).get("events", {}) if path.is_file() else {}
    days = table.get("days", EVENT_DAYS) if isinstance(table, dict) else None
    if type(days) is not int or not 1 <= days <= EVENT_DAYS_MAX:
        why = f"in {path}: give days, a whole number from 1 to {EVENT_DAYS_MAX:,}, under [events]"
        raise InvalidOption("events", table, why=why)
    return days


def events_since_ms(now_ms: int) -> int:
    """The time before which an event is deleted. Raises as `event_days`."""
    return now_ms - event_days() * DAY_MS


def _tables(written: dict[str, Any], key: str, *, path: Path) -> dict[str, dict[str, Any]]:
    """The tables under a key of a file, one a name."""
    table = written.get(key, {})
    if not isinstance(table, dict) or not all(isinstance(row, dict) for row in table.values()):
        raise InvalidOption(key, table, why=f'in {path}: write each as a table of its own, [{key}."NAME"]')
    return table


def user_file() -> Path:
    """Where the user's settings lie."""
    named = os.environ.get(FOLDLINE_CONFIG.name)
    if named:
        return Path(named)
    folder = os.environ.get(XDG_CONFIG_HOME.name) or os.path.expanduser("~/.config")
    return Path(folder) / "foldline" / FILE


def _users_own() -> Path | None:
    """The user's settings where there are any. Raises `InvalidOption` where the environment names a file that is none;
    `/dev/null` is how it says that there are none."""
    path, named = user_file(), os.environ.get(FOLDLINE_CONFIG.name)
    if path.is_file():
        return path
    if named and named != os.devnull:
        raise InvalidOption(FOLDLINE_CONFIG.name, named, why="there is no such file; name one, or unset it")
    return None


def sessions_home() -> Path:
    """Where sessions are kept."""
    named = os.environ.get(FOLDLINE_HOME.name)
    if named:
        return Path(named)
    folder = os.environ.get(XDG_STATE_HOME.name) or os.path.expanduser("~/.local/state")
    return Path(folder) / "foldline"


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > FILE_MAX:
            raise InvalidOption(
                "settings", str(path), why=f"larger than {FILE_MAX:,} bytes; it holds something else"
            )
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # no TOML; a number too long, tables too deep
        raise InvalidOption(
            "settings", str(path), why=f"cannot be read ({error}); mend or remove the file"
        ) from error


class Planned(Struct, frozen=True, kw_only=True):
    """What to plan with."""

    window: int
    """Tokens that a request may take: the window, or the model's input limit where that is smaller."""
    window_whole: int | None = None
    """Input and output together, where the input has a limit of its own; `None`: `window` is for both."""
    output_max: int | None = None
    """Most output tokens of the model; `None` where no model is named."""
    counter: str | None = None
    """The model's counter, where the user's own word or the table names one."""
    notes: tuple[str, ...] = ()
    """What a person should know about these numbers."""
    is_window_known: bool = True
    """False where no model is named, or one that nothing is known of: `window` is a default then (requirement TOK-10)."""
    source: str = "default"
    """Where `window` comes from: as `foldline.tokens.models.Model.source`, or `refusal`: a provider named it."""

    @property
    def window_shared(self) -> int:
        """Tokens that a request and its answer may take together."""
        return self.window if self.window_whole is None else self.window_whole

    def room(self, output_cap: int | None = None) -> Room:
        """What a policy's lines are measured in, for a request that asks for so much output at most. Of that so much is taken as
        an input limit of its own does not leave free already."""
        if output_cap is not None and output_cap > 0:
            output_cap = max(0, output_cap - (self.window_shared - self.window))
        return Room(self.window, output_cap=output_cap, output_max=self.output_max)


def known_model(name: str, *, stated: int | None = None) -> tuple[Model, tuple[str, ...]]:
    """What is known of a model, the user's own word first, and what a person should know about that."""
    known, warning = looked_up(name, overrides=load().models, stated=stated)
    return known, (*known.notes, *([warning] if warning else []))


def plan_for(name: str | None, *, stated: int | None = None) -> Planned:
    """The numbers of a model; without one, the window that the file states, else a default."""
    if name is None:
        source = "default" if stated is None else "stated"
        return Planned(window=stated or WINDOW_DEFAULT, is_window_known=stated is not None, source=source)
    known, notes = known_model(name, stated=stated)
    return Planned(
        window=known.max_input,
        window_whole=known.window if known.max_input < known.window else None,
        output_max=known.max_output,
        counter=known.family,
        notes=notes,
        is_window_known=known.source != "default",
        source=known.source,
    )


def window_asked(completer: object, *, model: str | None) -> int | None:
    """The window of the model that a completer asks, where it is another than the conversation's: its own `tokens_window`,
    else what is known of the model it names in `model`; `None` where neither says anything."""
    stated = getattr(completer, "tokens_window", None)
    if isinstance(stated, int) and stated > 0:
        return stated
    named = getattr(completer, "model", None)
    if not isinstance(named, str) or named == model:
        return None
    planned = plan_for(named)
    return planned.window if planned.is_window_known else None


def in_window(planned: Planned, tokens: int) -> Planned:
    """The numbers for a window that the caller names; no more than half of it is kept for the output."""
    output = planned.output_max
    return replace(
        planned,
        window=tokens,
        window_whole=None,
        output_max=None if output is None else min(output, tokens // 2),
        is_window_known=True,
        source="override",
    )


class WrittenHooks(Struct, frozen=True, kw_only=True):
    """What one file says of hooks, not judged yet (`foldline.hooks.written`)."""

    table: Any
    file: str
    is_project: bool
    """True for the file of a project, whose hooks run only when the user has approved each."""


def hooks_written(*, project: Path | None = None) -> tuple[WrittenHooks, ...]:
    """The hooks of the user's file, then of the project's. Raises `InvalidOption` for a file that cannot be read."""
    users, of_project = _users_own(), (project or Path()) / FILE
    files = [(users, False)] if users is not None else []
    if of_project.is_file() and not (users is not None and of_project.samefile(users)):
        files.append((of_project, True))
    found = [(_read(path).get("hooks"), path, is_project) for path, is_project in files]
    return tuple(
        WrittenHooks(table=table, file=str(path), is_project=is_project)
        for table, path, is_project in found
        if table is not None
    )


def environment() -> dict[str, str]:
    """The whole environment, for programs that are started by the user's wish."""
    return dict(os.environ)


def runs_project_hooks() -> bool | None:
    """Whether approved hooks of a project run, as the environment says; `None` where it says nothing."""
    said = os.environ.get(FOLDLINE_PROJECT_HOOKS.name)
    return None if said is None else said == "1"
