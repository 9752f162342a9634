"""The arguments of an edit in the order of time: what goes before what comes, and of one that was not made what stood, with
the names of code in what was to come: the next attempt has those again.

A model may write its arguments in any order; what stands further down passes for newer (`mentions`). Knows arguments, not
what became of a call; `outcomes` does.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from foldline.core.json_text import object_in
from foldline.ledger.changes import EDITS, NEW, OLD, WHOLE
from foldline.ledger.symbols_in_text import is_name

_KEYS_CHARS_MAX = 1 << 20
"""Longer arguments stand as they came."""
_WORD = re.compile(r"[^\W\d]\w+")


def in_time(arguments: str) -> str:
    """Arguments with the old text before the new; as they came where they are so already."""
    if len(arguments) > _KEYS_CHARS_MAX or not any(
        _is_turned(arguments, old=old, new=new) for old, new in zip(OLD, NEW, strict=True)
    ):
        return arguments
    return _rewritten(arguments, bared=())


def without_new(arguments: str) -> str:
    """Arguments without what they were to bring, but for the names of code in it, which claim nothing."""
    if len(arguments) > _KEYS_CHARS_MAX:
        return arguments
    return _rewritten(arguments, bared=(*NEW, *WHOLE))


def _is_turned(arguments: str, *, old: str, new: str) -> bool:
    comes = arguments.find(f'"{new}"')
    return 0 <= comes < arguments.rfind(f'"{old}"')


def _rewritten(arguments: str, *, bared: tuple[str, ...]) -> str:
    value = object_in(arguments)
    if not value:
        return arguments
    for key in EDITS:
        if isinstance(edits := value.get(key), list):
            value[key] = [_ordered(edit, bared) if isinstance(edit, dict) else edit for edit in edits]
    return msgspec.json.encode(_ordered(value, bared)).decode()


def _ordered(holder: dict[str, Any], bared: tuple[str, ...]) -> dict[str, Any]:
    kept = {key: _names(value) if key in bared else value for key, value in holder.items()}
    return dict(sorted(kept.items(), key=lambda pair: pair[0] in NEW))


def _names(value: Any) -> str:
    """The names of code in a text. Apart by spaces, the class of a failure reports none."""
    words = _WORD.findall(value) if isinstance(value, str) else ()
    return " ".join(dict.fromkeys(filter(is_name, words)))
