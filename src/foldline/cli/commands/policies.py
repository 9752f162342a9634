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
@click.option(
    "--toml", "as_toml", is_flag=True, help="Print NAME as a table of foldline.toml, to be changed."
)
@as_json_option
def command(*, name: str | None, as_toml: bool, as_json: bool) -> int:
    """List the policies, with their tiers and numbers.

    With NAME, that policy alone. --json prints them whole. Those of your own, from foldline.toml in the working folder or
    in your configuration folder, stand last, each with its file.
    """
    if as_toml:
        if name is None or as_json:
            raise click.UsageError(
                "--toml prints one policy: give its NAME, and not --json", click.get_current_context()
            )
        from foldline.catalogue import policy_as_toml

        screen.write_text(policy_as_toml(name))
        return exits.DONE
    from foldline.catalogue import policies

    rows = policies(name)
    if as_json:
        screen.write_document({"schema": "foldline.policies/1", "policies": rows})
        return exits.DONE
    for index, row in enumerate(rows):
        if index:
            screen.show("")
        show_one(row if row.get("file") != row.get("source") else {**row, "file": None})
    return exits.DONE
