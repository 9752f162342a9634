"""Compressed bodies are opened within their size, and not at all beyond."""

from __future__ import annotations

import gzip
import zlib

import pytest
import zstandard

from foldline.proxy.encodings import CannotOpen, Opening, opened

TEXT = b"a conversation " * 500
WAYS = {
    "gzip": gzip.compress(TEXT, mtime=0),  # the same bytes in every process: they name a case
    "deflate": zlib.compress(TEXT),
    "zstd": zstandard.ZstdCompressor().compress(TEXT),
    "identity": TEXT,
    "": TEXT,
}


@pytest.mark.parametrize("encoding", WAYS)
def test_a_body_is_opened_whole(encoding: str) -> None:
    """Codex sends zstd, others gzip."""
    assert opened(WAYS[encoding], encoding.upper(), bytes_max=10_000) == TEXT


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_a_bomb_costs_what_is_allowed(encoding: str) -> None:
    """Test S19."""
    with pytest.raises(CannotOpen, match="larger"):
        opened(WAYS[encoding], encoding, bytes_max=100)


@pytest.mark.parametrize(
    ("data", "encoding"), [(b"rubbish", "gzip"), (WAYS["gzip"][:-9], "gzip"), (b"x", "zstd"), (b"x", "br")]
)
def test_what_cannot_be_opened_is_said(data: bytes, encoding: str) -> None:
    """It goes on as it came."""
    with pytest.raises(CannotOpen):
        opened(data, encoding, bytes_max=10_000)


def test_an_encoding_that_is_not_known_is_named() -> None:
    """Not told as broken: nobody looked."""
    for encoding in ("br", "gzip, gzip"):
        with pytest.raises(CannotOpen, match=f"a body in {encoding} is not read here"):
            opened(b"x", encoding, bytes_max=10_000)


def test_an_answer_is_opened_as_it_comes() -> None:
    """In pieces of any size."""
    opening = Opening("gzip", bytes_max=10_000)
    found = b"".join(opening.take(WAYS["gzip"][at : at + 7]) for at in range(0, len(WAYS["gzip"]), 7))
    assert found == TEXT
    assert opening.is_whole
    assert not opening.failed


def test_an_answer_that_cannot_be_read_is_passed_over() -> None:
    """Of an unknown encoding, broken, or longer than is listened to."""
    for encoding, data in (("br", b"x"), ("gzip", b"rubbish"), ("gzip", WAYS["gzip"])):
        opening = Opening(encoding, bytes_max=100)
        opening.take(data)
        assert opening.failed
        assert opening.take(b"more") == b""


@pytest.mark.parametrize("bytes_per_piece", [1, 7, 10_000])
def test_a_gzip_stream_of_several_members_is_read_to_its_end(bytes_per_piece: int) -> None:
    """RFC 1952: members follow each other; a server that flushes by member is heard as well."""
    data = b"".join(gzip.compress(piece) for piece in (b"one ", b"", b"two"))
    opening = Opening("gzip", bytes_max=100)
    pieces = [opening.take(data[at : at + bytes_per_piece]) for at in range(0, len(data), bytes_per_piece)]
    assert b"".join(pieces) == b"one two"
    assert opening.is_whole
    assert not opening.failed
