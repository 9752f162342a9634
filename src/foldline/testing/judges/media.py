"""Reads just enough of an image to judge it: does the base64 decode, is it what it says, how many pixels.

Knows the containers of PNG, GIF, JPEG and WebP and nothing else. Formats: PNG (ISO/IEC 15948, 11.2.2 IHDR), GIF89a
(logical screen descriptor), JPEG (ISO/IEC 10918-1, B.2.2 frame header), WebP (RFC 9649).
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, NamedTuple

JPEG_SCAN_BYTES_MAX = 1_000_000
"""A frame header lies before the picture; metadata in front of it is smaller than this."""


class Picture(NamedTuple):
    """What the first bytes of an image say."""

    mime: str
    width: int | None
    height: int | None


def decoded(data: Any) -> bytes | None:
    """The bytes behind a base64 text; `None` when it is none or is empty."""
    if not isinstance(data, str):
        return None
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw or None


def split_data_url(url: str) -> tuple[str, str] | None:
    """Media type and base64 text of a data URL; `None` when it is no base64 data URL."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    return head[len("data:") : -len(";base64")], data


def picture(raw: bytes) -> Picture | None:
    """Kind and size of an image; `None` when it is of no known kind."""
    if raw.startswith(b"\x89PNG\r\n\x1a\n"):
        return Picture("image/png", int.from_bytes(raw[16:20], "big"), int.from_bytes(raw[20:24], "big"))
    if raw[:6] in (b"GIF87a", b"GIF89a"):
        return Picture("image/gif", int.from_bytes(raw[6:8], "little"), int.from_bytes(raw[8:10], "little"))
    if raw.startswith(b"\xff\xd8"):
        return _jpeg(raw[:JPEG_SCAN_BYTES_MAX])
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return _webp(raw)
    return None


def _jpeg(raw: bytes) -> Picture:
    at = 2
    while at + 9 < len(raw) and raw[at] == 0xFF:
        marker = raw[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = (
                int.from_bytes(raw[at + 5 : at + 7], "big"),
                int.from_bytes(raw[at + 7 : at + 9], "big"),
            )
            return Picture("image/jpeg", width, height)
        at += 2 + int.from_bytes(raw[at + 2 : at + 4], "big")
    return Picture("image/jpeg", None, None)


def _webp(raw: bytes) -> Picture:
    if raw[12:16] == b"VP8X":
        width, height = int.from_bytes(raw[24:27], "little") + 1, int.from_bytes(raw[27:30], "little") + 1
        return Picture("image/webp", width, height)
    if raw[12:16] == b"VP8 ":
        width, height = int.from_bytes(raw[26:28], "little"), int.from_bytes(raw[28:30], "little")
        return Picture("image/webp", width & 0x3FFF, height & 0x3FFF)
    bits = int.from_bytes(raw[21:25], "little")
    return Picture("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
