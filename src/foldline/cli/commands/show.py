"""`foldline show`: the original behind an address, or what was said, page by page.

Owns how an original is given: untouched to a pipe or file, escaped to a terminal, whole or by lines. Finding it is
the work of `foldline.lookup`.
"""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any

import click

from foldline.cli import exits, screen
from foldline.cli.options import Source, forbid_over_original, lines, reads_file, write_file

if TYPE_CHECKING:
    from foldline.lookup import Shown

PAGE = 20
"""Messages of a page where nobody says otherwise."""


@click.command("show")
@click.option("--lines", "span", metavar="A-B", type=lines, help="Only these lines of a text, from 1.")
@click.option("-o", "--output", "out", metavar="FILE", help="Write the original here; `-` is stdout.")
@click.option(
    "--before",
    metavar="N",
    type=int,
    help="Without ADDRESS: the page that ends before this entry of a session, or this message of a file.",
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 1000), help=f"Without ADDRESS: so many.  [default: {PAGE}]"
)
@reads_file
@click.argument("address", metavar="[ADDRESS]", required=False)
def command(
    source: Source,
    address: str | None,
    *,
    span: tuple[int, int | None] | None,
    out: str | None,
    before: int | None,
    limit: int | None,
) -> int:
    """Show the original behind an address, or what was said.

    An address is what a notice, a summary or a report names; a short one (m12, m4-47), as summaries have it, is one of the
    session or file that was compacted. In a pipe and with -o the original comes untouched; on a
    terminal what could act on it is shown as an escape, and a call's arguments value by value. FILE may be the name of a durable session.

    Without ADDRESS the newest messages are shown, and --before goes back from there: of a file those that the model
    would be sent next, of a session its whole history, summaries included.
    """
    from foldline.core.errors import UnknownSession
    from foldline.reading import names_session

    is_session = names_session(source.file)
    here = click.get_current_context()
    if address is None:
        if span is not None or out is not None:
            raise click.UsageError("--lines and -o are for the original behind an ADDRESS.", here)
        if not is_session and source.file != "-" and not os.path.lexists(source.file):
            raise UnknownSession(source.file)
        return _show_page(source, is_session=is_session, before=before, limit=limit or PAGE)
    if before is not None or limit is not None:
        raise click.UsageError("--before and --limit are for a page, so they go without an ADDRESS.", here)
    if source.as_json and out is not None:
        raise click.UsageError("--json holds the original itself, so it goes without -o", here)
    forbid_over_original(source, out)
    shown = _find(source, address, is_session=is_session)
    return _give(source, shown, address=address, span=span, out=out)


def _show_page(source: Source, *, is_session: bool, before: int | None, limit: int) -> int:
    if is_session:
        from foldline.cli.commands.show_history import show_history

        return show_history(source, before=before, limit=limit)
    from foldline.cli.commands.show_messages import show_messages

    return show_messages(source, before=before, limit=limit)


def _give(
    source: Source, shown: Shown, *, address: str, span: tuple[int, int | None] | None, out: str | None
) -> int:
    """Put an original where it was asked for."""
    text, data = shown.text, shown.data or b""
    if span is not None:
        if text is None:
            raise click.UsageError(
                f"{address} holds {shown.title}, which has no lines", click.get_current_context()
            )
        text = _lines_of(text, first=span[0], last=span[1])
    if source.as_json:
        screen.write_document(_document(address, shown.title, text=text, data=data))
    elif out is not None and out != "-":
        write_file(out, screen.bytes_of(text) if text is not None else data)
        screen.say(f"{shown.title}, written to {out}")
    elif text is not None:
        if screen.is_terminal("stdout"):
            screen.say(shown.title)
            text = shown.told if span is None and shown.told else text
        screen.write_content(text)
    elif screen.is_terminal("stdout"):
        screen.say(f"{shown.title}, {len(data):,} bytes; keep them with -o FILE, or pipe them on")
    else:
        screen.write_bytes(data)
    return exits.DONE


def _find(source: Source, address: str, *, is_session: bool) -> Shown:
    from foldline.core.errors import UnknownAddress
    from foldline.lookup import show

    if is_session:
        from foldline.home import disk_store
        from foldline.session.library import shown

        try:
            return shown(disk_store(), source.file, address=address)
        except UnknownAddress as unknown:  # `context` names what it shows by its place in the view
            try:
                return show(source.read(), address)
            except UnknownAddress:
                raise unknown from None
    return show(source.read(), address)


def _lines_of(text: str, *, first: int, last: int | None) -> str:
    """Lines `first` to `last`, split at line feeds alone, as every editor and `sed` counts them."""
    return "\n".join(text.split("\n")[first - 1 : last])


def _document(address: str, title: str, *, text: str | None, data: bytes) -> dict[str, Any]:
    document: dict[str, Any] = {"schema": "foldline.show/1", "address": address, "title": title}
    if text is not None:
        return document | {"text": text}
    return document | {"base64": base64.b64encode(data).decode()}
