"""What images, documents and recordings cost: each provider's published rule, as data.

Base64 is never counted as text, and nothing costs nothing. Where a size cannot be read, or only a URL or file
id is there, a stated flat value serves. `docs/concepts/tokens.md` has the table with its sources. Knows nothing
of models: `foldline.tokens.lineage` picks the rule.
"""

from __future__ import annotations

import re
from math import ceil, sqrt
from typing import Final, Literal, TypeAlias, assert_never

from msgspec import Struct

from foldline.core.message import Media
from foldline.tokens.pixels import Size, decode_base64, pixel_size


class Patches(Struct, frozen=True, kw_only=True, gc=False):
    """One token (times `factor`) for each square patch, after shrinking to the limits."""

    patch: int
    """Pixels of a patch's side."""
    patches_max: int
    edge_max: int
    """Pixels of the longer side after shrinking."""
    factor: float = 1.0
    low: int | None = None
    """Patches at detail `low`; `None`: the provider has no such detail."""
    original: tuple[int, int] | None = None
    """`patches_max` and `edge_max` at detail `original`."""


class Tiles(Struct, frozen=True, kw_only=True, gc=False):
    """OpenAI's older rule: fit into 2,048 × 2,048, shorter side down to 768, then `base` and `tile` for each 512 square."""

    base: int
    tile: int


class Crops(Struct, frozen=True, kw_only=True, gc=False):
    """Gemini before 3: `tokens` for a small image (384 pixels a side at most), else for each square of 768."""

    tokens: int


class Flat(Struct, frozen=True, kw_only=True, gc=False):
    """The same for every image (Gemini 3 at its default resolution)."""

    tokens: int


ImageRule: TypeAlias = Patches | Tiles | Crops | Flat


class MediaRule(Struct, frozen=True, kw_only=True, gc=False):
    """What one provider's models are charged for media, in tokens."""

    name: str
    image: ImageRule
    image_unknown: int
    """An image whose size is not known: that of a full screenshot."""
    page: int
    """One PDF page, text and picture."""
    audio_s: int = 32
    """One second of sound."""
    video_s: int = 263
    """One second of video with sound."""


PDF_PAGE: Final = 2_400
"""Measured on Claude 4.5 and 5.5 text pages: 2,100 to 2,480. Anthropic's documentation says 1,500 to 3,000 of text."""

ANTHROPIC: Final = MediaRule(
    name="anthropic",
    image=Patches(patch=28, patches_max=1_568, edge_max=1_568),
    image_unknown=1_568,
    page=PDF_PAGE,
)
"""Claude up to 4.6. Anthropic, "Vision": ⌈width/28⌉ × ⌈height/28⌉, which earlier editions put as width × height / 750."""

ANTHROPIC_HIGH: Final = MediaRule(
    name="anthropic-high",
    image=Patches(patch=28, patches_max=4_784, edge_max=2_576),
    image_unknown=4_784,
    page=PDF_PAGE,
)
"""Claude 4.7 and later: the same rule at a higher native resolution."""


def openai_tiles(name: str, *, base: int, tile: int) -> MediaRule:
    """An OpenAI model priced by tiles; an unknown image is a 1,920 × 1,080 screenshot, six tiles."""
    return MediaRule(
        name=name, image=Tiles(base=base, tile=tile), image_unknown=base + 6 * tile, page=PDF_PAGE, audio_s=10
    )


def openai_patches(name: str, *, factor: float, patches_max: int = 1_536) -> MediaRule:
    """An OpenAI model priced by patches of 32 pixels; an unknown image fills the budget."""
    rule = Patches(
        patch=32,
        patches_max=patches_max,
        edge_max=2_048,
        factor=factor,
        low=256,
        original=(10_000, 6_000),
    )
    return MediaRule(
        name=name, image=rule, image_unknown=ceil(patches_max * factor), page=PDF_PAGE, audio_s=10
    )


OPENAI: Final = openai_tiles("openai", base=85, tile=170)
"""GPT-4o, 4.1 and 4.5; OpenAI, "Images and vision", calculating costs."""

GEMINI: Final = MediaRule(name="gemini", image=Crops(tokens=258), image_unknown=258 * 6, page=258)
"""Gemini 1.5 to 2.5; Google, "Understand and count tokens"."""

GEMINI_3: Final = MediaRule(name="gemini-3", image=Flat(tokens=1_120), image_unknown=1_120, page=560)
"""Gemini 3 and later at the default media resolution; Google, "Media resolution"."""

SIDE_SMALL: Final = 384
SIDE_CROP: Final = 768


def image_tokens(rule: ImageRule, size: Size, *, detail: str | None = None) -> int:
    """Tokens of an image of this size in pixels; at least 1. `detail` other than `low` and `original` is `high`."""
    match rule:
        case Patches():
            return max(1, _patches(rule, size, detail=detail))
        case Tiles():
            return rule.base if detail == "low" else rule.base + rule.tile * _tiles(size)
        case Crops():
            if max(size) <= SIDE_SMALL:
                return rule.tokens
            return rule.tokens * ceil(size[0] / SIDE_CROP) * ceil(size[1] / SIDE_CROP)
        case Flat():
            return rule.tokens
    assert_never(rule)


