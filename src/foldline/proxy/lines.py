"""One calm line a request, for a person who watches: what was asked, how much of it was sent, what was saved.

    14:02:11  claude-sonnet-5  ~182,410 → 61,022  fold  cache 97 %  2,310 ms
    14:02:15  gpt-5            4,120              as it came        840 ms

A number behind `~` is an estimate; others are the provider's count.

Pure: a record in, a line out. Nothing of what was said is in it.
"""

from __future__ import annotations

from foldline.proxy.meters import Record

MODEL_CHARS: int = 24


def line(record: Record, *, clock: str) -> str:
    """The line of a request that has ended."""
    pieces = [clock, f"{_name(record):<{MODEL_CHARS}}", f"{_tokens(record):>20}", f"{_done(record):<22}"]
    pieces.append(f"{_cache(record):<11}" if record.tokens_sent else " " * 11)
    pieces.append(f"{record.ms:>8,} ms")
    return _printable("  ".join([*pieces, *_trouble(record)])).rstrip()


def _printable(text: str) -> str:
    """One line, whatever a request calls its model: nothing in it ends the line or steers a terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _name(record: Record) -> str:
    name = record.model or f"{record.method} {record.path.partition('?')[0]}"
    return name if len(name) <= MODEL_CHARS else f"{name[: MODEL_CHARS - 1]}…"


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
