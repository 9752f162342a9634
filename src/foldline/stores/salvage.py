"""What is sound of a damaged log, as a log again.

Reads only. What cannot be read is replaced by entries of the very same length with the same numbers, so that every offset,
ordinal and reference of the rest stays good: a message says that it was damaged, anything else becomes an entry of kind
`lost`, which readers pass over. What follows the last sound entry is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.entry import Draft, Entry
from foldline.core.errors import SessionCorrupt
from foldline.log.lines import PREFIX_BYTES_MAX, Damage, announced, entry_line, line_again, read_entry
from foldline.log.values import members
from foldline.stores.scan import CHUNK_BYTES, Extent, forward
from foldline.stores.segments import Pieces

DAMAGED: Final = '{"format":"neutral","role":"user","parts":[{"part":"text","text":"⟦damaged: could not be read⟧"}]'.encode()
"""A message in the place of one that is lost, without its closing brace."""
_SHORTER: Final = tuple(
    f'{{"format":"neutral","role":"user","parts":[{parts}]'.encode()
    for parts in ('{"part":"text","text":"⟦damaged⟧"}', "")
)
"""The same where there is less room: every message keeps its ordinal, however short it was."""
LOST_BYTES_MAX: Final = 1 << 26
"""Longest range that is looked into for which entries stood there."""
_LINE: Final = re.compile(rb'\{"seq":\d{1,15},"kind":"([a-z][a-z_]{0,31})"')


class Gap(Struct, frozen=True, kw_only=True):
    """A range that could not be read, and which entries stood there."""

    offset: int
    size: int
    first: int
    """Number of the first lost entry."""
    count: int
    why: str


class Salvage:
    """The salvage of one log: `lines` gives it piece by piece, `gaps` says afterwards what is missing."""

    def __init__(self, source: Pieces, *, extent: Extent) -> None:
        self._source, self._extent = source, extent
        self.gaps: list[Gap] = []
        self.entries = 0
        """Sound entries found."""

    def lines(self) -> Iterator[bytes]:
        """The entries' lines, in order; what stands before them is the first line."""
        at, seq = self._extent.start, self._extent.seq
        while at < self._extent.end:
            try:
                for entry in forward(self._source, at, extent=replace(self._extent, start=at, seq=seq)):
                    _refuse_unreadable(entry)
                    yield self._line(entry)
                    at, seq = at + entry.size, entry.seq + 1
                return
            except SessionCorrupt as damage:
                why = damage.why
            found = self._next_sound(at, seq)
            if found is None:
                self.gaps.append(Gap(offset=at, size=self._extent.end - at, first=seq, count=0, why=why))
                return
            if (found.offset, found.seq) != (at, seq):
                size, count = found.offset - at, found.seq - seq
                self.gaps.append(Gap(offset=at, size=size, first=seq, count=count, why=why))
                yield from self._instead(at, size=size, numbers=range(seq, found.seq))
            yield self._line(found)
            at, seq = found.offset + found.size, found.seq + 1

    def _line(self, entry: Entry) -> bytes:
        self.entries += 1
        return line_again(entry, entry.body, crc=self._extent.crc)

    # ── finding what is sound ────────────────────────────────────────────────────────────────────────────────

    def _next_sound(self, at: int, seq: int) -> Entry | None:
        """The first sound entry from `at` on whose number is `seq` or a later one."""
        for offset in self._candidates(at):
            entry = self._entry(offset)
            if entry is not None and entry.seq >= seq:
                return entry
        return None

    def _candidates(self, at: int) -> Iterator[int]:
        """Where a line may begin."""
        yield at
        while at < self._extent.end:
            edge = self._source.edge(at)
            try:
                chunk = self._source.read(min(CHUNK_BYTES, edge - at), at=at)
            except SessionCorrupt:
                at = edge
                yield at
                continue
            yield from (at + match.end() for match in re.finditer(b"\n", chunk))
            at += max(len(chunk), 1)

    def _entry(self, offset: int) -> Entry | None:
        """The entry there, read no further than it goes; `None` when there is no sound one."""
        left = self._extent.end - offset
        try:
            size = announced(
                self._source.read(min(PREFIX_BYTES_MAX, left, self._source.edge(offset) - offset), at=offset)
            )
            if size is None or size > left:
                return None
            line = self._source.read(size, at=offset)
            entry = read_entry(line[:-1], seq=None, crc=self._extent.crc, offset=offset)
            _refuse_unreadable(entry)
            return entry
        except (SessionCorrupt, Damage):
            return None

    # ── what stands in the place of the rest ─────────────────────────────────────────────────────────────────

    def _instead(self, at: int, *, size: int, numbers: range) -> Iterator[bytes]:
        """Entries with these numbers, together of this size where they fit."""
        lines = self._lost_lines(at, size)
        if len(lines) == len(numbers):
            plan = [(_kind(line), len(line)) for line in lines]
        else:
            plan = [("lost", len(self._filled(seq, "lost", size=0))) for seq in numbers]
            if plan:
                plan[-1] = ("lost", size - sum(length for _, length in plan[:-1]))
        for seq, (kind, length) in zip(numbers, plan, strict=True):
            yield self._filled(seq, kind, size=length)

    def _lost_lines(self, at: int, size: int) -> list[bytes]:
        if size > LOST_BYTES_MAX:
            return []
        try:
            return self._source.read(size, at=at).splitlines(keepends=True)
        except SessionCorrupt:
            return []

    def _filled(self, seq: int, kind: str, *, size: int) -> bytes:
        """An entry whose line has this size, or the least it can have."""
        if kind == "message":
            for begin in (DAMAGED, *_SHORTER):
                for time_ms in (None, 0):
                    if line := self._padded(seq, kind, begin=begin, size=size, time_ms=time_ms):
                        return line
        return (
            self._padded(seq, "lost", size=size)
            or self._padded(seq, "lost_", size=size)
            or self._made(seq, "lost", body=b"{}", time_ms=None)
        )

    def _padded(
        self, seq: int, kind: str, *, size: int, begin: bytes = b"{", time_ms: int | None = None
    ) -> bytes | None:
        """A line of this very size; `None` when there is none, as where `len` needs one digit more."""
        room = size - len(self._made(seq, kind, body=begin + b"}", time_ms=time_ms))
        for pad in range(max(room - len(str(size)), 0), room + 1):
            line = self._made(seq, kind, body=begin + b" " * pad + b"}", time_ms=time_ms)
            if len(line) == size:
                return line
        return None

    def _made(self, seq: int, kind: str, *, body: bytes, time_ms: int | None) -> bytes:
        return entry_line(seq, Draft(kind=kind, body=body), crc=self._extent.crc, time_ms=time_ms)


def _refuse_unreadable(entry: Entry) -> None:
    """A line can be whole and say nothing. Raises `SessionCorrupt`."""
    try:
        members(entry.body)
    except ValueError as error:
        raise SessionCorrupt(entry.offset, f"the {entry.kind} cannot be read ({error})") from error


def _kind(line: bytes) -> str:
    """What the entry stays when it is replaced."""
    match = _LINE.match(line)
    return "message" if match is not None and match[1] == b"message" else "lost"
