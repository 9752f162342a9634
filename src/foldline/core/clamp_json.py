"""Shortening JSON so that it stays JSON: long strings cut, long lists and objects thinned from the middle.

Counterpart of `foldline.core.clamp`, which cuts prose. Knows nothing of messages; works on one text and a limit in
characters.
"""

from __future__ import annotations

import json
from typing import Any

from foldline.core.clamp import head_and_tail

PARSE_MAX_CHARS = 4_000_000
"""A longer text is cut as text: parsing it costs more than its structure is worth."""
DEPTH_MAX = 64
ROUNDS_MAX = 12
"""Most attempts, each with half the room per string and per list of the one before."""


def clamp_json(text: str, chars: int, mark: str) -> str | None:
    """`text` as valid JSON of at most `chars` characters with `mark` where something went.

    `None` when the text is no JSON object or array, or cannot be brought below the limit that way; duplicate keys
    and anything else the standard parser smooths over also give `None`, since the result would not say so.
    """
    stripped = text.strip()
    if not stripped or stripped[0] not in "[{" or len(text) > PARSE_MAX_CHARS:
        return None
    try:
        value = json.loads(stripped, object_pairs_hook=_pairs)
    except (ValueError, RecursionError):
        return None
    indent = 2 if "\n" in stripped[:200] else None
    string_max, items_max = max(64, chars // 2), 256
    for _ in range(ROUNDS_MAX):
        thin = _thin(value, string_max, items_max, mark, DEPTH_MAX)
        separators = (",", ": ") if indent else (",", ":")
        out = json.dumps(thin, ensure_ascii=False, indent=indent, separators=separators)
        if len(out) <= chars and mark in out:
            return out
        string_max, items_max = max(16, string_max // 2), max(2, items_max // 2)
    return None


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
        head = [_thin(v, string_max, items_max, mark, depth - 1) for v in value[: items_max - items_max // 3]]
        if len(value) <= items_max:
            rest = value[items_max - items_max // 3 :]
            return head + [_thin(v, string_max, items_max, mark, depth - 1) for v in rest]
        tail = [_thin(v, string_max, items_max, mark, depth - 1) for v in value[-(items_max // 3) :]] if items_max >= 3 else []
        return [*head, f"{len(value) - len(head) - len(tail)} items {mark}", *tail]
    if isinstance(value, dict):
        kept = list(value.items())[:items_max]
        out = {k: _thin(v, string_max, items_max, mark, depth - 1) for k, v in kept}
        if len(value) > items_max:
            out["…"] = f"{len(value) - items_max} keys {mark}"
        return out
    return value


def _thin_text(text: str, chars: int, mark: str) -> str:
    cut = head_and_tail(text, chars * 2 // 3, chars // 3)
    if cut is None or len(cut[0]) + len(cut[1]) + len(mark) >= len(text):
        return text
    return f"{cut[0]}{mark}{cut[1]}"
