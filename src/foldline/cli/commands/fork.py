"""`foldline fork`: a session that goes on from another, without a copy of it.

Owns the options and the printing; the work is `foldline.session.forking`'s.
"""

from __future__ import annotations

import click

from foldline.cli import exits, screen
from foldline.cli.layout import plural
from foldline.cli.options import as_json_option


@click.command("fork")
@click.argument("session", metavar="SESSION")
@click.argument("name", metavar="NAME")
@click.option(
    "--at", metavar="ENTRY", type=int, help="Leave the session after this entry (left out: the last one)."
)
@click.option("--dry-run", is_flag=True, help="Say what would be made and change nothing.")
@as_json_option
def command(*, session: str, name: str, at: int | None, dry_run: bool, as_json: bool) -> int:
    """Begin session NAME where SESSION stands.

    Nothing is copied, and SESSION may be written meanwhile. Hand-off records stay behind. A session that forks go on from
    cannot be removed.
    """
    from foldline.session.changes import fork

    done = fork(session, name, at=at, dry_run=dry_run)
    if as_json:
        from msgspec import to_builtins

        screen.write_document({"schema": "foldline.fork/1", "dry_run": dry_run, **to_builtins(done)})
        return exits.DONE
    verb = "would go on" if dry_run else "goes on"
    screen.say(
        f"session {name} {verb} from entry {done.entry} of {session}: {plural(done.messages, 'message')} in view"
    )
    return exits.DONE
