"""Progress: whether compactions in a row get a session anywhere, or go round in a circle.

    over the line ──► compacted ──► over the line again, nothing answered between ──► … three times: a spiral

A compaction that frees something and leaves the request due again is paid for and helps nothing. Such runs end with a cause a
person can act on (anomalyco/opencode#27924, #48188, 1jehuang/jcode#170). A value; the session keeps it. Counterpart:
`foldline.engine.breaker`, which counts what fails.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

STALLED_MAX: Final = 3
"""Compactions in a row that a session may make without progress."""
GAIN_PERCENT_MIN: Final = 5
"""A compaction that leaves the request due and frees less than this is no progress, whatever was answered between."""


class Sizes(Struct, frozen=True, kw_only=True, gc=False):
    """One compaction in tokens of the whole request."""

    before: int
    after: int
    line: int
    """From where on the next compaction is due."""
    fixed: int = 0
    """System prompt and tools."""
    largest: int = 0
    """The largest message that stays."""

    @property
    def is_progress(self) -> bool:
        """True where the request is no longer due, or what was freed is worth it."""
        return self.after < self.line

    @property
    def is_too_little(self) -> bool:
        """True for one that should not be made: due again at once, and hardly smaller."""
        return not self.is_progress and 100 * (self.before - self.after) < GAIN_PERCENT_MIN * self.before


class Progress(Struct, frozen=True, kw_only=True, gc=False):
    """How many compactions in a row were no progress."""

    stalled: int = 0

    @property
    def is_spiral(self) -> bool:
        """True where the next one would not help either."""
        return self.stalled >= STALLED_MAX

    def after(self, sizes: Sizes) -> Progress:
        """After one more compaction."""
        return Progress() if sizes.is_progress else Progress(stalled=self.stalled + 1)


def cause_of(sizes: Sizes) -> str:
    """Why compacting does not help, and what would, for a person."""
    if sizes.fixed >= sizes.line:
        return (
            f"system prompt and tools alone take {sizes.fixed:,} tokens, and a compaction is due from {sizes.line:,} on; shorten "
            "them, or take a model with a larger window"
        )
    if sizes.largest + sizes.fixed >= sizes.line:
        return (
            f"one message that has to stay takes {sizes.largest:,} tokens of the {sizes.line:,} from which a compaction is due; "
            "shorten it, or take a model with a larger window"
        )
    return (
        f"what has to stay takes {sizes.after:,} tokens, and a compaction is due from {sizes.line:,} on; pin less, take a policy "
        "that keeps less, or a model with a larger window"
    )
