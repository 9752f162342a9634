"""`foldline models`: windows, output limits and prices.

Owns nothing but the printing; the facts are those of `foldline.catalogue`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from foldline.cli import exits, screen
from foldline.cli.listing import show_one, show_table
from foldline.cli.options import as_json_option

_PRICES = ("input", "output", "cache_read")


@click.command("models")
@click.argument("name", metavar="[NAME]", required=False)
@as_json_option
def command(*, name: str | None, as_json: bool) -> int:
    """List the known models: window, output limit, prices.

    With NAME, what is known of that model. Prices are US dollars for a million tokens.
    """
    from foldline.catalogue import models

    rows = models(name)
    if as_json:
        screen.write_document({"schema": "foldline.models/1", "models": rows})
    elif len(rows) == 1:
        show_one(rows[0])
    else:
        show_table([_row(model) for model in rows])
    return exits.DONE


def _row(model: Mapping[str, Any]) -> dict[str, Any]:
    """What models are compared by."""
    prices = model.get("prices") or {}
    return {
        "name": model["name"],
        "window": model.get("window"),
        "output": model.get("max_output"),
        **{f"${key}": price for key, price in prices.items() if key in _PRICES},
    }
