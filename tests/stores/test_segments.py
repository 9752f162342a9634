"""Segments as one run of bytes."""

from __future__ import annotations

import pytest

from foldline.core.errors import SessionCorrupt, UnknownFormat
from foldline.log.lines import header_line, read_header, segment_line
from foldline.stores.segments import ActivePiece, Pieces, first_line


class Held:
    """A file in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, size: int, *, at: int) -> bytes:
        return self.data[at : at + size]

    def size(self) -> int:
        return len(self.data)

    def write(self, data: bytes | memoryview) -> int:
        raise AssertionError("only read")

    def truncate(self, size: int) -> None:
        raise AssertionError("only read")

    def sync(self) -> None:
        raise AssertionError("only read")

    def close(self) -> None:
        """Nothing to close."""


FIRST = header_line(format="anthropic", body=b'{"id":"s"}')
HEADER = read_header(FIRST[:-1])
LATER = segment_line(HEADER, at=100, seq=7)


def test_a_later_segment_reads_as_bytes_of_the_whole_log() -> None:
    """Record 0006: offsets are for ever. The first line of a later segment is no part of the whole log."""
    header = first_line(Held(LATER))
    assert (header.at, header.seq, header.crc, header.body) == (100, 7, HEADER.crc, HEADER.body)
    piece = ActivePiece(Held(LATER + b"entries\n"), header)
    assert (piece.start, piece.first, piece.end) == (100, 100, 108)
    assert piece.read(100, at=103) == b"ries\n"
    assert piece.head() == LATER
    whole = ActivePiece(Held(FIRST + b"x" * (100 - len(FIRST))), HEADER)
    assert (whole.start, whole.first, whole.end) == (0, len(FIRST), 100)
    both = Pieces([whole, piece])
    assert both.read(1000, at=0) == FIRST + b"x" * (100 - len(FIRST)) + b"entries\n"
    assert both.read(4, at=98) == b"xxen"
    assert both.read(4, at=100) == b"entr"
    assert both.read(4, at=108) == b""


def test_a_gap_between_segments_is_corrupt() -> None:
    piece = ActivePiece(Held(LATER + b"entries\n"), first_line(Held(LATER)))
    with pytest.raises(SessionCorrupt, match="what is between is missing"):
        Pieces([ActivePiece(Held(FIRST), HEADER), piece])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "the log is empty|not whole"),
        (FIRST[:-1], "not whole"),
        (b"x" * 2_000_000, "not whole"),
        (FIRST.replace(b'"s"', b'"t"'), "checksum"),
        (b"{}\n", "no header"),
    ],
)
def test_a_file_without_a_sound_first_line_is_corrupt(data: bytes, why: str) -> None:
    with pytest.raises(SessionCorrupt, match=why):
        first_line(Held(data))


def test_a_file_of_a_later_version_says_so() -> None:
    with pytest.raises(UnknownFormat, match="upgrade"):
        first_line(Held(b'{"foldline":2,"any":"thing"}\n'))


def test_a_long_first_line_is_read_whole() -> None:
    long = header_line(format="anthropic", body=b'{"a":"%b"}' % (b"x" * 50_000))
    assert first_line(Held(long + b"{}\n")).size == len(long)
