"""Heads of images of a given size, as providers get them: just enough bytes to be one."""

from __future__ import annotations

import base64


def text_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def png(width: int, height: int, *, padding: int = 0) -> str:
    """A PNG's signature and IHDR, and `padding` bytes of picture."""
    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return text_of(
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + size + b"\x08\x06\x00\x00\x00" + b"\x55" * padding
    )


def gif(width: int, height: int) -> str:
    return text_of(b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\xf7\x00\x00")


def jpeg(width: int, height: int, *, exif: int = 0) -> str:
    """A JPEG: EXIF segments of 60,000 bytes each, fill bytes, a table, then the frame header."""
    segments = (b"\xff\xe1" + (60_002).to_bytes(2, "big") + b"\x00" * 60_000) * exif
    table = b"\xff\xff\xff\xc4\x00\x05\x01\x02\x03"
    frame = (
        b"\xff\xc2\x00\x11\x08" + height.to_bytes(2, "big") + width.to_bytes(2, "big") + b"\x03" + b"\x00" * 9
    )
    return text_of(b"\xff\xd8" + segments + table + frame)


def webp(width: int, height: int, kind: bytes) -> str:
    """A WebP: lossy (`VP8 `), lossless (`VP8L`) or extended (`VP8X`)."""
    match kind:
        case b"VP8 ":
            body = b"\x10\x02\x00\x9d\x01\x2a" + width.to_bytes(2, "little") + height.to_bytes(2, "little")
        case b"VP8L":
            body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little")
        case _:
            body = (
                b"\x10\x00\x00\x00" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
            )
    return text_of(b"RIFF\x00\x10\x00\x00WEBP" + kind + b"\x20\x00\x00\x00" + body)
