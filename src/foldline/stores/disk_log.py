"""One session's log on disk: its pages, its journal, and the rewriting of its bodies.

Owns what an append is made of and when it counts. Who may open a log, and its folder and lock, is
`foldline.stores.disk`'s.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from foldline.core.entry import Draft, Entry
from foldline.core.errors import CLOSED, SessionCorrupt, SessionFailed
from foldline.log.lines import Header, Place, append_lines, header_line, line_again, segment_line
from foldline.stores.archive import FILE_BYTES_MAX, ArchivePiece, Kept, MissingPiece, Stored, counting, packed
from foldline.stores.fs import File, Fs, Lock, Mode
from foldline.stores.packing import best_packing, packing_of
from foldline.stores.salvage import Salvage
from foldline.stores.scan import End, Extent, backward, entry_at, find_end, forward, line_before
from foldline.stores.segments import ActivePiece, Piece, Pieces, first_line

LOG: Final = "log.jsonl"
NEW: Final = "new.jsonl"
ARCHIVE: Final = "archive"
BESIDE: Final = ".new"
"""Ends the name of a file that is to take the place of one of the archive."""
COMMIT: Final = "commit"
"""An empty file that says that all new files are whole."""
INTERRUPTED: Final = "an append was interrupted"
COPY_BYTES: Final = 1 << 20
"""Copied at a time when a log is rewritten."""


class LogFolder:
    """Where one session's files are."""

    def __init__(self, fs: Fs, *, name: str, path: str) -> None:
        self.fs, self.name, self.path = fs, name, path

    def file(self, name: str) -> str:
        """The path of a file in it."""
        return f"{self.path}/{name}"

    def archived(self) -> tuple[str, ...]:
        """The names of the files in its archive."""
        try:
            return self.fs.names(self.file(ARCHIVE))
        except FileNotFoundError:
            return ()

    def pieces_before(self, end: int) -> tuple[Piece, ...]:
        """What the archive holds before the active segment, which begins at `end`."""
        pieces: list[Piece] = []
        kept: Kept = {}
        at = 0
        for stored in counting(self.archived(), end=end):
            if at < stored.start:
                pieces.append(MissingPiece(at, end=stored.start))
            path = self.file(f"{ARCHIVE}/{stored.name}")
            pieces.append(ArchivePiece(self.fs, path, stored=stored, kept=kept))
            at = stored.end
        if at < end:
            pieces.append(MissingPiece(at, end=end))
        return tuple(pieces)

    def pack(self, data: Iterable[bytes], stored: Stored) -> None:
        """Put a range of the log into the archive, in the place of what has that name: read back and compared, and on
        disk when this returns."""
        self.pack_beside(data, stored)
        self.fs.replace(self.file(_beside(stored)), self.file(f"{ARCHIVE}/{stored.name}"))
        self.fs.sync_folder(self.file(ARCHIVE))

    def pack_beside(self, data: Iterable[bytes], stored: Stored) -> None:
        """Pack a range of the log into a file beside the one of that name, read back and compared."""
        new = _beside(stored)
        self._remove(ARCHIVE, stored.name + BESIDE)
        packing = packing_of(stored.suffix, stored.name)
        write_all(self, new, data=packed(data, start=stored.start, packing=packing))
        if not ArchivePiece(self.fs, self.file(new), stored=stored).is_sound():
            raise OSError(errno.EIO, "what was put into the archive reads back differently")

    def settle(self) -> None:
        """After an interruption: new files that were committed take their places, all others go, since nothing of them
        counts."""
        if COMMIT in self.fs.names(self.path):
            self._take_places()
        self.clear_leftovers()

    def clear_leftovers(self) -> None:
        """Take away new files that were not committed."""
        self._remove("", NEW)
        for name in self.archived():
            if name.endswith(BESIDE):
                self._remove(ARCHIVE, name)

    def _commit(self) -> None:
        """All new files are whole, and take their places: from the first sync on an interruption changes nothing of that."""
        if self.archived():
            self.fs.sync_folder(self.file(ARCHIVE))
        self.fs.sync_folder(self.path)
        write_all(self, COMMIT, data=())
        self.fs.sync_folder(self.path)
        self._take_places()

    def _take_places(self) -> None:
        new = [name for name in self.archived() if name.endswith(BESIDE)]
        for name in new:
            self.fs.replace(
                self.file(f"{ARCHIVE}/{name}"), self.file(f"{ARCHIVE}/{name.removesuffix(BESIDE)}")
            )
        if new:
            self.fs.sync_folder(self.file(ARCHIVE))
        if NEW in self.fs.names(self.path):
            self.fs.replace(self.file(NEW), self.file(LOG))
        self.fs.sync_folder(self.path)
        self.fs.remove(self.file(COMMIT))
        self.fs.sync_folder(self.path)  # a later new file must not be found beside it

    def clear_archive(self, *, end: int) -> None:
        """Take away what in the archive does not count, where the active segment begins at `end`: an interruption left it,
        and whoever wants words forgotten wants them nowhere."""
        kept = {stored.name for stored in counting(self.archived(), end=end)}
        left = [name for name in self.archived() if name not in kept]
        for name in left:
            self.fs.remove(self.file(f"{ARCHIVE}/{name}"))
        if left:
            self.fs.sync_folder(self.file(ARCHIVE))

    def clear(self) -> None:
        """Take away everything beside log and lock."""
        self._remove("", COMMIT)
        self.clear_leftovers()
        if ARCHIVE in self.fs.names(self.path):
            for name in self.archived():
                self.fs.remove(self.file(f"{ARCHIVE}/{name}"))
            self.fs.remove_folder(self.file(ARCHIVE))

    def _remove(self, folder: str, name: str) -> None:
        path = f"{self.path}/{folder}" if folder else self.path
        with contextlib.suppress(FileNotFoundError):
            if name in self.fs.names(path):
                self.fs.remove(f"{path}/{name}")

    def rewrite(
        self, change: Callable[[Entry], bytes | None], *, more: Sequence[Draft] = (), time_ms: int | None
    ) -> int:
        """`foldline.core.ports.Store.rewrite`, with the lock held."""
        pages = DiskPages(self)
        try:
            self.clear_archive(end=pages.active.start)
            lines, last = [], -1
            for entry in pages.entries():
                last = entry.seq
                body = change(entry)
                if body is not None and body != entry.body:
                    lines.append((entry.offset, line_again(entry, body, crc=pages.extent.crc)))
            place = Place(seq=last + 1, offset=pages.active.end, time_ms=time_ms)
            appended, _ = append_lines(more, place=place, crc=pages.extent.crc)
            self._rewrite(pages, lines, appended=appended)
            return len(lines)
        finally:
            pages.close()

    def _rewrite(self, pages: DiskPages, lines: Sequence[tuple[int, bytes]], *, appended: bytes) -> None:
        """New files for the pieces that hold these lines, and then all of them at once in the place of the old."""
        active = pages.active
        changed = [piece for piece in pages.pieces if _holds(piece, lines)]
        for piece in changed:
            if isinstance(piece, ArchivePiece):
                self.pack_beside(overlaid(piece, lines), piece.stored)
        if active in changed or appended:
            # the first line of a later segment is no part of the whole log
            head = (active.head(),) if active.start else ()
            write_all(self, NEW, data=chain(head, overlaid(active, lines), (appended,)))
        if changed or appended:
            self._commit()


