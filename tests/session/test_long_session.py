"""A session of twelve hours: 50,000 messages and more than a hundred compactions, at the price of a short one."""

from __future__ import annotations

import os
import time
from pathlib import Path
from statistics import median

import pytest

import foldline
from tests.session.making import answer
from tests.transcripts.data import DATA

SAMPLES = ("claude-code", "codex", "pi")
ROUNDS = 25_000
RATIO_MAX = 1.5
"""The last tenth's turn against one of the second tenth, by the median of CPU time."""
GROWTH_BYTES_MAX = 48 * 2**20
"""Memory that four fifths of the session may add: a third of what its log takes."""


def pieces() -> list[str]:
    """Lines of real transcripts, in pieces of some 3 kB."""
    paths = sorted(path for name in SAMPLES for path in (DATA / name).rglob("*.jsonl"))
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)
    lines = text.replace("\\n", "\n")
    return [lines[at : at + 3_000] for at in range(0, min(len(lines), 1_500_000), 3_000)]


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def lived(home: Path, rounds: int) -> tuple[list[float], list[int], int]:
    """CPU seconds of each turn, memory at each tenth, and compactions."""
    texts, taken, memory = pieces(), list[float](), list[int]()
    with foldline.open(
        "long", format="anthropic", home=home, durability="checkpoint", redact=False
    ) as session:
        session.user("Find every use of the old client, and keep the public API as it is.")
        for number in range(rounds):
            started = time.thread_time()
            session.prepare()
            session.record(answer(f"look at {number}", (f"t{number}", "read_file")))
            session.tool_result(f"t{number}", texts[number % len(texts)])
            taken.append(time.thread_time() - started)
            if number % (rounds // 10) == rounds // 10 - 1:
                memory.append(resident())
        made = sum(1 for one in session.compactions if one.counts)
        live = session.prepare().data
    with foldline.open("long", home=home, durability="checkpoint", redact=False) as again:
        assert again.prepare().data == live
    return taken, memory, made


def test_a_session_of_many_compactions_is_the_same_when_opened_again(tmp_path: Path) -> None:
    """Law REPLAY, JRN-6: over dozens of real compactions of a real policy."""
    _, _, made = lived(tmp_path, 600)
    assert made >= 3


@pytest.mark.nightly
@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory is read from /proc, which Linux has"
)
def test_twelve_hours_keep_memory_and_the_cost_of_a_turn_flat(tmp_path: Path) -> None:
    """JRN-7, JRN-19: at least 50,000 messages and 100 compactions."""
    taken, memory, made = lived(tmp_path, ROUNDS)
    tenth = ROUNDS // 10
    early, late = median(taken[tenth : 2 * tenth]), median(taken[-tenth:])
    mean = sum(taken[-tenth:]) / sum(taken[tenth : 2 * tenth])
    assert made >= 100
    assert late / early <= RATIO_MAX, f"a turn {early * 1e3:.2f} ms early, {late * 1e3:.2f} ms late"
    assert mean <= RATIO_MAX, f"compactions with it, {mean:.2f} times as much at the end"
    assert memory[-1] - memory[1] <= GROWTH_BYTES_MAX, [size // 2**20 for size in memory]
