"""`foldline formats`: what is read and written.

Owns nothing but the printing; the facts are those of `foldline.catalogue`.
"""

from __future__ import annotations

import click

from foldline.cli import exits, screen
from foldline.cli.listing import show_table
from foldline.cli.options import as_json_option


@click.command("formats")
@as_json_option
def command(*, as_json: bool) -> int:
    """List the formats that are read and written.

    A file's format is recognised by its content; --from names it where that fails.
    """
    from foldline.catalogue import formats

    rows = formats()
    if as_json:
        screen.write_document({"schema": "foldline.formats/1", "formats": rows})
    else:
        show_table(rows)
    return exits.DONE
