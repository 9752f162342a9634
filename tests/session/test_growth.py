"""D12: a log grows by what is said and by what compactions write, and by little else, however long it has become."""

from __future__ import annotations

from collections import Counter

import pytest

from foldline.session.session import Session
from tests.session.making import opened, worked

GROWTH_MAX = 1.2
"""Bytes of the log ÷ bytes of what was said and of the compactions' own entries."""


def grown(session: Session, compactions: int, *, start: int) -> Counter[str]:
    """Bytes of entries, by kind, that so many compactions and the work between them added."""
    before = session.seq
    for number in range(start, start + compactions):
        worked(session, 6, size=2_000, start=number * 10)
        session.compact(to=2_000)
    sizes: Counter[str] = Counter()
    for entry in session._keeper.log.back():
        if entry.seq <= before:
            break
        sizes[entry.kind] += entry.size
    return sizes


def ratio(sizes: Counter[str]) -> float:
    return sum(sizes.values()) / (sizes["message"] + sizes["compaction"])


def check_growth(compactions: int) -> None:
    session = opened()
    session.user("read everything, and use tabs only")
    third = compactions // 3
    first = grown(session, third, start=0)  # until the view has its usual size
    early = grown(session, third, start=1_000)
    late = grown(session, third, start=2_000)
    assert ratio(first + early + late) <= GROWTH_MAX
    assert sum(late.values()) <= 1.1 * sum(early.values()), "it grows faster the longer it is"


def test_a_log_holds_no_message_twice() -> None:
    """D12, JRN-1: checkpoints refer to what is kept."""
    check_growth(24)


@pytest.mark.nightly
def test_two_hundred_compactions_store_no_message_twice() -> None:
    """D12."""
    check_growth(201)
