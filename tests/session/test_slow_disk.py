"""D18: a disk that takes 300 ms for each sync does not hold up an event loop."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
STALL_S_MAX = 0.05
PROGRAM = """
import asyncio, sys, time
import foldline

async def main() -> None:
    worst, done = 0.0, False
    async def tick() -> None:
        nonlocal worst
        before = time.perf_counter()
        while not done:
            await asyncio.sleep(0.002)
            now = time.perf_counter()
            worst, before = max(worst, now - before), now
    session = foldline.open("s", format="anthropic", counter="length/4", home=sys.argv[1])
    session.user("warm")
    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    start = time.perf_counter()
    for number in range(5):
        await session.auser(f"question {number}")
    took, done = time.perf_counter() - start, True
    await ticking
    session.close()
    print(worst, took)

asyncio.run(main())
"""


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there")
def test_a_slow_disk_does_not_hold_up_the_event_loop(tmp_path: Path) -> None:
    """D18: each of five appends waits for its sync off the loop."""
    run = subprocess.run(
        ["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_enter=300000",
         sys.executable, "-c", PROGRAM, str(tmp_path / "home")],
        capture_output=True, text=True, check=True, timeout=60,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPO / "src")},
    )  # fmt: skip
    worst, took = map(float, run.stdout.split())
    assert took >= 5 * 0.3, "the disk was slow"
    assert worst < STALL_S_MAX
