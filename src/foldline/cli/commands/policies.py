"""`foldline policies`: each policy with its tiers and numbers.

Owns nothing but the printing; the values are those of `foldline.catalogue`.
"""

from __future__ import annotations

import click

from foldline.cli import exits, screen
from foldline.cli.listing import show_one
from foldline.cli.options import as_json_option


@click.command("policies")
@click.argument("name", metavar="[NAME]", required=False)
@as_json_option
def command(*, name: str | None, as_json: bool) -> int:
    """List the policies, with their tiers and numbers.

    With NAME, that policy alone. --json prints them whole.
    """
    from foldline.catalogue import policies

    rows = policies()
    if name is not None:
        known = ", ".join(str(row["name"]) for row in rows)
        rows = [row for row in rows if row["name"] == name]
        if not rows:
            raise click.UsageError(
                f"no policy is called {name!r}; there are: {known}", click.get_current_context()
            )
    if as_json:
        screen.write_document({"schema": "foldline.policies/1", "policies": rows})
        return exits.DONE
    for index, row in enumerate(rows):
        if index:
            screen.show("")
        show_one(row)
    return exits.DONE
