"""Lists of what there is: rows of a table, or one thing with all its settings.

Owns the layout of values whose fields it does not know; so a new field of a format, model or policy shows up without
a change here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from foldline.cli import screen
from foldline.cli.layout import fields, flowed, gap, grid, value_of

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAME = "name"
_DESCRIBING = ("sentence", "description", "summary", "title", "notes")
"""Fields that are sentences; one of them stands under the name."""


def show_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print `table`; a row stays one line in a pipe of no named width."""
    columns = screen.row_of("stdout")
    screen.show(table(rows, columns=columns), columns=columns)


def table(rows: Sequence[Mapping[str, Any]], *, columns: int) -> RenderableType:
    """One row each, a column for every field, numbers flush right. On a page too narrow for all of them what is said of
    each thing stands under its name, with nothing left out and no word broken."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    written = {key: [value_of(row.get(key)) for row in rows] for key in keys}
    if _columns_of(written) > columns:
        return _stacked(written, columns=columns)
    cells: list[tuple[RenderableType, ...]] = [
        tuple(screen.cell(key.replace("_", " "), "dim") for key in keys)
    ]
    for index in range(len(rows)):
        cells.append(tuple(screen.cell(written[key][index], "bold" if key == _NAME else "") for key in keys))
    numbers = [index for index, key in enumerate(keys) if any(_is_number(row.get(key)) for row in rows)]
    return grid(cells, right=numbers)


def _columns_of(written: Mapping[str, Sequence[str]]) -> int:
    """Columns that a table of these texts takes."""
    from rich.cells import cell_len

    return sum(2 + max(cell_len(text) for text in [key, *texts]) for key, texts in written.items()) - 2


def _stacked(written: Mapping[str, Sequence[str]], *, columns: int) -> RenderableType:
    from rich.console import Group

    first, *others = written
    blocks: list[RenderableType] = []
    for index, name in enumerate(written[first]):
        said = [
            f"{key.replace('_', ' ')} {written[key][index]}"
            for key in others
            if written[key][index] not in ("", "–")
        ]
        blocks += [screen.cell(name, "bold"), gap(flowed(said, columns=columns - 2))]
    return Group(*blocks)


def show_one(row: Mapping[str, Any]) -> None:
    """The name, its sentence, then every setting; a list of settings becomes a numbered list."""
    said = next((str(row[key]) for key in _DESCRIBING if isinstance(row.get(key), str)), None)
    blocks: list[RenderableType] = [screen.cell(row.get(_NAME, ""), "bold")]
    if said:
        blocks.append(gap(screen.cell(said)))
    settings: list[tuple[str, RenderableType | str | None]] = []
    for key, value in row.items():
        if key == _NAME or value == said or value in ("", [], (), None):
            continue
        settings.append((key.replace("_", " "), _setting(value)))
    screen.show(*blocks, fields(settings))


def _setting(value: object) -> RenderableType | str:
    if isinstance(value, Mapping) and {"percent", "of"} <= value.keys():
        return _line(value)
    if not isinstance(value, (list, tuple)) or not any(isinstance(entry, Mapping) for entry in value):
        return value_of(value)
    rows: list[tuple[RenderableType, ...]] = []
    for index, entry in enumerate(value, start=1):
        name, rest = _named(entry)
        rows.append((screen.cell(index, "dim"), screen.cell(name, "bold"), screen.cell(rest)))
    return grid(rows, right=(0,), whole=(1,))


def _named(entry: object) -> tuple[str, str]:
    """A tier's name and its settings on one line; what is not set is left out, an inner table stands inline."""
    if not isinstance(entry, Mapping):
        return value_of(entry), ""
    name = next((key for key in (_NAME, "pass", "tier", "type") if key in entry), None)
    rest: dict[str, object] = {}
    for key, value in entry.items():
        if isinstance(value, Mapping) and {"percent", "of"} <= value.keys():
            rest[key] = _line(value)
        elif key != name:
            rest |= value if isinstance(value, Mapping) else {key: value}
    said = {key.replace("_", " "): value for key, value in rest.items() if value or value is True}
    return (value_of(entry[name]) if name else "", value_of(said))


def _line(line: Mapping[Any, Any]) -> str:
    """A threshold: its tokens where they are known, and what they are a share of."""
    share = f"{line['percent']}% of {line['of']}"
    reserved = f", {value_of(line['reserved'])} reserved" if line.get("reserved") else ""
    tokens = line.get("tokens")
    return f"{share}{reserved}" if tokens is None else f"{value_of(tokens)} ({share}{reserved})"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
