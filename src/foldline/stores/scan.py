"""Reading a log's lines out of bytes that need not be in memory: one by offset, forwards, backwards, and where it ends.

Knows where lines begin and end and how much to read for one; what a line must look like is `foldline.log.lines`'s, where
the bytes lie the source's. Memory: one chunk and one line. A line's length is believed only after its beginning was
recognised, so that no more is read for nonsense than a chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.entry import Entry
from foldline.core.errors import SessionCorrupt
from foldline.log.lines import (
    HOLE,
    PREFIX_BYTES_MAX,
    Damage,
    announced,
    half_words,
    hole_words,
    judge_tail,
    read_entry,
)

CHUNK_BYTES: Final = 1 << 16
"""Read at a time when going through a log."""
ENTRY_BYTES: Final = 1 << 13
"""Read at first for one entry."""


class Source(Protocol):
    """Bytes of a whole log."""

    def read(self, size: int, *, at: int) -> bytes:
        """Up to `size` bytes from this byte of the whole log on; fewer at its end alone."""
        ...

    def floor(self, stop: int) -> int:
        """Where the file begins that holds the byte before `stop`. A line begins there too."""
        ...


class Extent(Struct, frozen=True, kw_only=True):
    """Which bytes of a source are entries, and what holds of all of them."""

    start: int
    """Where the first entry begins."""
    end: int
    """Where the last one ends."""
    seq: int
    """The number of the first one."""
    crc: int
    """The checksum every line's goes on from."""


class End(Struct, frozen=True, kw_only=True):
    """How a log ends."""

    end: int
    """Where its last whole append ends; a writer goes on from here."""
    last: Entry | None
    """The entry before that; `None`: there is none."""
    torn: str = ""
    """What an interrupted append left behind it, for a person."""


def entry_at(source: Source, offset: int, *, extent: Extent) -> Entry:
    """The entry whose line begins at `offset`. Raises `SessionCorrupt`."""
    if not extent.start <= offset < extent.end:
        raise SessionCorrupt(
            offset,
            f"entries stand from byte {extent.start:,} up to {extent.end:,}; take an offset from the log",
        )
    data = _load(source, offset, end=extent.end, size=ENTRY_BYTES)
    return _entry(data[: data.index(b"\n")], seq=None, crc=extent.crc, offset=offset)


def forward(source: Source, offset: int, *, extent: Extent) -> Iterator[Entry]:
    """Entries from `offset` on, oldest first; their numbers must follow each other. Raises `SessionCorrupt`."""
    at = base = max(offset, extent.start)
    buffer, seq = b"", extent.seq if at == extent.start else None
    while at < extent.end:
        stop = buffer.find(b"\n", at - base)
        if stop < 0:
            buffer, base = _load(source, at, end=extent.end, size=CHUNK_BYTES), at
            stop = buffer.index(b"\n")
        entry = _entry(buffer[at - base : stop], seq=seq, crc=extent.crc, offset=at)
        yield entry
        at, seq = at + entry.size, entry.seq + 1


def backward(source: Source, *, extent: Extent) -> Iterator[Entry]:
    """Entries from the newest to the oldest; their numbers must follow each other. Raises `SessionCorrupt`."""
    stop = base = floor = extent.end
    buffer, seq = b"", None
    while stop > extent.start:
        if stop == floor:
            floor = max(source.floor(stop), extent.start)
        if (cut := _feed_before(buffer, stop - 1 - base)) < 0 and base > floor:
            base = max(floor, stop - CHUNK_BYTES)
            buffer = source.read(stop - base, at=base)
            cut = _feed_before(buffer, stop - 1 - base)
        if cut >= 0 or base == floor:
            begin = base + cut + 1
            line = buffer[begin - base : stop - base]
        else:
            begin = line_before(source, base, start=floor)
            line = _load(source, begin, end=stop, size=CHUNK_BYTES)
        if len(line) != stop - begin:
            raise SessionCorrupt(begin, "the line is not as long as it says")
        entry = _entry(line[:-1], seq=seq, crc=extent.crc, offset=begin)
        if begin == extent.start and entry.seq != extent.seq:
            raise SessionCorrupt(begin, f"the first entry has number {entry.seq}, not {extent.seq}")
        yield entry
        stop, seq = begin, entry.seq - 1


