"""What the proxy has done, in numbers: one record a request, and totals since the start.

Records hold counts and names, never content. Times come in as values. Counterparts: `foldline.proxy.lines`, which prints a record,
and `foldline.proxy.pages`, which serve the totals.
"""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

WHY_MAX = 64
"""Reasons that are counted each by itself; each is a series for whoever scrapes them."""
OTHERS = "others"
UNKEPT_MAX = 20
"""So many requests of a format in a row that passed as none of ours: then something is wrong with what is read of it, however
healthy the rest looks (headroomlabs-ai/headroom#3561)."""

Outcome: TypeAlias = Literal["as it came", "edited", "would edit", "recovered", "failed open", "refused"]


class Record(Struct, kw_only=True):
    """One request, as far as it has come."""

    method: str
    path: str
    format: str = ""
    model: str = ""
    session: str = ""
    outcome: Outcome = "as it came"
    why: str = ""
    """Why it was none of ours, or what went wrong."""
    cause: str = ""
    """What the provider refused, where it was sent once more."""
    output_cap: str = ""
    """What was done to the output cap, where it was lowered."""
    status: int = 0
    tokens_in: int = 0
    """Of what the client sent: what went up, and an estimate of what was taken out of it."""
    tokens_sent: int = 0
    """Of what went up: by the provider's own count where it gave one, else estimated."""
    is_counted: bool = False
    """True where the provider gave its count."""
    tokens_would_send: int = 0
    """Of what would have gone up, had `--observe` not left it as it came: an estimate."""
    tokens_cached: int = 0
    tokens_output: int = 0
    passes: tuple[str, ...] = ()
    """What the policy did for this request."""
    is_compaction: bool = False
    summary_requests: int = 0
    """Asked of the upstream beside it, for summaries."""
    summary_failures: int = 0
    """Attempts at one that came to nothing."""
    summary_tokens: int = 0
    """What those requests cost, input and output, as far as the provider said."""
    recalls: int = 0
    """Answers in which the model looked something up."""
    notes: tuple[str, ...] = ()
    """What a person should know: a history that the server cuts in silence, a summary that came to nothing."""
    ms: int = 0
    is_cut: bool = False
    """The answer broke off, on either side."""

    @property
    def tier(self) -> str:
        """What was done for it, in a word or two."""
        return "+".join(self.passes)

    @property
    def told(self) -> str:
        """What a person should know of it beside that: what was changed that is no message, and what went wrong."""
        return "; ".join(filter(None, (self.output_cap, self.why)))


class Meters:
    """Totals since the start. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._passed: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._unkept: Counter[str] = Counter()
        """Of each format the conversations in a row that could not be kept."""
        self._on_their_way = 0

    def begun(self) -> None:
        """A request came."""
        with self._lock:
            self._on_their_way += 1

    def ended(self, record: Record, *, is_conversation: bool = False) -> None:
        """It was answered, or given up. Where none of its format could be kept for long, the record gets a note of it, once."""
        with self._lock:
            if is_conversation:
                self._check(record)
            self._on_their_way -= 1
            self._outcomes[record.outcome] += 1
            self._statuses[f"{record.status // 100}xx" if record.status else "none"] += 1
            if record.why:
                is_known = record.why in self._passed or len(self._passed) < WHY_MAX
                self._passed[record.why if is_known else OTHERS] += 1
            counts = self._counts
            counts["requests"] += 1
            counts["compactions"] += record.is_compaction
            counts["answers_cut"] += record.is_cut
            for key in SUMMED:
                counts[key] += getattr(record, key)

    def _check(self, record: Record) -> None:
        if not record.why:
            self._unkept[record.format] = 0
            return
        self._unkept[record.format] += 1
        if self._unkept[record.format] == UNKEPT_MAX:
            note = f"none of the last {UNKEPT_MAX} requests of {record.format} could be kept ({record.why})"
            record.notes = (*record.notes, note)

    def told(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        with self._lock:
            counts = {key: self._counts[key] for key in COUNTS}
            return {
                **counts,
                "tokens_saved": counts["tokens_in"] - counts["tokens_sent"],
                "on_their_way": self._on_their_way,
                "outcomes": dict(self._outcomes),
                "statuses": dict(self._statuses),
                "why": dict(self._passed),
                "kept": {format: count < UNKEPT_MAX for format, count in self._unkept.items()},
            }


SUMMED = (
    "recalls",
    "summary_requests",
    "summary_failures",
    "summary_tokens",
    "tokens_in",
    "tokens_sent",
    "tokens_cached",
    "tokens_output",
)
COUNTS = ("requests", "compactions", "answers_cut", *SUMMED)


def as_json(record: Record) -> dict[str, Any]:
    """A record as a line of JSON has it."""
    why = "; ".join(filter(None, (record.cause, record.told)))
    return {"schema": "foldline.proxy/1", **asdict(record), "why": why}
