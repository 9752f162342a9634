"""The benchmarks run. What they measure is not asserted here; whether a work grows as its input does is `tests.linear`'s to judge."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BENCHES = sorted(
    path.stem for path in (ROOT / "benchmarks").glob("bench_*.py") if "is_quick" in path.read_text()
)


@pytest.mark.nightly
@pytest.mark.parametrize("bench", BENCHES)
def test_a_quick_run_prints_its_ratios_and_decides_nothing(bench: str) -> None:
    """`make bench` is no part of the suite, so the suite sees that it still runs."""
    command = [sys.executable, "-m", f"benchmarks.{bench}", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "≤" in done.stdout or "≥" in done.stdout
