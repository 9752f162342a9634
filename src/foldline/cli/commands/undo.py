"""`foldline undo`: take a compaction of a session back, or one fold of it.

Owns the options and the printing; the work is the session's own.
"""

from __future__ import annotations

import click

from foldline.cli import exits, screen
from foldline.cli.options import as_json_option


@click.command("undo")
@click.argument("session", metavar="SESSION")
@click.argument("what", metavar="[ENTRY|ADDRESS]", required=False)
@click.option("--dry-run", is_flag=True, help="Say what would be taken back and change nothing.")
@as_json_option
def command(*, session: str, what: str | None, dry_run: bool, as_json: bool) -> int:
    """Take a compaction of a session back.

    Left out, the last one; an ENTRY is the number of another (`foldline events SESSION` names them), an ADDRESS takes back
    the one fold or cut that put it into the view. Nothing leaves the log: the undo is an entry too.
    """
    from foldline.session.changes import undo

    done = undo(session, what, dry_run=dry_run)
    if as_json:
        from msgspec import to_builtins

        screen.write_document({"schema": "foldline.undo/1", "dry_run": dry_run, **to_builtins(done)})
        return exits.DONE
    verb = "would be taken back" if dry_run else "is taken back"
    what_ = f"what stood behind {done.address}" if done.address else f"compaction {done.entry}"
    screen.say(
        f"{what_} {verb}; the view of {session}: "
        f"{done.messages_before:,} messages {'would become' if dry_run else 'became'} {done.messages_after:,}"
    )
    return exits.DONE
