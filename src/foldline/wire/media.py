"""Media between wires: data URLs, base64, and what a MIME type is called here.

Owns the small conversions every codec needs to read `Media` and write it back. Knows no provider; the shapes are
in the codec modules.

The convention of `Media.data`: base64, except that a document of type `text/*` holds its plain text.
"""

from __future__ import annotations

import binascii
import re
import string
from base64 import b64decode, b64encode
from typing import Literal, TypeAlias

from foldline.core.message import Media

MediaKind: TypeAlias = Literal["image", "document", "audio", "video", "file"]

_DATA_URL = re.compile(r"data:(?P<mime>[^;,]*)(?:;[^;,]*)*;base64,(?P<data>.*)", re.DOTALL)
_DOCUMENT_TYPES = ("application/pdf", "application/json", "application/xml", "text/")
_ALPHABET = (string.ascii_letters + string.digits + "+/").encode()
_URL_SAFE = str.maketrans("-_", "+/")
_KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
UNKNOWN_TYPE = "application/octet-stream"


def split_data_url(url: str) -> tuple[str | None, str] | None:
    """MIME type and base64 of a data URL; `None` for any other URL, and for a data URL that is not base64."""
    found = _DATA_URL.fullmatch(url)
    return (found["mime"] or None, found["data"]) if found else None


def media_kind(mime: str | None, *, default: MediaKind = "file") -> MediaKind:
    """What a MIME type is called here."""
    if mime is None:
        return default
    if mime.startswith(_DOCUMENT_TYPES):
        return "document"
    return _KINDS.get(mime.partition("/")[0], default)


def usual(base64: str) -> str:
    """Base64 in the usual alphabet, padded, of that which is safe in URLs: google-genai writes a picture so, and no other provider
    reads it."""
    if "-" not in base64 and "_" not in base64:
        return base64
    return base64.translate(_URL_SAFE) + "=" * (-len(base64) % 4)


def is_base64(data: str) -> bool:
    """True for base64 that is not empty, padded and in the usual alphabet."""
    bare = data.rstrip("=")
    return (
        bool(bare)
        and len(data) % 4 == 0
        and len(data) - len(bare) < 3
        and data.isascii()
        and not bare.encode().translate(None, _ALPHABET)
    )


def payload_of(mime: str | None, base64: str) -> str | None:
    """`Media.data` for base64 of this type: the plain text of a text document, else the base64 itself. `None` where
    a text document's base64 holds no UTF-8 text: such a part is kept opaque."""
    if mime is None or not mime.startswith("text/"):
        return base64
    try:
        return b64decode(base64, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def base64_of(media: Media) -> str:
    """Base64 of media with `data`."""
    data = media.data or ""
    if media.mime is not None and media.mime.startswith("text/"):
        return b64encode(data.encode("utf-8", "replace")).decode()
    return data


def data_url_of(media: Media) -> str:
    """A data URL for media with `data`."""
    return f"data:{media.mime or UNKNOWN_TYPE};base64,{base64_of(media)}"


_MAGIC = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "JVBERi": "application/pdf",
}
"""First characters of the base64 of each type's magic bytes. RIFF is shared with WAV, which always names its type."""


def sniff_type(base64: str) -> str | None:
    """The MIME type that the first bytes of base64 data tell; `None` where they tell nothing."""
    return next((mime for start, mime in _MAGIC.items() if base64.startswith(start)), None)


_ENDINGS: dict[str, str] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "mp4": "video/mp4",
}


def type_of_url(url: str) -> str | None:
    """The MIME type that the ending of a URL's path tells; `None` where it tells nothing."""
    path = url.partition("?")[0].partition("#")[0]
    return _ENDINGS.get(path.rpartition(".")[2].lower())
