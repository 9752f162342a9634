"""What reading a session file costs, in readings and splittings of its lines.

    python -m benchmarks.bench_read [--quick]

A Claude Code session of 100,000 lines (about 1.7 kB each, one live branch, no compaction) may take `READ_MAX` times as
long to read as reading the file and splitting it into lines takes, `COUNT_MAX` times with every token counted. A pi
session is printed beside it. A session whose last compaction is near its end is read from there, in less than one
splitting of the whole. Memory: the peak while reading against what stays, for JSON Lines and for one JSON document.

Every measurement has a process of its own, since what a heap went through before decides what its next pages cost.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.histories import chat_history
from benchmarks.measure import Bound, is_quick, memory_of, verdict
from benchmarks.sessions import write_claude_code, write_pi
from foldline import reading

LINES, LINES_QUICK = 100_000, 300
LINES_MEMORY = 20_000
"""Watching memory takes ten times as long; its ratios do not depend on the length."""
READ_MAX, COUNT_MAX = 6.0, 10.0
LIVE_MAX = 1.0
PEAK_MAX = 2.5
"""Peak while reading JSON Lines ÷ what the live context keeps."""
DOCUMENT_MAX = 3.0
"""Peak while reading one JSON document ÷ the size of the file."""
TURNS = 3

SPLIT = """
import sys, time
path, start = sys.argv[1], time.thread_time()
lines = open(path, "rb").read().split(b"\\n")
print(time.thread_time() - start)
"""
READ = """
import sys, time
from foldline import reading
from foldline.tokens.choose import counter_for
counter = counter_for()
counter.text("warm")
reading.read(sys.argv[2])
start = time.thread_time()
[transcript] = reading.read(sys.argv[1])
read = time.thread_time()
counter.weights_of(transcript.messages)
print(read - start, time.thread_time() - start)
"""


def main() -> None:
    """Print the figures; exit 1 when a ratio is broken."""
    quick = is_quick()
    lines = LINES_QUICK if quick else LINES
    bounds = []
    with tempfile.TemporaryDirectory() as folder:
        warm, path = Path(folder, "warm.jsonl"), Path(folder, "session.jsonl")
        write_claude_code(warm, 100)
        for name, write in (("Claude Code", write_claude_code), ("pi", write_pi)):
            write(path, lines)
            split, read, count = _timed(path, warm, turns=1 if quick else TURNS)
            size = path.stat().st_size
            print(f"{name}: {lines:,} lines, {size / 1e6:.1f} MB, {size / lines:,.0f} bytes a line")
            print(f"  read and split {split:.3f} s   read {read:.3f} s   read and count {count:.3f} s")
            asserted = name == "Claude Code"
            most = (READ_MAX, COUNT_MAX) if asserted else (float("inf"), float("inf"))
            bounds.append(Bound(f"{name}: read ÷ read and split", read / split, most=most[0]))
            bounds.append(Bound(f"{name}: read and count ÷ read and split", count / split, most=most[1]))
        write_claude_code(path, lines, boundary_at=lines - lines // 50)
        split, read, _ = _timed(path, warm, turns=1 if quick else TURNS)
        print(f"last compaction in the last fiftieth: read {read:.3f} s, read and split {split:.3f} s")
        bounds.append(Bound("from the last compaction on ÷ read and split", read / split, most=LIVE_MAX))
        bounds += _memory(path, lines=LINES_QUICK if quick else LINES_MEMORY)
    verdict(bounds, quick=quick)


def _timed(path: Path, warm: Path, *, turns: int) -> tuple[float, float, float]:
    """Seconds to split, to read, and to read and count: medians."""
    split, read = [], []
    for _ in range(turns):
        split.append(_run(SPLIT, path)[0])
        read.append(_run(READ, path, warm))
    return median(split), median([r[0] for r in read]), median([r[1] for r in read])


def _run(program: str, *paths: Path) -> list[float]:
    done = subprocess.run([sys.executable, "-c", program, *map(str, paths)], check=True, capture_output=True)
    return [float(word) for word in done.stdout.split()]


def _memory(path: Path, *, lines: int) -> list[Bound]:
    write_claude_code(path, lines)
    peak, kept = memory_of(lambda: reading.read(str(path)))
    print(
        f"memory: {path.stat().st_size / 1e6:.1f} MB of lines, peak {peak / 1e6:.1f} MB, kept {kept / 1e6:.1f} MB"
    )
    bounds = [Bound("JSON Lines: peak ÷ what stays", peak / kept, most=PEAK_MAX)]
    path.write_bytes(json.dumps({"messages": chat_history(lines // 4)}, ensure_ascii=False).encode())
    size = path.stat().st_size
    peak, _ = memory_of(lambda: reading.read(str(path)))
    print(f"memory: {size / 1e6:.1f} MB in one document, peak {peak / 1e6:.1f} MB")
    return [*bounds, Bound("one JSON document: peak ÷ its size", peak / size, most=DOCUMENT_MAX)]


if __name__ == "__main__":
    main()
