"""Pieces of a page: labelled fields, grids, bars, and how numbers are written.

Owns the look all commands share: two columns of space, dim labels, no frames, colours that are readable on light
and on dark ground. Knows nothing of what is shown. Everything foreign goes through `foldline.cli.screen.cell`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from foldline.cli import screen

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

BAR_COLUMNS = 40
SEPARATOR = " · "
_EIGHTHS = " ▏▎▍▌▋▊▉"


def count(number: int | float) -> str:
    """A number with its thousands apart: `135,468`."""
    return f"{number:,.0f}"


def percent(part: int | float, whole: int | float) -> str:
    """A share in whole percent; what is small but not nothing is `<1%`, what is nearly all is `>99%`."""
    share = 100 * part / whole if whole else 0.0
    if 0 < share < 1:
        return "<1%"
    return ">99%" if 99 < share < 100 else f"{share:.0f}%"


def span(seconds: float) -> str:
    """A time in the unit a person would say it in."""
    if seconds < 0.00995:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 0.9995 else f"{seconds:.1f} s"


def title(state: str, name: str, *, style: str) -> Text:
    """The first line of a page: what happened, and to which file."""
    return screen.cell(state, style) + screen.cell(f"  {name}", "bold")


def clock_time(ms: int, *, to: Literal["seconds", "minutes"] = "seconds") -> str:
    """A time as the reader's own clock has it."""
    here = datetime.fromtimestamp(ms / 1000, tz=UTC).astimezone().replace(tzinfo=None)
    return here.isoformat(" ", timespec=to)


def plural(number: int, noun: str) -> str:
    """`1 message`, `2 messages`."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def grid(
    rows: Iterable[Sequence[RenderableType]], *, right: Sequence[int] = (), whole: Sequence[int] = ()
) -> Table:
    """Rows of pieces in aligned columns. Those of `right` stand flush right; those and the ones of `whole` are never
    broken or cut, so the other columns give way on a narrow page."""
    from rich.cells import cell_len
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    listed = [tuple(row) for row in rows]
    for index in range(max((len(row) for row in listed), default=0)):
        rigid = index in right or index in whole
        widest = max(cell_len(str(row[index])) for row in listed if index < len(row)) if rigid else None
        table.add_column(
            justify="right" if index in right else "left", no_wrap=rigid, min_width=widest, overflow="fold"
        )
    for row in listed:
        table.add_row(*row)
    return table


def flowed(pieces: Iterable[str], *, columns: int) -> Text:
    """Foreign pieces one after the other, with lines broken between them."""
    from rich.cells import cell_len
    from rich.text import Text

    rows: list[Text] = []
    for piece in map(screen.cell, pieces):
        if rows and rows[-1].cell_len + cell_len(SEPARATOR) + piece.cell_len <= columns:
            rows[-1] = rows[-1] + screen.cell(SEPARATOR) + piece
        else:
            rows.append(piece)
    return Text("\n").join(rows)


def fields(rows: Iterable[tuple[str, RenderableType | str | None]]) -> RenderableType:
    """Labels and what they stand for; a field that is `None` is left out."""
    shown: list[tuple[RenderableType, RenderableType]] = []
    for label, value in rows:
        if value is not None:
            shown.append((screen.cell(label, "dim"), screen.cell(value) if isinstance(value, str) else value))
    return gap(grid(shown))


def gap(block: RenderableType) -> RenderableType:
    """A block two columns in from the left."""
    from rich.padding import Padding

    return Padding(block, (0, 0, 0, 2))


def bar(share: float, *, style: str = "cyan", mark: float | None = None, columns: int = BAR_COLUMNS) -> Text:
    """A bar for a share of 1, to an eighth of a column, with a stroke where `mark` (a share, too) lies."""
    eighths = round(min(max(share, 0.0), 1.0) * columns * 8)
    drawn = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
    text = screen.cell(drawn or ("▏" if share > 0 else ""), style)
    if mark is None or not 0 < mark <= 1:
        return text
    place = min(columns - 1, int(mark * columns))
    if place < len(drawn):
        return text
    return text + screen.cell(" " * (place - len(drawn))) + screen.cell("│", "bold")


def _within(value: object) -> str:
    """A setting in a line of settings; one that has its own stands in brackets, so that each is seen to be whose."""
    if not isinstance(value, Mapping):
        return value_of(value)
    told = (f"{str(key).replace('_', ' ')} {_within(inner)}" for key, inner in value.items())
    return f"({', '.join(told)})"


def value_of(value: object) -> str:
    """A setting as a person would write it."""
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return count(value)
        case float():
            return f"{value:g}"
        case Mapping():
            return " · ".join(f"{key} {_within(inner)}" for key, inner in value.items())
        case str():
            return value
        case (str(key), int() | float() as number):
            return f"{key} {value_of(number)}"
        case Sequence():
            return ", ".join(value_of(inner) for inner in value)
        case _:
            return str(value)
