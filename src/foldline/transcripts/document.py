"""Reading one large JSON document in pieces, so that most of it is never built as Python values.

A document is taken apart from the outside: `fields` and `items` cut an object or a list into slices of the
original bytes without reading them, `value` reads one slice. A reader asks for the slices it needs, one message
at a time, and what it leaves alone costs nothing:

    document   {"task": …, "agent_steps": [ ──── never read ──── ], "llm_interactions": [ {…}, {…}, … ]}
    fields                                                          └ slice                 items ─┘

Slices share the document's memory, so nothing here may outlive the reading: `value` copies. Where the bytes cannot
be cut (lone surrogate escapes, which the slicer refuses), the whole document is read by `foldline.wire.strict`
and the same functions work on its values.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from foldline.core.errors import InvalidTranscript
from foldline.transcripts.source import NO_JSON, Source
from foldline.wire import strict
from foldline.wire.strict import dump

Piece: TypeAlias = Any
"""A `msgspec.Raw` slice not read yet, or a value."""

_STRIDE = 64 * 1024
"""Bytes checked for UTF-8 at a time; decoded they take four times that at most."""
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_KEY = re.compile(rb'\s*+(?:,\s*+)?+("(?:[^"\\]++|\\.)*+")\s*+:\s*+', re.DOTALL)
_END = re.compile(rb"\s*\}\s*\Z")
_LIST = msgspec.json.Decoder(list[msgspec.Raw])


def open_document(source: Source) -> Piece:
    """The document of an input, not read yet. Raises `InvalidTranscript` when it cannot be cut or read, or when the
    outermost object gives a key twice."""
    data = source.document()
    _refuse_other_text(source, data)
    try:
        root = msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return _whole(source, data)
    unique_fields(source, root, at="the top")
    return root


def _refuse_other_text(source: Source, data: bytes) -> None:
    """Raise for bytes that are no UTF-8, which slices would pass on unseen; in pieces, without a second copy."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _STRIDE):
        try:
            decoder.decode(data[start : start + _STRIDE], final=start + _STRIDE >= len(data))
        except UnicodeDecodeError as error:
            place = start + max(error.start, 0)
            raise source.fail(f"is not valid UTF-8 near byte {place:,}; convert or repair it") from error


def _whole(source: Source, data: bytes) -> Any:
    try:
        return strict.loads(data)
    except strict.BadJson as error:
        if not data.lstrip().startswith((b"{", b"[")):  # a page that shows some JSON
            raise source.fail(NO_JSON) from error
        why = str(error).removeprefix("not valid JSON: ")
        raise source.fail(f"is not valid JSON: {why}; repair it or export it again") from error


def fields(piece: Piece) -> dict[str, Piece]:
    """The members of an object; empty when it is none."""
    if isinstance(piece, msgspec.Raw):
        try:
            return _OBJECT.decode(piece)
        except msgspec.ValidationError:
            return {}
        except msgspec.DecodeError:  # a lone surrogate escape
            piece = strict.loads(bytes(piece))
    return piece if isinstance(piece, dict) else {}


def unique_fields(source: Source, piece: Piece, *, at: str) -> dict[str, Piece]:
    """As `fields`; a key given twice is an `InvalidTranscript` that names the place `at`."""
    members = fields(piece)
    first = next(iter(members.values()), None)  # a value where `strict` has read them all
    if (
        isinstance(piece, msgspec.Raw)
        and isinstance(first, msgspec.Raw)
        and not _walks_through(memoryview(piece), members)
    ):
        read(source, piece, at=at)  # finds and names the key
    return members


def _walks_through(text: memoryview, members: dict[str, msgspec.Raw]) -> bool:
    """True when an object gives no key twice.

    A parser keeps a key's first place and last value. Walking the text by the lengths of the values kept, the keys
    come in order and the walk ends at the end exactly when nothing was given twice.
    """
    place = 1
    for key, piece in members.items():
        match = _KEY.match(text, place)
        if match is None or json.loads(match[1]) != key:
            return False
        place = match.end() + len(memoryview(piece))
    return _END.match(text, place) is not None


def items(piece: Piece) -> list[Piece]:
    """The members of a list; empty when it is none."""
    if isinstance(piece, msgspec.Raw):
        try:
            return _LIST.decode(piece)
        except msgspec.ValidationError:
            return []
        except msgspec.DecodeError:  # a lone surrogate escape
            piece = strict.loads(bytes(piece))
    return piece if isinstance(piece, list) else []


def value(piece: Piece) -> Any:
    """The value of a piece. Raises `strict.BadJson` for what the scan refuses (duplicate keys, depth, NaN)."""
    return strict.loads(bytes(piece)) if isinstance(piece, msgspec.Raw) else piece


def read(source: Source, piece: Piece, *, at: str) -> Any:
    """The value of a piece; what cannot be read is an `InvalidTranscript` that names the place `at` in the document."""
    try:
        return value(piece)
    except strict.BadJson as error:
        raise unreadable(source, str(error), at=at) from error


def objects(source: Source, piece: Piece, *, at: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a list with their indexes, each read when it is asked for; other members are left out."""
    for index, item in enumerate(items(piece)):
        entry = read(source, item, at=f"{at}[{index}]")
        source.took(len(memoryview(item)) if isinstance(item, msgspec.Raw) else 0)
        if isinstance(entry, dict):
            yield index, entry


def raw_bytes(piece: Piece) -> bytes:
    """The JSON of a piece: the very bytes for a slice, compact JSON for a value."""
    return bytes(piece) if isinstance(piece, msgspec.Raw) else dump(piece)


def unreadable(source: Source, why: str, *, at: str) -> InvalidTranscript:
    """The error for a part of a document, to be raised by the caller."""
    return source.fail(f"at {at}: {why}; repair or remove it")


def copies(piece: Piece) -> list[bytes]:
    """The JSON of each member of a list, copied, so that the document itself can be let go before they are read."""
    return [raw_bytes(item) for item in items(piece)]
