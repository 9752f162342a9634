"""Where one statement says what a value was and what it became, what it became leads."""

from __future__ import annotations

import pytest

from foldline.ledger.found_in_text import extract


def numbers(text: str) -> list[tuple[str, str]]:
    """The numbers of a text with their keys, the newest first."""
    return [(fact.key, fact.value) for fact in reversed(extract(text)) if fact.kind == "numbers"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I raised max_retries from 3 to 7.", [("max_retries", "7"), ("max_retries", "3")]),
        ("max_retries: 3 -> 7", [("max_retries", "7"), ("max_retries", "3")]),
        ("max_retries 3 → 7", [("max_retries", "7"), ("max_retries", "3")]),
        ("Changed max_retries=3 to 7.", [("max_retries", "7"), ("max_retries", "3")]),
        ("max_retries was 3; now it is 7.", [("max_retries", "7"), ("max_retries", "3")]),
        ("Bumped timeout_ms from 500 to 900 ms.", [("timeout_ms", "900·ms"), ("timeout_ms", "500")]),
        ("The pool_size went from 10 to 20.", [("pool_size", "20"), ("pool_size", "10")]),
        ("我把 max_retries 从 3 改为 7。", [("max_retries", "7"), ("max_retries", "3")]),
        ("max_retries 由 3 改成 7。", [("max_retries", "7"), ("max_retries", "3")]),
        ("max_retries：3→7", [("max_retries", "7"), ("max_retries", "3")]),
        ("端口从 8080 改成了 9090。", [("端口", "9090"), ("端口", "8080")]),
        ("把超时从 30 秒提高到 60 秒。", [("超时", "60·秒"), ("超时", "30·秒")]),
        ("limit: 3 -> 7\nlimit: 9", [("limit", "9"), ("limit", "7"), ("limit", "3")]),
        ("把 limit 从 3 改为 7\nlimit=9", [("limit", "9"), ("limit", "7"), ("limit", "3")]),
    ],
)
def test_what_a_value_became_leads_what_it_was(text: str, found: list[tuple[str, str]]) -> None:
    """OBS-3: of a value that was changed only the old one stood in the ledger."""
    assert numbers(text) == found


@pytest.mark.parametrize("text", ["port 80 to 90 users", "retries=3 to the end", "port=80 -> host:90"])
def test_what_became_nothing_stays_as_it_is(text: str) -> None:
    """OBS-3: the counterpart."""
    assert [value for key, value in numbers(text) if key in ("port", "retries")] == [
        "80" if "80" in text else "3"
    ]
