"""Lists of things whose fields the command line does not know."""

from __future__ import annotations

import io
import sys

import pytest

from foldline.cli.listing import show_one, show_table


def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Stands in for stdout, a pipe."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.delenv("COLUMNS", raising=False)
    return out


def test_a_table_has_a_column_for_every_field(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that only one row has still shows; numbers stand flush right."""
    out = printed(monkeypatch)
    show_table([{"name": "a", "tokens_window": 1_000_000}, {"name": "bbb", "tokens_window": 8, "read": True}])
    assert out.getvalue().splitlines() == [
        "name  tokens window  read",
        "a         1,000,000  –",
        "bbb               8  yes",
    ]


def test_one_thing_is_shown_with_all_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiers in their order, each with its numbers: what policies are compared by."""
    out = printed(monkeypatch)
    tiers = [
        {"pass": "clamp", "tokens_max": 20_000},
        {"pass": "microcompact", "when": "over", "values": {"keep_last": 5, "idle_s": None}},
        "last",
    ]
    threshold, target = (
        {"percent": 80, "of": "input", "reserved": 0},
        {"percent": 5, "of": "window", "reserved": 900},
    )
    show_one({"name": "balanced", "sentence": "By evidence.", "at": threshold, "to": target, "tiers": tiers})
    assert out.getvalue().splitlines() == [
        "balanced",
        "  By evidence.",
        "  at     80% of input",
        "  to     5% of window, 900 reserved",
        "  tiers  1  clamp         tokens max 20,000",
        "         2  microcompact  when over · keep last 5",
        "         3  last",
    ]


def test_an_empty_list_prints_nothing_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing to list is no error."""
    out = printed(monkeypatch)
    show_table([])
    assert out.getvalue().strip() == ""


def test_a_table_leaves_nothing_out_on_a_narrow_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 60 columns every field stands under the name; no word is broken."""
    out = printed(monkeypatch)
    monkeypatch.setenv("COLUMNS", "60")
    rows = [{"name": "a" * 25, "format": "anthropic", "parent": "", **{f"n{n}": 1_000_000 for n in range(4)}}]
    show_table(rows)
    assert out.getvalue().splitlines() == [
        "a" * 25,
        "  format anthropic · n0 1,000,000 · n1 1,000,000",
        "  n2 1,000,000 · n3 1,000,000",
    ]
    monkeypatch.setenv("COLUMNS", "100")
    show_table(rows)
    assert "name                       format" in out.getvalue()


def test_a_row_is_one_line_in_a_pipe_of_no_named_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """`foldline models | head` shows as many models as it shows lines."""
    out = printed(monkeypatch)
    show_table([{"name": "a" * 80, "n": 1_000_000, "m": "b" * 40}])
    assert out.getvalue().splitlines()[1:] == ["a" * 80 + "  1,000,000  " + "b" * 40]
