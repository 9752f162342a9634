"""`foldline undo`: take a compaction of a session back, or one fold of it; or list what can be taken back.

Owns the options and the printing; the work is the session's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from foldline.cli import exits, screen
from foldline.cli.layout import clock_time, plural
from foldline.cli.listing import show_table
from foldline.cli.options import as_json_option, limit_option, rows_of

if TYPE_CHECKING:
    from foldline.session.history import Made


@click.command("undo")
@click.argument("session", metavar="SESSION")
@click.argument("what", metavar="[ENTRY|ADDRESS]", required=False)
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="List the compactions by the number of their entry; change nothing.",
)
@click.option(
    "--before", metavar="ENTRY", type=int, help="With --list: the page that ends before this compaction."
)
@limit_option
@click.option("--dry-run", is_flag=True, help="Say what would be taken back and change nothing.")
@as_json_option
def command(
    *,
    session: str,
    what: str | None,
    listing: bool,
    before: int | None,
    limit: int | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Take a compaction of a session back.

    Left out, the last one; an ENTRY is the number of another (`--list` names them), an ADDRESS takes back the one fold or
    cut that put it into the view. Nothing leaves the log: the undo is an entry too. A list has the newest compactions at its end; what
    is before them comes with --before.
    """
    if listing:
        if what is not None:
            raise click.UsageError("--list takes SESSION alone", click.get_current_context())
        return _list(session, before=before, limit=limit, as_json=as_json)
    if before is not None or limit is not None:
        raise click.UsageError("--before and --limit go with --list", click.get_current_context())
    from foldline.session.changes import undo

    done = undo(session, what, dry_run=dry_run)
    if as_json:
        from msgspec import to_builtins

        screen.write_document({"schema": "foldline.undo/1", "dry_run": dry_run, **to_builtins(done)})
        return exits.DONE
    verb, then, now = (
        ("would be", "would be in view again", "now") if dry_run else ("is", "in view again", "before")
    )
    what_ = f"what stood behind {done.address}" if done.address else f"compaction {done.entry}"
    screen.say(
        f"{what_} {verb} taken back; of session {session} {plural(done.messages_after, 'message')} {then} "
        f"({done.messages_before:,} {now})"
    )
    return exits.DONE


def _list(session: str, *, before: int | None, limit: int | None, as_json: bool) -> int:
    from foldline.session.changes import compactions

    page = compactions(session, before=before, limit=rows_of(limit, as_json=as_json))
    if as_json:
        rows = [
            {
                "entry": made.seq,
                "counts": made.counts,
                "time_ms": made.happened.time_ms,
                "report": made.report,
            }
            for made in page.made
        ]
        told = {"schema": "foldline.compactions/1", "session": session, "compactions": rows}
        screen.write_document({**told, "before": page.before})
        return exits.DONE
    if page.made:
        show_table([_row(made) for made in page.made])
    else:
        screen.say(f"session {session} was never compacted{'' if before is None else ' before that'}")
    if page.before is not None:
        asked = "" if limit is None else f" --limit {limit}"
        screen.say(f"older: foldline undo {session} --list --before {page.before}{asked}")
    return exits.DONE


def _row(made: Made) -> dict[str, object]:
    report = made.report
    return {
        "entry": str(made.seq),
        "state": "counts" if made.counts else "taken back",
        "made": "" if made.happened.time_ms is None else clock_time(made.happened.time_ms),
        "policy": report.get("policy") or "",
        "tokens before": report.get("tokens_before"),
        "after": report.get("tokens_after"),
    }
