"""What each wire can carry: media by kind and place, reasoning, and parts only one provider understands.

Owns one row a format and the words that stand where something could not go along. Knows nothing of the order of
messages, which is `foldline.wire.convert`'s.

Sources: types of the official SDKs (anthropic 2.14, openai 3.57, google-genai 3.6).
"""

from __future__ import annotations

import re
from typing import Any, assert_never

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from foldline.core.surrogates import is_torn, whole
from foldline.wire.media import is_base64, sniff_type
from foldline.wire.strict import dump_text, parse

OPAQUE_TEXT_MAX = 20_000
"""Longest readable part, in characters, that is carried as text; a longer one is left behind with a note."""

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types that Anthropic and OpenAI take."""


class Carries(Struct, frozen=True, kw_only=True, gc=False):
    """What one wire takes from the user's side."""

    image_types: frozenset[str] | None = IMAGES
    """Image types accepted as data; `None`: any."""
    document_types: frozenset[str] | None = None
    """Types of documents and files accepted as data; `None`: any."""
    audio: bool = False
    video: bool = False
    urls: frozenset[str] = frozenset()
    """Kinds accepted by URL."""
    files: str | None = None
    """Provider whose file ids are understood."""
    results: bool = True
    """True when media may stand inside a tool's result."""
    thoughts: bool = False
    """True when unsigned reasoning is accepted."""


CARRIES: dict[str, Carries] = {
    # Base64ImageSourceParam, Base64PDFSourceParam, PlainTextSourceParam, URLImageSourceParam, URLPDFSourceParam
    "anthropic": Carries(
        document_types=frozenset({"application/pdf", "text/plain"}),
        urls=frozenset({"image", "document"}),
        files="anthropic",
    ),
    # ChatCompletionContentPartParam; tool messages take text alone (ChatCompletionToolMessageParam). Unsigned
    # reasoning goes along as `reasoning_content`, which thinking-mode servers demand back (QwenLM/qwen-code#3579)
    "openai-chat": Carries(
        audio=True, urls=frozenset({"image"}), files="openai", results=False, thoughts=True
    ),
    # ResponseInputContentParam, ResponseFunctionCallOutputItemParam; a reasoning item needs the provider's id
    "openai-responses": Carries(urls=frozenset({"image", "document", "file"}), files="openai"),
    # Part, FunctionResponsePart; a thought needs no signature
    "gemini": Carries(
        image_types=None,
        audio=True,
        video=True,
        urls=frozenset({"image", "document", "audio", "video", "file"}),
        files="gemini",
        thoughts=True,
    ),
}

_FILE_OWNERS = {
    "anthropic": "anthropic",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "gemini": "gemini",
}
_UNREADABLE_KEYS = re.compile(
    r"encrypted|signature|^(?:id|type|data|detail|cache_control|created_by|status)$"
)


def fit_media(media: Media, *, types: frozenset[str] | None = None) -> Media | Text:
    """Media of a message as a provider takes them, marked as edited where it came otherwise: an image under the type that its data
    has; a line of ours where there is none, or of none of `types`. Anthropic: 400 "Image does not match the provided media type"."""
    if media.data is None or (media.mime or "").startswith("text/"):
        return media
    if not is_base64(media.data):
        return replace(
            media_words(media, to="", why="without data that is base64"), slot=media.slot, edited=True
        )
    told = sniff_type(media.data) if media.kind == "image" else None
    if told in IMAGES and told != media.mime:
        media = replace(media, mime=told, edited=True)
    if types is not None and media.mime not in types:
        return replace(media_words(media, to="this provider"), slot=media.slot, edited=True)
    return media


def carry_media(media: Media, *, source: str, to: str) -> Media | None:
    """The media part for the target, its type filled in where the data tells; `None` where it cannot go along."""
    row = CARRIES[to]
    if media.ref is not None:
        return _fresh(media) if row.files == _FILE_OWNERS.get(source) else None
    if media.url is not None:
        return _fresh(media) if media.kind in row.urls else None
    mime = media.mime or sniff_type(media.data or "")
    media = replace(media, mime=mime)
    match media.kind:
        case "image":
            taken = row.image_types is None or mime in row.image_types
        case "document" | "file":
            taken = mime is not None and (row.document_types is None or mime in row.document_types)
        case "audio":
            taken = row.audio
        case "video":
            taken = row.video
        case _:
            assert_never(media.kind)
    if taken and media.kind == "file" and row.document_types is not None:
        media = replace(media, kind="document")
    return _fresh(media) if taken else None


def _fresh(media: Media) -> Media:
    return replace(media, slot=-1, edited=False)


def _words(text: str) -> Text:
    """A text made of foreign words, without half surrogate pairs: the history was mended before they were taken."""
    return Text(text=whole(text) if is_torn(text) else text)


def media_words(media: Media, *, to: str, why: str = "") -> Text:
    """What stands where media could not go."""
    said = " ".join(
        word for word in (media.kind, media.mime or "", media.name or "", media.url or "") if word
    )
    return _words(f"[foldline: {said} {why or f'that {to} does not carry'}]")


def carry_reasoning(reasoning: Reasoning, *, to: str) -> Reasoning | None:
    """Reasoning for the target: its own provider's signature as it is, unsigned text where accepted, else `None`."""
    if reasoning.provider is not None or reasoning.signature is not None:
        kept = reasoning.provider == to and reasoning.signature is not None
    else:
        kept = CARRIES[to].thoughts and bool(reasoning.text.strip())
    return replace(reasoning, slot=-1, edited=False) if kept else None


def opaque_words(opaque: Opaque, *, source: str) -> Text | None:
    """The readable content of a part that only `source` understands, marked; `None` where nothing can be read or
    it is longer than `OPAQUE_TEXT_MAX`."""
    value = _readable(parse(opaque.raw))
    if not value:
        return None
    text = value if isinstance(value, str) else dump_text(value)
    return (
        _words(f"[foldline: {opaque.type} of {source or 'the host'}]\n{text}")
        if len(text) <= OPAQUE_TEXT_MAX
        else None
    )


def _readable(value: Any) -> Any:
    """What a person could read of a JSON value: keys with ids, signatures and encrypted content left out."""
    if isinstance(value, dict):
        kept = {key: _readable(item) for key, item in value.items() if not _UNREADABLE_KEYS.search(key)}
        kept = {key: item for key, item in kept.items() if item not in (None, "", [], {})}
        only = next(iter(kept.values())) if len(kept) == 1 else None
        return only if isinstance(only, str) else kept
    if isinstance(value, list):
        return [item for item in map(_readable, value) if item not in (None, "", [], {})]
    return value


def server_words(part: ToolCall | ToolResult, *, source: str) -> tuple[Text, ...]:
    """A tool that another provider ran itself, as a record: no call, so that no model answers in its likeness
    (anomalyco/opencode#50814). Every text of a result stays a text of its own."""
    if isinstance(part, ToolCall):
        return (_words(f"[foldline: the provider ran {part.name} with {part.arguments}]"),)
    failed = ", failed" if part.is_error else ""
    opening = _words(f"[foldline: what {part.name or 'the tool'} gave back{failed}]")
    pieces: list[Text] = [opening]
    for piece in part.content:
        match piece:
            case Text():
                pieces.append(Text(text=piece.text))
            case Media():
                pieces.append(media_words(piece, to="this place"))
            case Opaque():
                pieces.extend(words for words in [opaque_words(piece, source=source)] if words)
            case _:
                assert_never(piece)
    return tuple(pieces)
