"""Progress: whether compactions in a row get a session anywhere, or go round in a circle.

    over the line ──► compacted ──► over the line again, or all but ──► … three times: a spiral

A compaction that frees something and leaves the request due, or due again with the next round, is paid for and helps nothing.
Such runs end with a cause a person can act on (anomalyco/opencode#27924, #48188, 1jehuang/jcode#170). Knows
no session; the count is the log's (`foldline.log.failures`), so that it outlives a restart.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

STALLED_MAX: Final = 3
"""Compactions in a row that a session may make without progress."""
GAIN_PERCENT_MIN: Final = 5
"""A compaction that leaves the request due and frees less than this is not made."""
ROOM_PERCENT_MIN: Final = 5
"""One that misses its target and leaves less room than this below the line is no progress: the next round is due again."""


class Sizes(Struct, frozen=True, kw_only=True, gc=False):
    """One compaction in tokens of the whole request."""

    before: int
    after: int
    line: int
    """From where on the next compaction is due."""
    target: int = 0
    """What it was to come down to."""
    window: int = 0
    """What the provider takes; 0 where that is not known."""
    fixed: int = 0
    """System prompt and tools."""
    largest: int = 0
    """The largest message that stays."""

    @property
    def is_progress(self) -> bool:
        """True where the target was reached, or there is room for more than a round."""
        return self.after <= self.target or has_room(self.after, self.line)

    @property
    def makes_fit(self) -> bool:
        """True where the request did not fit the window before and does now: worth making, however little it frees
        (google-gemini/gemini-cli#14766)."""
        return self.before > self.window >= self.after if self.window else False

    @property
    def is_too_little(self) -> bool:
        """True for one that should not be made: due again at once, and hardly smaller."""
        is_due = self.after >= self.line and self.after > self.target
        freed = self.before - self.after
        return is_due and not self.makes_fit and 100 * freed < GAIN_PERCENT_MIN * self.before


def has_room(tokens: int, line: int) -> bool:
    """True for a request with room for more than a round below the line."""
    return 100 * tokens < (100 - ROOM_PERCENT_MIN) * line


def why_too_little(sizes: Sizes) -> str:
    """Why a compaction was refused, for a person."""
    freed = max(0, sizes.before - sizes.after)
    return f"it would free {freed:,} of {sizes.before:,} tokens and leave the request due: {cause_of(sizes)}"


def why_stopped(cause: str) -> str:
    """Why no more is compacted, for a person."""
    return f"stopped after {STALLED_MAX} compactions in a row that did not help: {cause}"


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
