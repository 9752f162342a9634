"""Logs in memory: a store for sessions that end with the process, and the second implementation of the port.

Keeps the very bytes a file would hold, so that what holds of one store holds of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches

from msgspec import Struct

from foldline.core.entry import Draft, Entry
from foldline.core.errors import (
    CLOSED,
    SessionBusy,
    SessionCorrupt,
    SessionExists,
    SessionFailed,
    UnknownSession,
)
from foldline.core.naming import check_name
from foldline.log.lines import (
    Damage,
    Header,
    Place,
    append_lines,
    header_line,
    line_again,
    read_entry,
    read_header,
)


class _Log(Struct, kw_only=True):
    """One session's bytes."""

    data: bytearray
    header: Header
    start: int
    """Where the entries begin."""
    seq: int = 0
    """The number of the next entry."""
    writer: MemoryJournal | None = None


class MemoryPages:
    """`foldline.core.ports.Pages` over bytes in memory, up to where they ended when it was made."""

    torn = ""

    def __init__(self, log: _Log) -> None:
        self._log, self._end = log, len(log.data)

    @property
    def format(self) -> str:
        return self._log.header.format

    @property
    def about(self) -> bytes:
        return self._log.header.body

    def entry(self, offset: int) -> Entry:
        stop = self._log.data.find(b"\n", offset, self._end)
        if stop < 0:
            raise SessionCorrupt(offset, "the log ends before that; take an offset from the log itself")
        line = bytes(self._log.data[offset:stop])
        try:
            return read_entry(line, seq=None, crc=self._log.header.crc, offset=offset)
        except Damage as damage:
            raise SessionCorrupt(offset, str(damage)) from damage

    def entries(self, offset: int = 0) -> Iterator[Entry]:
        at = max(offset, self._log.start)
        while at < self._end:
            entry = self.entry(at)
            yield entry
            at += entry.size

    def back(self) -> Iterator[Entry]:
        at = self._end
        while at > self._log.start:
            at = self._log.data.rfind(b"\n", 0, at - 1) + 1
            yield self.entry(at)

    def close(self) -> None:
        """Nothing is held open."""


class MemoryJournal(MemoryPages):
    """`foldline.core.ports.Journal` over bytes in memory."""

    def __init__(self, name: str, log: _Log, *, clock: Callable[[], int | None]) -> None:
        super().__init__(log)
        self._name, self._clock = name, clock

    def append(self, drafts: Sequence[Draft], *, sync: bool = True) -> tuple[Entry, ...]:
        log = self._log
        if log.writer is not self:
            raise SessionFailed(self._name, CLOSED)
        place = Place(seq=log.seq, offset=self._end, time_ms=self._clock())
        data, made = append_lines(drafts, place=place, crc=log.header.crc)
        log.data += data
        log.seq, self._end = log.seq + len(made), len(log.data)
        return made

    def sync(self) -> None:
        """Memory is as durable as it gets."""

    packed = 0

    def archive(self) -> str:
        """Memory has nothing to pack away to."""
        return ""

    def close(self) -> None:
        if self._log.writer is self:
            self._log.writer = None


class MemoryStore:
    """`foldline.core.ports.Store` in memory. `clock`: Unix time in milliseconds for new entries; `None`: none."""

    def __init__(self, clock: Callable[[], int | None] = lambda: None) -> None:
        self._logs: dict[str, _Log] = {}
        self._clock = clock

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._logs))

    def create(self, name: str, *, format: str, about: bytes) -> MemoryJournal:
        if check_name(name) in self._logs:
            raise SessionExists(name)
        first = header_line(format=format, body=about)
        self._logs[name] = _Log(data=bytearray(first), header=read_header(first[:-1]), start=len(first))
        return self.write(name)

    def write(self, name: str) -> MemoryJournal:
        log = self._of(name)
        if log.writer is not None:
            raise SessionBusy(name, "another part of this program")
        log.writer = MemoryJournal(name, log, clock=self._clock)
        return log.writer

    def read(self, name: str) -> MemoryPages:
        return MemoryPages(self._of(name))

    def rewrite(
        self, name: str, change: Callable[[Entry], bytes | None], *, more: Sequence[Draft] = ()
    ) -> int:
        log = self._of(name)
        if log.writer is not None:
            raise SessionBusy(name, "another part of this program")
        changed = 0
        for entry in list(MemoryPages(log).entries()):
            body = change(entry)
            if body is None:
                continue
            line = line_again(entry, body, crc=log.header.crc)
            log.data[entry.offset : entry.offset + entry.size] = line
            changed += 1
        journal = self.write(name)
        journal.append(more)
        journal.close()
        return changed

    def remove(self, name: str) -> None:
        if self._of(name).writer is not None:
            raise SessionBusy(name, "another part of this program")
        del self._logs[name]

    def _of(self, name: str) -> _Log:
        log = self._logs.get(check_name(name))
        if log is None:
            raise UnknownSession(name, tuple(get_close_matches(name, self._logs, n=1)))
        return log
