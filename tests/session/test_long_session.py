"""A session of twelve hours: 50,000 messages and more than a hundred compactions, at the price of a short one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.session.long_life import TENTHS, lived, recorded, resident, varied

MESSAGES = 50_000
RATIO_MAX = 1.5
"""The last tenth's turn against one of the second tenth, by CPU time."""
MIB_MAX = 12
"""What the process may hold more in the last tenth than in the second, 40,000 messages before."""


def test_a_session_of_many_compactions_is_the_same_when_opened_again(tmp_path: Path) -> None:
    """Law REPLAY, JRN-6: over dozens of real compactions of a real policy."""
    assert lived(tmp_path, 1_200).compactions >= 10


def test_recorded_work_is_done_again_on_other_files_and_with_other_numbers() -> None:
    """JRN-19: a long session that says the same again would keep no more than a short one, whatever it keeps."""
    assert len(recorded()) >= 100
    assert sum(turn.messages for turn in recorded()) >= 250
    text = "src/app/main.py:128 took 30 s, 5 of 99"
    assert varied(text, 0) == text
    assert varied(text, 3) == "src/app3/main.py:885 took 87 s, 5 of 56"


@pytest.mark.nightly
def test_twelve_hours_keep_the_cost_of_a_turn_and_the_memory_flat(tmp_path: Path) -> None:
    """JRN-7, JRN-19: at least 50,000 messages and 100 compactions; the log grows, and nothing else."""
    life = lived(tmp_path, MESSAGES)
    early, late = life.tenth(1), life.tenth(TENTHS - 1)
    assert (life.messages >= MESSAGES, life.compactions >= 100) == (True, True)
    told = f"early {early}; late {late}"
    assert late.median_s <= RATIO_MAX * early.median_s, told
    assert late.mean_s <= RATIO_MAX * early.mean_s, told
    if not resident():
        pytest.skip("this system does not say in /proc what a process holds in memory")
    assert late.mib - early.mib <= MIB_MAX, told
