"""`foldline events`: what happened in a session, without what was said.

Owns the page; the events are `foldline.privacy.events`'s.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from foldline.cli import exits, progress, screen
from foldline.cli.layout import flowed, grid, plural, value_of
from foldline.cli.options import as_json_option, counter_option

if TYPE_CHECKING:
    from rich.console import RenderableType

    from foldline.log.audit import Event
    from foldline.privacy.events import SessionEvents

ROWS_MAX = 500
"""The newest events on a page; `--lines` and `--json` have all of them."""
SAID_COLUMNS_MIN = 20
"""Columns for what an event says, however narrow the page."""
LOOK_S = 0.5
"""How long after a look at the log `--follow` looks again."""
_APART = ("seq", "entry", "type", "timestamp")


@click.command("events")
@click.argument("session", metavar="SESSION")
@click.option("--lines", "as_lines", is_flag=True, help="One JSON object a line, as they come.")
@click.option(
    "--follow", is_flag=True, help="Go on with what comes, until Ctrl-C; with --json a JSON object a line."
)
@counter_option
@as_json_option
def command(*, session: str, as_lines: bool, follow: bool, counter: str | None, as_json: bool) -> int:
    """List what happened in a session: inputs, tool calls and results, compactions, checkpoints.

    Derived from the log, and kept for seven days. The number before each is its entry's, which undo, rollback and fork take. Contents and parameters stand as hashes under the key of this home; of an error its first line
    is shown.
    """
    if as_lines and as_json and not follow:
        raise click.UsageError("--json is one document, --lines many; take one", click.get_current_context())
    from foldline.privacy.events import followed

    log = followed(session, counter=counter)
    if follow:
        return _follow(log, as_lines=as_lines or as_json)
    if as_lines:
        _write_lines(log.more())
    else:
        with progress.busy(f"reading {session}"):
            events = list(log.more())
        if as_json:
            told = {"schema": "foldline.events/1", "session": session, "events": events}
            screen.write_document({**told, "deleted": log.deleted})
        else:
            _show(events)
    _say_deleted(log)
    return exits.DONE


def _follow(log: SessionEvents, *, as_lines: bool) -> int:
    """What is there, then what comes. Being stopped from the keyboard is how it ends."""
    try:
        if as_lines:
            _write_lines(log.more())
        else:
            _show(list(log.more()))
        _say_deleted(log)
        while True:
            time.sleep(LOOK_S)
            if as_lines:
                _write_lines(log.more())
            elif came := list(log.more()):
                _print(_page(came, headed=False))
    except KeyboardInterrupt:
        return exits.DONE


def _write_lines(events: Iterable[Event]) -> None:
    for event in events:
        screen.write_json_data(json.dumps(event, ensure_ascii=False).encode() + b"\n")


def _show(events: list[Event]) -> None:
    if len(events) > ROWS_MAX:
        screen.say(f"the newest {ROWS_MAX} of {len(events):,}; --lines gives all of them")
    if events:
        _print(_page(events[-ROWS_MAX:]))
    else:
        screen.say("no events")


def _say_deleted(log: SessionEvents) -> None:
    """That there were older ones, and what they are not."""
    from foldline.settings import event_days

    if log.deleted:
        count = "1 event is" if log.deleted == 1 else f"{log.deleted:,} events are"
        screen.say(
            f"{count} deleted, older than {plural(event_days(), 'day')}; messages never are, except by `foldline forget {log.session}`"
        )


def _print(page: RenderableType) -> None:
    """A row stays one line in a pipe of no named width."""
    screen.show(page, columns=screen.row_of("stdout"))


def _page(events: list[Event], *, headed: bool = True) -> RenderableType:
    """One row an event; what it says is broken between its fields, never inside one."""
    heads = [("entry", "time", "event"), *((str(e["entry"]), _when(e), e["type"]) for e in events)]
    taken = sum(max(len(row[column]) for row in heads) + 2 for column in range(3))
    room = max(SAID_COLUMNS_MIN, screen.row_of("stdout") - taken)
    rows: list[tuple[RenderableType, ...]] = []
    if headed:
        rows.append(tuple(screen.cell(head, "dim") for head in (*heads[0], "")))
    rows += [
        (
            screen.cell(event["entry"], "dim"),
            screen.cell(_when(event), "dim"),
            screen.cell(event["type"], "bold"),
            flowed(_said(event), columns=room),
        )
        for event in events
    ]
    return grid(rows, right=(0,), whole=(1, 2))


def _when(event: Event) -> str:
    return (event["timestamp"] or "").replace("T", " ").removesuffix("Z")


def _said(event: Event) -> list[str]:
    return [
        f"{key.replace('_', ' ')} {value[:12] if key.endswith('_hash') else value_of(value)}"
        for key, value in event.items()
        if key not in _APART and value not in (None, [])
    ]