def _beside(stored: Stored) -> str:
    """The new file that is to take the place of one of the archive."""
    return f"{ARCHIVE}/{stored.name}{BESIDE}"


def _holds(piece: Piece, lines: Sequence[tuple[int, bytes]]) -> bool:
    """True when a piece has bytes of one of the lines."""
    return any(offset < piece.end and offset + len(line) > piece.start for offset, line in lines)


def overlaid(piece: Piece, lines: Sequence[tuple[int, bytes]]) -> Iterator[bytes]:
    """The bytes of a piece with other lines, sorted by offset, in the place of some; a line may reach over its ends."""
    at = piece.start
    for offset, line in lines:
        begin, stop = max(offset, piece.start), min(offset + len(line), piece.end)
        if begin < stop:
            yield from _range(piece, at, end=begin)
            yield line[begin - offset : stop - offset]
            at = stop
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
        self._closed = False
        self._file = log.fs.open(log.file(LOG), mode)
        with _closed_unless_done(self._file.close):
            self._load(first_line(self._file))

    def _load(self, header: Header) -> None:
        self._header = header
        self.active = ActivePiece(self._file, header)
        self.pieces: tuple[Piece, ...] = (*self._log.pieces_before(self.active.start), self.active)
        self._source = Pieces(self.pieces)
        self._damage: SessionCorrupt | None = None
        segment = Extent(start=self.active.first, end=self.active.end, seq=header.seq, crc=header.crc)
        try:
            found = find_end(self.active, extent=segment)
        except SessionCorrupt as damage:  # `entries` gives what is sound before it, and then says so
            self._damage, found = damage, End(end=segment.end, last=None)
        self._last, self._torn = found.last, found.torn
        self.active.end = found.end
        self._start = len(header_line(format=header.format, body=header.body))

    @property
    def extent(self) -> Extent:
        """Which bytes of the whole log are entries."""
        return Extent(start=self._start, end=self.active.end, seq=0, crc=self._header.crc)

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
        self._refuse_closed()
        return entry_at(self._source, offset, extent=self.extent)

    def entries(self, offset: int = 0) -> Iterator[Entry]:
        self._refuse_closed()
        return forward(self._source, offset, extent=self.extent)

    def back(self) -> Iterator[Entry]:
        self._refuse_closed()
        return backward(self._source, extent=self.extent)

    def salvage(self) -> tuple[bytes, Salvage]:
        """The first line of the whole log, and what is sound of the rest."""
        first = header_line(format=self._header.format, body=self._header.body)
        return first, Salvage(self._source, extent=self.extent)

    def close(self) -> None:
        """Let go of the files. What was never closed is when it is no longer used."""
        self._closed = True
        self._file.close()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise SessionFailed(self._log.name, CLOSED)


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
        self._broken = ""
        with _closed_unless_done(self._file.close):
            if self._damage is not None:
                raise self._damage
            log.clear_archive(end=self.active.start)
            if self._torn:
                self._cut(self.active.end)
                self._file.sync()
        self._seq = self._header.seq if self._last is None else self._last.seq + 1
        self._durable = self.active.end

    def hold(self, lock: Lock) -> None:
        """Take over the lock, until closed."""
        self._lock = lock

    def append(self, drafts: Sequence[Draft], *, sync: bool = True) -> tuple[Entry, ...]:
        self._check()
        end = self.active.end
        place = Place(seq=self._seq, offset=end, time_ms=self._clock())
        data, made = append_lines(drafts, place=place, crc=self._header.crc)
        self._broken = INTERRUPTED
        try:
            if made:
                put(self._file, data)
            self._broken = ""
        except OSError as error:
            raise self._failed(error) from error
        finally:
            if self._broken:  # after an interrupt, too
                self._give_up(end)
        self._seq += len(made)
        self.active.end = end + len(data)
        if sync:
            self.sync()
        return made

    def sync(self) -> None:
        self._check()
        if self._durable == self.active.end:
            return
        self._broken = INTERRUPTED
        try:
            self._file.sync()
            self._broken = ""
        except OSError as error:
            raise self._failed(error) from error
        finally:
            if self._broken:
                self._give_up(self._durable)
        self._durable = self.active.end

    def _failed(self, error: OSError) -> SessionFailed:
        """From here on nothing is taken, and nothing is tried again."""
        self._broken = error.strerror or str(error)
        return SessionFailed(self._log.name, self._broken)

    def _give_up(self, end: int) -> None:
        """Cut the log off at `end`, so that nothing is read from memory that may never have reached the disk. That may
        fail too; then the next to open the log judges its end."""
        with contextlib.suppress(OSError):
            self._cut(end)
        self.active.end = end

    def _cut(self, end: int) -> None:
        self._file.truncate(end - self._header.shift)

    @property
    def packed(self) -> int:
        return self.active.start

    def archive(self) -> str:
        self._check()
        self.sync()
        if self.active.end == self.active.first:
            return ""
        for _ in self.entries(self.active.first):
            pass  # each line is compared with its checksum
        try:
            self._pack()
            segment = segment_line(self._header, at=self.active.end, seq=self._seq)
            write_all(self._log, NEW, data=(segment,))
        except OSError as error:  # nothing of it counts yet: the log stands, and can be gone on with
            with contextlib.suppress(OSError):
                self._log.clear_leftovers()
                self._log.clear_archive(end=self.active.start)
            return error.strerror or str(error)
        self._broken = INTERRUPTED
        try:
            self._log.fs.replace(self._log.file(NEW), self._log.file(LOG))
            self._log.fs.sync_folder(self._log.path)
            self._go_on_in(self._log.fs.open(self._log.file(LOG), "append"))
            self._broken = ""
        except OSError as error:
            raise self._failed(error) from error
        return ""

    def _go_on_in(self, file: File) -> None:
        before, torn, self._file = self._file, self._torn, file
        before.close()
        self._load(first_line(file))
        self._torn = torn

    def _pack(self) -> None:
        self._log.fs.make_folder(self._log.file(ARCHIVE))
        self._log.fs.sync_folder(self._log.path)
        start = self.active.start
        while start < self.active.end:  # a file of the archive begins and ends with a line
            end = self.active.end
            if end - start > FILE_BYTES_MAX:
                end = line_before(self.active, start + FILE_BYTES_MAX, start=start)
            stored = Stored(start=start, end=end, suffix=best_packing().suffix)
            self._log.pack(_range(self.active, start, end=end), stored)
            start = end

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
        self._refuse_closed()
        if self._process != os.getpid():
            raise SessionFailed(self._log.name, "it was opened by the process this one is a copy of")
        if self._broken:
            raise SessionFailed(self._log.name, self._broken)
