"""What stands in a record of what was done and counted."""

from __future__ import annotations

from foldline.proxy.meters import Record
from foldline.proxy.noting import observed, weigh


def test_what_was_taken_out_weighs_as_what_was_sent_did() -> None:
    """TOK-5: in the provider's own count, where it gave one."""
    record = Record(method="POST", path="/", outcome="edited", tokens_in=2_000, tokens_sent=1_000)
    weigh(record, 1_500)
    assert (record.tokens_in, record.tokens_sent, record.is_counted) == (3_000, 1_500, True)


def test_a_count_that_is_missing_changes_nothing() -> None:
    """TOK-4: zero and missing are unknown."""
    record = Record(method="POST", path="/", tokens_in=2_000, tokens_sent=1_000)
    weigh(record, None)
    weigh(record, 0)
    assert (record.tokens_in, record.tokens_sent, record.is_counted) == (2_000, 1_000, False)


def test_what_is_only_observed_was_not_done() -> None:
    """`--observe`: nothing of it went up, and nothing was saved."""
    record = Record(method="POST", path="/", outcome="edited", tokens_in=9, tokens_sent=4, is_compaction=True)
    observed(record)
    assert (record.outcome, record.is_compaction) == ("would edit", False)
    assert (record.tokens_sent, record.tokens_would_send) == (9, 4)
