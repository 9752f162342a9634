"""One session's log on disk: its pages, its journal, and the rewriting of its bodies.

Owns what an append is made of and when it counts. Who may open a log, and its folder and lock, is
`foldline.stores.disk`'s.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from foldline.core.entry import Draft, Entry
from foldline.core.errors import SessionCorrupt, SessionFailed
from foldline.log.lines import Header, Place, append_lines, header_line, line_again
from foldline.stores.fs import File, Fs, Lock, Mode
from foldline.stores.scan import End, Extent, backward, entry_at, find_end, forward
from foldline.stores.segments import ActivePiece, Piece, Pieces, first_line

LOG: Final = "log.jsonl"
NEW: Final = "new.jsonl"
ARCHIVE: Final = "archive"
COPY_BYTES: Final = 1 << 20
"""Copied at a time when a log is rewritten."""


class LogFolder:
    """Where one session's files are."""

    def __init__(self, fs: Fs, *, name: str, path: str) -> None:
        self.fs, self.name, self.path = fs, name, path

    def file(self, name: str) -> str:
        """The path of a file in it."""
        return f"{self.path}/{name}"

    def clear_leftovers(self) -> None:
        """Take away what an interruption left: nothing of it counts."""
        if NEW in self.fs.names(self.path):
            self.fs.remove(self.file(NEW))

    def clear(self) -> None:
        """Take away everything beside log and lock."""
        self.clear_leftovers()

    def rewrite(self, change: Callable[[Entry], bytes | None]) -> int:
        """`foldline.core.ports.Store.rewrite`, with the lock held."""
        pages = DiskPages(self)
        try:
            lines = {}
            for entry in pages.entries():
                body = change(entry)
                if body is not None and body != entry.body:
                    lines[entry.offset] = line_again(entry, body, crc=pages.extent.crc)
            if lines:
                write_all(self, NEW, data=_with(lines, pages.active))
                self.fs.replace(self.file(NEW), self.file(LOG))
                self.fs.sync_folder(self.path)
            return len(lines)
        finally:
            pages.close()


def _with(lines: dict[int, bytes], piece: ActivePiece) -> Iterator[bytes]:
    """The bytes of a segment's file with other lines in the place of some, by offset."""
    yield piece.head()
    at = piece.first
    for offset, line in sorted(lines.items()):
        yield from _range(piece, at, end=offset)
        yield line
        at = offset + len(line)
    yield from _range(piece, at, end=piece.end)


def _range(piece: Piece, at: int, *, end: int) -> Iterator[bytes]:
    while at < end:
        data = piece.read(min(COPY_BYTES, end - at), at=at)
        if not data:
            raise SessionCorrupt(at, "the file is shorter than it was")
        yield data
        at += len(data)


def write_all(log: LogFolder, name: str, *, data: Iterable[bytes]) -> None:
    """A new file with all of it, on disk when this returns (its name is not)."""
    file = log.fs.open(log.file(name), "new")
    try:
        for piece in data:
            put(file, piece)
        file.sync()
    finally:
        file.close()


def put(file: File, data: bytes) -> None:
    """Write all of it, in one call where the system takes it in one."""
    taken = file.write(data)
    rest = memoryview(data)[taken:]
    while rest:
        if not taken:
            raise OSError(errno.EIO, "the system takes no more bytes")
        taken = file.write(rest)
        rest = rest[taken:]


