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


def without_look_alikes(text: str, opened: str) -> tuple[str, str]:
    """`text` and `opened` without all but the last rows of each look, row for row and character for character the
    same places. Both may get line ends between the objects of a list."""
    same = opened is text
    if opened.count("},") > ROWS_MAX:
        opened = opened.replace("},", "},\n")
        text = opened if same else text.replace("},", "},\n")
    if opened.count("\n") < ROWS_MAX:
        return text, opened
    looks = opened.encode(errors="surrogatepass").translate(None, _WORDS).split(b"\n")
    if max(Counter(looks).values()) <= ROWS_MAX:
        return text, opened
    rows = opened.split("\n")
    kept = _kept(rows, looks)
    opened = "\n".join([rows[number] for number in kept])
    if same:
        return opened, opened
    starts = list(accumulate((len(row) + 1 for row in rows), initial=0))
    return "\n".join([text[starts[number] : starts[number + 1] - 1] for number in kept]), opened


def read_whole(rows: Sequence[str]) -> Iterator[str]:
    """Rows in pieces that lose none: a ledger is rows that look alike, and each was chosen."""
    for start in range(0, len(rows), ROWS_MAX):
        yield "\n".join(rows[start : start + ROWS_MAX])


def _kept(rows: list[str], looks: list[bytes]) -> list[int]:
    """The numbers of the rows to keep, in order. What may report a failure is counted apart."""
    kept, others = _last_of_each(range(len(rows)), looks)
    left = "\n".join([rows[number] for number in others]).lower()
    if cues := [cue for cue in _FAILURES if cue in left]:
        rows = left.split("\n")
        failures = [
            number for number, row in zip(others, rows, strict=True) if any([cue in row for cue in cues])
        ]
        kept += _last_of_each(failures, looks)[0]
    return sorted(kept)


def _last_of_each(numbers: Sequence[int], looks: list[bytes]) -> tuple[list[int], list[int]]:
    """Those of rows that are among the last of their look, and the others, in order."""
    kept: list[int] = []
    others: list[int] = []
    counts: dict[bytes, int] = {}
    for number in reversed(numbers):
        look = looks[number]
        count = counts[look] = counts.get(look, 0) + 1
        (kept if count <= ROWS_MAX else others).append(number)
    return kept[::-1], others[::-1]
