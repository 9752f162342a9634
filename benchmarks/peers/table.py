"""The table: one line a row, one column a figure, and who is first in each.

Shares are of all sessions together. A row whose results are larger than wanted keeps more for that reason alone: it is
marked, and no column that says what is kept counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from benchmarks.peers.judge import COLUMNS, PROBES, Verdict, tally
from benchmarks.peers.roster import OURS, Row

Better: TypeAlias = Literal["less", "more", ""]
CLOSE = 0.98
"""Rows within this share of the first are first together: two runs of one row differ by more."""
OVER = "†"


class Result(Struct, frozen=True, kw_only=True):
    """What one row came to."""

    row: Row
    version: str
    cost: Mapping[str, float]
    """What `worker.measure` gave; empty where it failed."""
    tokens: Mapping[str, int]
    """History → tokens of its result."""
    wanted: Mapping[str, int] = {}
    """History → tokens that were wanted of it."""
    refused: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    """History → what OpenAI's chat and Anthropic would refuse in its result."""
    verdicts: tuple[Verdict, ...] = ()
    """Of the sessions; empty for a row that was measured for its speed alone."""
    read: tuple[int, int] | None = None
    """Of this project, as its reports say: tokens that left the sessions, and those that its rules read."""

    @property
    def over(self) -> bool:
        """True where a result is larger than wanted."""
        return any(self.tokens[name] > most for name, most in self.wanted.items())


class Column(Struct, frozen=True, kw_only=True):
    """One figure of a result; `None` where there is none."""

    name: str
    value: Callable[[Result], float | None]
    better: Better = ""
    unit: Literal["ms", "MB", "s", "n", "%"] = "n"
    at_size: bool = False
    """True for a figure that says nothing unless the results have one size."""


def _cost(name: str, times: float = 1.0) -> Callable[[Result], float | None]:
    return lambda result: times * result.cost[name] if name in result.cost else None


def _valid(which: int) -> Callable[[Result], float | None]:
    return lambda result: (
        100 * sum(not refused[which] for refused in result.refused.values()) / len(result.refused)
        if result.refused
        else None
    )


def _share(pairs: Sequence[tuple[int, int]]) -> float | None:
    total = sum(total for total, _ in pairs)
    return 100 * sum(held for _, held in pairs) / total if total else None


def _kept(kinds: tuple[str, ...], *, probes: bool) -> Callable[[Result], float | None]:
    return lambda result: _share(
        [tally(found.probes if probes else found.retention, kinds) for found in result.verdicts]
    )


def _seen(result: Result) -> float | None:
    if result.row.by_rules:
        return _share([result.read]) if result.read is not None and result.verdicts else None
    return _share([(found.evicted, found.seen) for found in result.verdicts])


def _size(result: Result) -> float | None:
    return _share([(most, result.tokens[name]) for name, most in result.wanted.items()])


TABLE: tuple[Column, ...] = (
    Column(name="check, ms", value=_cost("check_s", 1e3), better="less", unit="ms"),
    Column(name="compaction, ms", value=_cost("compact_s", 1e3), better="less", unit="ms"),
    Column(name="peak, MB", value=_cost("peak_mb"), better="less", unit="MB"),
    Column(name="process, MB", value=_cost("rss_mb"), better="less", unit="MB"),
    Column(name="ready, s", value=_cost("ready_s"), better="less", unit="s"),
    Column(name="model calls", value=_cost("calls"), better="less"),
    Column(name="size ÷ wanted", value=_size, unit="%"),
    Column(name="valid", value=_valid(0), better="more", unit="%"),
    Column(name="valid, Anthropic", value=_valid(1), better="more", unit="%"),
    Column(name="evicted text seen", value=_seen, better="more", unit="%", at_size=True),
    *[
        Column(name=name, value=_kept(kinds, probes=False), better="more", unit="%", at_size=True)
        for name, kinds in COLUMNS.items()
    ],
    *[
        Column(name=name, value=_kept(kinds, probes=True), better="more", unit="%", at_size=True)
        for name, kinds in PROBES.items()
    ],
)


