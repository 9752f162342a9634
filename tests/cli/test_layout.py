"""Numbers, bars and grids as a person reads them, aligned at every width and in every script."""

from __future__ import annotations

import io
import sys

import pytest
from rich.cells import cell_len

from foldline.cli import screen
from foldline.cli.layout import bar, count, fields, gap, grid, percent, span, value_of


def page(*blocks: object, monkeypatch: pytest.MonkeyPatch, columns: int = 100) -> list[str]:
    """What is printed in a pipe of so many columns, line by line."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("COLUMNS", str(columns))
    screen.show(*blocks)  # type: ignore[arg-type]
    return out.getvalue().splitlines()


def test_numbers_are_written_for_people() -> None:
    """Thousands apart, times in their own unit."""
    assert count(135468) == "135,468"
    assert [span(s) for s in (0.0012, 0.061, 0.9, 12.34)] == ["1.2 ms", "61 ms", "900 ms", "12.3 s"]


def test_a_share_never_rounds_to_nothing_or_to_all() -> None:
    """0% and 100% mean exactly that."""
    assert [percent(part, 1000) for part in (0, 1, 10, 500, 999, 1000)] == [
        "0%",
        "<1%",
        "1%",
        "50%",
        ">99%",
        "100%",
    ]
    assert percent(1, 0) == "0%"


@pytest.mark.parametrize(
    ("share", "drawn"),
    [(0, ""), (0.001, "▏"), (0.25, "██"), (0.26, "██▏"), (1, "████████"), (7, "████████"), (-1, "")],
)
def test_a_bar_is_as_long_as_its_share(share: float, drawn: str) -> None:
    """To an eighth of a column; a share above nothing shows something; none grows past its room."""
    assert bar(share, columns=8).drawn(8).plain == drawn


def test_a_bar_shows_its_mark() -> None:
    """The threshold stands where it is, unless the bar has passed it."""
    assert bar(0.25, mark=0.5, columns=8).drawn(8).plain == "██  │"
    assert bar(0.75, mark=0.5, columns=8).drawn(8).plain == "██████"
    assert bar(0.5, mark=1.0, columns=8).drawn(8).plain == "████   │"


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_columns_line_up_with_wide_and_combining_characters(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CJK and emoji take two columns, a combining accent none."""
    names = ["read_file", "漢字ツール", "🎉🎉", "e\u0301te\u0301"]
    rows = [
        (screen.cell(name), screen.cell(number))
        for name, number in zip(names, (1, 22, 333, 4444), strict=True)
    ]
    printed = page(gap(grid(rows, right=(1,))), monkeypatch=monkeypatch, columns=columns)
    assert len({cell_len(row) for row in printed}) == 1
    assert [row.split()[-1] for row in printed] == ["1", "22", "333", "4444"]


@pytest.mark.parametrize("columns", [40, 60, 200])
def test_no_line_is_wider_than_the_page(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that wraps by itself breaks the alignment of the next."""
    rows = [("label", "words " * 40), ("other", None), ("漢字", "字" * 90)]
    printed = page(fields(rows), monkeypatch=monkeypatch, columns=columns)
    assert max(cell_len(row) for row in printed) <= min(columns, screen.WIDTH_MAX)
    assert not any("other" in row for row in printed)


def test_settings_are_written_for_people() -> None:
    """Every shape a setting may have."""
    assert [value_of(v) for v in (None, True, False, 20_000, 0.8, "x", ("a", 1), ["a", "b"])] == [
        "–", "yes", "no", "20,000", "0.8", "x", "a 1", "a, b",
    ]  # fmt: skip
    assert value_of({"keep": 5, "of": ["a", "b"]}) == "keep 5 · of a, b"
    assert value_of({"fold": {"tail_share": 0.6, "is_on": True}, "tries": 2}) == (
        "fold (tail share 0.6, is on yes) · tries 2"
    )


@pytest.mark.parametrize("columns", [40, 60])
def test_numbers_and_addresses_are_never_cut(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a narrow page long names give way, by wrapping; a cut number would be another number."""
    rows = [(screen.cell("a-very-long-name-" * 5), screen.cell("1,048,576"), screen.cell("m12.3@5f0c9a1e"))]
    printed = "\n".join(page(grid(rows, right=(1,), whole=(2,)), monkeypatch=monkeypatch, columns=columns))
    assert "1,048,576  m12.3@5f0c9a1e" in printed