def _patches(rule: Patches, size: Size, *, detail: str | None) -> int:
    if detail == "low" and rule.low is not None:
        return ceil(rule.low * rule.factor)
    patches_max, edge_max = rule.patches_max, rule.edge_max
    if detail == "original" and rule.original is not None:
        patches_max, edge_max = rule.original
    width, height = size
    by_area = sqrt(patches_max * rule.patch**2 / (width * height))
    scale = min(1.0, edge_max / max(size), by_area)
    patches = ceil(width * scale / rule.patch) * ceil(height * scale / rule.patch)
    return ceil(min(patches, patches_max) * rule.factor)


def _tiles(size: Size) -> int:
    width, height = size
    scale = min(1.0, 2_048 / max(size))
    scale = min(scale, 768 / min(size))
    return ceil(width * scale / 512) * ceil(height * scale / 512)


PAGES_UNKNOWN: Final = 5
"""Pages of a document that is only named by URL or id."""
PAGE_BYTES: Final = 50_000
"""Bytes of a PDF page where its pages cannot be counted (compressed object streams)."""
PAGES_MAX: Final = 600
"""Most pages a provider takes in one request (Anthropic)."""
PDF_CHARS_MAX: Final = 4_000_000
"""Base64 characters of a PDF searched for pages; the rest is taken to hold as many a byte."""
SECONDS_UNKNOWN: Final = 60
"""Of sound or a film that is only named by URL or id."""
NAMED_TOKENS_MAX: Final = max(
    ANTHROPIC_HIGH.image_unknown, PAGES_UNKNOWN * PDF_PAGE, SECONDS_UNKNOWN * ANTHROPIC_HIGH.video_s
)
"""Most that anything which is only named by URL or id is counted with, few bytes as it takes."""
AUDIO_BYTES_S: Final = 16_000
"""Bytes a second: 128 kbit/s, between compressed speech and plain samples."""
VIDEO_BYTES_S: Final = 125_000
"""Bytes a second: 1 Mbit/s."""

_PDF_PAGE_OBJECT = re.compile(rb"/Type\s{0,8}/Page(?![A-Za-z])")
_PLAIN_CHARS = 1_024
_BASE64_ONLY = re.compile(r"[A-Za-z0-9+/_=\r\n-]*")
_DATA_URL = re.compile(r"data:([^,]{0,256});base64,", re.IGNORECASE)

Kind: TypeAlias = Literal["image", "document", "audio", "video", "file"]


def plain_text(media: Media) -> str | None:
    """The text of a text document, to be counted as text; `None` for everything else."""
    if media.kind not in ("document", "file") or media.data is None:
        return None
    if _BASE64_ONLY.fullmatch(media.data[:_PLAIN_CHARS]) is None:
        return media.data
    if media.mime is not None and (media.mime.startswith("text/") or media.mime.endswith(("json", "xml"))):
        try:
            return decode_base64(media.data).decode() or media.data
        except UnicodeDecodeError:
            return media.data  # one word of plain text
    return None


def media_tokens(media: Media, rule: MediaRule) -> int:
    """Tokens of anything but a text document; at least 1. Never raises, whatever the data holds."""
    kind, data = _kind(media), _base64_of(media)
    match kind:
        case "image":
            size = pixel_size(data) if data is not None else None
            return rule.image_unknown if size is None else image_tokens(rule.image, size, detail=media.detail)
        case "document" | "file":
            return rule.page * (PAGES_UNKNOWN if data is None else _pages(data))
        case "audio":
            return rule.audio_s * _seconds(data, AUDIO_BYTES_S)
        case "video":
            return rule.video_s * _seconds(data, VIDEO_BYTES_S)
    assert_never(kind)


def _kind(media: Media) -> Kind:
    """The kind, with `file` resolved by its type where that says more."""
    if media.kind != "file" or media.mime is None:
        return media.kind
    match media.mime.partition("/")[0]:
        case "image" | "audio" | "video" as kind:
            return kind
        case _:
            return "document"


def _base64_of(media: Media) -> str | None:
    if media.data is not None:
        return media.data
    match = _DATA_URL.match(media.url) if media.url is not None else None
    return media.url[match.end() :] if match is not None and media.url is not None else None


def _size_bytes(data: str) -> int:
    padding = 2 if data.endswith("==") else 1 if data.endswith("=") else 0
    return max(0, len(data) - padding) * 3 // 4


def _seconds(data: str | None, bytes_s: int) -> int:
    return SECONDS_UNKNOWN if data is None else max(1, ceil(_size_bytes(data) / bytes_s))


def _pages(data: str) -> int:
    """Pages of a PDF: its page objects where they can be seen, else by size."""
    found = 0
    if data.startswith("JVBERi"):  # "%PDF-"
        found = len(_PDF_PAGE_OBJECT.findall(decode_base64(data[:PDF_CHARS_MAX])))
        found = ceil(found * max(1.0, len(data) / PDF_CHARS_MAX))
    return min(PAGES_MAX, max(1, found if found else ceil(_size_bytes(data) / PAGE_BYTES)))
