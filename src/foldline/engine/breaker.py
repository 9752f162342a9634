"""The breaker: after three failures in a row a model is not asked again, until a compaction by hand succeeds.

A value; whoever keeps it says for what (requirement CMP-14: for each workspace and session). Knows no time: it does not close by
itself. Counterpart: `foldline.engine.progress`, which watches compactions that succeed and help nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from foldline.core.completion import Asked

FAILURES_MAX: Final = 3


class Breaker(Struct, frozen=True, kw_only=True, gc=False):
    """How many compactions in a row a model failed."""

    failures: int = 0

    @property
    def is_open(self) -> bool:
        """True where no model is to be asked but by hand (requirement CMP-36)."""
        return self.failures >= FAILURES_MAX

    def after(self, asked: Iterable[Asked]) -> Breaker:
        """The breaker after a compaction that asked so much: as it was where nothing was asked, closed where a text was
        taken, one more where none was. An abort is no compaction (requirement CMP-21)."""
        told = list(asked)
        if not told:
            return self
        return self.told(is_written=any(one.is_written for one in told))

    def told(self, *, is_written: bool) -> Breaker:
        """The breaker after a compaction that asked a model."""
        return Breaker() if is_written else Breaker(failures=self.failures + 1)
