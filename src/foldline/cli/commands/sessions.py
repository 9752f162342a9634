"""`foldline sessions`: which sessions there are.

Owns the printing; the list is `foldline.session.library`'s.
"""

from __future__ import annotations

from datetime import UTC, datetime

import click

from foldline.cli import exits, screen
from foldline.cli.listing import show_table
from foldline.cli.options import as_json_option


@click.command("sessions")
@as_json_option
def command(*, as_json: bool) -> int:
    """List the sessions, with their size and when each was last written.

    They are kept below $FOLDLINE_HOME, else $XDG_STATE_HOME/foldline, else ~/.local/state/foldline.
    """
    from msgspec import to_builtins

    from foldline.home import disk_store
    from foldline.session.library import listed

    found = list(listed(disk_store()))
    if as_json:
        screen.write_document({"schema": "foldline.sessions/1", "sessions": to_builtins(found)})
    elif not found:
        screen.say(
            "there are no sessions yet; `foldline import FILE` brings one in, `foldline.open(NAME)` begins one"
        )
    else:
        show_table(
            stacks=True,
            rows=[
                {
                    "name": one.name,
                    "format": one.format,
                    "model": one.model or "",
                    "messages": one.messages,
                    "entries": one.entries,
                    "last written": _time(one.updated_ms),
                    "fork of": one.parent or "",
                }
                for one in found
            ],
        )
        for one in found:
            if one.problem:
                screen.say(f"{one.name}: {one.problem}; `foldline verify {one.name}` says more")
    return exits.DONE


def _time(ms: int | None) -> str:
    if ms is None:
        return ""
    return datetime.fromtimestamp(ms / 1000, tz=UTC).astimezone().strftime("%Y-%m-%d %H:%M")
