"""What starting costs: `foldline --help`, and a whole compaction of a real session from the command line.

    python -m benchmarks.bench_start [--quick]

Wall time of whole processes, in turns. Help may take `HELP_MAX` times as long as an interpreter that imports click and
msgspec and nothing else. A compaction is held against an interpreter that imports what it needs and counts one text:
most of that is loading the vocabulary of the tokenizer.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.measure import Bound, is_quick, milliseconds, verdict

HELP_MAX = 2.0
TURNS, TURNS_QUICK = 15, 1
SESSION = Path(__file__).parent.parent / "examples" / "session.jsonl"
FOLDLINE = [sys.executable, "-c", "from foldline.cli.main import main; main()"]
COUNT = "import msgspec, click, rich, toktok; toktok.batch_count(['one text'], 'o200k_base', 1)"


def main() -> None:
    """Print the figures; exit 1 when the ratio is broken."""
    quick = is_quick()
    session = SESSION
    commands = {
        "an interpreter with click and msgspec": [sys.executable, "-c", "import click, msgspec"],
        "foldline --help": [*FOLDLINE, "--help"],
        "an interpreter that counts one text": [sys.executable, "-c", COUNT],
        "foldline compact": [*FOLDLINE, "compact", str(session), "--to", "20k", "-o", "-"],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(TURNS_QUICK if quick else TURNS):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            taken[name].append(time.perf_counter() - start)
    medians = {name: median(seconds) for name, seconds in taken.items()}
    print(f"{session.name}: {session.stat().st_size / 1e3:,.0f} kB")
    milliseconds(medians)
    floor, help_page, count, compact = medians.values()
    bounds = [
        Bound("foldline --help ÷ an interpreter with click and msgspec", help_page / floor, most=HELP_MAX),
        Bound("foldline compact ÷ an interpreter that counts one text", compact / count, most=float("inf")),
    ]
    verdict(bounds, quick=quick)


if __name__ == "__main__":
    main()
