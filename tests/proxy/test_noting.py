"""What stands in a record of what was done and counted."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from foldline.clients.tickets import apart
from foldline.core.completion import Failure
from foldline.core.estimate import Estimate
from foldline.core.message import Usage
from foldline.engine.report import PassReport, Report, Summary
from foldline.proxy.desk import Going
from foldline.proxy.meters import Meters, Record
from foldline.proxy.noting import note, observed, weigh
from foldline.session.request import Prepared
from tests.clients.lists import call, user


def going(report: Report) -> Going:
    """A request that a session reports so of."""
    nothing: Any = None
    tokens = Estimate(tokens_anchored=0, tokens_estimated=9)
    prepared = Prepared(nothing, report=report, tokens=tokens, fingerprint="")
    out = replace(apart(call([user("a")])), prepared=prepared)
    return Going(name="s", conversations=nothing, out=out)


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


def test_what_summaries_cost_is_told_and_every_part_of_a_request_counts() -> None:
    """CMP-2: tokens spent stand beside tokens saved; of a request that is asked on nothing of its first part is lost."""
    record = Record(method="POST", path="/")
    usage = Usage(tokens_input=900, tokens_output=100)
    failures = (Failure(name="provider_error", attempt=1, why="500"),)
    summary = Summary(
        kind="model", evicted_tokens=9, seen_tokens=9, attempts=2, requests=2, failures=failures, usage=usage
    )
    step = PassReport(name="fold", edits=1, tokens_freed=5, seconds=0.0)
    for report in (
        Report(format="anthropic", outcome="compacted", passes=(step,), summary=summary, notes=("told",)),
        Report(format="anthropic"),
    ):
        note(record, going(report))
    assert (record.summary_requests, record.summary_failures, record.summary_tokens) == (2, 1, 1_000)
    assert (record.passes, record.notes, record.is_compaction) == (("fold",), ("told",), True)
    meters = Meters()
    meters.ended(record)
    assert meters.told()["summary_tokens"] == 1_000
