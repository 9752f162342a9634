"""The content pieces of Chat Completions messages: texts, images, recordings and files, one by one.

Owns the spelling of a piece; `foldline.wire.openai_chat` puts pieces into messages. A piece of a type this version
does not read is `Opaque` and passes through.

Sources: PyPI `openai` 3.57.0, `types/chat/chat_completion_content_part_*_param.py`; `video_url`: vLLM and Qwen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

from msgspec.structs import replace

from foldline.core.message import Media, Opaque, Text
from foldline.wire import strict
from foldline.wire.carry import fit_media
from foldline.wire.codec import WireValue
from foldline.wire.media import MediaKind, base64_of, data_url_of, media_kind, payload_of, split_data_url
from foldline.wire.splice import splice, text_or_none

Piece: TypeAlias = Text | Media | Opaque

_TEXTS = {"text": "text", "refusal": "refusal"}
"""Types of pieces that are text, and the key that holds it."""
_URLS: dict[str, MediaKind] = {"image_url": "image", "video_url": "video"}
_MEDIA = frozenset({*_URLS, "input_audio", "file"})


def read_pieces(content: Any) -> list[Piece]:
    """The pieces of `content`: text, a list of pieces, or null. Raises `ValueError` that names the key."""
    if isinstance(content, str):
        return [Text(text=content, slot=0)] if content else []
    if content is None:
        return []
    if isinstance(content, (list, tuple)):
        return [read_piece(content, index, slot=index) for index in range(len(content))]
    raise ValueError(f"content: expected text or a list of parts, got {type(content).__name__}")


def read_piece(content: Sequence[Any], index: int, *, slot: int) -> Piece:
    """The piece at `index` of a content list. Raises `ValueError` that names the key."""
    try:
        return _read(strict.plain(content[index]), slot)
    except ValueError as error:
        raise strict.placed(f"content[{index}]", error) from None


def write_pieces(pieces: Sequence[Piece], content: Any) -> Any:
    """The content value for edited or new pieces, slots counting within `content`: a lone text stays a string where a
    string or nothing was, untouched pieces stay what they were."""
    if isinstance(content, (list, tuple)):
        return splice(pieces, content, edit=_edit, make=_make)
    if not pieces:
        return "" if content else content
    if len(pieces) == 1 and isinstance(pieces[0], Text):
        return pieces[0].text
    return splice(pieces, [{"type": "text", "text": content}], edit=_edit, make=_make)


def make_pieces(pieces: Sequence[Piece]) -> Any:
    """The content value of pieces made here: a string for a lone text or nothing, else a list."""
    if not pieces:
        return ""
    if len(pieces) == 1 and isinstance(pieces[0], Text):
        return pieces[0].text
    return [_make(piece) for piece in pieces]


def need_text(value: WireValue, key: str) -> str:
    """The text under a key; else `ValueError` with the key in front."""
    found = value.get(key)
    if isinstance(found, str):
        return found
    raise ValueError(f".{key}: expected text, got {'nothing' if found is None else type(found).__name__}")


def _read(item: Any, slot: int) -> Piece:
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        raise ValueError(f": expected a part with a type, got {type(item).__name__}")
    kind: str = item["type"]
    if kind in _TEXTS:
        return Text(text=need_text(item, _TEXTS[kind]), slot=slot)
    inner = strict.plain(item.get(kind))
    if isinstance(inner, str) and kind in _URLS:  # some clients give the address as text
        inner = {"url": inner}
    media = None
    if isinstance(inner, dict) and kind in _MEDIA:
        try:
            media = _read_media(inner, kind)
        except ValueError as error:
            raise strict.placed(f".{kind}", error) from None
    if media is None:
        return Opaque(type=kind, raw=strict.dump_foreign(item), slot=slot)
    return fit_media(replace(media, slot=slot))


def _read_media(inner: WireValue, kind: str) -> Media | None:
    """What a piece of type `kind` refers to; `None` where it cannot be read."""
    if kind == "file":
        return _read_file(inner)
    if kind == "input_audio":
        form = text_or_none(inner.get("format"))
        return Media(kind="audio", mime=f"audio/{form}" if form else None, data=need_text(inner, "data"))
    url, detail = need_text(inner, "url"), text_or_none(inner.get("detail"))
    found = split_data_url(url)
    if found is None:
        return Media(kind=_URLS[kind], url=url, detail=detail)
    mime, base64 = found
    data = payload_of(mime, base64)
    return None if data is None else Media(kind=_URLS[kind], mime=mime, data=data, detail=detail)


def _read_file(inner: WireValue) -> Media | None:
    name, ref, given = (text_or_none(inner.get(key)) for key in ("filename", "file_id", "file_data"))
    if given:
        mime, base64 = split_data_url(given) or (None, given)
        data = payload_of(mime, base64)
        return None if data is None else Media(kind=media_kind(mime), mime=mime, data=data, name=name)
    return Media(kind="file", ref=ref, name=name) if ref else None


def _edit(piece: Piece, old: Any) -> WireValue:
    """The wire piece with the new value; every other key stays."""
    item: WireValue = dict(strict.plain(old))
    if isinstance(piece, Text) and item["type"] in _TEXTS:
        return {**item, _TEXTS[item["type"]]: piece.text}
    made = _make(piece)
    return {**item, **made} if made["type"] == item["type"] else made


def _make(piece: Piece) -> WireValue:
    """A piece made from the part alone."""
    match piece:
        case Text():
            return {"type": "text", "text": piece.text}
        case Media(kind="image" | "video"):
            kind = "image_url" if piece.kind == "image" else "video_url"
            address = {"url": piece.url or data_url_of(piece)}
            return {"type": kind, kind: address | ({"detail": piece.detail} if piece.detail else {})}
        case Media(kind="audio") if piece.data is not None:
            form = (piece.mime or "audio/wav").partition("/")[2]
            return {"type": "input_audio", "input_audio": {"data": base64_of(piece), "format": form}}
        case Media():
            return {"type": "file", "file": _make_file(piece)}
        case Opaque():
            return dict(strict.parse(piece.raw))
        case _:
            assert_never(piece)


def _make_file(piece: Media) -> WireValue:
    if piece.ref is not None:
        return {"file_id": piece.ref}
    return {"filename": piece.name or "file", "file_data": data_url_of(piece)}
