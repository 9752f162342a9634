"""One calm line a request, for a person who watches: what was asked, how much of it was sent, what was saved.

    14:02:11  claude-sonnet-5  ~182,410 → 61,022  fold  cache 97 %  2,310 ms
    14:02:15  gpt-5            4,120              as it came        840 ms

A number behind `~` is an estimate; others are the provider's count. A line is no wider than the terminal, in cells: names are
shortened first, and what went wrong goes on below where it does not fit; on a narrow terminal everything does.

Pure: a record in, a line out. Nothing of what was said is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size

from foldline.proxy.meters import Record

CLOCK_CELLS: Final = 8
TOKENS_CELLS: Final = 20
CACHE_CELLS: Final = 11
MS_CELLS: Final = 10
MODEL_CELLS_MAX: Final = 24
MODEL_CELLS_MIN: Final = 8
DONE_CELLS_MAX: Final = 26
WIDE_COLUMNS: Final = 96
"""From here on there is room for two blanks between the columns."""
COLUMNS: Final = 100
NARROW_COLUMNS: Final = 40
"""Below, nothing is indented."""
INDENT: Final = " " * (CLOCK_CELLS + 2)


def line(record: Record, *, clock: str, columns: int = COLUMNS) -> str:
    """The line of a request that has ended; with more below it where what went wrong does not fit, or nothing does."""
    gap = "  " if columns >= WIDE_COLUMNS else " "
    told, model, tokens = _printable(_done(record)), _printable(_name(record)), _tokens(record)
    cache = _cache(record) if record.tokens_sent else ""
    ms = f"{record.ms:,} ms"
    trouble = _printable("  ".join(_trouble(record)))
    tokens_cells, ms_cells = max(TOKENS_CELLS, len(tokens)), max(MS_CELLS, len(ms))
    rest = columns - CLOCK_CELLS - tokens_cells - CACHE_CELLS - ms_cells - 5 * len(gap)
    done_cells = max(min(DONE_CELLS_MAX, rest // 2), min(cell_len(told), rest - MODEL_CELLS_MIN))
    model_cells = min(MODEL_CELLS_MAX, rest - done_cells)
    if min(model_cells, done_cells) < MODEL_CELLS_MIN:
        said = [piece for piece in (clock, model, tokens, told, cache, ms) if piece]
        whole = _folded(said, columns)
        return f"{whole}\n{below(trouble, columns=columns)}" if trouble else whole
    model_cells += tokens_cells - len(tokens)  # what numbers leave of their column stands before them
    pieces = [
        clock,
        set_cell_size(_clipped(model, model_cells), model_cells),
        tokens,
        set_cell_size(_clipped(told, done_cells), done_cells),
        f"{cache:<{CACHE_CELLS}}",
        f"{ms:>{ms_cells}}",
    ]
    whole = gap.join(pieces).rstrip()
    if not trouble:
        return whole
    one = f"{whole}{gap}{trouble}"
    return one if cell_len(one) <= columns else f"{whole}\n{below(trouble, columns=columns)}"


def below(text: str, *, columns: int = COLUMNS) -> str:
    """What is said of a request beneath its line."""
    indent = INDENT if columns >= NARROW_COLUMNS else ""
    return indent + _folded(_printable(text).split(), columns, joint=" ", used=len(indent))


def _folded(pieces: Sequence[str], columns: int, *, joint: str = "  ", used: int = 0) -> str:
    """Pieces in as many rows as they need, those behind the first indented; one that no row has room for is clipped. `used`: cells of
    the first row that are taken."""
    indent = INDENT if columns >= NARROW_COLUMNS else ""
    rows, room = [""], columns - used
    for piece in pieces:
        own = _clipped(piece, max(1, columns - len(indent)))
        added = f"{joint}{own}" if rows[-1].strip() else own
        if cell_len(added) <= room:
            rows[-1], room = rows[-1] + added, room - cell_len(added)
        else:
            rows.append(indent + own)
            room = columns - len(indent) - cell_len(own)
    return "\n".join(row for row in rows if row)


def _clipped(text: str, cells: int) -> str:
    return text if cell_len(text) <= cells else f"{set_cell_size(text, cells - 1).rstrip()}…"


def _printable(text: str) -> str:
    """One line, whatever a request calls its model: nothing in it ends the line or steers a terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _name(record: Record) -> str:
    return record.model or f"{record.method} {record.path.partition('?')[0]}"


def _tokens(record: Record) -> str:
    if not record.tokens_sent:
        return ""
    sent = f"{record.tokens_sent:,}" if record.is_counted else f"~{record.tokens_sent:,}"
    is_one = record.tokens_in == record.tokens_sent
    return sent if is_one else f"~{record.tokens_in:,} → {sent}"


def _done(record: Record) -> str:
    if record.outcome == "would edit":
        to = f"to ~{record.tokens_would_send:,}" if record.tokens_would_send != record.tokens_in else ""
        return " ".join(filter(None, (record.outcome, record.tier, to)))
    if record.outcome == "recovered" and record.cause:
        return f"{record.outcome}: {', '.join(filter(None, (record.cause, record.tier)))}"
    if record.outcome in ("edited", "recovered"):
        return " ".join([record.outcome, record.tier]).strip()
    return record.outcome


def _cache(record: Record) -> str:
    return f"cache {record.tokens_cached * 100 // record.tokens_sent} %"


def _trouble(record: Record) -> list[str]:
    told = [str(record.status)] if record.status >= 400 or not record.status else []
    if record.is_cut:
        told.append("cut off")
    return [*told, *([f"({record.told})"] if record.told else [])]
