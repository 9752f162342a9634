"""How a block of an archive is packed: gzip, or zstandard where the extra `foldline[archive]` is installed.

Both are files of many members that any tool of their kind unpacks as one, and both can carry an index that such a tool passes
over. What is in the index and which bytes are a block is `foldline.stores.archive`'s.
"""

from __future__ import annotations

import struct
import zlib
from importlib.util import find_spec
from typing import Final, Protocol

from foldline.core.errors import InvalidOption
from foldline.core.foreign import installing


class BadBlock(ValueError):
    """A block that cannot be unpacked: why, for a person."""


class Packing(Protocol):
    """One way to pack."""

    @property
    def suffix(self) -> str:
        """What a file's name ends with."""
        ...

    @property
    def tail(self) -> bytes:
        """What a file ends with, after the index."""
        ...

    def pack(self, block: bytes) -> bytes:
        """A member."""
        ...

    def unpack(self, member: bytes, size: int) -> bytes:
        """What is in a member, never more than a byte beyond `size`. Raises `BadBlock`."""
        ...

    def beside(self, note: bytes) -> bytes:
        """`note` as something that unpacks to nothing, the end of a file."""
        ...


class Gzip:
    """RFC 1952. The index stands in the extra field of an empty last member."""

    suffix = "gz"
    tail = b"\x03\0" + bytes(8)
    _WINDOW: Final = 16 + zlib.MAX_WBITS
    _HEAD: Final = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff"
    _FIELD: Final = struct.Struct("<H2sH")

    def pack(self, block: bytes) -> bytes:
        packer = zlib.compressobj(6, zlib.DEFLATED, self._WINDOW)
        return packer.compress(block) + packer.flush()

    def unpack(self, member: bytes, size: int) -> bytes:
        unpacker = zlib.decompressobj(self._WINDOW)
        try:
            block = unpacker.decompress(member, size + 1)
        except zlib.error as error:
            raise BadBlock(str(error)) from error
        if not unpacker.eof or unpacker.unused_data:
            raise BadBlock("it does not end where it should")
        return block

    def beside(self, note: bytes) -> bytes:
        return self._HEAD + self._FIELD.pack(len(note) + 4, b"FL", len(note)) + note + self.tail


class Zstandard:
    """RFC 8878. The index stands in a skippable frame at the end."""

    suffix = "zst"
    tail = b""
    _SKIPPED: Final = struct.Struct("<II")
    _MAGIC: Final = 0x184D2A5F
    _WINDOW_MAX: Final = 1 << 23
    """Most memory a member may ask for, bytes."""

    def pack(self, block: bytes) -> bytes:
        import zstandard

        return zstandard.ZstdCompressor(level=9, write_checksum=True, write_content_size=True).compress(block)

    def unpack(self, member: bytes, size: int) -> bytes:
        import zstandard

        unpacker = zstandard.ZstdDecompressor(max_window_size=self._WINDOW_MAX)
        try:
            if zstandard.frame_content_size(member) != size:
                raise BadBlock("it does not say the size it should")
            reader = unpacker.decompressobj()
            block = reader.decompress(member)
        except zstandard.ZstdError as error:
            raise BadBlock(str(error)) from error
        if not reader.eof or reader.unused_data:
            raise BadBlock("it does not end where it should")
        return block

    def beside(self, note: bytes) -> bytes:
        return self._SKIPPED.pack(self._MAGIC, len(note)) + note


GZIP: Final = Gzip()
ZSTANDARD: Final = Zstandard()
_BY_SUFFIX: Final[dict[str, Packing]] = {GZIP.suffix: GZIP, ZSTANDARD.suffix: ZSTANDARD}


def has_zstandard() -> bool:
    """True where the extra is installed."""
    return find_spec("zstandard") is not None


def best_packing() -> Packing:
    """What new files are packed with."""
    return ZSTANDARD if has_zstandard() else GZIP


def packing_of(suffix: str, path: str) -> Packing:
    """What a file of this suffix is packed with. Raises `InvalidOption` where that is not installed."""
    if suffix == ZSTANDARD.suffix and not has_zstandard():
        raise InvalidOption(
            "archive",
            path,
            why=f"it is packed with zstandard, which is not installed: {installing('archive')}",
        )
    return _BY_SUFFIX[suffix]
