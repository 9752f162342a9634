"""Hooks as a settings file has them, read into values.

    [[hooks.PreCompact]]
    argv = ["python3", "hooks/before.py"]
    timeout_s = 10                # 30 where it is left out, at most 600
    trigger = "auto"              # or "manual"; left out: both
    env = ["PROJECT_NAME"]        # variables it sees beside the usual few
    files = ["hooks/rules.txt"]   # further files that an approval is for
    blocks_on_exit_2 = true       # as Claude Code has it; left out: exit code 2 is shown

What is not as it should be is said with file, key, value and what would be allowed. Knows no file system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from msgspec import Struct

from foldline.core.errors import InvalidOption
from foldline.hooks.command import TIMEOUT_S, TIMEOUT_S_MAX, Command
from foldline.hooks.hooks import HOOKS_MAX
from foldline.hooks.occasion import EVENTS, TRIGGERS, Event, Trigger

KEYS: Final = ("argv", "timeout_s", "trigger", "env", "files", "blocks_on_exit_2")


class Written(Struct, frozen=True, kw_only=True):
    """One hook of a file."""

    event: Event
    command: Command
    trigger: Trigger | None = None


def read_hooks(table: object, *, file: str) -> tuple[Written, ...]:
    """The hooks under `hooks` of a file, in its order. Raises `InvalidOption`."""
    return tuple(_read(table, file))


def _read(table: object, file: str) -> Iterator[Written]:
    if not isinstance(table, Mapping):
        raise InvalidOption("hooks", table, why=f"in {file}: write each as a table, [[hooks.PreCompact]]")
    for name, rows in table.items():
        event = next((event for event in get_args(Event) if event == name), None)
        if event is None:
            raise InvalidOption("hooks", name, why=f"in {file}: a hook's event is one of {', '.join(EVENTS)}")
        if not isinstance(rows, list) or len(rows) > HOOKS_MAX:
            why = f"in {file}: write each as a table of its own, [[hooks.{event}]], at most {HOOKS_MAX}"
            raise InvalidOption(f"hooks.{event}", rows, why=why)
        for number, row in enumerate(rows, 1):
            yield _hook(event, row, place=f"hook {number} of {event} in {file}")


def _hook(event: Event, row: object, *, place: str) -> Written:
    if not isinstance(row, Mapping):
        raise InvalidOption(f"hooks.{event}", row, why=f"{place}: write it as a table, [[hooks.{event}]]")
    for key in row:
        if key not in KEYS:
            hint = (
                'a shell\'s line is never run; write argv = ["program", "argument"]'
                if key == "command"
                else f"its keys are {', '.join(KEYS)}"
            )
            raise InvalidOption(key, row[key], why=f"{place}: {hint}")
    argv = _texts(row, "argv", place=place)
    if not argv or not argv[0].strip():
        why = f'{place}: name the program and its arguments, argv = ["python3", "hooks/before.py"]'
        raise InvalidOption("argv", row.get("argv"), why=why)
    trigger = next((trigger for trigger in TRIGGERS if trigger == row.get("trigger")), None)
    if trigger is None and "trigger" in row:
        raise InvalidOption("trigger", row["trigger"], why=f"{place}: one of {', '.join(TRIGGERS)}")
    blocks = row.get("blocks_on_exit_2", False)
    if not isinstance(blocks, bool):
        raise InvalidOption("blocks_on_exit_2", blocks, why=f"{place}: true or false")
    command = Command(
        argv=argv,
        timeout_s=_seconds(row, place=place),
        env=_texts(row, "env", place=place),
        files=_texts(row, "files", place=place),
        blocks_on_exit_2=blocks,
    )
    return Written(event=event, command=command, trigger=trigger)


def _texts(row: Mapping[str, Any], key: str, *, place: str) -> tuple[str, ...]:
    value = row.get(key, [])
    if not isinstance(value, list) or not all(isinstance(word, str) and "\0" not in word for word in value):
        raise InvalidOption(key, value, why=f"{place}: a list of texts")
    return tuple(value)


def _seconds(row: Mapping[str, Any], *, place: str) -> float:
    value = row.get("timeout_s", TIMEOUT_S)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= TIMEOUT_S_MAX:
        raise InvalidOption(
            "timeout_s", value, why=f"{place}: seconds, more than 0 and at most {TIMEOUT_S_MAX:g}"
        )
    return float(value)
