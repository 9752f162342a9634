"""Rows of data in a text: many lines, or objects of a list, that differ in nothing but words and numbers.

The last ones of each look stand for all; a table of a thousand rows is asked for again by its name, not by its rows.
A row that may report a failure looks like no other row. Knows nothing of facts; `found_in_text` reads what is left.
"""

from __future__ import annotations

from itertools import accumulate

ROWS_MAX = 48
"""Rows of one look kept of one text. With 64, and nearly with 32, all the numbers, paths and failures are found that
are found without a bound in the transcripts of agents."""

_WORDS = bytes(byte for byte in range(256) if byte >= 128 or chr(byte).isalnum())
_FAILURES = tuple(
    cue.encode()
    for cue in "err fail fatal exception panic denied refused found timed cannot killed exit 错误 失败".split()
)
_MARK = b"\0"


def without_look_alikes(text: str, opened: str) -> tuple[str, str]:
    """`text` and `opened` without all but the last rows of each look, row for row and character for character the
    same places. Both may get line ends between the objects of a list."""
    same = opened is text
    if opened.count("},") > ROWS_MAX:
        opened = opened.replace("},", "},\n")
        text = opened if same else text.replace("},", "},\n")
    if opened.count("\n") < ROWS_MAX:
        return text, opened
    rows = opened.split("\n")
    kept = _last_of_each(_looks(opened))
    if len(kept) == len(rows):
        return text, opened
    opened = "\n".join([rows[number] for number in kept])
    if same:
        return opened, opened
    starts = list(accumulate((len(row) + 1 for row in rows), initial=0))
    return "\n".join([text[starts[number] : starts[number + 1] - 1] for number in kept]), opened


def _looks(text: str) -> list[bytes]:
    """What is left of each line without its words and numbers."""
    raw = text.encode(errors="surrogatepass").lower()
    for cue in _FAILURES:
        if cue in raw:
            raw = raw.replace(cue, _MARK)
    return raw.translate(None, _WORDS).split(b"\n")


def _last_of_each(looks: list[bytes]) -> list[int]:
    kept: list[int] = []
    counts: dict[bytes, int] = {}
    for number in range(len(looks) - 1, -1, -1):
        count = counts[looks[number]] = counts.get(looks[number], 0) + 1
        if count <= ROWS_MAX:
            kept.append(number)
    return kept[::-1]
