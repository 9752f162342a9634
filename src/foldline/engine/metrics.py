"""Metrics: what compactions came to, summed up from their reports (requirement OBS-1).

A value: `metrics.after(report)` is the next one, so that whoever compacts keeps it where its own numbers are kept. Knows
reports alone. Counterpart for what sessions on disk came to: `foldline stats`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from foldline.engine.report import Report


class Metrics(Struct, frozen=True, kw_only=True):
    """Sums over compactions. `to_dict` gives them as JSON values."""

    compactions: int = 0
    """That made the view smaller."""
    refused: int = 0
    """That were planned and refused, or came to nothing."""
    tokens_saved: int = 0
    """By which requests shrank, net of what was put in place of what went."""
    seconds: float = 0.0
    levels: Mapping[str, int] = {}
    """By level (a policy's tier), compactions in which it did something."""
    failures: Mapping[str, int] = {}
    """By name, attempts of a model that came to nothing."""
    requests: int = 0
    """Requests to a model."""

    def share(self, level: str) -> float:
        """In how much of the compactions a level did something, 0 to 1; 0 before the first."""
        return self.levels.get(level, 0) / self.compactions if self.compactions else 0.0

    def after(self, report: Report) -> Metrics:
        """With one more report; one of a request that nothing was due for changes nothing."""
        if report.outcome == "unchanged":
            return self
        is_made = report.tokens_after < report.tokens_before and report.outcome != "failed"
        names = {step.name for step in report.passes} if is_made else set()
        return Metrics(
            compactions=self.compactions + is_made,
            refused=self.refused + (not is_made),
            tokens_saved=self.tokens_saved + (report.tokens_before - report.tokens_after if is_made else 0),
            seconds=self.seconds + report.seconds,
            levels=_more(self.levels, sorted(names)),
            failures=_more(self.failures, [failure.name for failure in report.summary.failures]),
            requests=self.requests + report.summary.requests,
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        value: dict[str, Any] = msgspec.to_builtins(self)
        return value


def _more(counts: Mapping[str, int], names: list[Any]) -> dict[str, int]:
    more = dict(counts)
    for name in names:
        more[name] = more.get(name, 0) + 1
    return more
