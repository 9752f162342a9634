"""One calm line a request, for a person who watches: what was asked, how much of it was sent, what was saved.

    14:02:11  claude-sonnet-5  ~182,410 → 61,022  fold  cache 97 %  2,310 ms
    14:02:15  gpt-5            4,120              as it came        840 ms

A number behind `~` is an estimate; others are the provider's count. A line is as wide as the terminal and no wider: names are
shortened first, and what went wrong goes on below where it does not fit.

Pure: a record in, a line out. Nothing of what was said is in it.
"""

from __future__ import annotations

import textwrap
from typing import Final

from foldline.proxy.meters import Record

CLOCK_CHARS: Final = 8
TOKENS_CHARS: Final = 20
CACHE_CHARS: Final = 11
MS_CHARS: Final = 10
MODEL_CHARS_MAX: Final = 24
MODEL_CHARS_MIN: Final = 8
DONE_CHARS_MAX: Final = 26
WIDE_COLUMNS: Final = 96
"""From here on there is room for two blanks between the columns."""
COLUMNS: Final = 100
INDENT: Final = " " * (CLOCK_CHARS + 2)


def line(record: Record, *, clock: str, columns: int = COLUMNS) -> str:
    """The line of a request that has ended; with more below it where what went wrong does not fit."""
    gap = "  " if columns >= WIDE_COLUMNS else " "
    rest = columns - CLOCK_CHARS - TOKENS_CHARS - CACHE_CHARS - MS_CHARS - 5 * len(gap)
    told = _printable(_done(record))
    done = max(min(DONE_CHARS_MAX, rest // 2), min(len(told), rest - MODEL_CHARS_MIN))
    model = min(MODEL_CHARS_MAX, rest - done)
    pieces = [
        clock,
        f"{_clipped(_printable(_name(record)), model):<{model}}",
        f"{_tokens(record):>{TOKENS_CHARS}}",
    ]
    cache = _cache(record) if record.tokens_sent else ""
    pieces += [
        f"{_clipped(told, done):<{done}}",
        f"{cache:<{CACHE_CHARS}}",
        f"{record.ms:>{MS_CHARS - 3},} ms",
    ]
    whole = gap.join(pieces).rstrip()
    trouble = _printable("  ".join(_trouble(record)))
    if not trouble:
        return whole
    one = f"{whole}{gap}{trouble}"
    return one if len(one) <= columns else f"{whole}\n{below(trouble, columns=columns)}"


def below(text: str, *, columns: int = COLUMNS) -> str:
    """What is said of a request beneath its line."""
    return textwrap.fill(_printable(text), columns, initial_indent=INDENT, subsequent_indent=INDENT)


def _clipped(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1]}…"


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
        return f"{' '.join([record.outcome, record.tier]).strip()} to ~{record.tokens_would_send:,}"
    if record.outcome in ("edited", "recovered"):
        return " ".join([record.outcome, record.tier]).strip()
    return record.outcome


def _cache(record: Record) -> str:
    return f"cache {record.tokens_cached * 100 // record.tokens_sent} %"


def _trouble(record: Record) -> list[str]:
    told = [str(record.status)] if record.status >= 400 or not record.status else []
    if record.is_cut:
        told.append("cut off")
    return [*told, *([f"({record.why})"] if record.why else [])]
