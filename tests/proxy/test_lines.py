"""One calm line a request."""

from __future__ import annotations

from typing import Any

from foldline.proxy.lines import line
from foldline.proxy.meters import Record


def shown(**values: Any) -> str:
    told = {"method": "POST", "path": "/v1/messages", "status": 200, "model": "claude-sonnet-5", "ms": 2310}
    return " ".join(line(Record(**{**told, **values}), clock="14:02:11").split())


def test_a_line_says_what_was_sent_of_what_came() -> None:
    """Issue: model, tokens in → sent, tier, cache read, ms."""
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
