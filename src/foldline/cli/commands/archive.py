"""`foldline archive`: pack away the older bytes of a session.

Owns the printing; the work is `foldline.verify.archive`.
"""

from __future__ import annotations

import click

from foldline.cli import exits, progress, screen
from foldline.cli.options import as_json_option


@click.command("archive")
@click.argument("session", metavar="SESSION")
@click.option("--dry-run", is_flag=True, help="Say what would be done and change nothing.")
@as_json_option
def command(*, session: str, dry_run: bool, as_json: bool) -> int:
    """Pack away the older bytes of a session.

    All it holds up to now takes less room and reads as before: every address, every search and every resume goes on working. What was packed is
    read back and compared before the source goes.
    """
    from foldline.verify import archive

    with progress.busy(f"packing {session}"):
        done = archive(session, dry_run=dry_run)
    if as_json:
        screen.write_document(
            {
                "schema": "foldline.archive/1",
                "name": done.name,
                "bytes": done.bytes,
                "dry_run": dry_run,
                "refused": done.refused or None,
            }
        )
    elif done.refused:
        screen.say(f"{session} stays as it is: {done.refused}; make room and try again")
    elif not done.bytes:
        screen.say(f"{session} is packed away already; there was nothing to do")
    else:
        screen.say(
            f"{session}: {done.bytes:,} bytes of the log {'would be' if dry_run else 'were'} packed away"
        )
    return exits.BAD_INPUT if done.refused else exits.DONE
