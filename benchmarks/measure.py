"""Timing for the benchmarks: CPU time of works that take turns, medians, and a table whose ratios decide.

Wall time on a shared machine says little, so absolute figures are printed for people and only ratios of one run are
asserted. Knows nothing of what is measured; `histories` makes the input.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from statistics import median

ROUNDS = 7
"""Turns each work gets; odd, so that a median is one of them."""
ROUNDS_QUICK = 1


def is_quick() -> bool:
    """True with `--quick`: small input and one turn, which shows that a benchmark runs and decides nothing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small input, no verdict")
    quick: bool = parser.parse_args().quick
    return quick


def cpu_medians(works: Mapping[str, Callable[[], object]], *, quick: bool) -> dict[str, float]:
    """CPU seconds of this thread for each work: the median of turns taken in rotation, after one turn unmeasured."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range((ROUNDS_QUICK if quick else ROUNDS) + 1):
        for name, work in works.items():
            start = time.thread_time()
            work()
            if turn:
                taken[name].append(time.thread_time() - start)
    return {name: median(seconds) for name, seconds in taken.items()}


def peak_bytes(work: Callable[[], object]) -> int:
    """Most memory Python held during a work beyond what it held before; slow, so never timed."""
    return memory_of(work)[0]


def memory_of(work: Callable[[], object]) -> tuple[int, int]:
    """Peak during a work, and what its result keeps, in bytes beyond what was held before; slow, so never timed."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    result = work()
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return peak - before, after - before


class Bound:
    """One ratio of this run and the most it may be."""

    def __init__(
        self, name: str, value: float, *, most: float | None = None, least: float | None = None
    ) -> None:
        self.name, self.value, self.most, self.least = name, value, most, least

    @property
    def holds(self) -> bool:
        """True when the value lies within its bound."""
        return (self.most is None or self.value <= self.most) and (
            self.least is None or self.value >= self.least
        )

    def __str__(self) -> str:
        bound = f"≤ {self.most:g}" if self.most is not None else f"≥ {self.least:g}"
        return f"{self.name:<64} {self.value:8.2f}   {bound:<8} {'' if self.holds else 'BROKEN'}".rstrip()


def milliseconds(figures: Mapping[str, float]) -> None:
    """Print absolute figures, one a line."""
    for name, seconds in figures.items():
        print(f"{name:<64} {seconds * 1e3:10.4g} ms")


def verdict(bounds: Sequence[Bound], *, quick: bool) -> None:
    """Print the ratios with their bounds; exit 1 when one is broken, unless the run was quick."""
    for bound in bounds:
        print(bound)
    if not quick and not all(bound.holds for bound in bounds):
        sys.exit(1)
