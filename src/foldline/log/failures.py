"""What came to nothing in a row, as the log tells it: what a breaker looks at, across restarts (requirement CMP-14).

    "model": {"outcome": "failed", "workspace": "/home/me/project"}        beside a settle or a compaction entry
    "progress": false                                                      there too, or in an entry of its own

A success in a workspace sets its count back; other workspaces and other sessions know nothing of it. Of compactions that were
no progress the same is told for whoever stops a spiral of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORKSPACES_MAX = 64
"""Workspaces of one session whose failures are remembered, the newest."""


def failures_after(failures: dict[str, int], told: Any) -> dict[str, int]:
    """The counts after one more entry; `told`: its member `model`, where it has one."""
    if not isinstance(told, Mapping) or told.get("outcome") not in ("ok", "failed"):
        return failures
    where = str(told.get("workspace", ""))
    rest = {name: count for name, count in failures.items() if name != where}
    if told["outcome"] == "ok":
        return rest
    kept = dict(list(rest.items())[-(WORKSPACES_MAX - 1) :])
    return {**kept, where: failures.get(where, 0) + 1}


def stalled_after(stalled: int, told: Any) -> int:
    """Compactions in a row without progress after one more entry; one that says nothing of it changes nothing."""
    made = told.get("progress") if isinstance(told, Mapping) else None
    if made is True:
        return 0
    return stalled + 1 if made is False else stalled
