"""Shortening JSON so that it stays JSON: long strings cut, long lists and objects thinned from the middle.

Counterpart of `foldline.core.clamp`, which cuts prose. Knows nothing of messages; works on one text and a limit in
characters.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from foldline.core.clamp import head_and_tail

PARSE_MAX_CHARS = 4_000_000
"""A longer text is cut as text: parsing it costs more than its structure is worth."""
DEPTH_MAX = 64
STRING_MIN = 80
"""Strings are cut no shorter than this, in characters, before lists are thinned."""
ITEMS_MAX = 512
ITEMS_MIN = 2
ROUNDS_MAX = 24
"""Most attempts, each with less room per string, then per list, than the one before."""


def clamp_json(text: str, chars: int, mark: str, *, strings_only: bool = False) -> str | None:
    """`text` as valid JSON of at most `chars` characters with `mark` where something went; numbers keep their spelling.

    `strings_only`: no item and no key goes, as a call's arguments need it. `None` when the text is no JSON object or
    array, or cannot be brought below the limit that way; duplicate keys, NaN and half surrogate pairs also give
    `None`, since the result would not say so.
    """
    stripped = text.strip()
    if not stripped or stripped[0] not in "[{" or len(text) > PARSE_MAX_CHARS:
        return None
    try:
        value = json.loads(
            stripped,
            object_pairs_hook=_pairs,
            parse_int=_as_spelt,
            parse_float=_as_spelt,
            parse_constant=_refuse,
        )
    except (ValueError, RecursionError):
        return None
    indent = 2 if "\n" in stripped[:200] else None
    strings, items = max(STRING_MIN, chars), len(stripped) if strings_only else ITEMS_MAX
    for _ in range(ROUNDS_MAX):
        out = _dump(_thin(value, strings, items, mark, DEPTH_MAX), indent)
        if out is None or len(out) <= chars:
            return out if out is not None and mark in out else None
        share = max(0.3, min(0.9, chars / len(out)))
        if strings > STRING_MIN:
            strings = max(STRING_MIN, int(min(strings, chars) * share))
        elif items > ITEMS_MIN and not strings_only:
            items = max(ITEMS_MIN, int(items * share))
        else:
            return None
    return None


def _dump(value: Any, indent: int | None) -> str | None:
    try:
        out = msgspec.json.encode(value)
    except UnicodeEncodeError:
        return None
    return (out if indent is None else msgspec.json.format(out, indent=indent)).decode()


def _as_spelt(number: str) -> msgspec.Raw:
    return msgspec.Raw(number)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("duplicate key")
    return value


def _thin(value: Any, string_max: int, items_max: int, mark: str, depth: int) -> Any:
    if isinstance(value, str):
        return _thin_text(value, string_max, mark)
    if depth == 0:
        return mark
    if isinstance(value, list):
        head, tail = _ends(value, items_max)
        thin = [_thin(v, string_max, items_max, mark, depth - 1) for v in value[:head]]
        if head + tail < len(value):
            thin.append(f"{len(value) - head - tail} items {mark}")
        return thin + [_thin(v, string_max, items_max, mark, depth - 1) for v in value[len(value) - tail :]]
    if isinstance(value, dict):
        kept = list(value.items())[:items_max]
        out = {k: _thin(v, string_max, items_max, mark, depth - 1) for k, v in kept}
        if len(value) > items_max:
            longest = max(map(len, out))
            out["…".ljust(longest + 1 if "…" in out else 1, "…")] = f"{len(value) - items_max} keys {mark}"
        return out
    return value


def _ends(value: list[Any], items_max: int) -> tuple[int, int]:
    """How many items stay at the head and at the tail."""
    if len(value) <= items_max:
        return len(value), 0
    return items_max - items_max // 3, items_max // 3


def _thin_text(text: str, chars: int, mark: str) -> str:
    cut = head_and_tail(text, chars * 2 // 3, chars // 3)
    if cut is None or len(cut[0]) + len(cut[1]) + len(mark) >= len(text):
        return text
    return f"{cut[0]}{mark}{cut[1]}"
