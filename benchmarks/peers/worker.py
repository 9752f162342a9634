"""Measures one row in a process of its own. Started by `__main__`, twice for a row.

    python -m benchmarks.peers.worker fit NAME IN OUT        how much to keep so that each result has the wanted size
    python -m benchmarks.peers.worker measure NAME IN OUT    times and memory, with what `fit` found

`measure` imports the standard library and the row's own, so that memory and import time are the row's. Times are CPU
time of the whole process: a compaction that hands work to threads has it counted, one that waits has not.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.peers.peer import OUT_OF_REACH, Chat, Limits, Peer, Turn, load_turns
from benchmarks.peers.roster import row_named

CHECKS, COMPACTIONS = 15, 5
"""Turns each gets; the medians count."""
SECONDS_MAX = 15.0
"""Once turns of one kind have taken this long, no further one is started."""
TRIES_MAX = 12
"""Sizes that `fit` tries."""
CLOSE = 0.98
"""A result this near to the wanted size is near enough."""
FIRST_TURNS = 3
NEXT = Turn(role="user", text="Please continue with the next step of the plan. " * 4)
MB = 1e6


def fit(peer: Peer, turns: Sequence[Turn], goal: dict[str, Any], weigh: Callable[[list[Chat]], int]) -> Any:
    """The largest result that is no larger than wanted: {keep, tokens, messages, asked}. Where none is that small, the
    smallest that was found."""
    wanted: int = goal["target"]
    best: dict[str, Any] | None = None
    low, high = 0, {"tokens": goal["tokens"], "messages": len(turns)}.get(peer.unit, 0)
    keep = {"tokens": wanted, "messages": max(1, len(turns) * wanted // goal["tokens"])}.get(
        peer.unit, wanted
    )
    for _ in range(TRIES_MAX):
        peer.sent.clear()
        made = peer.compact(peer.open(turns), Limits(due=goal["due"], target=wanted, keep=keep))
        messages = peer.read(made) if made is not None else []
        tokens = weigh(messages) if messages else OUT_OF_REACH
        if messages and (best is None or _better(tokens, best["tokens"], wanted)):
            best = {
                "keep": keep,
                "tokens": tokens,
                "messages": messages,
                "asked": peer.asked(),
                "read": read_by_rules(peer),
            }
        if tokens <= wanted:
            low = keep
        else:
            high = keep
        if high - low <= 1 or CLOSE * wanted <= tokens <= wanted:
            break
        keep = (low + high) // 2
    return best


def read_by_rules(peer: Peer) -> tuple[int, int] | None:
    """(evicted tokens, those that were read), as this project's own report says; `None` for other libraries."""
    report = getattr(peer, "report", None)
    return (report.summary.evicted_tokens, report.summary.seen_tokens) if report is not None else None


def _better(tokens: int, than: int, wanted: int) -> bool:
    """Nearer to what is wanted from below, or else smaller."""
    if tokens <= wanted:
        return than > wanted or tokens > than
    return tokens < than


def measure(peer: Peer, turns: Sequence[Turn], limits: Limits) -> dict[str, float]:
    """Seconds of a check and of a compaction, and the most that Python held during one beyond what it held before."""
    history = peer.open(turns)
    peer.check(history)  # what a library does the first time only
    checks: list[float] = []
    while len(checks) < CHECKS and sum(checks) < SECONDS_MAX:
        peer.add(history, NEXT)
        checks.append(_cpu(lambda: peer.check(history)))
    compactions: list[float] = []
    while len(compactions) < COMPACTIONS and sum(compactions) < SECONDS_MAX:
        fresh = peer.open(turns)
        peer.sent.clear()
        compactions.append(_cpu(lambda held=fresh: peer.compact(held, limits)))  # type: ignore[misc]
    asked = len(peer.sent)
    status = Path("/proc/self/status")
    rss = rss_of(status.read_text(encoding="ascii")) if status.exists() else 0.0
    fresh = peer.open(turns)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    peer.compact(fresh, limits)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return {
        "check_s": median(checks),
        "compact_s": median(compactions),
        "peak_mb": peak / MB,
        "rss_mb": rss,
        "calls": asked,
    }


def _cpu(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def rss_of(status: str) -> float:
    """The most memory a process has had, in MB, from Linux's account of it; what `getrusage` says begins with the size of
    the process that started this one."""
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 / MB if found else 0.0


def main(argv: Sequence[str]) -> None:
    """One step of one row; the answer is a JSON file."""
    step, name, given, answer = argv
    goals: list[dict[str, Any]] = json.loads(Path(given).read_text(encoding="utf-8"))
    turns = load_turns(goals[0]["turns"])
    start = time.process_time()
    peer = row_named(name).make()
    peer.check(peer.open(turns[:FIRST_TURNS]))  # what is imported late
    ready = time.process_time() - start
    found: dict[str, Any]
    if step == "measure":
        goal = goals[0]
        limits = Limits(due=goal["due"], target=goal["target"], keep=goal["keep"])
        found = measure(peer, turns, limits) | {"ready_s": ready}
    else:
        from benchmarks.peers.judge import weigh

        found = {goal["name"]: fit(peer, load_turns(goal["turns"]), goal, weigh) for goal in goals}
    Path(answer).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
