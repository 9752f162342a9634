"""`foldline verify`: prove sessions and their archives whole, or keep what is sound of one.

Owns the printing; the work is `foldline.verify`.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from foldline.cli import exits, progress, screen
from foldline.cli.layout import plural
from foldline.cli.listing import show_table
from foldline.cli.options import as_json_option, in_order, page_of, rows_of, write_file
from foldline.cli.walking import listed, more_of, refuse_unfit, walk_options

if TYPE_CHECKING:
    from foldline.verify import Salvaged, Verdict


@click.command("verify")
@click.argument("session", metavar="[SESSION]", required=False)
@walk_options("Verify", rest="sound")
@click.option(
    "--salvage",
    "out",
    metavar="FILE",
    help="Write a log of what is sound into FILE; the session stays as it is.",
)
@as_json_option
def command(
    *,
    session: str | None,
    every: bool,
    after: str | None,
    limit: int | None,
    out: str | None,
    as_json: bool,
) -> int:
    """Prove sessions and their archives whole.

    Every line is compared with its length, checksum and number, every archive with its digest, every checkpoint with what
    it refers to. Nothing is changed. A forget that was interrupted is told. A damaged session is named with the byte, and the exit code is 1.
    """
    from foldline.verify import names, unfinished_forget

    refuse_unfit(session, every=every, paged=after is not None or limit is not None)
    if out is not None:
        if session is None:
            raise click.UsageError("--salvage takes one SESSION", click.get_current_context())
        return _salvage(session, out, as_json=as_json)
    unfinished = unfinished_forget()
    asked, _ = ((session,), None) if session is not None else page_of(names(), after=after, limit=None)
    verdicts = _verdicts(asked)
    rows, behind = listed(
        verdicts, is_sound=lambda one: one.state == "clean", limit=rows_of(limit, as_json=as_json)
    )
    if as_json:
        told = [_document(v) for v in rows]
        more = {"after": behind, "states": _states(verdicts), "unfinished_forget": unfinished or None}
        screen.write_document({"schema": "foldline.verify/1", "sessions": told, **more})
    else:
        _tell(rows)
        if every and verdicts:
            _tell_sum(verdicts, rows, goes_on=more_of("verify --all", behind, limit=limit))
    if unfinished:
        screen.say(unfinished)
    return exits.BAD_INPUT if any(verdict.state == "corrupt" for verdict in verdicts) else exits.DONE


def _salvage(session: str, out: str, *, as_json: bool) -> int:
    from foldline.verify import salvage

    with progress.busy(f"salvaging {session}"):
        found = salvage(session)
    write_file(out, found.data)
    return _tell_salvaged(found, out, as_json=as_json)


def _states(verdicts: list[Verdict]) -> dict[str, int]:
    """How many sessions are in which state."""
    found = Counter(verdict.state for verdict in verdicts)
    return {"clean": found["clean"], "torn": found["torn"], "corrupt": found["corrupt"]}


def _tell_sum(verdicts: list[Verdict], rows: list[Verdict], *, goes_on: str) -> None:
    states = ", ".join(f"{count:,} {state}" for state, count in _states(verdicts).items() if count)
    left = len(verdicts) - len(rows)
    more = f"; {left:,} clean {'one is' if left == 1 else 'ones are'} not listed" if left else ""
    screen.say(f"{plural(len(verdicts), 'session')}: {states}{more}{goes_on}")


def _verdicts(names: Sequence[str]) -> list[Verdict]:
    from foldline.verify import verify, verify_each

    with contextlib.ExitStack() as shown:

        def tick(name: str) -> Callable[[int, int], None] | None:
            shown.close()
            return shown.enter_context(progress.shown(f"verifying {name}"))

        if len(names) == 1:
            return [verify(names[0], progress=tick(names[0]))]
        return sorted(verify_each(names, progress=tick), key=lambda verdict: in_order(verdict.name))


def _tell(verdicts: list[Verdict]) -> None:
    if not verdicts:
        screen.say("there are no sessions")
        return
    show_table(
        [
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
