"""`foldline models`: windows, output limits and prices.

Owns nothing but the printing; the facts are those of `foldline.catalogue`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from foldline.cli import exits, screen
from foldline.cli.layout import plural
from foldline.cli.listing import show_one, show_table
from foldline.cli.options import as_json_option

_PRICES = ("input", "output", "cache_read")


@click.command("models")
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "--forget-limits",
    is_flag=True,
    help="Drop the limits that providers named for NAME when they refused a request.",
)
@as_json_option
def command(*, name: str | None, forget_limits: bool, as_json: bool) -> int:
    """List the known models: window, output limit, prices.

    With NAME, what is known of that model, and which limits providers named for it, by endpoint. Prices are US dollars for a
    million tokens.
    """
    if forget_limits:
        return _forget(name, as_json=as_json)
    from foldline.catalogue import models

    rows = models(name)
    if as_json:
        screen.write_document({"schema": "foldline.models/1", "models": rows})
    elif len(rows) == 1:
        show_one(rows[0])
    else:
        show_table([_row(model) for model in rows])
    return exits.DONE


def _forget(name: str | None, *, as_json: bool) -> int:
    if name is None:
        raise click.UsageError("--forget-limits goes with NAME", click.get_current_context())
    from foldline.catalogue import forget_limits

    gone = forget_limits(name)
    if as_json:
        screen.write_document({"schema": "foldline.limits_forgotten/1", "model": name, "limits": gone})
    else:
        screen.say(f"{plural(gone, 'limit')} of {name} forgotten")
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
