"""`foldline stats`: what all sessions come to, in numbers.

Owns the page; the numbers are `foldline.statistics`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from foldline.cli import exits, progress, screen
from foldline.cli.layout import gap, grid, percent, plural, title, value_of
from foldline.cli.listing import table
from foldline.cli.options import as_json_option

if TYPE_CHECKING:
    from rich.console import RenderableType

ROWS_MAX = 20
"""Rows of a table on a page; `--json` has all of them."""


@click.command("stats")
@click.argument("session", metavar="[SESSION]", required=False)
@as_json_option
def command(*, session: str | None, as_json: bool) -> int:
    """Show what sessions come to: events, compactions, tokens freed, facts kept, costs.

    Counted from the logs into a file beside them, which is brought up to date each time and may be deleted. Costs are at
    the prices `foldline models` knows. Results of tools are estimated. A compaction that was undone, or lies behind a
    rollback, stands in a column of its own and has freed nothing; spans that were unfolded do too, and are counted as freed when
    their compaction was made.
    """
    from foldline.home import disk_store
    from foldline.privacy.aging import delete_old
    from foldline.settings import events_since_ms
    from foldline.statistics import statistics
    from foldline.stores.disk import unix_ms

    with progress.shown("counting") as tick:
        store, since_ms = disk_store(), events_since_ms(unix_ms())
        delete_old(store, store.names(), before_ms=since_ms)
        document = statistics(store, store.home, session=session, before_ms=since_ms, tick=tick)
    if as_json:
        screen.write_document(document)
    else:
        _show(document, session)
    return exits.DONE


def _show(document: dict[str, Any], session: str | None) -> None:
    said = " · ".join(
        f"{kind.lower().replace('_', ' ')} {value_of(count)}" for kind, count in document["events"].items()
    )
    screen.show(title("statistics", session or plural(document["sessions"], "session"), style="bold"))
    screen.show(gap(screen.cell(said or "nothing yet")))
    for key in ("compactions", "passes", "tools", "usage"):
        _table(key, document[key])
    if document["failures"]:
        told = " · ".join(
            f"{name.replace('_', ' ')} {count:,}" for name, count in document["failures"].items()
        )
        screen.show(screen.cell("a model's summaries that failed", "dim"), gap(screen.cell(told)))
    kept = [_kept(kind, row) for kind, row in document["retention"].items() if row["total"]]
    if kept:
        screen.show(screen.cell("facts after the last compaction", "dim"), gap(grid(kept, right=(1, 2))))
    if document["usage"]:
        screen.show(screen.cell(f"cost  ${document['cost_usd']:,.2f}", "bold"))
    for model in document["unpriced"]:
        screen.say(f"{model or 'a model without a name'} has no price here and is not in the cost")
    for problem in document["problems"]:
        screen.say(problem)


def _table(heading: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    named = [{_head(key): value for key, value in row.items()} for row in rows[:ROWS_MAX]]
    columns = screen.row_of("stdout")
    screen.show(screen.cell(heading, "dim"), gap(table(named, columns=columns - 2)), columns=columns)
    if len(rows) > ROWS_MAX:
        screen.say(f"{len(rows) - ROWS_MAX:,} more {heading} are in `foldline stats --json`")


def _head(key: str) -> str:
    return key.replace("tokens_", "").replace("_", " ")


def _kept(kind: str, row: dict[str, Any]) -> tuple[RenderableType, ...]:
    kept = row["in_view"] + row["recallable"]
    return (
        screen.cell(kind.replace("_", " ")),
        screen.cell(value_of(row["total"])),
        screen.cell(percent(kept, row["total"])),
    )
