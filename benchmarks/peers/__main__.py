"""Prints the table: every row of the roster on the made-up conversation and on three sessions.

    python -m benchmarks.peers [FILE...] [--only TEXT]... [--seconds N] [--quick]

Each row runs in processes of its own, one after the other, and is skipped with its reason where it cannot. Every history
is brought to `SHARE` percent of its size; a compaction is due from half of it on.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.peers import table
from benchmarks.peers.histories import BUNDLED, History, from_file, made_up
from benchmarks.peers.judge import Bench, refused
from benchmarks.peers.peer import dump_turns
from benchmarks.peers.roster import ROSTER, Row
from benchmarks.peers.table import Result

SHARE = 13
SECONDS_MAX = 1_800
"""Of one step of one row."""
MESSAGES_QUICK = 120
QUIET = {
    "DO_NOT_TRACK": "1",
    "HEADROOM_OFFLINE": "1",
    "HEADROOM_TELEMETRY": "0",
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOG": "ERROR",
    "LOG_LEVEL": "ERROR",
    "OPENHANDS_SUPPRESS_BANNER": "1",
    "OTEL_SDK_DISABLED": "true",
    "PYTHONWARNINGS": "ignore",
}
"""For the libraries: no network, no telemetry, no log."""


def goal_of(history: History) -> dict[str, Any]:
    """What a row is asked for on a history, as `worker` reads it."""
    return {
        "name": history.name,
        "turns": dump_turns(history.turns),
        "tokens": history.tokens,
        "target": history.tokens * SHARE // 100,
        "due": history.tokens // 2,
    }


def surroundings() -> dict[str, str]:
    """The environment of a row: quiet, and with the vocabulary that litellm ships, so that none is downloaded."""
    found = find_spec("litellm")
    places = found.submodule_search_locations if found is not None else None
    shipped = Path(places[0]) / "litellm_core_utils" / "tokenizers" if places else Path()
    vocabulary = {"TIKTOKEN_CACHE_DIR": str(shipped)} if shipped.is_dir() and places else {}
    return {**os.environ, **QUIET, **vocabulary}


def step(name: str, row: Row, goals: Sequence[dict[str, Any]], *, seconds: float) -> dict[str, Any]:
    """One step of a row in its process; {"error": why} where it gave no answer."""
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "given.json", Path(folder) / "answer.json"
        given.write_text(json.dumps(goals), encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks.peers.worker", name, row.name, str(given), str(answer)]
        try:
            done = subprocess.run(
                command,
                env=surroundings(),
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"error": f"{name}: not done after {seconds:g} s"}
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
            return {"error": f"{name}: {lines[-1]}"}
        found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        return found


def run(row: Row, speed: History, benches: Sequence[Bench], *, seconds: float) -> Result | str:
    """A row from beginning to end; text that says why it was skipped."""
    if why := row.missing():
        return why
    judged = () if row.speed_only else benches
    goals = [goal_of(history) for history in (speed, *[bench.history for bench in judged])]
    fitted = step("fit", row, goals, seconds=seconds)
    if "error" in fitted:
        return str(fitted["error"])
    if missing := [goal["name"] for goal in goals if fitted[goal["name"]] is None]:
        return f"declined to compact {', '.join(missing)}"
    cost = step("measure", row, [goals[0] | {"keep": fitted[speed.name]["keep"]}], seconds=seconds)
    if "error" in cost:
        return str(cost["error"])
    verdicts = [
        bench.judge(fitted[bench.history.name]["messages"], fitted[bench.history.name]["asked"])
        for bench in judged
    ]
    plain = refused(speed, fitted[speed.name]["messages"])
    return Result(
        row=row,
        version=row.version(),
        cost=cost,
        tokens={goal["name"]: fitted[goal["name"]]["tokens"] for goal in goals},
        wanted={goal["name"]: goal["target"] for goal in goals},
        refused={
            speed.name: plain,
            **{b.history.name: (v.chat, v.anthropic) for b, v in zip(judged, verdicts, strict=True)},
        },
        verdicts=tuple(verdicts),
        read=_read([fitted[goal["name"]]["read"] for goal in goals[1:]]),
    )


def _read(pairs: Sequence[Sequence[int] | None]) -> tuple[int, int] | None:
    found = [pair for pair in pairs if pair is not None]
    return (sum(pair[0] for pair in found), sum(pair[1] for pair in found)) if found else None


def report(results: Sequence[Result], skipped: Sequence[str], histories: Sequence[History]) -> Iterator[str]:
    """All that is printed."""
    speed, *sessions = histories
    wanted = {history.name: history.tokens * SHARE // 100 for history in sessions}
    yield f"Python {platform.python_version()}, {os.cpu_count()} cores; every history to {SHARE} % of its size"
    yield f"speed: {len(speed.turns):,} messages, {speed.tokens:,} tokens"
    for session in sessions:
        yield f"session: {session.name}, {len(session.turns):,} messages, {session.tokens:,} tokens"
    yield ""
    yield from table.table(results)
    if any(result.over for result in results):
        yield f"\n{table.OVER} a result is larger than wanted: the library cannot be told to go further"
    for title, lines in (
        ("skipped", [f"- {line}" for line in skipped]),
        ("first in each column", list(table.firsts(results))),
        ("refused", list(table.refusals(results))),
        ("by session", list(table.details(results, wanted))),
    ):
        if lines:
            yield f"\n{title}:\n"
            yield from lines


def main(argv: Sequence[str]) -> None:
    """Measure, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", default=[str(path) for path in BUNDLED], help="session files")
    parser.add_argument("--only", action="append", default=[], help="rows whose name holds this text")
    parser.add_argument("--seconds", type=float, default=SECONDS_MAX, help="limit of one step of one row")
    parser.add_argument("--quick", action="store_true", help="a short conversation: shows that it runs")
    given = parser.parse_args(argv)
    speed = made_up(MESSAGES_QUICK) if given.quick else made_up()
    sessions = [from_file(path) for path in given.files]
    benches = [Bench(session) for session in sessions]
    results: list[Result] = []
    skipped: list[str] = []
    for row in ROSTER:
        if given.only and not any(text.lower() in row.name.lower() for text in given.only):
            continue
        print(f"bench: {row.name}", file=sys.stderr)
        done = run(row, speed, benches, seconds=given.seconds)
        if isinstance(done, str):
            skipped.append(f"{row.name}: {done}")
        else:
            results.append(done)
    print(*report(results, skipped, [speed, *sessions]), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
