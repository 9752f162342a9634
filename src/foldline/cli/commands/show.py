"""`foldline show`: the original behind an address.

Owns how an original is given: untouched to a pipe or file, escaped to a terminal, whole or by lines. Finding it is
the work of `foldline.lookup`.
"""

from __future__ import annotations

import base64
from typing import Any

import click

from foldline.cli import exits, screen
from foldline.cli.options import Source, lines, reads_file, write_file


@click.command("show")
@click.option("--lines", "span", metavar="A-B", type=lines, help="Only these lines of a text, from 1.")
@click.option("-o", "--output", "out", metavar="FILE", help="Write the original here; `-` is stdout.")
@reads_file
@click.argument("address", metavar="ADDRESS")
def command(source: Source, address: str, *, span: tuple[int, int | None] | None, out: str | None) -> int:
    """Show the original behind an address.

    An address is what a notice, a summary or a report names. In a pipe and with -o the original comes untouched; on a
    terminal what could act on it is shown as an escape.
    """
    from foldline.lookup import show

    if source.as_json and out is not None:
        raise click.UsageError(
            "--json holds the original itself, so it goes without -o", click.get_current_context()
        )
    shown = show(source.read(), address)
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
        screen.write_content(text)
    elif screen.is_terminal("stdout"):
        screen.say(f"{shown.title}, {len(data):,} bytes; keep them with -o FILE, or pipe them on")
    else:
        screen.write_bytes(data)
    return exits.DONE


def _lines_of(text: str, *, first: int, last: int | None) -> str:
    """Lines `first` to `last`, split at line feeds alone, as every editor and `sed` counts them."""
    return "\n".join(text.split("\n")[first - 1 : last])


def _document(address: str, title: str, *, text: str | None, data: bytes) -> dict[str, Any]:
    document: dict[str, Any] = {"schema": "foldline.show/1", "address": address, "title": title}
    if text is not None:
        return document | {"text": text}
    return document | {"base64": base64.b64encode(data).decode()}
