"""`foldline convert`: write a session in another format.

Owns where the result goes and how notes are told; the work is `foldline.files.convert`.
"""

from __future__ import annotations

import click

from foldline.cli import exits, progress, report, screen
from foldline.cli.options import (
    Source,
    forbid_both_on_stdout,
    forbid_over_original,
    hint_for,
    out_option,
    reads_file,
    write_result,
)


@click.command("convert")
@click.option("--as", "as_format", metavar="FORMAT", required=True, help="The format to write.")
@out_option
@reads_file
def command(source: Source, *, as_format: str, out: str | None) -> int:
    """Write a session in another format.

    What the target format cannot hold is named on stderr. The result goes to the file given with -o, else to stdout;
    with --json stdout holds the notes, and the result goes only to -o.
    """
    from foldline.files import convert

    forbid_both_on_stdout(source, out)
    transcripts = source.read()
    forbid_over_original(source, out, hint=hint_for(as_format, transcripts))
    with progress.busy("converting"):
        conversion = convert(transcripts, as_format=as_format)
    written = write_result(conversion.data, out, source=source)
    notes = list(dict.fromkeys([*report.notes_of(transcripts), *conversion.notes]))
    if source.as_json:
        screen.write_document(
            {
                "schema": "foldline.convert/1",
                "format": as_format,
                "sessions": len(transcripts),
                "bytes": len(conversion.data),
                "written": written,
                "notes": notes,
            }
        )
        return exits.DONE
    for note in notes:
        screen.say(note)
    if written is not None:
        screen.say(f"written to {written}")
    elif out is None and screen.is_terminal("stdout"):
        screen.say(
            f"{len(conversion.data):,} bytes of {as_format}, not written; keep them with -o FILE, or pipe them on"
        )
    return exits.DONE
