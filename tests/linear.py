"""Whether what a work costs grows as its input does, judged by ratios of one run and never by a clock alone.

A second is no promise: a shared core is slow for reasons that no work has. So a work is judged beside itself on a fourth of
its input, or beside another work, by processor time. What else the machine does can only add to either; so the least of
several turns counts, and the first turn that is good enough ends the matter: noise costs another turn, not a red run.
Knows nothing of what is judged. `tests/test_linear.py` shows that it tells bad works from good ones.
"""

from __future__ import annotations

import gc
import re
import signal
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import inf
from time import process_time

from msgspec import Struct

STEP = 4
"""How many times as much input the next size is."""
GROWTH_MAX = 2.0 * STEP
"""How many times as long it may take; what is quadratic takes 16 times as long."""
START = 12
"""The least input: what is exponential ends there, and is stopped a step later."""
GRAIN_S = 0.02
"""What is quicker is not judged: clocks of processor time may tick only every 4 ms, and a first call sets things up."""
STOP_S = 1.0
"""What a stopped work has spent at least; more where its bound is higher."""
TURNS = 5
STOPS = 2
"""How often a work is stopped before the matter is clear: that takes twice what it may."""
SCAN = re.compile(r"\w|\W")
"""The floor: one plain look at each character."""
SCANNED = "Ab 1. " * 50_000


Work = Callable[[], object]
Turns = Callable[[int], Work]
"""Makes the work of a turn, from 0."""
Clock = Callable[[Work, float], float]
"""Seconds of a work, which may be stopped after some; `inf` when it was."""


class Stopped(BaseException):
    """A work that spent far more than it may; no `except` of its own holds it."""


def _stop(*_: object) -> None:
    raise Stopped


def spent(work: Work, stop_s: float = inf) -> float:
    """Processor seconds of one call; `inf` when it was stopped after `stop_s`."""
    before = signal.signal(signal.SIGVTALRM, _stop)
    was_on = gc.isenabled()
    gc.disable()
    start = process_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0 if stop_s == inf else stop_s)
        work()
        return process_time() - start
    except Stopped:
        return inf
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        if was_on:
            gc.enable()


class Verdict(Struct, frozen=True, kw_only=True):
    """What came of judging a work."""

    wrong: str = ""
    """Empty when nothing is."""
    least_s: float = 0.0
    """Of the turns it took."""


def beside(work: Turns, other: Turns, *, most: float, clock: Clock = spent, least_s: float = inf) -> Verdict:
    """Whether a work takes at most `most` times as long as another; `least_s` is what it is known to take.

    Both are given the number of the turn and make the call of that turn.
    """
    other_s, stops = 0.0, 0
    for turn in range(TURNS):
        if least_s == inf or turn:
            took_s = clock(work(turn), max(STOP_S, 2 * most * other_s))
            least_s, stops = min(least_s, took_s), stops + (took_s == inf)
        if least_s <= GRAIN_S:
            return Verdict(least_s=least_s)
        enough_s = STOP_S if least_s == inf else max(STOP_S, least_s)
        beside_s = min(clock(other(turn), enough_s), enough_s)
        other_s = min(other_s or beside_s, beside_s)
        if least_s <= most * other_s + GRAIN_S:
            return Verdict(least_s=least_s)
        if stops == STOPS:
            break
    took = "was stopped" if least_s == inf else f"took {least_s:.3f} s"
    wrong = f"it {took} beside {other_s:.3f} s, at most {most:g} times is right"
    return Verdict(wrong=wrong, least_s=least_s)


def growth(work: Callable[[int, int], Work], *, size: int) -> Verdict:
    """Whether a work takes time in proportion to its size, looked at from small inputs on.

    `work` makes the input of a size, which is not measured, and gives the call that is. It is told a number as well, another
    one each time: a work may keep the result of an input, so each must differ a little.
    """
    sizes, verdict = [size], Verdict()
    while sizes[-1] > START:
        sizes.append(max(START, sizes[-1] // STEP))
    for small, large in pairwise(reversed(sizes)):
        verdict = beside(
            partial(_numbered, work, large, TURNS), partial(_numbered, work, small, 0), most=GROWTH_MAX
        )
        if verdict.wrong:
            return Verdict(wrong=f"{large:,} beside {small:,}: {verdict.wrong}")
    return verdict


def _numbered(work: Callable[[int, int], Work], size: int, first: int, turn: int) -> Work:
    return work(size, first + turn)


def slowness(work: Callable[[str], object], piece: str, *, size: int, scans_max: float, end: str = "") -> str:
    """What is wrong with how long a work takes on a piece over and over, empty when nothing is: it takes time in proportion
    up to so many characters, and there no longer than so many plain looks at each of them.

    The second finds what grows in proportion at last but looks at each character thousands of times. It is left out where
    lines are traced for coverage: that is added to what Python does, and to a plain look it is not.
    """

    def given(chars: int, number: int) -> Work:
        text = piece * (chars // len(piece) + number) + end
        return lambda: work(text)

    grown = growth(given, size=size)
    if grown.wrong or sys.gettrace() is not None:
        return grown.wrong
    looked = beside(
        partial(_numbered, given, size, 2 * TURNS),
        lambda _: scan,
        most=scans_max * size / len(SCANNED),
        least_s=grown.least_s,
    )
    return looked.wrong and f"{size:,} beside a plain look at each of {len(SCANNED):,}: {looked.wrong}"


def scan() -> None:
    """A plain look at each of many characters."""
    SCAN.sub("", SCANNED)