class DiskPages:
    """`foldline.core.ports.Pages` over a session's files, up to where the log ended when it was made."""

    def __init__(self, log: LogFolder, *, mode: Mode = "read") -> None:
        self._log = log
        self._file = log.fs.open(log.file(LOG), mode)
        with _closed_unless_done(self._file.close):
            self._load(first_line(self._file))

    def _load(self, header: Header) -> None:
        self._header = header
        self.active = ActivePiece(self._file, header)
        self._source = Pieces([self.active])
        self._damage: SessionCorrupt | None = None
        segment = Extent(start=self.active.first, end=self.active.end, seq=header.seq, crc=header.crc)
        try:
            found = find_end(self.active, extent=segment)
        except SessionCorrupt as damage:  # `entries` gives what is sound before it, and then says so
            self._damage, found = damage, End(end=segment.end, last=None)
        self._last, self._torn = found.last, found.torn
        start = len(header_line(format=header.format, body=header.body))
        self.extent = replace(segment, start=start, end=found.end, seq=0)

    @property
    def format(self) -> str:
        return self._header.format

    @property
    def about(self) -> bytes:
        return self._header.body

    @property
    def torn(self) -> str:
        return self._torn

    def entry(self, offset: int) -> Entry:
        return entry_at(self._source, offset, extent=self.extent)

    def entries(self, offset: int = 0) -> Iterator[Entry]:
        return forward(self._source, offset, extent=self.extent)

    def back(self) -> Iterator[Entry]:
        return backward(self._source, extent=self.extent)

    def close(self) -> None:
        """Let go of the files. What was never closed is when it is no longer used."""
        self._file.close()


@contextlib.contextmanager
def _closed_unless_done(close: Callable[[], None]) -> Iterator[None]:
    done = False
    try:
        yield
        done = True
    finally:
        if not done:
            close()


class DiskJournal(DiskPages):
    """`foldline.core.ports.Journal` over a session's files."""

    def __init__(self, log: LogFolder, *, clock: Callable[[], int | None]) -> None:
        super().__init__(log, mode="append")
        self._clock, self._process = clock, os.getpid()
        self._lock: Lock | None = None
        self._closed, self._broken = False, ""
        with _closed_unless_done(self._file.close):
            if self._damage is not None:
                raise self._damage
            if self.extent.end < self.active.end:
                self._file.truncate(self.extent.end - self._header.shift)
                self._file.sync()
                self.active.end = self.extent.end
        self._seq = self._header.seq if self._last is None else self._last.seq + 1
        self._durable = self.extent.end

    def hold(self, lock: Lock) -> None:
        """Take over the lock, until closed."""
        self._lock = lock

    def append(self, drafts: Sequence[Draft], *, sync: bool = True) -> tuple[Entry, ...]:
        self._check()
        place = Place(seq=self._seq, offset=self.extent.end, time_ms=self._clock())
        data, made = append_lines(drafts, place=place, crc=self.extent.crc)
        with self._whole_or_broken(keep=self.extent.end):
            if made:
                put(self._file, data)
        self._seq += len(made)
        self._end_at(self.extent.end + len(data))
        if sync:
            self.sync()
        return made

    def sync(self) -> None:
        self._check()
        if self._durable == self.extent.end:
            return
        with self._whole_or_broken(keep=self._durable):
            self._file.sync()
        self._durable = self.extent.end

    def close(self) -> None:
        if self._closed:
            return
        ours = self._process == os.getpid()
        try:
            if ours and not self._broken:
                self.sync()
        finally:
            self._closed = True
            self._file.close()
            if self._lock is not None:
                self._lock.release()

    def _check(self) -> None:
        if self._closed:
            raise SessionFailed(self._log.name, "it was closed")
        if self._process != os.getpid():
            raise SessionFailed(self._log.name, "it was opened by the process this one is a copy of")
        if self._broken:
            raise SessionFailed(self._log.name, self._broken)

    @contextlib.contextmanager
    def _whole_or_broken(self, *, keep: int) -> Iterator[None]:
        """Whatever ends this early ends the journal. The log is cut off at `keep`, so that nothing is read from memory
        that may never have reached the disk; that may fail too, and then the next to open the log judges its end."""
        self._broken = "an append was interrupted"
        try:
            yield
            self._broken = ""
        except OSError as error:
            self._broken = error.strerror or str(error)
            raise SessionFailed(self._log.name, self._broken) from error
        finally:
            if self._broken:
                with contextlib.suppress(OSError):
                    self._file.truncate(keep - self._header.shift)
                self._end_at(keep)

    def _end_at(self, end: int) -> None:
        self.active.end = end
        self.extent = replace(self.extent, end=end)
