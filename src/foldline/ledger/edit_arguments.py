"""The arguments of an edit in the order of time: what goes before what comes, and of one that was not made only what stood.

A model may write its arguments in any order; what stands further down passes for newer (`mentions`). Knows arguments, not
what became of a call; `outcomes` does.
"""

from __future__ import annotations

from typing import Any

import msgspec

from foldline.ledger.changes import NEW, OLD, WHOLE

_KEYS_CHARS_MAX = 1 << 20
"""Longer arguments stand as they came."""


def in_time(arguments: str) -> str:
    """Arguments with the old text before the new; as they came where they are so already."""
    if len(arguments) > _KEYS_CHARS_MAX or not any(
        _is_turned(arguments, old=old, new=new) for old, new in zip(OLD, NEW, strict=True)
    ):
        return arguments
    return _rewritten(arguments, dropped=())


def without_new(arguments: str) -> str:
    """Arguments without what they were to bring."""
    if len(arguments) > _KEYS_CHARS_MAX:
        return arguments
    return _rewritten(arguments, dropped=(*NEW, *WHOLE))


def _is_turned(arguments: str, *, old: str, new: str) -> bool:
    comes = arguments.find(f'"{new}"')
    return 0 <= comes < arguments.rfind(f'"{old}"')


def _rewritten(arguments: str, *, dropped: tuple[str, ...]) -> str:
    try:
        value: Any = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return arguments
    if not isinstance(value, dict):
        return arguments
    edits = value.get("edits")
    if isinstance(edits, list):
        value["edits"] = [_ordered(edit, dropped) if isinstance(edit, dict) else edit for edit in edits]
    return msgspec.json.encode(_ordered(value, dropped)).decode()


def _ordered(holder: dict[str, Any], dropped: tuple[str, ...]) -> dict[str, Any]:
    kept = {key: value for key, value in holder.items() if key not in dropped}
    return dict(sorted(kept.items(), key=lambda pair: pair[0] in NEW))
