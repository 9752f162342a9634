"""What all sessions come to: events, compactions, what each pass freed, what was kept, and what it cost.

Brings the file of `foldline.privacy.statistics` up to date from the logs and asks it. Prices are those of the table of models,
with the user's own word over them; a model without a price costs nothing here, and is named. A compaction that was taken back
counts apart and has freed nothing; one of which single spans were unfolded counts, and how many they are stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from foldline.core.errors import UNREADABLE, InvalidOption
from foldline.core.ports import Store
from foldline.log.lineage import first_of
from foldline.privacy.statistics import Statistics
from foldline.settings import known_model
from foldline.tokens.choose import counter_for

COUNTER: Final = "estimate"
"""Counts the results of tools: close enough for sums, and fast. Compactions say their own tokens."""
TOKENS_A_PRICE: Final = 1_000_000

Tick = Callable[[int, int], None]

_SESSION: Final = "session IN (SELECT id FROM sessions WHERE ? IS NULL OR name = ?)"
_COUNTS: Final = "(SELECT counts FROM compactions WHERE session = made.session AND entry = made.entry)"
_TOOLS: Final = f"""
SELECT tool, sum((type = 'TOOL_CALL') * count) AS calls, sum((type = 'TOOL_RESULT') * failed) AS failed,
  sum((type = 'TOOL_RESULT') * tokens) AS tokens,
  round(1.0 * sum((type = 'TOOL_RESULT') * duration_ms) / sum((type = 'TOOL_RESULT') * timed)) AS mean_ms
FROM counted WHERE type IN ('TOOL_CALL', 'TOOL_RESULT') AND {_SESSION} GROUP BY tool ORDER BY tokens DESC, tool
"""
_COMPACTIONS: Final = f"""
SELECT policy, sum(counts) AS count, sum(NOT counts) AS undone, sum(counts * unfolded) AS unfolded,
  sum(counts * tokens_before) AS tokens_before,
  sum(counts * tokens_after) AS tokens_after, sum(counts * (tokens_before - tokens_after)) AS tokens_freed
FROM compactions WHERE {_SESSION} GROUP BY policy ORDER BY count DESC, policy
"""
_PASSES: Final = f"""
SELECT name, count(*) AS runs, sum(edits) AS edits, sum(tokens_freed) AS tokens_freed
FROM passes AS made WHERE {_SESSION} AND {_COUNTS} GROUP BY name ORDER BY tokens_freed DESC, name
"""
_FACTS: Final = f"""
SELECT kind, sum(total) AS total, sum(in_view) AS in_view, sum(recallable) AS recallable, sum(lost) AS lost,
  sum(altered) AS altered
FROM facts AS made WHERE {_SESSION} AND entry = (SELECT max(entry) FROM compactions WHERE session = made.session AND counts)
GROUP BY kind ORDER BY kind
"""
_FAILURES: Final = (
    f"SELECT name, count(*) AS count FROM failures WHERE {_SESSION} GROUP BY name ORDER BY count DESC, name"
)
_USAGE: Final = f"""
SELECT model, count(*) AS responses, sum(tokens_input) AS tokens_input, sum(tokens_output) AS tokens_output,
  sum(cache_read) AS tokens_cache_read, sum(cache_write) AS tokens_cache_write
FROM usage WHERE {_SESSION} GROUP BY model ORDER BY tokens_input DESC, model
"""
_EVENTS: Final = f"SELECT type, sum(count) AS count FROM counted WHERE {_SESSION} GROUP BY type ORDER BY type"


def statistics(
    store: Store,
    home: Path,
    *,
    session: str | None = None,
    before_ms: int | None = None,
    tick: Tick | None = None,
) -> dict[str, Any]:
    """The document of `foldline stats`, for all sessions or one. `before_ms`: of events that were written before that only sums
    are kept. A home where no file can be kept has its logs counted in memory. Raises `UnknownSession`."""

    def counted(home: Path | None) -> dict[str, Any]:
        return _counted(home, store, session=session, before_ms=before_ms, tick=tick)

    try:
        return counted(home)
    except InvalidOption as error:
        if error.option != "home":
            raise
        document = counted(None)
        document["problems"].append(
            f"{error.why}; the logs were counted from their beginning, which takes longer"
        )
        return document


def _counted(
    home: Path | None, store: Store, *, session: str | None, before_ms: int | None, tick: Tick | None
) -> dict[str, Any]:
    names = store.names() if session is None else (session,)
    with closing(Statistics(home, counter_for(counter=COUNTER))) as kept:
        problems = [problem for name in names if (problem := _updated(kept, store, name=name, tick=tick))]
        kept.keep_only(store.names())
        if before_ms is not None:
            kept.age(before_ms)
        return _document(kept, session, sessions=len(names), problems=problems)


def _document(kept: Statistics, session: str | None, *, sessions: int, problems: list[str]) -> dict[str, Any]:
    def ask(sql: str) -> list[dict[str, Any]]:
        return kept.query(sql, session, session)

    usage = [{**row, "cost_usd": cost_of(row)} for row in ask(_USAGE)]
    costs = [row["cost_usd"] for row in usage if row["cost_usd"] is not None]
    return {
        "schema": "foldline.stats/1",
        "sessions": sessions,
        "events": {row["type"]: row["count"] for row in ask(_EVENTS)},
        "tools": ask(_TOOLS),
        "compactions": ask(_COMPACTIONS),
        "passes": ask(_PASSES),
        "retention": {row.pop("kind"): row for row in ask(_FACTS)},
        "failures": {row["name"]: row["count"] for row in ask(_FAILURES)},
        "usage": usage,
        "cost_usd": round(sum(costs), 6),
        "unpriced": sorted({row["model"] for row in usage if row["cost_usd"] is None}),
        "problems": problems,
    }


def _updated(kept: Statistics, store: Store, *, name: str, tick: Tick | None) -> str:
    """Count what came to one log, open no longer than that; why not all of it could be read, empty when it could."""
    try:
        with closing(store.read(name)) as log:
            return kept.update(name, log, first=first_of(log), tick=tick)
    except UNREADABLE as error:
        return f"{name}: {error}; nothing of it is counted"


def cost_of(row: dict[str, Any]) -> float | None:
    """What the tokens of a row cost, US dollars; `None` for a model without prices. Cached tokens are a part of the input,
    and cost as input where they have no price of their own."""
    prices = known_model(row["model"])[0].prices if row["model"] else None
    if prices is None or prices.input is None or prices.output is None:
        return None
    read, write = row["tokens_cache_read"], row["tokens_cache_write"]
    read_price = prices.input if prices.cache_read is None else prices.cache_read
    write_price = prices.input if prices.cache_write is None else prices.cache_write
    fresh = max(0, row["tokens_input"] - read - write)
    spent = (
        fresh * prices.input + read * read_price + write * write_price + row["tokens_output"] * prices.output
    )
    return float(round(spent / TOKENS_A_PRICE, 6))
