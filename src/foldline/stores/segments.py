"""The segments of a log as one run of bytes: the active file, and before it what an archive keeps.

Owns how offsets of the whole log become bytes of a file. What a segment's first line says is `foldline.log.lines`'s; how an
archive is packed is `foldline.stores.archive`'s.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Protocol

from foldline.core.errors import SessionCorrupt
from foldline.log.lines import Damage, Header, judge_tail, read_header
from foldline.stores.fs import File

HEADER_BYTES_MAX: Final = 1 << 20
"""Longest first line of a log, bytes."""
HEADER_BYTES_USUAL: Final = 1 << 12
"""Read of it at first."""


class Piece(Protocol):
    """A range of the whole log."""

    @property
    def start(self) -> int:
        """Its first byte."""
        ...

    @property
    def end(self) -> int:
        """The byte after its last."""
        ...

    def read(self, size: int, *, at: int) -> bytes:
        """Up to `size` bytes from this byte of the whole log on; fewer at its end alone."""
        ...

    def edge(self, at: int) -> int:
        """The byte up to which whatever makes this one unreadable may reach."""
        ...


def first_line(file: File) -> Header:
    """The header of a segment's file. Raises `SessionCorrupt`, and `UnknownFormat` for a later version."""
    data = file.read(HEADER_BYTES_USUAL, at=0)
    if b"\n" not in data:
        data += file.read(HEADER_BYTES_MAX - len(data), at=len(data))
    stop = data.find(b"\n")
    if stop < 0:
        state, detail = judge_tail(data.rstrip(b"\0"), 0, first=True)
        raise SessionCorrupt(
            0, f"the first line is not whole: {detail if state == 'torn' else 'no header of a log'}"
        )
    try:
        return read_header(data[:stop])
    except Damage as damage:
        raise SessionCorrupt(0, str(damage)) from damage


class ActivePiece:
    """The file that is written."""

    def __init__(self, file: File, header: Header) -> None:
        self._file, self._header = file, header
        self.start, self.end = header.at, file.size() + header.shift
        self.first = header.at or header.size
        """Where its first entry begins."""

    def head(self) -> bytes:
        """Its first line."""
        return self._file.read(self._header.size, at=0)

    def read(self, size: int, *, at: int) -> bytes:
        size = min(size, self.end - at)
        return self._file.read(size, at=at - self._header.shift) if size > 0 else b""

    def floor(self, stop: int) -> int:
        """Where the file begins that holds the byte before `stop`: this one."""
        return self.start

    def edge(self, at: int) -> int:
        """A file is readable or not."""
        return self.end


class Pieces:
    """Pieces, one after the other, as one run of bytes (`foldline.stores.scan.Source`). Raises `SessionCorrupt` where one
    does not begin where the one before it ends."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        for before, after in pairwise(pieces):
            if before.end != after.start:
                raise SessionCorrupt(
                    before.end, f"the log goes on at byte {after.start:,}; what is between is missing"
                )
        self._pieces, self._starts = tuple(pieces), [piece.start for piece in pieces]

    def read(self, size: int, *, at: int) -> bytes:
        found: list[bytes] = []
        index = max(bisect_right(self._starts, at) - 1, 0)
        for piece in self._pieces[index:]:
            data = piece.read(size, at=at)
            found.append(data)
            size, at = size - len(data), at + len(data)
            if size <= 0 or at < piece.end:
                break
        return found[0] if len(found) == 1 else b"".join(found)

    def floor(self, stop: int) -> int:
        """Where the piece begins that holds the byte before `stop`."""
        return self._starts[max(bisect_right(self._starts, stop - 1) - 1, 0)]

    def edge(self, at: int) -> int:
        """The byte up to which whatever makes this one unreadable may reach."""
        piece = self._pieces[max(bisect_right(self._starts, at) - 1, 0)]
        return max(piece.edge(at), at + 1)
