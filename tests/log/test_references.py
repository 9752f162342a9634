"""What entries say of others is held against the log."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.core.entry import Entry
from foldline.log.references import References


def problems(*entries: tuple[str, Any]) -> list[str]:
    """What is wrong with a log of these entries, each of 100 bytes."""
    references = References()
    found: list[str] = []
    for seq, (kind, body) in enumerate(entries):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        found += references.take(Entry(seq=seq, kind=kind, body=data, offset=100 * seq, size=100))
    return found


MESSAGE: tuple[str, Any] = ("message", {})
FULL = {"version": 1, "full": True, "ordinals": 2}


def test_a_checkpoint_whose_references_hold_is_sound() -> None:
    view = [[0, 1, 0], {"at": 1, "offset": 100, "parts": []}]
    body = {**FULL, "view": view, "system": 200, "nodes": [{"view": [[1, 1, 100]]}]}
    small = {"version": 1, "full": False, "ordinals": 2, "base": 300}
    assert problems(MESSAGE, MESSAGE, ("system", {}), ("checkpoint", body), ("checkpoint", small)) == []


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({**FULL, "ordinals": 3}, "counts 3 messages, the log has 2"),
        ({**FULL, "view": [[0, 2, 0]]}, "messages 0 to 2 are not at byte 0"),
        ({**FULL, "view": [[1, 1, 0]]}, "messages 1 to 1 are not at byte 0"),
        ({**FULL, "view": [[1, 0, 100]]}, "messages 1 to 0"),
        ({**FULL, "view": [{"at": 0, "offset": 7}]}, "are not at byte 7"),
        ({**FULL, "nodes": [{"view": [[0, 0, 9]]}]}, "are not at byte 9"),
        ({**FULL, "system": 100}, "no system entry stands at byte 100"),
        ({"version": 1, "full": False, "ordinals": 2, "base": 100}, "no full checkpoint stands at byte 100"),
        (
            {"version": 1, "full": True, "ordinals": 2, "earlier": 100},
            "no full checkpoint stands at byte 100",
        ),
        ({"full": True}, "cannot be read"),
        ({**FULL, "view": [[0]]}, "cannot be read"),
        ({**FULL, "view": 7}, "cannot be read"),
        (b"{", "cannot be read"),
    ],
)
def test_a_checkpoint_that_says_what_is_not_so_is_told(body: Any, why: str) -> None:
    """JRN-3: checked when read."""
    [problem] = problems(MESSAGE, MESSAGE, ("checkpoint", body))
    assert why in problem


def test_entries_that_name_another_name_an_earlier_one() -> None:
    assert (
        problems(MESSAGE, ("undo", {"entry": 0}), ("rollback", {"to": -1}), ("compaction", {"begin": 0}))
        == []
    )
    [problem] = problems(MESSAGE, ("undo", {"entry": 1}))
    assert "names entry 1" in problem
    assert problems(("later_kind", b"{}")) == []
