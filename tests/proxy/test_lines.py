"""One calm line a request."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len

from foldline.proxy.lines import below, line
from foldline.proxy.meters import Record


def shown(**values: Any) -> str:
    told = {"method": "POST", "path": "/v1/messages", "status": 200, "model": "claude-sonnet-5", "ms": 2310}
    return " ".join(line(Record(**{**told, **values}), clock="14:02:11").split())


def test_a_line_says_what_was_sent_of_what_came() -> None:
    """Model, tokens in → sent, tier, cache read, ms."""
    edited = shown(
        tokens_in=182_410,
        tokens_sent=61_022,
        tokens_cached=59_000,
        outcome="edited",
        passes=("fold",),
        is_counted=True,
    )
    assert edited == "14:02:11 claude-sonnet-5 ~182,410 → 61,022 edited fold cache 96 % 2,310 ms"
    assert shown(tokens_in=9, tokens_sent=9).startswith("14:02:11 claude-sonnet-5 ~9 as it came")
    whole = shown(tokens_in=9, tokens_sent=9, is_counted=True)
    assert whole == "14:02:11 claude-sonnet-5 9 as it came cache 0 % 2,310 ms"


def test_a_line_says_what_went_wrong() -> None:
    """Nothing fails without a word."""
    failed = shown(status=502, outcome="failed open", why="SessionBusy", is_cut=True)
    assert failed == "14:02:11 claude-sonnet-5 failed open 2,310 ms 502 cut off (SessionBusy)"


def test_what_names_no_model_is_shown_by_its_path() -> None:
    """Without its query, which may hold a key."""
    told = shown(model="", method="GET", path="/v1/models?key=k")
    assert told == "14:02:11 GET /v1/models as it came 2,310 ms"
    assert "…" in shown(model="m" * 99)


def test_no_name_of_a_model_makes_a_line_of_its_own() -> None:
    """Content never reaches a terminal unescaped: a record is one line, and steers nothing."""
    told = line(
        Record(method="POST", path="/", status=200, model="m\n14:02:12 forged\x1b[2J", ms=1), clock="14:02:11"
    )
    assert told.isprintable()


def test_what_would_be_done_is_not_told_as_done() -> None:
    """`--observe`: what went up is what came."""
    told = shown(
        tokens_in=182_410,
        tokens_sent=182_410,
        is_counted=True,
        outcome="would edit",
        passes=("fold",),
        tokens_would_send=61_022,
    )
    assert told.startswith("14:02:11 claude-sonnet-5 182,410 would edit fold to ~61,022 cache")


RECORDS: list[dict[str, Any]] = [
    {"tokens_in": 1_182_410, "tokens_sent": 161_022, "is_counted": True, "tokens_cached": 161_022, "outcome": "edited",
     "passes": ("clear_results", "fold"), "model": "claude-sonnet-4-5-20250929", "ms": 999_999},
    {"tokens_in": 182_410, "tokens_sent": 182_410, "tokens_would_send": 61_022, "outcome": "would edit", "passes": ("fold",)},
    {"model": "", "path": "/v1/organizations/usage_report/messages", "method": "GET"},
    {"status": 502, "outcome": "failed open", "is_cut": True, "why": "SessionBusy: another process has it; " * 5},
    {"tokens_in": 9, "tokens_sent": 9, "is_counted": True},
]  # fmt: skip


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize("values", RECORDS)
def test_no_line_is_wider_than_the_terminal(columns: int, values: dict[str, Any]) -> None:
    """One calm line a request. Numbers are never cut; what went wrong is said whole, below where it has to be."""
    record = Record(
        **{
            "method": "POST",
            "path": "/v1/messages",
            "status": 200,
            "model": "claude-sonnet-5",
            "ms": 1,
            **values,
        }
    )
    shown = line(record, clock="14:02:11", columns=columns)
    assert max(map(len, shown.split("\n"))) <= columns
    assert record.why.strip() in " ".join(shown.split())
    if record.tokens_sent:
        assert f"{record.tokens_sent:,}" in shown
    assert f"{record.ms:,} ms" in shown


@pytest.mark.parametrize("columns", [1, 2, 9, 20, 39, 40, 48, 49, 60, 79, 80, 100, 120])
@pytest.mark.parametrize("model", ["gpt", "通义千问-最新版本-超长的名字", "claude-sonnet-4-5-20250929"])
@pytest.mark.parametrize("tokens", [(9, 9), (12_345_678, 9_876_543)])
def test_a_line_fits_any_terminal_in_cells(columns: int, model: str, tokens: tuple[int, int]) -> None:
    """A wide letter takes two cells; a narrow terminal has more rows, and never no line at all."""
    came, sent = tokens
    record = Record(
        method="POST",
        path="/v1/messages",
        status=502,
        model=model,
        ms=1_234_567,
        tokens_in=came,
        tokens_sent=sent,
        tokens_cached=sent,
        outcome="edited",
        passes=("clear_results", "fold"),
        why="会话被占用 another process has it",
    )
    for text in (line(record, clock="14:02:11", columns=columns), below(record.why, columns=columns)):
        assert text.strip()
        assert max(map(cell_len, text.split("\n"))) <= max(columns, 2)
    if columns >= 40:
        assert record.why in " ".join(line(record, clock="14:02:11", columns=columns).split())
        assert f"{sent:,}" in line(record, clock="14:02:11", columns=columns)


def test_lines_stand_in_columns() -> None:
    """A person's eye goes down them."""
    same: dict[str, Any] = {"status": 200, "why": "", "is_cut": False}
    told = [Record(**{"method": "POST", "path": "/", "ms": 7, **values, **same}) for values in RECORDS]
    ends = {line(record, clock="14:02:11", columns=120).index(" ms") for record in told}
    assert len(ends) == 1


def test_what_was_recovered_from_and_what_is_no_message_is_told() -> None:
    """Of an outcome alone nobody knows what the provider refused, or what was changed."""
    refused = {"outcome": "recovered", "cause": "refused signature"}
    assert "recovered: refused signature" in shown(**refused, tokens_in=9, tokens_sent=9)
    assert "recovered: too long, fold" in shown(outcome="recovered", cause="too long", passes=("fold",))
    capped = {"outcome": "edited", "output_cap": "output cap lowered to 38,825 from 64,000"}
    assert "edited" in shown(**capped)
    assert "(output cap lowered to 38,825 from 64,000; more)" in shown(**capped, why="more")


@pytest.mark.parametrize("model", ["claude-sonnet-5", "claude-sonnet-4-5-20250929"])
def test_a_model_is_not_cut_beside_empty_columns(model: str) -> None:
    """At 80 columns a line without a second number has room for any name; the columns behind it stand where they stood."""
    short, long = (
        line(
            Record(method="POST", path="/", status=200, model=model, ms=1, tokens_in=came, tokens_sent=9_120),
            clock="14:02:11",
            columns=80,
        )
        for came in (9_120, 182_410)
    )
    assert model in short
    assert (short.index("9,120") + 5, short.index(" ms")) == (long.index("9,120") + 5, long.index(" ms"))
