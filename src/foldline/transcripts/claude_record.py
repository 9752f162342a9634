"""The lines of a Claude Code session file as records, and where to begin reading them.

Owns what a line is: the keys the tree needs are typed, the message keeps its bytes, everything else is passed over.
Knows nothing of branches (`claude_tree`) or of content (`claude_code`).
"""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, Raw, Struct, UnsetType, field

from foldline.transcripts.headers import header_of
from foldline.transcripts.source import START, BadLines, Mark, Source

BOUNDARY: Final = b"compact_boundary"
NOTHING: Final = Raw(b"")


class Record(Struct, gc=False):
    """One line, as far as the tree needs it; `message` keeps its bytes."""

    type: str = ""
    uuid: str | None = None
    parentUuid: str | UnsetType | None = UNSET
    logicalParentUuid: str | None = None
    sessionId: str | None = None
    timestamp: str | None = None
    subtype: str | None = None
    isSidechain: bool | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    compactMetadata: Raw = NOTHING
    message: Raw = NOTHING
    body: bytes = field(default=b"", name=" body")
    """The bytes of `message`, without the line around them. This and the next two no line can set."""
    number: int = field(default=0, name=" number")
    """Line number."""
    offset: int = field(default=0, name=" offset")
    """Byte offset of the line."""

    @property
    def is_boundary(self) -> bool:
        return self.subtype == "compact_boundary" and self.type == "system"

    @property
    def is_message(self) -> bool:
        return self.type == "user" or self.type == "assistant"


decode_line = header_of(Record)
"""The record of a line, or why it cannot be read."""


def last_boundary(source: Source) -> Mark | None:
    """The start of the last compaction boundary of the main conversation, found from the end of the input."""
    for mark in source.marks_back(BOUNDARY):
        record = decode_line(source.line_at(mark.offset))
        if isinstance(record, Record) and record.is_boundary and not record.isSidechain:
            return mark
    return None


def decode(source: Source, start: Mark | None, *, bad: BadLines, end: int | None = None) -> list[Record]:
    """Records from `start` on, up to byte `end`. Text of side chains is let go of once a main message was seen."""
    records: list[Record] = []
    main = False
    for number, offset, line in source.placed_lines(start or START):
        if end is not None and offset >= end:
            break
        record = decode_line(line)
        if isinstance(record, str):
            bad.add(number, record)
            continue
        record.number = number
        record.offset = offset
        if record.is_message and not (main and record.isSidechain):
            record.body = bytes(record.message)
            if not main and not record.isSidechain:
                main = True
        record.message = NOTHING  # the slice would keep the whole line alive
        records.append(record)
    return records
