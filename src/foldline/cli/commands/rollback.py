"""`foldline rollback`: bring a session back to an earlier entry.

Owns the options and the printing; the work is the session's own.
"""

from __future__ import annotations

import click

from foldline.cli import exits, screen
from foldline.cli.layout import plural
from foldline.cli.options import as_json_option


@click.command("rollback")
@click.argument("session", metavar="SESSION")
@click.option(
    "--to",
    "to",
    metavar="ENTRY",
    type=int,
    help="The entry that becomes the last one again; -1 is before all of them.",
)
@click.option("--before", metavar="ENTRY", type=int, help="The compaction to go before.")
@click.option("--dry-run", is_flag=True, help="Say what would leave the view and change nothing.")
@as_json_option
def command(*, session: str, to: int | None, before: int | None, dry_run: bool, as_json: bool) -> int:
    """Bring a session back to an earlier entry.

    What came after leaves the view and stays in the log, and can be come back to: the rollback is an entry too.
    """
    from foldline.session.changes import rollback

    if (to is None) == (before is None):
        raise click.UsageError("give --to ENTRY or --before ENTRY", click.get_current_context())
    done = rollback(session, to=to, before=before, dry_run=dry_run)
    if as_json:
        from msgspec import to_builtins

        screen.write_document({"schema": "foldline.rollback/1", "dry_run": dry_run, **to_builtins(done)})
        return exits.DONE
    screen.say(
        f"{session} {'would stand' if dry_run else 'stands'} at entry {done.entry}: "
        f"{plural(done.messages_after, 'message')} in view ({done.messages_before:,} {'now' if dry_run else 'before'})"
    )
    return exits.DONE
