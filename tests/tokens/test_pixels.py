"""The pixel size of an image from the head of its base64: every kind, and whatever a hostile file holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.tokens.pixels import decode_base64, pixel_size
from tests.tokens import images


@pytest.mark.parametrize(
    "data",
    [
        images.png(1920, 1080),
        images.gif(1920, 1080),
        images.jpeg(1920, 1080),
        images.jpeg(1920, 1080, exif=3),
        images.webp(1920, 1080, b"VP8 "),
        images.webp(1920, 1080, b"VP8L"),
        images.webp(1920, 1080, b"VP8X"),
    ],
)
def test_the_size_is_read_from_every_kind_a_provider_takes(data: str) -> None:
    """TOK-1: images by pixels. Camera JPEGs carry EXIF and profiles of more than 64 kB before the size."""
    assert pixel_size(data) == (1920, 1080)
    assert pixel_size(data.replace("+", "-").replace("/", "_")) == (1920, 1080)
    assert pixel_size("\r\n".join(data[at : at + 60] for at in range(0, len(data), 60))) == (1920, 1080)


@pytest.mark.parametrize(
    "data",
    [
        "",
        "A",
        "AAAA",
        "====",
        "not an image at all",
        "é" * 80,
        "\ud800" * 9,
        images.png(0, 10),
        images.png(70_000, 1),
    ]
    + [
        make[:length]
        for make in (images.png(9, 9), images.jpeg(9, 9), images.gif(9, 9))
        for length in (4, 10, 12)
    ]
    + [
        images.text_of(b"\xff\xd8" + b"\xff\xe1\x00\x00" * 10_000),
        images.text_of(b"\xff\xd8" + b"\xff" * 100_000),
    ],
)
def test_a_damaged_or_foreign_image_has_no_size(data: str) -> None:
    """Torn base64, zero and absurd sizes, segments that lead nowhere: unknown, never an error."""
    assert pixel_size(data) is None


@given(
    st.binary(max_size=60),
    st.sampled_from([b"", b"\xff\xd8", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF....WEBPVP8L"]),
)
def test_garbage_behind_a_magic_number_never_raises(tail: bytes, head: bytes) -> None:
    """The data is the model's or a tool's; nothing in it may end a session."""
    size = pixel_size(images.text_of(head + tail))
    assert size is None or all(0 < side <= 65_535 for side in size)


@given(st.text(max_size=80))
def test_any_text_decodes_as_far_as_it_goes(text: str) -> None:
    """Stray characters are dropped, a torn end too."""
    decoded = decode_base64(text)
    assert len(decoded) <= len(text) * 3 // 4
