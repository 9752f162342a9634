"""`foldline sessions`: which sessions there are.

Owns the printing; the list is `foldline.session.library`'s.
"""

from __future__ import annotations

import click

from foldline.cli import exits, screen
from foldline.cli.layout import clock_time, plural
from foldline.cli.listing import show_table
from foldline.cli.options import as_json_option, limit_option, page_of, rows_of
from foldline.cli.walking import more_of


@click.command("sessions")
@click.option("--after", metavar="NAME", help="The page that begins behind this name.")
@limit_option
@as_json_option
def command(*, after: str | None, limit: int | None, as_json: bool) -> int:
    """List the sessions by name, with their size and when each was last written.

    They are kept below $FOLDLINE_HOME, else $XDG_STATE_HOME/foldline, else ~/.local/state/foldline.
    """
    from msgspec import to_builtins

    from foldline.home import disk_store
    from foldline.session.library import listed

    store = disk_store()
    there = store.names()
    names, behind = page_of(there, after=after, limit=rows_of(limit, as_json=as_json))
    found = list(listed(store, names))
    if as_json:
        told = {"schema": "foldline.sessions/1", "sessions": to_builtins(found), "after": behind}
        screen.write_document(told)
        return exits.DONE
    if not there:
        screen.say(
            "there are no sessions yet; `foldline import FILE` brings one in, `foldline.open(NAME)` begins one"
        )
    elif not found:
        screen.say(f"of {plural(len(there), 'session')} none comes after {after}")
    else:
        show_table(
            [
                {
                    "name": one.name,
                    "format": one.format,
                    "model": one.model or "",
                    "messages": one.messages,
                    "entries": one.entries,
                    "last written": ""
                    if one.updated_ms is None
                    else clock_time(one.updated_ms, to="minutes"),
                    "fork of": one.parent or "",
                }
                for one in found
            ],
        )
        for one in found:
            if one.problem:
                screen.say(f"{one.name}: {one.problem}; `foldline verify {one.name}` says more")
    if behind is not None:
        screen.say(f"{len(found):,} of {len(there):,}{more_of('sessions', behind, limit=limit)}")
    return exits.DONE
