"""`foldline import`: make a durable session of a session file.

Owns the options and the printing; the work is `foldline.session.library`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from foldline.cli import exits, progress, report, screen
from foldline.cli.layout import plural
from foldline.cli.options import Source, reads_file

if TYPE_CHECKING:
    from foldline.session.library import Imported


@click.command("import")
@click.option(
    "--name", metavar="NAME", help="What to call the session (left out: its own id, else the file's name)."
)
@click.option("--dry-run", is_flag=True, help="Say what would be brought in and change nothing.")
@reads_file
def command(source: Source, *, name: str | None, dry_run: bool) -> int:
    """Make a durable session of a session file.

    Takes every format that is read. A foldline log keeps its compactions; of another tool's file the live context is taken:
    what its model would be sent next. Known kinds of secrets are taken out before anything is written. Of a file with many
    conversations each becomes a session of its own, with a number behind the name.
    """
    from foldline.session.library import import_transcript, name_for
    from foldline.session.opening import disk_store, redactor

    transcripts = source.read()
    many = len(transcripts) > 1
    store, redact = disk_store(), redactor()
    done: list[Imported] = []
    with progress.busy("bringing it in"):
        for number, transcript in enumerate(transcripts):
            wanted = name or name_for(None if many else transcript.id, source.name)
            chosen = f"{wanted}-{number}" if many else wanted
            done.append(import_transcript(store, transcript, name=chosen, redact=redact, dry_run=dry_run))
    _tell(done, source, dry_run=dry_run)
    for note in report.notes_of(transcripts):
        screen.say(note)
    return exits.DONE


def _tell(done: list[Imported], source: Source, *, dry_run: bool) -> None:
    if source.as_json:
        from msgspec import to_builtins

        screen.write_document(
            {"schema": "foldline.import/1", "dry_run": dry_run, "sessions": to_builtins(done)}
        )
        return
    for one in done:
        compactions = f", {plural(one.compactions, 'compaction')}" if one.compactions else ""
        verb = "would become" if dry_run else "is now"
        screen.say(f"{source.name} {verb} session {one.name}: {plural(one.messages, 'message')}{compactions}")
        if one.left_out:
            screen.say(
                f"its tool had compacted {source.name}: what was said before that stays in the file alone, "
                f"where neither `show` nor `recall` of session {one.name} reaches; keep the file"
            )