def shown(value: float | None, unit: str) -> str:
    """A figure as the table has it."""
    if value is None:
        return "–"
    match unit:
        case "ms":
            return f"{value:.3f}" if value < 1 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
        case "MB":
            return f"{value:.1f}" if value < 100 else f"{value:,.0f}"
        case "s":
            return f"{value:.1f}"
        case "%":
            return f"{value:.0f} %"
        case _:
            return f"{value:.0f}"


def table(results: Sequence[Result]) -> Iterator[str]:
    """The lines of the table, in Markdown."""
    heads = ["library", "version", *[column.name for column in TABLE]]
    yield f"| {' | '.join(heads)} |"
    yield f"|---|---|{'---:|' * len(TABLE)}"
    for result in results:
        cells = [_cell(result, column) for column in TABLE]
        name = result.row.name + (f" {OVER}" if result.over else "")
        yield f"| {' | '.join([name, result.version, *cells])} |"


def _cell(result: Result, column: Column) -> str:
    cell = shown(column.value(result), column.unit)
    return f"{cell} by rules" if column.value is _seen and result.read and result.verdicts else cell


def firsts(results: Sequence[Result]) -> Iterator[str]:
    """For each column who is first, and the best row of this project where that is another."""
    for column in TABLE:
        found = [
            (value, result)
            for result in results
            if (value := column.value(result)) is not None and not (column.at_size and result.over)
        ]
        if not found or not column.better:
            continue
        first, ours = _best(found, column), _best([pair for pair in found if is_ours(pair[1])], column)
        if ours is not None and first is not None and _together(ours[0], first[0]):
            names = (
                "foldline"
                if first[0] == ours[0] and is_ours(first[1])
                else f"foldline, with {first[1].row.name}"
            )
            yield f"- {column.name}: {names} ({shown(ours[0], column.unit)})"
        elif first is not None:
            best = "none" if ours is None else f"{ours[1].row.name} {shown(ours[0], column.unit)}"
            yield f"- {column.name}: **{first[1].row.name}** {shown(first[0], column.unit)}; here {best}"


def is_ours(result: Result) -> bool:
    """True for a row of this project."""
    return result.row.package == OURS


def _best(found: Sequence[tuple[float, Result]], column: Column) -> tuple[float, Result] | None:
    sign = 1 if column.better == "less" else -1
    return min(found, key=lambda pair: sign * pair[0], default=None)


def _together(one: float, other: float) -> bool:
    low, high = sorted((one, other))
    return low >= CLOSE * high


def details(results: Sequence[Result], wanted: Mapping[str, int]) -> Iterator[str]:
    """Of each session: size and what is kept, by row."""
    sessions = list(wanted)
    heads = [*COLUMNS, *PROBES]
    for at, session in enumerate(sessions):
        yield f"\n{session}, to {wanted[session]:,} tokens\n"
        yield f"| library | tokens | {' | '.join(heads)} |"
        yield f"|---|---:|{'---:|' * len(heads)}"
        for result in results:
            if result.verdicts:
                found = result.verdicts[at]
                cells = [_held(found.retention, kinds) for kinds in COLUMNS.values()]
                cells += [_held(found.probes, kinds) for kinds in PROBES.values()]
                yield f"| {result.row.name} | {found.tokens:,} | {' | '.join(cells)} |"


def _held(found: Mapping[str, tuple[int, int]], kinds: tuple[str, ...]) -> str:
    total, held = tally(dict(found), kinds)
    return f"{held} of {total}" if total else "–"


def refusals(results: Sequence[Result]) -> Iterator[str]:
    """The first complaint about each row's results, by each judge."""
    for result in results:
        for which, judge in enumerate(("OpenAI chat", "Anthropic")):
            said = {refused[which][0] for refused in result.refused.values() if refused[which]}
            if said:
                yield f"- {result.row.name}, {judge}: {min(said)}"
