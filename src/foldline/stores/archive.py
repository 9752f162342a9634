"""The archive of a log: older bytes of it, packed so that any of them can be read without the rest.

A file holds a range of the whole log and is named after it, `START-END.jsonl.gz` (or `.zst`): many members, each of at most
1 MiB of the log, and an index that other programs pass over. So `zcat archive/*.gz` gives the bytes back, in order, without
foldline. How a member is packed is `foldline.stores.packing`'s. A file is read back and compared before its source goes. Which ranges there are and when one is made is
`foldline.stores.disk_log`'s.
"""

from __future__ import annotations

import contextlib
import json
import re
import struct
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from msgspec import Struct

from foldline.core.errors import SessionCorrupt
from foldline.stores.fs import File, Fs
from foldline.stores.packing import BadBlock, Packing, packing_of

BLOCK_BYTES: Final = 1 << 20
"""Bytes of the log in one member."""
FILE_BYTES_MAX: Final = 1 << 31
"""Bytes of the log in one file; more than the longest line has."""
BLOCKS_KEPT: Final = 4
"""Unpacked members that a reader of a log keeps, of all its files together."""
NAME: Final = re.compile(r"(\d{15})-(\d{15})\.jsonl\.(gz|zst)", re.ASCII)
"""Start and end, bytes of the whole log, and how it is packed."""

_FOOT: Final = struct.Struct("<I4s")
"""How long the index is, and a mark, at its end."""
_MARK: Final = b"FLIX"
_INDEX_BYTES_MAX: Final = 65_000
"""Longest index; the extra field of gzip holds no more."""


class Index(Struct, frozen=True, kw_only=True):
    """What a file of the archive says of itself."""

    start: int
    end: int
    sizes: tuple[int, ...]
    """Packed bytes of each member, in order."""
    sha256: str
    """Of the bytes of the log in it."""


class Stored(Struct, frozen=True, kw_only=True):
    """A file of the archive, by its name."""

    start: int
    end: int
    suffix: str

    @property
    def name(self) -> str:
        """As it lies in the folder."""
        return f"{self.start:015d}-{self.end:015d}.jsonl.{self.suffix}"


def counting(names: Iterable[str], *, end: int) -> tuple[Stored, ...]:
    """The files that count, in order: from each byte the longest that does not pass `end`, where the active segment
    begins. What an interrupted archiving left beside them does not count."""
    found: dict[int, Stored] = {}
    for name in names:
        match = NAME.fullmatch(name)
        if match is not None and int(match[1]) < int(match[2]) <= end:
            file = Stored(start=int(match[1]), end=int(match[2]), suffix=match[3])
            if file.start not in found or file.end > found[file.start].end:
                found[file.start] = file
    out: list[Stored] = []
    for _, file in sorted(found.items()):
        if not out or file.start >= out[-1].end:
            out.append(file)
    return tuple(out)


def packed(data: Iterable[bytes], *, start: int, packing: Packing) -> Iterator[bytes]:
    """The bytes of a file that holds `data`, piece by piece."""
    import hashlib

    digest, sizes, length = hashlib.sha256(), [], 0
    for block in _blocks(data):
        digest.update(block)
        member = packing.pack(block)
        sizes.append(len(member))
        length += len(block)
        yield member
    index = {
        "archive": 1,
        "start": start,
        "end": start + length,
        "sizes": sizes,
        "sha256": digest.hexdigest(),
    }
    yield packing.beside(noted(index))


def noted(index: dict[str, Any]) -> bytes:
    """An index as it stands in a file."""
    said = json.dumps(index, separators=(",", ":")).encode()
    return said + _FOOT.pack(len(said), _MARK)


def _blocks(data: Iterable[bytes]) -> Iterator[bytes]:
    buffer = bytearray()
    for piece in data:
        buffer += piece
        while len(buffer) >= BLOCK_BYTES:
            yield bytes(buffer[:BLOCK_BYTES])
            del buffer[:BLOCK_BYTES]
    if buffer:
        yield bytes(buffer)


