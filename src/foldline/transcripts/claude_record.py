"""The lines of a Claude Code session file as records, and where to begin reading them.

Owns what a line is: the keys the tree needs are typed, the message keeps its bytes, everything else is passed over.
Knows nothing of branches (`claude_tree`) or of content (`claude_code`).
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from foldline.transcripts.source import START, BadLines, Mark, Source
from foldline.wire import slices, strict

BOUNDARY: Final = b"compact_boundary"
NOTHING: Final = Raw(b"")


class Record(Struct, gc=False):
    """One line, as far as the tree needs it; `message` keeps its bytes."""

    type: str = ""
    uuid: str | None = None
    parentUuid: str | None | UnsetType = UNSET
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


_record = msgspec.json.Decoder(Record).decode
_PLAIN: Final = tuple(
    name
    for name in Record.__struct_encode_fields__
    if name not in ("message", "compactMetadata") and name[0] != " "
)


def last_boundary(source: Source) -> Mark | None:
    """The start of the last compaction boundary of the main conversation, found from the end of the input."""
    for mark in source.marks_back(BOUNDARY):
        record = decode_line(source.line_at(mark.offset))
        if isinstance(record, Record) and record.is_boundary and not record.isSidechain:
            return mark
    return None


def decode_line(line: bytes) -> Record | str:
    """The record of a line, or why it cannot be read."""
    try:
        return _record(line)
    except msgspec.ValidationError as error:
        return f"an unexpected record: {error}"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _second_reading(line)


def _second_reading(line: bytes) -> Record | str:
    """A record with lone surrogate escapes in it, which msgspec refuses and real logs hold."""
    try:
        strict.loads(line)
        fields = slices.fields(line)
        known = {key: strict.parse(bytes(fields[key])) for key in _PLAIN if key in fields}
        record = msgspec.convert(known, Record)
    except ValueError as error:  # BadJson and msgspec's errors are such
        return str(error)
    record.message = fields.get("message", NOTHING)
    record.compactMetadata = fields.get("compactMetadata", NOTHING)
    return record


def decode(source: Source, start: Mark | None, bad: BadLines, end: int | None = None) -> list[Record]:
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
