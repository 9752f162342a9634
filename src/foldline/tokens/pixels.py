"""The pixel size of an image, read from the first bytes of its base64.

PNG, JPEG, GIF and WebP: what the providers accept. Own code: the imagesize package would do, but it brings a URL
opener and an XML parser into a process that must read hostile files offline, for four headers. Never raises:
whatever cannot be read is of unknown size. Counterpart: `foldline.tokens.media`, which prices it.
"""

from __future__ import annotations

import binascii
import re
from typing import Final, Literal

SNIFF_CHARS: Final = 64
"""Base64 characters that hold the size of a PNG, GIF or WebP (30 bytes at most)."""
JPEG_CHARS_MAX: Final = 262_144
"""Base64 characters searched for a JPEG's frame header: behind the largest EXIF and a colour profile, 192 kB."""
SEGMENTS_MAX: Final = 64
"""JPEG segments walked."""
SIDE_MAX: Final = 65_535
"""Pixels. No provider takes more (Anthropic: 8,000); a larger number means a damaged header."""

_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]+")
_URL_SAFE = str.maketrans("-_", "+/")
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG start-of-frame markers; the three left out are tables."""

Size = tuple[int, int]
"""Width and height in pixels."""


def pixel_size(data: str) -> Size | None:
    """Width and height of a base64 image; `None` when its header cannot be read. Decodes 192 kB at most."""
    head = decode_base64(data[:SNIFF_CHARS])
    if head.startswith(b"\xff\xd8"):
        size = _jpeg(decode_base64(data[:JPEG_CHARS_MAX]))
    elif head.startswith(b"\x89PNG\r\n\x1a\n"):
        size = _pair(head, 16, order="big", width=4)
    elif head.startswith((b"GIF87a", b"GIF89a")):
        size = _pair(head, 6, order="little", width=2)
    elif head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        size = _webp(head)
    else:
        size = None
    return size if size is not None and all(0 < side <= SIDE_MAX for side in size) else None


def decode_base64(text: str) -> bytes:
    """The bytes of base64 text of either alphabet; stray characters and a torn end are dropped."""
    clean = _NOT_BASE64.sub("", text.translate(_URL_SAFE))
    if len(clean) % 4 == 1:  # six bits are no byte
        clean = clean[:-1]
    return binascii.a2b_base64(clean + "=" * (-len(clean) % 4))


def _pair(data: bytes, at: int, *, order: Literal["big", "little"], width: int) -> Size | None:
    if len(data) < at + 2 * width:
        return None
    first, second = data[at : at + width], data[at + width : at + 2 * width]
    return int.from_bytes(first, order), int.from_bytes(second, order)


def _webp(data: bytes) -> Size | None:
    kind = data[12:16]
    if kind == b"VP8X":
        size = _pair(data, 24, order="little", width=3)
        return None if size is None else (size[0] + 1, size[1] + 1)
    if kind == b"VP8 ":
        size = _pair(data, 26, order="little", width=2)
        return None if size is None else (size[0] & 0x3FFF, size[1] & 0x3FFF)
    if kind == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None


def _jpeg(data: bytes) -> Size | None:
    at = 2
    for _ in range(SEGMENTS_MAX):
        while data[at : at + 2] == b"\xff\xff":  # fill bytes before a marker
            at += 1
        if len(data) < at + 9 or data[at] != 0xFF:
            return None
        if data[at + 1] in _FRAMES:
            height_width = _pair(data, at + 5, order="big", width=2)
            return None if height_width is None else (height_width[1], height_width[0])
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None
