"""The content pieces of OpenAI Responses items: texts, images and files, read and written one by one.

Owns the spelling of a piece wherever it stands: in a message, in a tool's output, in a reasoning summary. Knows
nothing of items; `foldline.wire.openai_responses` and `foldline.wire.responses_calls` put pieces into them.

Shapes: types `ResponseInputContentParam`, `ResponseOutputTextParam`, `ResponseFunctionCallOutputItemParam` of the
official SDK (openai 3.57).
"""

from __future__ import annotations

from typing import Any, assert_never

from foldline.core.message import Media, Opaque, Text
from foldline.wire.carry import fit_media
from foldline.wire.media import data_url_of, media_kind, payload_of, split_data_url
from foldline.wire.splice import splice, text_or_none
from foldline.wire.strict import dump, parse, plain

Piece = Text | Media | Opaque

TEXT_KEYS = {
    "input_text": "text",
    "output_text": "text",
    "text": "text",
    "summary_text": "text",
    "reasoning_text": "text",
    "refusal": "refusal",
    "logs": "logs",
}
"""Piece types that are text, and the key that holds it."""


def read_pieces(value: Any) -> tuple[Piece, ...]:
    """The pieces of a content value: a string, one piece, a list of pieces, or nothing."""
    if value is None:
        return ()
    items = value if isinstance(value, list) else [value]
    return tuple(read_piece(item, slot=slot) for slot, item in enumerate(items))


def read_piece(item: Any, *, slot: int) -> Piece:
    """One piece; `Opaque` where its type is unknown or what its type promises is not there."""
    item = plain(item)
    if isinstance(item, str):
        return Text(text=item, slot=slot)
    if isinstance(item, dict):
        kind = item.get("type", "text")
        text = item.get(TEXT_KEYS.get(kind, "")) if isinstance(kind, str) else None
        if isinstance(text, str):
            return Text(text=text, slot=slot)
        media = _read_media(kind, item, slot=slot)
        if media is not None:
            return fit_media(media)
        return Opaque(type=str(kind), raw=dump(item), slot=slot)
    return Opaque(type=type(item).__name__, raw=dump(item), slot=slot)


def _read_media(kind: Any, item: dict[str, Any], *, slot: int) -> Media | None:
    if kind in ("input_image", "computer_screenshot", "image"):
        return _media(item, url=item.get("image_url") or item.get("url"), kind="image", slot=slot)
    if kind == "input_file":
        return _media(item, url=item.get("file_data") or item.get("file_url"), kind="file", slot=slot)
    if kind == "input_audio" and isinstance(item.get("input_audio"), dict):
        audio = item["input_audio"]
        data, form = audio.get("data"), audio.get("format")
        if isinstance(data, str):
            return Media(kind="audio", mime=f"audio/{form}" if form else None, data=data, slot=slot)
    return None


def _media(item: dict[str, Any], *, url: Any, kind: Any, slot: int) -> Media | None:
    detail, name, ref = (text_or_none(item.get(key)) for key in ("detail", "filename", "file_id"))
    if isinstance(url, str) and url:
        found = split_data_url(url)
        if found is not None:
            mime, base64 = found
            data = payload_of(mime, base64)
            if data is None:
                return None
            kind = media_kind(mime, default=kind)
            return Media(kind=kind, mime=mime, data=data, detail=detail, name=name, slot=slot)
        if url == item.get("file_data"):  # the SDK allows bare base64 here
            return Media(kind=kind, data=url, detail=detail, name=name, slot=slot)
        return Media(kind=kind, url=url, detail=detail, name=name, slot=slot)
    if ref:
        return Media(kind=kind, ref=ref, detail=detail, name=name, slot=slot)
    return None


def write_pieces(pieces: tuple[Piece, ...], old: Any, *, text_type: str) -> Any:
    """The content value for edited or new pieces; a lone text stays a string where a string was or nothing was."""
    made = make_pieces(pieces, text_type=text_type)
    if isinstance(made, str) and (old is None or isinstance(old, str)):
        return made
    before = old if isinstance(old, list) else [old]
    if isinstance(old, str):
        before = [make_piece(Text(text=old), text_type=text_type)]
    return splice(
        pieces,
        before,
        edit=lambda piece, item: edit_piece(piece, item, text_type=text_type),
        make=lambda piece: make_piece(piece, text_type=text_type),
    )


def make_pieces(pieces: tuple[Piece, ...], *, text_type: str) -> Any:
    """The content value for pieces of a message made here: a lone text, or none, as a string, else a list."""
    if len(pieces) > 1 or not all(isinstance(piece, Text) for piece in pieces):
        return [make_piece(piece, text_type=text_type) for piece in pieces]
    return "".join(piece.text for piece in pieces if isinstance(piece, Text))


def edit_piece(piece: Piece, item: Any, *, text_type: str) -> Any:
    """`item` with the new content of `piece`, its other keys kept. Annotations and token probabilities of a text
    point into the old wording, so they go with it."""
    if isinstance(piece, Text) and isinstance(item, dict):
        key = TEXT_KEYS.get(item.get("type", "text"))
        if key is not None:
            kept = {name: value for name, value in item.items() if name != "logprobs"}
            if "annotations" in kept:
                kept["annotations"] = []
            return {**kept, key: piece.text}
    return make_piece(piece, text_type=text_type)


def make_piece(piece: Piece, *, text_type: str) -> Any:
    """The wire form of a piece made here."""
    match piece:
        case Text():
            fresh = {"type": text_type, TEXT_KEYS[text_type]: piece.text}
            return {**fresh, "annotations": []} if text_type == "output_text" else fresh
        case Media(kind="image"):
            place = {"file_id": piece.ref} if piece.ref else {"image_url": piece.url or data_url_of(piece)}
            return {"type": "input_image", "detail": piece.detail or "auto", **place}
        case Media():
            return _make_file(piece)
        case Opaque():
            return parse(piece.raw)
        case _:
            assert_never(piece)


def _make_file(media: Media) -> dict[str, Any]:
    item: dict[str, Any] = {"type": "input_file"}
    if media.ref:
        return {**item, "file_id": media.ref}
    if media.url:
        return {**item, "file_url": media.url}
    # the API asks for a name beside inline data
    return {**item, "filename": media.name or "file", "file_data": data_url_of(media)}
