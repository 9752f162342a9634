"""Pieces of a page: labelled fields, grids, bars, and how numbers are written.

Owns the look all commands share: two columns of space, dim labels, no frames, colours that are readable on light
and on dark ground. Knows nothing of what is shown. Everything foreign goes through `foldline.cli.screen.cell`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from foldline.cli import screen

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.measure import Measurement
    from rich.text import Text

BAR_COLUMNS = 40
BAR_COLUMNS_MIN = 8
WORD_COLUMNS_MAX = 24
"""Columns that a column of words is left at least, where it has words so long; a longer one is broken."""
COLUMNS_MAX = 1_000
"""Columns within which a piece is measured."""
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


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of pieces in aligned columns; on a page too narrow for them the pieces of a row stand one after the other and below
    one another, so that no figure is ever cut."""

    rows: tuple[tuple[RenderableType, ...], ...]
    right: Sequence[int]
    whole: Sequence[int]

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        widest = sum(most + 2 for _, most in self._columns(console, options)) - 2
        return Measurement(min(widest, WORD_COLUMNS_MAX), widest)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table

        columns = self._columns(console, options)
        if sum(least + 2 for least, _ in columns) - 2 > options.max_width:
            for row in self.rows:
                yield from _one_below_another(row, columns=options.max_width)
            return
        table = Table.grid(padding=(0, 2))
        for index, (least, most) in enumerate(columns):
            table.add_column(
                justify="right" if index in self.right else "left",
                no_wrap=least == most,
                min_width=least,
                overflow="fold",
            )
        for row in self.rows:
            table.add_row(*row)
        yield table

    def _columns(self, console: Console, options: ConsoleOptions) -> list[tuple[int, int]]:
        """The least each column can do with, and the most it can use."""
        from rich.measure import Measurement

        found: list[tuple[int, int]] = []
        for index in range(max((len(row) for row in self.rows), default=0)):
            cells = [
                Measurement.get(console, options.update(width=COLUMNS_MAX), row[index])
                for row in self.rows
                if index < len(row)
            ]
            most = max(cell.maximum for cell in cells)
            least = max(cell.minimum for cell in cells)
            is_rigid = index in self.right or index in self.whole
            found.append((most if is_rigid else min(least, WORD_COLUMNS_MAX), most))
        return found


def grid(
    rows: Iterable[Sequence[RenderableType]], *, right: Sequence[int] = (), whole: Sequence[int] = ()
) -> Grid:
    """Rows of pieces in aligned columns. Those of `right` stand flush right; those and the ones of `whole` are never
    broken or cut, so the other columns give way on a narrow page, and then the columns themselves."""
    return Grid(tuple(tuple(row) for row in rows), right, whole)


def _one_below_another(row: Sequence[RenderableType], *, columns: int) -> Iterator[RenderableType]:
    """The pieces of a row with lines broken between them, all but the first line two columns in."""
    from rich.text import Text

    line = Text()
    is_first = True
    for piece in row:
        if isinstance(piece, Text) and line and line.cell_len + 2 + piece.cell_len <= columns - 2:
            line = line + screen.cell("  ") + piece
            continue
        if line:
            yield line if is_first else gap(line)
            is_first = False
        line = Text()
        if isinstance(piece, Text):
            line = piece
        else:
            yield piece if is_first else gap(piece)
            is_first = False
    if line:
        yield line if is_first else gap(line)


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
    return gap(grid(shown, whole=(0,)))


def gap(block: RenderableType) -> RenderableType:
    """A block two columns in from the left."""
    from rich.padding import Padding

    return Padding(block, (0, 0, 0, 2))


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar for a share of 1, to an eighth of a column, as long as its place allows; see `bar`."""

    share: float
    style: str
    mark: float | None
    columns: int

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        return Measurement(BAR_COLUMNS_MIN, self.columns)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.drawn(min(self.columns, options.max_width))

    def drawn(self, columns: int) -> Text:
        """In so many columns, the stroke of the mark among them."""
        eighths = round(min(max(self.share, 0.0), 1.0) * columns * 8)
        drawn = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
        text = screen.cell(drawn or ("▏" if self.share > 0 else ""), self.style)
        if self.mark is None or not 0 < self.mark <= 1:
            return text
        place = min(columns - 1, int(self.mark * columns))
        if place < len(drawn):
            return text
        return text + screen.cell(" " * (place - len(drawn))) + screen.cell("│", "bold")


def bar(share: float, *, style: str = "cyan", mark: float | None = None, columns: int = BAR_COLUMNS) -> Bar:
    """A bar for a share of 1, with a stroke where `mark` (a share, too) lies; shorter where there is less room."""
    return Bar(share, style, mark, columns)


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
