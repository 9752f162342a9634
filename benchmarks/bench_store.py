"""What a log on disk costs: appending to it, opening one that has grown, packing it away, proving it whole.

    python -m benchmarks.bench_store [--quick]

An append without sync may cost at most `APPEND_RATIO_MAX` times a bare encode and write of the same record; opening a log
of 200 MB for writing and reading its newest entries at most `OPEN_RATIO_MAX` times the same at 2 MB, packed away or not. The
bytes of a log are at most `GROWTH_MAX` times those of what was put in.
"""

from __future__ import annotations

import os
import tempfile
import time
from itertools import islice
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.measure import Bound, cpu_medians, is_quick, milliseconds, verdict
from foldline.core.entry import Draft
from foldline.stores.disk import DiskStore
from foldline.stores.disk_log import DiskJournal
from foldline.verify import verify

APPEND_RATIO_MAX = 3.0
OPEN_RATIO_MAX = 1.5
GROWTH_MAX = 1.2
SIZES = (2 << 20, 200 << 20)
NEWEST = 200
"""Entries read after opening, as a session does from its last checkpoint on."""
OPENINGS = 15
APPENDS = 2_000
TEXT = "Read the failing test, then the module it covers, and say what has to change. " * 12
"""About a kilobyte."""


def main() -> None:
    """Print the figures; exit 1 when a ratio is broken."""
    quick = is_quick()
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        bounds = [*_appending(Path(folder), quick=quick), *_opening(Path(folder), quick=quick)]
    verdict(bounds, quick=quick)


def _message(number: int) -> dict[str, object]:
    return {"format": "anthropic", "wire": {"role": "user", "content": f"{number}: {TEXT}"}}


def _appending(folder: Path, *, quick: bool) -> list[Bound]:
    journal = DiskStore(folder).create("append", format="anthropic", about=b"{}")
    bare = os.open(folder / "bare.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append() -> None:
        for number in range(APPENDS):
            body = msgspec.json.encode(_message(number))
            journal.append([Draft(kind="message", body=body)], sync=False)

    def encode_and_write() -> None:
        for number in range(APPENDS):
            record = {
                "seq": number,
                "kind": "message",
                "time": time.time_ns() // 10**6,
                "body": _message(number),
            }
            os.write(bare, msgspec.json.encode(record) + b"\n")

    names = {"append without sync": append, "bare encode and write": encode_and_write}
    each = {name: seconds / APPENDS for name, seconds in cpu_medians(names, quick=quick).items()}
    put_in = sum(len(entry.body) for entry in journal.entries())
    growth = journal.extent.end / put_in
    journal.close()
    os.close(bare)
    milliseconds({f"{name}, {len(TEXT):,} characters": seconds for name, seconds in each.items()})
    ours, floor = each.values()
    return [
        Bound("append without sync ÷ bare encode and write", ours / floor, most=APPEND_RATIO_MAX),
        Bound("bytes of the log ÷ bytes put in", growth, most=GROWTH_MAX),
    ]


def _opening(folder: Path, *, quick: bool) -> list[Bound]:
    sizes = tuple(size // (20 if quick else 1) for size in SIZES)
    store = DiskStore(folder)
    for size in sizes:
        for packed in (False, True):
            _grow(store, _name(size, packed=packed), size=size, packed=packed)
    bounds: list[Bound] = []
    for packed in (False, True):
        small, large = (_median_opening(store, _name(size, packed=packed), quick=quick) for size in sizes)
        what = "packed" if packed else "as appended"
        milliseconds({f"open, newest {NEWEST} entries, {sizes[1] >> 20} MB {what}": large})
        name = f"open at {sizes[1] >> 20} MB ÷ at {max(sizes[0] >> 20, 1)} MB, {what}"
        bounds.append(Bound(name, large / small, most=OPEN_RATIO_MAX))
    start = time.perf_counter()
    if verify(_name(sizes[1], packed=True), home=folder).state != "clean":
        raise AssertionError("a sound log is not clean")
    print(f"verify: {sizes[1] / (time.perf_counter() - start) / 1e6:,.0f} MB/s")
    return bounds


def _name(size: int, *, packed: bool) -> str:
    return f"s{size}{'-packed' if packed else ''}"


def _grow(store: DiskStore, name: str, *, size: int, packed: bool) -> None:
    journal = store.create(name, format="anthropic", about=b"{}")
    draft = Draft(kind="message", body=msgspec.json.encode(_message(1)))
    while journal.extent.end < size:
        journal.append([draft] * 100, sync=False)
    if packed:
        _pack(journal)
    for _ in range(NEWEST // 2):
        journal.append([draft], sync=False)
    journal.close()


def _pack(journal: DiskJournal) -> None:
    begin, start = journal.active.start, time.perf_counter()
    if why := journal.archive():
        raise AssertionError(why)
    moved = journal.active.start - begin
    print(f"pack {moved >> 20} MB away: {moved / (time.perf_counter() - start) / 1e6:,.0f} MB/s")


def _median_opening(store: DiskStore, name: str, *, quick: bool) -> float:
    taken = []
    for _ in range(3 if quick else OPENINGS):
        start = time.thread_time()
        journal = store.write(name)
        newest = list(islice(journal.back(), NEWEST))
        journal.close()
        taken.append(time.thread_time() - start)
        if len(newest) != NEWEST:
            raise AssertionError("entries are missing")
    return median(taken)


if __name__ == "__main__":
    main()
