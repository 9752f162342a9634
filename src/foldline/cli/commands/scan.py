"""`foldline scan`: which secrets stand where, never what they are.

Owns the page and the exit code; the search is `foldline.privacy.scanning`'s.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foldline.cli import exits, progress, screen
from foldline.cli.layout import gap, grid, plural, title
from foldline.cli.options import as_json_option, page_of, rows_of
from foldline.cli.walking import listed, more_of, refuse_unfit, walk_options

if TYPE_CHECKING:
    from foldline.privacy.scanning import Scan

ROWS_MAX = 200
"""Places listed for one file or session on a page; `--json` has all of them."""


@click.command("scan")
@click.argument("name", metavar="[FILE|SESSION]", required=False)
@walk_options("Scan", rest="clean")
@as_json_option
def command(name: str | None, *, every: bool, after: str | None, limit: int | None, as_json: bool) -> int:
    """List the secrets in a file or in sessions: family and place, never the secret.

    Known families of keys, tokens and passwords are looked for; a secret of none of them is not found. Equal
    fingerprints are equal secrets. Exit code 1 when there is one.
    """
    paged = after is not None or limit is not None
    refuse_unfit(name, every=every, paged=paged, what="a file or a session")
    scans = list(_scans(name, after=after))
    rows, behind = listed(scans, is_sound=_is_clean, limit=rows_of(limit, as_json=as_json))
    count = sum(len(scan.found) for scan in scans)
    damaged = any(scan.damage for scan in scans)
    if as_json:
        told = {"schema": "foldline.scan/1", "secrets": count, "scanned": [scan.to_dict() for scan in rows]}
        screen.write_document({**told, "after": behind})
    else:
        for scan in rows:
            _show(scan)
        if every:
            _say_sum(scans, left=len(scans) - len(rows), goes_on=more_of("scan --all", behind, limit=limit))
    return exits.BAD_INPUT if count or damaged else exits.DONE


def _is_clean(scan: Scan) -> bool:
    return not scan.found and not scan.damage


def _say_sum(scans: list[Scan], *, left: int, goes_on: str) -> None:
    if not scans:
        screen.say("there are no sessions")
        return
    found = sum(bool(scan.found) for scan in scans)
    damaged = sum(bool(scan.damage) for scan in scans)
    more = [f"{damaged:,} damaged"] * bool(damaged) + [f"{left:,} clean ones not listed"] * bool(left)
    screen.say(", ".join([f"{plural(len(scans), 'session')}: {found:,} with secrets", *more]) + goes_on)


def _scans(name: str | None, *, after: str | None) -> Iterator[Scan]:
    from foldline.core.errors import UNREADABLE
    from foldline.home import disk_store, home_at
    from foldline.privacy.key import redactor_in
    from foldline.privacy.scanning import Scan, scan_bytes, scan_file, scan_session

    redactor = redactor_in(home_at())
    if name == "-":
        yield scan_bytes(sys.stdin.buffer.read(), name="stdin", redactor=redactor)
        return
    if name is not None and ("/" in name or Path(name).exists()):
        with progress.busy(f"scanning {name}"):
            yield scan_file(name, redactor=redactor)
        return
    store = disk_store()
    names = page_of(store.names(), after=after, limit=None)[0] if name is None else (name,)
    for session in names:
        with progress.shown(f"scanning {session}") as tick:
            try:
                pages = store.read(session)
            except UNREADABLE as error:
                if name is not None:
                    raise
                yield Scan(name=session, bytes=0, found=(), damage=str(error))
                continue
            try:
                yield scan_session(pages, name=session, redactor=redactor, tick=tick)
            finally:
                pages.close()


def _show(scan: Scan) -> None:
    said = f"{plural(scan.bytes, 'byte')} · {plural(len(scan.found), 'secret')}"
    state = "secrets" if scan.found else "damaged" if scan.damage else "clean"
    style = "bold green" if state == "clean" else "bold red"
    screen.show(title(state, scan.name, style=style), gap(screen.cell(said)))
    rows = [
        (screen.cell(found.place, "bold"), screen.cell(found.family), screen.cell(found.fingerprint, "dim"))
        for found in scan.found[:ROWS_MAX]
    ]
    if rows:
        screen.show(gap(grid(rows, whole=(0, 2))))
    if len(scan.found) > ROWS_MAX:
        screen.say(f"{len(scan.found) - ROWS_MAX:,} more are in `foldline scan --json`")
    if scan.damage:
        screen.say(f"{scan.name}: {scan.damage}; what stands after it was not scanned")
