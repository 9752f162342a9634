"""`foldline compact`: shrink a session to a budget, and say what was done.

Owns the options and where result and report go. Its counterparts are `foldline.files.compact`, which does the work,
and `foldline.cli.report`, which lays the report out.
"""

from __future__ import annotations

from typing import Any, Final

import click

from foldline.cli import exits, report, screen
from foldline.cli.asking import asking, provider_options
from foldline.cli.commands.compact_session import Wanted, compact_session
from foldline.cli.options import (
    Source,
    counter_option,
    forbid_both_on_stdout,
    forbid_over_original,
    hint_for,
    named,
    out_option,
    reads_file,
    size,
    write_result,
)

UNMENDED: Final = (
    "this stood in what came in, and no repair mends it (`foldline check` names the places): correct it there, or leave it to a server "
    "that takes more than the provider does"
)


@click.command("compact")
@click.option(
    "--to",
    metavar="SIZE",
    type=size,
    help="Size of the whole result: 20000, 20k, 25%. Left out: the policy's target.",
)
@click.option("--policy", metavar="NAME", default="balanced", show_default=True, help="How to get there.")
@click.option("--model", metavar="M", type=named, help="Count with this model's counter and use its window.")
@counter_option
@provider_options
@click.option("--as", "as_format", metavar="FORMAT", help="Write this format (left out: the file's own).")
@click.option("--focus", metavar="TEXT", help="What matters most, in your words.")
@click.option(
    "--pin", "pins", metavar="TEXT", multiple=True, help="Keep messages that hold TEXT verbatim. Repeatable."
)
@click.option("--dry-run", is_flag=True, help="Report only; write nothing.")
@out_option
@reads_file
def command(source: Source, **given: Any) -> int:
    """Shrink a session to a budget; it stays valid, and a report says what was done.

    The result goes to the file given with -o, else to stdout; the report goes to stderr, with --json to stdout (the
    result then only to -o). Onto a terminal the result is written only when asked with `-o -`.

    With --provider a model writes the summary, where the policy asks one; without it everything happens on this machine.

    Where FILE is the name of a durable session, it is compacted in its own log, and `foldline undo` takes that back. The
    hooks of the settings run then (`foldline hooks`), but not with --dry-run.
    """
    from foldline.files import CompactOptions, compact
    from foldline.reading import names_session

    wanted = Wanted(**given)
    if names_session(source.file):
        return compact_session(source, wanted)
    if not wanted.dry_run:
        forbid_both_on_stdout(source, wanted.out)
    options = CompactOptions(
        to=wanted.to,
        policy=wanted.policy,
        model=wanted.model,
        counter=wanted.counter,
        focus=wanted.focus,
        pins=wanted.pins,
        as_format=wanted.as_format,
    )
    transcripts = source.read()
    if not wanted.dry_run:
        forbid_over_original(source, wanted.out, hint=hint_for(wanted.as_format, transcripts))
    with asking(wanted.provider, base_url=wanted.base_url, model=wanted.model) as shown:
        compaction = compact(
            transcripts, options, completer=shown.completer, on_delta=shown.hear, progress=shown.stage
        )
    document = compaction.report_document
    code = exits.code_of_outcomes([exits.outcome_of(one) for one in document.get("sessions", [document])])
    written = None
    if not wanted.dry_run and code in (exits.DONE, exits.UNREACHABLE):
        written = write_result(compaction.data, wanted.out, source=source)
    if source.as_json:
        screen.write_document(document)
        return code
    screen.show(*report.blocks_of(document, name=source.name, is_planned=wanted.dry_run), to="stderr")
    for note in report.notes_in(document):
        screen.say(note)
    if any(one.get("unmended") for one in document.get("sessions", [document])):
        screen.say(UNMENDED)
    screen.say(_where(wanted, written=written, code=code))
    return code


def _where(wanted: Wanted, *, written: str | None, code: int) -> str:
    """The last line: where the result is."""
    if wanted.dry_run:
        return "dry run, nothing was written"
    if code == exits.OUR_FAULT:
        return "a fault of foldline: nothing was written; please report it with the lines above"
    if code == exits.REFUSED:
        return "refused: nothing was written"
    if code == exits.BAD_INPUT:
        return "not valid: nothing was written"
    if written is not None:
        return f"written to {written}"
    if wanted.out is None and screen.is_terminal("stdout"):
        return "the result was not written; keep it with -o FILE, or pipe it on"
    return "written to stdout"
