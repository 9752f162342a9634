"""JSON that others wrote, in a history: read where it can be read. Knows nothing of what stands in it."""

from __future__ import annotations

from typing import Any

import msgspec

_UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
"""No JSON; half of a surrogate pair; nested deeper than anything that reads it."""


def decoded(json_text: str | bytes) -> Any:
    """What a text says as JSON; `None` where it is none."""
    try:
        return msgspec.json.decode(json_text)
    except _UNREADABLE:
        return None


def object_in(json_text: str) -> dict[str, Any]:
    """The object that a text says as JSON; empty where it says none."""
    value = decoded(json_text)
    return value if isinstance(value, dict) else {}


def sorted_json(json_text: str) -> str:
    """The same JSON with its keys in order and without what spelling adds: two spellings of one thing read alike. A text that
    is no JSON stands as it is."""
    value = decoded(json_text)
    return json_text if value is None else msgspec.json.encode(value, order="sorted").decode()
