"""Lists of OpenAI Responses that do not hold all of their own history: items that stand there by reference, and results whose call
stands nowhere.

    {"type": "item_reference", "id": "fc_1"}      the call, which the provider keeps
    {"type": "function_call_output", …}           its result, which looks as if it had none

Such a list can be read by the provider alone. Nothing of it is folded or dropped here: the request passes as it came. Knows kinds and
ids, and nothing of what is said; how calls and results are read is `foldline.wire.responses_calls`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from foldline.held_elsewhere import REFERENCE
from foldline.wire.responses_calls import CALLS, OUTPUTS

FORMAT: Final = "openai-responses"
ASKS: Final = "mcp_approval_request"
"""Answered by its own id."""
BY_ITS_OWN_ID: Final = "local_shell_call_output"
"""Says under its own `id` which call it answers."""


class _Item(Struct, gc=False):
    """What an item says of itself and of the one that it belongs to; the rest is passed over unread."""

    type: Any = None
    id: Any = None
    call_id: Any = None
    role: Any = None
    approval_request_id: Any = None


_ITEM: Final = msgspec.json.Decoder(_Item)


def kept_elsewhere(messages: Sequence[bytes]) -> str:
    """Which kind of item says that a part of the list is kept by the provider; empty where all of it is here."""
    asked: set[Any] = set()
    answering: list[tuple[str, Any]] = []
    for wire in messages:
        item = _read(wire)
        if item is None:
            continue
        if _is_reference(item):
            return REFERENCE
        if item.type in CALLS or item.type == ASKS:
            asked.update(one for one in (item.call_id, item.id) if isinstance(one, str))
        elif item.type in OUTPUTS or item.approval_request_id is not None:
            answering.append((str(item.type), _answered(item)))
    return next((kind for kind, id in answering if isinstance(id, str) and id not in asked), "")


def _read(wire: bytes) -> _Item | None:
    try:
        item = _ITEM.decode(wire)
    except msgspec.MsgspecError:  # no object; who reads it says so
        return None
    return item if isinstance(item.type, str | None) else None


def _answered(item: _Item) -> Any:
    """The id of what an item answers; of what the provider ran itself there may be none."""
    return item.approval_request_id or item.call_id or (item.id if item.type == BY_ITS_OWN_ID else None)


def _is_reference(item: _Item) -> bool:
    """By its type, which may be left out: an id alone."""
    return item.type == REFERENCE or (item.type is None and item.role is None and isinstance(item.id, str))
