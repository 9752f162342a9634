"""A command over one session or all of them: `--all`, and the pages of a long answer.

What is not as it should be is listed whole; of the others a page, and behind which name the next one begins. Counterpart:
`foldline.cli.options`, for what all commands have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import click

from foldline.cli.options import Command, page_of


class Named(Protocol):
    """What was found of a session."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


def walk_options(done: str, *, rest: str) -> Callable[[Command], Command]:
    """Give a command `--all`, `--after` and `--limit`. `done`: what it does to a session; `rest`: the sessions that are counted
    by the limit."""

    def decorated(command: Command) -> Command:
        for option in (
            click.option(
                "--limit",
                metavar="N",
                type=click.IntRange(0, 10_000),
                help=f"With --all: list so many {rest} sessions. Left out: 100, and with --json all; the others are always listed.",
            ),
            click.option(
                "--after",
                metavar="NAME",
                help="With --all: only the sessions whose names come after this one.",
            ),
            click.option("--all", "every", is_flag=True, help=f"{done} every session."),
        ):
            command = option(command)
        return command

    return decorated


def refuse_unfit(name: str | None, *, every: bool, paged: bool, what: str = "one SESSION") -> None:
    """Raise `click.UsageError` for neither a name nor all, for both, and for pages of one."""
    if (name is None) != every:
        raise click.UsageError(f"name {what}, or give --all", click.get_current_context())
    if paged and not every:
        raise click.UsageError("--after and --limit go with --all", click.get_current_context())


def listed(
    found: Sequence[T], *, is_sound: Callable[[T], bool], limit: int | None
) -> tuple[list[T], str | None]:
    """Those that are not sound, and of the sound ones so many; and the name behind which the next page begins, if any."""
    sound = [one.name for one in found if is_sound(one)]
    page, behind = page_of(sound, after=None, limit=limit)
    left_out = frozenset(sound) - frozenset(page)
    return [one for one in found if one.name not in left_out], behind


def more_of(command: str, behind: str | None, *, limit: int | None) -> str:
    """How the next page is asked for; empty where there is none."""
    asked = "" if limit is None else f" --limit {limit}"
    return "" if behind is None else f"; more: foldline {command} --after {behind}{asked}"
