"""The breaker: three failures in a row, then nobody is asked; a success forgets them."""

from __future__ import annotations

from foldline.core.completion import Asked, Failure
from foldline.engine.breaker import Breaker

FAILED = Asked(
    form="full", requests=1, attempts=1, failures=(Failure(name="empty", attempt=1, why="no text"),)
)
WRITTEN = Asked(form="full", requests=1, attempts=1, is_written=True)


def test_three_failures_in_a_row_open_it() -> None:
    """Requirement CMP-14; a failure is counted once a compaction, however many attempts it had."""
    breaker = Breaker()
    for _ in range(3):
        assert not breaker.is_open
        breaker = breaker.after([FAILED])
    assert breaker.is_open


def test_a_success_closes_it() -> None:
    """Requirements CMP-14 and CMP-36: reset to none, open or not."""
    assert Breaker(failures=2).after([FAILED, WRITTEN]) == Breaker()
    assert Breaker(failures=7).told(is_written=True) == Breaker()
    assert Breaker(failures=2).told(is_written=False).is_open


def test_a_compaction_that_asked_nobody_changes_nothing() -> None:
    """A compaction without a model says nothing of the model."""
    assert Breaker(failures=2).after([]) == Breaker(failures=2)
