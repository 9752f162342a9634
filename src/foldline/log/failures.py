"""Failures of a model in a row, as the log tells them: what a breaker looks at, across restarts (requirement CMP-14).

    "model": {"outcome": "failed", "workspace": "/home/me/project"}        beside a settle or a compaction entry

A success in a workspace sets its count back; other workspaces and other sessions know nothing of it.
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
