"""Metrics: reports summed up, compaction by compaction."""

from __future__ import annotations

import foldline
from foldline.engine.metrics import Metrics
from foldline.testing.completers import ScriptedCompleter
from tests.properties.test_summaries import HONEST, history


def test_reports_add_up_to_counts_shares_savings_durations_and_failures() -> None:
    """Requirement OBS-1: compactions, share per level, tokens saved net of what was put in, durations, failures."""
    messages = history(40)
    metrics = Metrics()
    assert metrics.share("ledger") == 0.0
    made = foldline.compact(messages, to=0.4, policy="handoff", completer=ScriptedCompleter(HONEST)).report
    kept = foldline.compact(messages, to=0.4, policy="handoff", completer=ScriptedCompleter("")).report
    left = foldline.compact(messages, to=0.4, policy="reserve", completer=ScriptedCompleter("")).report
    fits = foldline.compact(messages, to=10**6).report
    for report in (made, kept, left, fits):
        metrics = metrics.after(report)
    assert (metrics.compactions, metrics.refused, metrics.requests) == (2, 1, 3)
    assert metrics.tokens_saved == sum(one.tokens_before - one.tokens_after for one in (made, kept))
    assert metrics.seconds == made.seconds + kept.seconds + left.seconds
    assert metrics.failures == {"empty": 2}
    assert metrics.share("auto-compact") == 0.5
    assert metrics.to_dict()["levels"]["auto-compact"] == 1


def test_a_compaction_by_passes_counts_each_level_once() -> None:
    """A level that ran counts in the compaction it ran in."""
    metrics = Metrics().after(foldline.compact(history(40), to=0.3).report)
    assert metrics.compactions == 1
    assert set(metrics.levels.values()) == {1}
