"""`foldline export`: a durable session as a session file.

Owns the options; the work is `foldline.session.library`'s and `foldline.files.convert`'s.
"""

from __future__ import annotations

import click

from foldline.cli import exits, progress, screen
from foldline.cli.options import Source, as_json_option, forbid_both_on_stdout, out_option, write_result


@click.command("export")
@click.argument("session", metavar="SESSION")
@click.option(
    "--as",
    "as_format",
    metavar="FORMAT",
    help="Write this format (left out: `foldline`, the whole log as one file).",
)
@out_option
@as_json_option
def command(*, session: str, as_format: str | None, out: str | None, as_json: bool) -> int:
    """Write a durable session as a session file.

    As `foldline` it is the whole log, with everything ever said; in another format it is the view, what the model would be
    sent next. The session stays as it is.
    """
    from foldline.files import convert
    from foldline.home import disk_store
    from foldline.session.library import log_of, transcript_of

    source = Source(file=session, format="auto", select=None, as_json=as_json)
    forbid_both_on_stdout(source, out)
    store = disk_store()
    notes: tuple[str, ...] = ()
    with progress.busy(f"writing {session}"):
        if as_format in (None, "foldline"):
            data = log_of(store, session)
        else:
            converted = convert([transcript_of(store, session)], as_format=str(as_format))
            data, notes = converted.data, converted.notes
    where = write_result(data, out, source=source)
    if as_json:
        screen.write_document(
            {
                "schema": "foldline.export/1",
                "session": session,
                "format": as_format or "foldline",
                "bytes": len(data),
                "written": where,
                "notes": list(notes),
            }
        )
    for note in notes:
        screen.say(note)
    if where is not None and not as_json:
        screen.say(f"session {session} written to {where}")
    elif where is None and out is None and screen.is_terminal("stdout") and not as_json:
        screen.say(f"session {session}: {len(data):,} bytes; keep them with -o FILE, or pipe them on")
    return exits.DONE
