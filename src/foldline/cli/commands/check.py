"""`foldline check`: the laws and the provider's rules, each violation with its place.

Owns the page and the exit code; the judgement is `foldline.files.check`.
"""

from __future__ import annotations

from typing import Any

import click

from foldline.cli import exits, progress, report, screen
from foldline.cli.layout import gap, grid, plural, title
from foldline.cli.options import Source, reads_file


@click.command("check")
@click.option(
    "--as", "as_format", metavar="FORMAT", help="Judge by this format's rules (left out: the file's own)."
)
@reads_file
def command(source: Source, *, as_format: str | None) -> int:
    """Check a session against the laws and its provider's rules.

    Exit code 1 when a rule is broken; each violation is listed with its place.
    """
    from foldline.files import check

    transcripts = source.read()
    with progress.busy("checking"):
        documents = [check(transcript, as_format=as_format) for transcript in transcripts]
    valid = all(document["valid"] for document in documents)
    if source.as_json:
        screen.write_document(
            documents[0]
            if len(documents) == 1
            else {"schema": "foldline.checks/1", "valid": valid, "sessions": documents}
        )
    else:
        for index, document in enumerate(documents):
            _show(document, f"{source.name} [{index}]" if len(documents) > 1 else source.name)
        for note in report.notes_of(transcripts):
            screen.say(note)
    return exits.DONE if valid else exits.BAD_INPUT


def _show(document: dict[str, Any], name: str) -> None:
    said = f"{document['format']} · {plural(document['messages'], 'message')} as written"
    if document["valid"]:
        screen.show(title("valid", name, style="bold green"), gap(screen.cell(said)))
        return
    broken = document["violations"]
    screen.show(
        title("not valid", name, style="bold red"),
        gap(screen.cell(f"{said} · {plural(len(broken), 'violation')}")),
        gap(grid(report.violation_rows(broken))),
    )
