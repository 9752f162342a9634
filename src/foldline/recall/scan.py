"""The scan: search without an index, for a Python whose SQLite has none, and for what has no word in it (`=>`, an arrow).

Reads the logs from their beginning and keeps the newest matches; about a hundred times as slow as the index, and bounded.
Counterpart: `foldline.recall.rank`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.entry import Entry
from foldline.core.errors import SessionCorrupt
from foldline.core.message import Message
from foldline.log.lineage import Ancestor
from foldline.log.said import time_of
from foldline.recall.entries import message_of, note_calls
from foldline.recall.rank import Ranked
from foldline.recall.rows import Filters, Row
from foldline.recall.texts import Said, said_in
from foldline.recall.words import Query, bare, pattern_of

BYTES_MAX: Final = 512 << 20
"""Bytes of logs that one search reads."""
ROWS_MAX: Final = 200
"""Newest matches that are kept."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What is looked for."""

    query: Query
    literal: str
    """Where the query has no word: itself, as it was written."""
    filters: Filters


class Scanned(Struct, kw_only=True):
    """What a scan found, and how much of its bound is left."""

    newest: deque[Row]
    notes: list[str]
    """What was not searched, for a person."""
    left: int

    @property
    def found(self) -> list[Ranked]:
        """The newest first."""
        return [Ranked(row=row, weight=1.0, length=1.0, exact=True) for row in reversed(self.newest)]


def scan(sessions: Iterable[Sequence[Ancestor]], wanted: Wanted, *, is_one: bool) -> Scanned:
    """Parts that hold every phrase. `sessions`: the logs of each, asked for one after the other; `is_one`: a fork's messages from before it are wanted
    too, else they are found in their own session."""
    scanned = Scanned(newest=deque(maxlen=ROWS_MAX), notes=[], left=BYTES_MAX)
    for logs in sessions:
        ordinal, calls = 0, dict[str, str]()
        for log in logs:
            looks = is_one or log is logs[-1]
            for entry in _messages(log, scanned):
                message = message_of(entry)
                if message is not None and looks:
                    rows = _rows(message, entry, ordinal=ordinal, calls=calls, wanted=wanted)
                    scanned.newest.extend(replace(row, session=log.name) for row in rows)
                if message is not None:
                    note_calls(calls, message)
                ordinal += 1
        if scanned.left < 0:
            scanned.notes.append(
                f"only the first {BYTES_MAX:,} bytes of the logs were searched, since there is no index"
            )
            break
    return scanned


def _messages(log: Ancestor, scanned: Scanned) -> Iterator[Entry]:
    """The messages of a log, as long as the bound allows."""
    try:
        for entry in log.pages.entries():
            scanned.left -= entry.size
            if scanned.left < 0 or (log.byte is not None and entry.offset >= log.byte):
                return
            if entry.kind == "message":
                yield entry
    except SessionCorrupt as error:
        scanned.notes.append(f"{log.name}: {error}; what stands before it was searched")


def _rows(
    message: Message, entry: Entry, *, ordinal: int, calls: dict[str, str], wanted: Wanted
) -> Iterator[Row]:
    time = time_of(entry, message)
    for said in said_in(message, calls):
        if _passes(said, wanted.filters, time=time) and _holds(said.text, wanted):
            yield Row(
                id=0,
                session="",
                ordinal=ordinal,
                slot=said.slot,
                role=said.role,
                kind=said.kind,
                tool=said.tool,
                time_ms=time,
                offset=entry.offset,
                size=len(said.text),
                digest=said.digest,
            )


def _passes(said: Said, filters: Filters, *, time: int | None) -> bool:
    kinds = {filters.kind, "error"} if filters.kind == "result" else {filters.kind}
    return (
        filters.role in (None, said.role)
        and (filters.kind is None or said.kind in kinds)
        and filters.tool in (None, said.tool)
        and (filters.since_ms is None or (time is not None and time >= filters.since_ms))
        and (filters.until_ms is None or (time is not None and time <= filters.until_ms))
    )


def _holds(text: str, wanted: Wanted) -> bool:
    if not wanted.query.phrases:
        return wanted.literal in text
    looked = bare(text)
    return all(pattern_of(phrase).search(looked) for phrase in wanted.query.phrases)