def read_index(file: File, stored: Stored, *, packing: Packing) -> Index:
    """The index of a file, which must be the one of this range. Raises `SessionCorrupt`."""
    size, tail = file.size(), packing.tail
    end = file.read(_INDEX_BYTES_MAX, at=max(0, size - _INDEX_BYTES_MAX))
    foot = len(end) - len(tail) - _FOOT.size
    try:
        length, mark = _FOOT.unpack_from(end, foot)
        told: Any = json.loads(end[foot - length : foot])
        index = Index(start=told["start"], end=told["end"], sizes=tuple(told["sizes"]), sha256=told["sha256"])
        whole = packing.beside(end[foot - length : len(end) - len(tail)])
        sound = mark == _MARK and end.endswith(whole) and _fits(index, size - len(whole))
    except (struct.error, ValueError, KeyError, TypeError, RecursionError):
        sound = False
    if not sound or (index.start, index.end) != (stored.start, stored.end):
        why = f"the archive {stored.name} has no sound index; `zcat` or `zstd -dc` may still read it"
        raise SessionCorrupt(stored.start, why)
    return index


def _fits(index: Index, packed_bytes: int) -> bool:
    """True when the numbers agree with each other and with the file."""
    length = index.end - index.start
    return (
        all(size > 0 for size in index.sizes)
        and len(index.sizes) == -(-length // BLOCK_BYTES)
        and sum(index.sizes) == packed_bytes
    )


Kept: TypeAlias = dict[int, bytes]
"""Blocks that a reader keeps, by the byte of the whole log at which they begin; the oldest first."""


class ArchivePiece:
    """A file of the archive, as a range of the whole log (`foldline.stores.segments.Piece`). The file is open only while
    it is read, since there may be many."""

    def __init__(self, fs: Fs, path: str, *, stored: Stored, kept: Kept | None = None) -> None:
        self._fs, self._path, self.stored = fs, path, stored
        self._kept: Kept = {} if kept is None else kept
        self.start, self.end = stored.start, stored.end
        self._index: Index | None = None

    def read(self, size: int, *, at: int) -> bytes:
        size = min(size, self.end - at)
        found = bytearray()
        while len(found) < size:
            number, skip = divmod(at + len(found) - self.start, BLOCK_BYTES)
            found += self._block(number)[skip : skip + size - len(found)]
        return bytes(found)

    def edge(self, at: int) -> int:
        """A block is readable or not."""
        return min(at - (at - self.start) % BLOCK_BYTES + BLOCK_BYTES, self.end)

    def is_sound(self) -> bool:
        """True when the file's bytes are those that were put in."""
        import hashlib

        digest = hashlib.sha256()
        for number in range(len(self._known().sizes)):
            digest.update(self._block(number))
        return digest.hexdigest() == self._known().sha256

    def _known(self) -> Index:
        if self._index is None:
            with _reading(self._fs, self._path, start=self.start) as file:
                self._index = read_index(file, self.stored, packing=self._packing())
        return self._index

    def _block(self, number: int) -> bytes:
        begin = self.start + number * BLOCK_BYTES
        if (block := self._kept.get(begin)) is not None:
            return block
        sizes = self._known().sizes
        with _reading(self._fs, self._path, start=self.start) as file:
            data = file.read(sizes[number], at=sum(sizes[:number]))
        block = self._unpack(data, number)
        while len(self._kept) >= BLOCKS_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[begin] = block
        return block

    def _unpack(self, data: bytes, number: int) -> bytes:
        """One member; never more of it than it may hold, whatever it says."""
        begin = self.start + number * BLOCK_BYTES
        expected = min(BLOCK_BYTES, self.end - begin)
        try:
            block = self._packing().unpack(data, expected)
        except BadBlock as error:
            raise SessionCorrupt(begin, f"a block of the archive cannot be unpacked: {error}") from error
        if len(block) != expected:
            raise SessionCorrupt(
                begin, f"a block of the archive does not hold the {expected:,} bytes it should"
            )
        return block

    def _packing(self) -> Packing:
        return packing_of(self.stored.suffix, self._path)


class MissingPiece:
    """A range of the whole log that no file holds. The rest can be read all the same."""

    def __init__(self, start: int, *, end: int) -> None:
        self.start, self.end = start, end

    def read(self, size: int, *, at: int) -> bytes:
        """Raises `SessionCorrupt`."""
        if size <= 0 or at >= self.end:
            return b""
        raise SessionCorrupt(
            self.start, f"the archive of the bytes up to {self.end:,} is missing; put it back"
        )

    def edge(self, at: int) -> int:
        """Nothing of it is readable."""
        return self.end


@contextlib.contextmanager
def _reading(fs: Fs, path: str, *, start: int) -> Iterator[File]:
    try:
        file = fs.open(path, "read")
    except FileNotFoundError as error:
        raise SessionCorrupt(start, "the archive that begins there was taken away") from error
    try:
        yield file
    finally:
        file.close()
