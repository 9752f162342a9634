"""Cutting a JSON value into the bytes of its members, so that each can be kept or replaced on its own.

Owns `fields` and `items`, one level each. Knows nothing of messages. The bytes must have been through `strict.loads`.
msgspec cuts fast but refuses lone surrogate escapes even in what it only skips; those texts, which real logs hold, are
cut by scanning tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

_fields = msgspec.json.Decoder(dict[str, Raw]).decode
_items = msgspec.json.Decoder(list[Raw]).decode
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\],:]', re.DOTALL)
_DEPTH = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}


def fields(data: bytes | Raw) -> dict[str, Raw]:
    """The values of a JSON object by key, in order, each in its own bytes. Raises `ValueError` for another value.

    The slices hold on to `data`; copy what shall outlive it.
    """
    try:
        return _fields(memoryview(data))
    except msgspec.ValidationError:
        raise ValueError("expected a JSON object") from None
    except msgspec.DecodeError:
        data = bytes(data)
        if not data.lstrip().startswith(b"{"):
            raise ValueError("expected a JSON object") from None
        members = list(_scan(data))
        return {
            json.loads(key.decode("utf-8", "replace")): Raw(value)
            for key, value in zip(members[::2], members[1::2], strict=True)
        }


def items(data: bytes | Raw) -> list[Raw]:
    """The items of a JSON array, each in its own bytes; as `fields` otherwise."""
    try:
        return _items(memoryview(data))
    except msgspec.ValidationError:
        raise ValueError("expected a JSON array") from None
    except msgspec.DecodeError:
        data = bytes(data)
        if not data.lstrip().startswith(b"["):
            raise ValueError("expected a JSON array") from None
        return [Raw(value) for value in _scan(data)]


def _scan(data: bytes) -> Iterator[bytes]:
    """What stands between the commas and colons of the outermost array or object."""
    depth, start = 0, 0
    for token in _TOKEN.finditer(data):
        mark = token[0]
        depth += _DEPTH.get(mark, 0)
        if depth == 1 and mark in b"{[":
            start = token.end()
        elif depth == 0 or (depth == 1 and mark in b",:"):
            yield data[start : token.start()].strip()
            start = token.end()
