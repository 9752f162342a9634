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
@click.option(
    "--all", "everything", is_flag=True, help="What the file's own tool has compacted away too, in its place."
)
@click.option("--dry-run", is_flag=True, help="Say what would be brought in and change nothing.")
@reads_file
def command(source: Source, *, name: str | None, everything: bool, dry_run: bool) -> int:
    """Make a durable session of a session file.

    Takes every format that is read. A foldline log keeps its compactions; of another tool's file the live context is taken:
    what its model would be sent next. With --all it is everything that was said, as though that tool had never compacted and
    without its summaries, where the file keeps it (Claude Code, Codex, Kimi, pi); the session is then as large as it is, and
    `foldline compact` brings it to a size. Known kinds of secrets are taken out before anything is written. Of a file with many
    conversations each becomes a session of its own, with a number behind the name.
    """
    from foldline.home import disk_store
    from foldline.session.library import import_transcript, name_for
    from foldline.session.opening import redactor

    read = source.read_both()
    many = len(read) > 1
    store, redact = disk_store(), redactor()
    done: list[Imported] = []
    with progress.busy("bringing it in"):
        for number, both in enumerate(read):
            wanted = name or name_for(None if many else both.live.id, source.name)
            whole = both.whole if everything else None
            taken = both.live if whole is None else whole
            chosen = f"{wanted}-{number}" if many else wanted
            made = import_transcript(store, taken, name=chosen, redact=redact, dry_run=dry_run)
            done.append(made.leaving(both.messages_left if whole is None else 0))
    _tell(done, source, dry_run=dry_run)
    for note in report.notes_of([both.live for both in read]):
        screen.say(note)
    return exits.DONE


def _tell(done: list[Imported], source: Source, *, dry_run: bool) -> None:
    for one in done:
        if one.left_out:
            screen.say(_left_out(one, source))
    if source.as_json:
        from msgspec import to_builtins

        screen.write_document(
            {"schema": "foldline.import/1", "dry_run": dry_run, "sessions": to_builtins(done)}
        )
        return
    for one in done:
        compactions = f", {plural(one.compactions, 'compaction')}" if one.compactions else ""
        verb = "would become" if dry_run else "is now"
        screen.say(
            f"{source.name} {verb} session {one.name}: {plural(one.messages, 'message')} as read{compactions}"
        )


def _left_out(one: Imported, source: Source) -> str:
    """What stays in the file alone, and what to do about it."""
    count = one.messages_left
    said = (
        "what was said before that stays" if count is None else f"{plural(count, 'message')} from before stay"
    )
    then = "keep the file" if count is None else "--all brings them in; else keep the file"
    return (
        f"its tool had compacted {source.name}: {said} in the file alone, where neither `show` nor `recall` of session "
        f"{one.name} reaches; {then}"
    )
