"""Compressed bodies, opened on the side: what is passed on stays as it came.

A request is opened whole, within a size; an answer piece by piece, as it comes. A gzip bomb costs the size that is allowed and no
more. `zstd`, which Codex may send, is opened where its package is installed.
"""

from __future__ import annotations

import zlib
from typing import Final

GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
PLAIN: Final = ("", "identity")
OPENED: Final = ("gzip", "x-gzip", "deflate")


class CannotOpen(ValueError):
    """A body in an encoding that is not known here, broken, or larger than allowed."""


def opened(data: bytes, encoding: str, *, bytes_max: int) -> bytes:
    """A body without its compression. Raises `CannotOpen`."""
    name = encoding.strip().lower()
    if name in PLAIN:
        return data
    if name == "zstd":
        return _zstd(data, bytes_max)
    if name not in OPENED:
        raise CannotOpen(f"a body in {name[:20]} is not read here")
    opening = Opening(name, bytes_max=bytes_max)
    plain = opening.take(data)
    if opening.failed or not opening.is_whole:
        raise CannotOpen(f"the {name[:20]} body is broken or larger than {bytes_max:,} bytes")
    return plain


def _zstd(data: bytes, bytes_max: int) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise CannotOpen("a zstd body is read where foldline[proxy] is installed whole") from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            plain = reader.read(bytes_max + 1)
    except zstandard.ZstdError as error:
        raise CannotOpen(f"the zstd body is broken: {error}") from error
    if len(plain) > bytes_max:
        raise CannotOpen(f"the zstd body is larger than {bytes_max:,} bytes")
    return plain


class Opening:
    """An answer under way."""

    def __init__(self, encoding: str, *, bytes_max: int) -> None:
        name = encoding.strip().lower()
        self.failed = name not in (*PLAIN, *OPENED)
        """True once nothing more can be read of it."""
        self._inflate = None if name in PLAIN else zlib.decompressobj(GZIP_OR_ZLIB)
        self._left = bytes_max

    @property
    def is_whole(self) -> bool:
        """True where the compressed data came to its end."""
        return self._inflate is None or self._inflate.eof

    def take(self, data: bytes) -> bytes:
        """What these bytes are, opened; nothing once it failed."""
        if self.failed:
            return b""
        pieces = []
        try:
            while data and not self.failed:
                plain, data = self._some(data)
                pieces.append(plain)
                self._left -= len(plain)
                self.failed = self._left < 0
        except zlib.error:
            self.failed = True
        return b"".join(pieces)

    def _some(self, data: bytes) -> tuple[bytes, bytes]:
        """Of one member of a gzip stream, which may have several, and what follows it."""
        if self._inflate is None:
            return data, b""
        if self._inflate.eof:
            self._inflate = zlib.decompressobj(GZIP_OR_ZLIB)
        return self._inflate.decompress(data, self._left + 1), self._inflate.unused_data
