"""The reading of images by the judges: kind and size from the first bytes."""

from __future__ import annotations

import struct

import pytest

from foldline.testing.judges.media import Picture, decoded, picture, split_data_url

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480)
GIF = b"GIF89a" + struct.pack("<HH", 640, 480)
JPEG = b"\xff\xd8\xff\xe0\x00\x04JF\xff\xc0\x00\x0b\x08" + struct.pack(">HH", 480, 640) + b"\x03\x01"
WEBP_LOSSY = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640, 480)
WEBP_LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 639 | 479 << 14)
WEBP_EXTENDED = (
    b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")
)


@pytest.mark.parametrize(
    ("raw", "mime"),
    [
        (PNG, "image/png"),
        (GIF, "image/gif"),
        (JPEG, "image/jpeg"),
        (WEBP_LOSSY, "image/webp"),
        (WEBP_LOSSLESS, "image/webp"),
        (WEBP_EXTENDED, "image/webp"),
    ],
)
def test_an_image_says_its_kind_and_size(raw: bytes, mime: str) -> None:
    """The containers as their specifications lay them out."""
    assert picture(raw) == Picture(mime, 640, 480)


def test_a_jpeg_without_a_frame_has_no_size_and_other_bytes_are_no_image() -> None:
    """A truncated picture is judged by its kind alone."""
    assert picture(b"\xff\xd8\xff\xd9") == Picture("image/jpeg", None, None)
    assert picture(b"%PDF-1.7") is None


def test_only_whole_base64_decodes() -> None:
    """A cut inside base64 (bug kind images-bytes) leaves text that no provider takes."""
    assert decoded("aGk=") == b"hi"
    assert [decoded(text) for text in ("aGk", "", "a…b", "not base64!")] == [None] * 4


def test_a_data_url_is_split_only_when_it_is_one() -> None:
    """RFC 2397."""
    assert split_data_url("data:image/png;base64,aGk=") == ("image/png", "aGk=")
    assert split_data_url("data:image/png,aGk=") is None
    assert split_data_url("https://example.com/a,b") is None
