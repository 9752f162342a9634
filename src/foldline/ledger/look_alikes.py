"""Rows of data in a text: many lines, or objects of a list, that differ in nothing but words and numbers.

The last ones of each look stand for all; a table of a thousand rows is asked for again by its name, not by its rows.
A row that may report a failure looks like no other row. Knows nothing of facts; `found_in_text` reads what is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

ROWS_MAX = 40
"""Rows of one look kept of one text. With 64, and nearly with 32, all the numbers, paths and failures are found that
are found without a bound in the transcripts of agents."""

_WORDS = bytes(byte for byte in range(256) if byte >= 128 or chr(byte).isalnum())
_FAILURES = ("error", "fail", "denied", "timed out", "错误", "失败")
"""What rows hold that report a failure and otherwise look like those that report none."""


def rows_of(text: str, opened: str) -> tuple[list[str], list[str]]:
    """The rows of `text` and those of `opened`, which is as long, without all but the last of each look; one and the same
    list where both are one text. Each object of a list is a row."""
    same = opened is text
    if opened.count("},") > ROWS_MAX:
        opened = opened.replace("},", "},\n")
        text = opened if same else text.replace("},", "},\n")
    rows = opened.split("\n")
    kept = _kept(rows, opened) if len(rows) > ROWS_MAX else None
    read = rows if kept is None else [rows[number] for number in kept]
    if same:
        return read, read
    starts = list(accumulate([len(row) + 1 for row in rows], initial=0))
    numbers = range(len(rows)) if kept is None else kept
    return [text[starts[number] : starts[number + 1] - 1] for number in numbers], read


def read_whole(rows: Sequence[str]) -> Iterator[str]:
    """Rows in pieces that lose none: a ledger is rows that look alike, and each was chosen."""
    for start in range(0, len(rows), ROWS_MAX):
        yield "\n".join(rows[start : start + ROWS_MAX])


def _kept(rows: Sequence[str], opened: str) -> list[int] | None:
    """The numbers of the rows to keep, in order; `None` for all. What may report a failure is counted apart."""
    looks = opened.encode(errors="surrogatepass").translate(None, _WORDS).split(b"\n")
    kept, others = _last_of_each(range(len(rows)), looks)
    if not others:
        return None
    left = "\n".join([rows[number] for number in others]).lower()
    if cues := [cue for cue in _FAILURES if cue in left]:
        failures = [
            number
            for number, row in zip(others, left.split("\n"), strict=True)
            if any([cue in row for cue in cues])
        ]
        kept += _last_of_each(failures, looks)[0]
    return sorted(kept)


def _last_of_each(numbers: Sequence[int], looks: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """Those of rows that are among the last of their look, and the others, in order."""
    counts = Counter(map(looks.__getitem__, numbers))
    if max(counts.values(), default=0) <= ROWS_MAX:
        return list(numbers), []
    room = dict.fromkeys(counts, ROWS_MAX)
    kept: list[int] = []
    most = sum([min(count, ROWS_MAX) for count in counts.values()])
    for number in reversed(numbers):
        if room[look := looks[number]]:
            room[look] -= 1
            kept.append(number)
            if len(kept) == most:
                break
    is_kept = set(kept)
    return kept[::-1], [number for number in numbers if number not in is_kept]
