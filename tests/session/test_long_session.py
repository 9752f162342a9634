"""A session of twelve hours: 50,000 messages and more than a hundred compactions, at the price of a short one."""

from __future__ import annotations

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


def pieces() -> list[str]:
    """Lines of real transcripts, in pieces of some 3 kB."""
    paths = sorted(path for name in SAMPLES for path in (DATA / name).rglob("*.jsonl"))
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)
    lines = text.replace("\\n", "\n")
    return [lines[at : at + 3_000] for at in range(0, min(len(lines), 1_500_000), 3_000)]


def lived(home: Path, rounds: int) -> tuple[list[float], int]:
    """CPU seconds of each turn, and compactions."""
    texts, taken = pieces(), list[float]()
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
        made = sum(1 for one in session.compactions if one.counts)
        live = session.prepare().data
    with foldline.open("long", home=home, durability="checkpoint", redact=False) as again:
        assert again.prepare().data == live
    return taken, made


def test_a_session_of_many_compactions_is_the_same_when_opened_again(tmp_path: Path) -> None:
    """Law REPLAY, JRN-6: over dozens of real compactions of a real policy."""
    _, made = lived(tmp_path, 600)
    assert made >= 3


@pytest.mark.nightly
def test_twelve_hours_keep_the_cost_of_a_turn_flat(tmp_path: Path) -> None:
    """JRN-7, JRN-19: at least 50,000 messages and 100 compactions."""
    taken, made = lived(tmp_path, ROUNDS)
    tenth = ROUNDS // 10
    early, late = median(taken[tenth : 2 * tenth]), median(taken[-tenth:])
    mean = sum(taken[-tenth:]) / sum(taken[tenth : 2 * tenth])
    assert made >= 100
    assert late / early <= RATIO_MAX, f"a turn {early * 1e3:.2f} ms early, {late * 1e3:.2f} ms late"
    assert mean <= RATIO_MAX, f"compactions with it, {mean:.2f} times as much at the end"
