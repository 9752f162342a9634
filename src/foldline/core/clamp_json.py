"""Shortening JSON so that it stays JSON: long strings cut, long lists and objects thinned from the middle.

Counterpart of `foldline.core.clamp`, which cuts prose. Knows nothing of messages; works on one text and a limit in
characters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from foldline.core.clamp import head_end, tail_start

PARSE_MAX_CHARS = 4_000_000
"""A longer text is cut as text: parsing it costs more than its structure is worth."""
DEPTH_MAX = 64
STRING_MIN = 80
"""Strings are cut no shorter than this, in characters, before lists are thinned."""
GAIN_MIN = 60
"""A string stays whole where a cut would take fewer characters: a mark is as long."""
ITEMS_MAX = 512
"""Lists longer than this are thinned at once."""
ITEMS_MIN = 2
KEYS_MIN = 2
"""Objects lose keys only where lists of this few items and strings of `STRING_MIN` are still too much."""
ROUNDS_MAX = 32
"""Most attempts, each with less room for strings, then for lists, then for objects, than the one before."""
AGAIN = "[…]"
"""Stands for every cut after the first, which alone carries the mark."""


class _Limits(Struct, frozen=True, kw_only=True, gc=False):
    """Most characters of a string, items of a list, keys of an object."""

    strings: int
    items: int
    keys: int

    def less(self, share: float) -> _Limits | None:
        """The next attempt's limits, `share` of one of these; `None` when none can go lower."""
        if self.strings > STRING_MIN:
            return replace(self, strings=max(STRING_MIN, int(self.strings * share)))
        if self.items > ITEMS_MIN:
            return replace(self, items=max(ITEMS_MIN, int(self.items * share)))
        if self.keys > KEYS_MIN:
            return replace(self, keys=max(KEYS_MIN, int(self.keys * share)))
        return None


def clamp_json(text: str, chars: int, *, mark: str, strings_only: bool = False) -> str | None:
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
    if strings_only:
        limits = _Limits(strings=max(STRING_MIN, chars), items=len(text), keys=len(text))
    else:
        limits = _Limits(strings=max(STRING_MIN, chars), items=ITEMS_MAX, keys=ITEMS_MAX)
    for _ in range(ROUNDS_MAX):
        out = _dump(_thin(value, limits, marks=chain([mark], repeat(AGAIN)), depth=DEPTH_MAX), indent)
        if out is None or len(out) <= chars:
            return out if out is not None and mark in out else None
        less = limits.less(max(0.3, min(0.9, chars / len(out))))
        if less is None or (strings_only and less.strings == limits.strings):
            return None
        limits = less
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


def _thin(value: Any, limits: _Limits, *, marks: Iterator[str], depth: int) -> Any:
    if isinstance(value, str):
        return _thin_text(value, limits.strings, marks=marks)
    if depth == 0:
        return next(marks)
    if isinstance(value, list):
        head, tail = _ends(value, limits.items)
        thin = [_thin(v, limits, marks=marks, depth=depth - 1) for v in value[:head]]
        if head + tail < len(value):
            thin.append(f"{len(value) - head - tail} items {next(marks)}")
        return thin + [_thin(v, limits, marks=marks, depth=depth - 1) for v in value[len(value) - tail :]]
    if isinstance(value, dict):
        out = {
            k: _thin(v, limits, marks=marks, depth=depth - 1) for k, v in list(value.items())[: limits.keys]
        }
        if len(value) > limits.keys:
            longest = max(map(len, out))
            rest = "…".ljust(longest + 1 if "…" in out else 1, "…")
            out[rest] = f"{len(value) - limits.keys} keys {next(marks)}"
        return out
    return value


def _ends(value: list[Any], items_max: int) -> tuple[int, int]:
    """How many items stay at the head and at the tail."""
    if len(value) <= items_max:
        return len(value), 0
    return items_max - items_max // 3, items_max // 3


def _thin_text(text: str, chars: int, *, marks: Iterator[str]) -> str:
    if len(text) < chars + GAIN_MIN:
        return text
    head, tail = head_end(text, chars * 2 // 3), tail_start(text, chars // 3)
    return f"{text[:head]}{next(marks)}{text[tail:]}"
