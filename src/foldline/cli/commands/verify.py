"""`foldline verify`: prove sessions and their archives whole, or keep what is sound of one.

Owns the printing; the work is `foldline.verify`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from foldline.cli import exits, progress, screen
from foldline.cli.listing import show_table
from foldline.cli.options import as_json_option, write_file

if TYPE_CHECKING:
    from foldline.verify import Salvaged, Verdict


@click.command("verify")
@click.argument("session", metavar="[SESSION]", required=False)
@click.option("--all", "every", is_flag=True, help="Verify every session.")
@click.option(
    "--salvage",
    "out",
    metavar="FILE",
    help="Write a log of what is sound into FILE; the session stays as it is.",
)
@as_json_option
def command(*, session: str | None, every: bool, out: str | None, as_json: bool) -> int:
    """Prove sessions and their archives whole.

    Every line is compared with its length, checksum and number, every archive with its digest, every checkpoint with what
    it refers to. Nothing is changed. A forget that was interrupted is told. A damaged session is named with the byte, and the exit code is 1.
    """
    from foldline.verify import names, salvage, unfinished_forget

    if (session is None) != every:
        raise click.UsageError("name one SESSION, or give --all", click.get_current_context())
    if out is not None:
        if session is None:
            raise click.UsageError("--salvage takes one SESSION", click.get_current_context())
        with progress.busy(f"salvaging {session}"):
            found = salvage(session)
        write_file(out, found.data)
        return _tell_salvaged(found, out, as_json=as_json)
    unfinished = unfinished_forget()
    verdicts = [_verdict(name) for name in (names() if session is None else (session,))]
    if as_json:
        told = [_document(v) for v in verdicts]
        more = {"unfinished_forget": unfinished or None}
        screen.write_document({"schema": "foldline.verify/1", "sessions": told, **more})
    else:
        _tell(verdicts)
    if unfinished:
        screen.say(unfinished)
    return exits.BAD_INPUT if any(verdict.state == "corrupt" for verdict in verdicts) else exits.DONE


def _verdict(name: str) -> Verdict:
    from foldline.verify import verify

    with progress.shown(f"verifying {name}") as tick:
        return verify(name, progress=tick)


def _tell(verdicts: list[Verdict]) -> None:
    if not verdicts:
        screen.say("there are no sessions")
        return
    show_table(
        stacks=True,
        rows=[
            {
                "name": verdict.name,
                "state": verdict.state,
                "entries": verdict.entries,
                "messages": verdict.messages,
                "checkpoints": verdict.checkpoints,
                "archives": verdict.archives,
                "bytes": verdict.bytes,
            }
            for verdict in verdicts
        ],
    )
    for verdict in verdicts:
        if verdict.torn:
            screen.say(
                f"{verdict.name}: {verdict.torn}; the next to write cuts that off, nothing promised is lost"
            )
        for problem in verdict.problems:
            screen.say(f"{verdict.name}: byte {problem.offset:,}: {problem.why}")
        if verdict.problems and verdict.bytes:
            screen.say(f"`foldline verify {verdict.name} --salvage FILE` keeps what is sound")
        elif verdict.problems:  # not even the first line, which every checksum goes on from
            screen.say(
                f"{verdict.name}: its first line is lost, so nothing can be kept of it; restore it from a copy, or take "
                f"it away with `foldline forget {verdict.name}`"
            )


def _tell_salvaged(found: Salvaged, out: str, *, as_json: bool) -> int:
    if as_json:
        document = {"schema": "foldline.salvage/1", **_document(found), "written": out}
        del document["data"]
        screen.write_document(document)
        return exits.DONE
    for gap in found.gaps:
        lost = (
            f"{'1 entry' if gap.count == 1 else f'{gap.count:,} entries'} from number {gap.first:,} on"
            if gap.count
            else "no whole entry"
        )
        screen.say(f"byte {gap.offset:,}, {gap.size:,} bytes: {lost} ({gap.why})")
    screen.say(
        f"{found.entries:,} sound {'entry' if found.entries == 1 else 'entries'} written to {out}; `foldline import {out}` makes a session of it"
    )
    return exits.DONE


def _document(value: Verdict | Salvaged) -> dict[str, Any]:
    from msgspec import to_builtins
    from msgspec.structs import asdict

    return {
        key: told if isinstance(told, bytes) else to_builtins(told) for key, told in asdict(value).items()
    }