def find_end(source: Source, *, extent: Extent) -> End:
    """How the log ends that may go on up to `extent.end`; costs a chunk and the last append. Raises `SessionCorrupt` when
    its last line is damaged."""
    solid = _before_nuls(source, extent=extent)
    end = line_before(source, solid, start=extent.start)
    head = source.read(min(PREFIX_BYTES_MAX, solid - end), at=end)
    state, detail = judge_tail(head, extent.end - solid, first=False, size=solid - end)
    if state == "corrupt":
        raise SessionCorrupt(end, detail)
    try:
        last, half = _last_append(source, extent=replace(extent, end=end))
    except SessionCorrupt as damage:
        if not _has_hole(source, damage.offset, end=end):
            raise
        end, detail = damage.offset, hole_words(end - damage.offset)
        last, half = _last_append(source, extent=replace(extent, end=end))
    if half:
        end, detail = half[-1].offset, half_words(len(half), half[0].more)
    return End(end=end, last=last, torn=detail)


def _has_hole(source: Source, offset: int, *, end: int) -> bool:
    """True when the last line, which begins at `offset`, has a sector of NUL bytes: no line is written with one, so its
    data had not all arrived when the power went, and it was never promised."""
    return line_before(source, end - 1, start=offset) == offset and HOLE in source.read(
        end - offset, at=offset
    )


def _last_append(source: Source, *, extent: Extent) -> tuple[Entry | None, list[Entry]]:
    """The last entry of the last whole append, and the entries after it, newest first."""
    half: list[Entry] = []
    for entry in backward(source, extent=extent):
        if entry.more != (half[-1].more + 1 if half else entry.more or -1):
            return entry, half
        half.append(entry)
    return None, half


def line_before(source: Source, stop: int, *, start: int) -> int:
    """Where the line begins that goes on at `stop`: after the last line feed before it."""
    while stop > start:
        base = max(start, stop - CHUNK_BYTES)
        cut = source.read(stop - base, at=base).rfind(b"\n")
        if cut >= 0:
            return base + cut + 1
        stop = base
    return start


def _before_nuls(source: Source, *, extent: Extent) -> int:
    """Where the NUL bytes at the end begin."""
    stop = extent.end
    while stop > extent.start:
        base = max(extent.start, stop - CHUNK_BYTES)
        if kept := len(source.read(stop - base, at=base).rstrip(b"\0")):
            return base + kept
        stop = base
    return stop


def _feed_before(buffer: bytes, stop: int) -> int:
    return buffer.rfind(b"\n", 0, stop) if stop > 0 else -1


def _load(source: Source, at: int, *, end: int, size: int) -> bytes:
    """Bytes from `at` on with one whole line at least. Raises `SessionCorrupt`."""
    data = source.read(min(size, end - at), at=at)
    if b"\n" in data:
        return data
    if len(data) < min(size, end - at):
        raise SessionCorrupt(at + len(data), "the file is shorter than it was")
    whole = announced(data[:PREFIX_BYTES_MAX])
    if whole is None:
        raise SessionCorrupt(at, "no entry begins there")
    if whole > end - at:
        raise SessionCorrupt(at, f"the entry would go on after the log's end at byte {end:,}")
    data += source.read(whole - len(data), at=at + len(data))
    if data.find(b"\n") != whole - 1:
        raise SessionCorrupt(at, "the line is not as long as it says")
    return data


def _entry(line: bytes, *, seq: int | None, crc: int, offset: int) -> Entry:
    try:
        return read_entry(line, seq=seq, crc=crc, offset=offset)
    except Damage as damage:
        raise SessionCorrupt(offset, str(damage)) from damage
