"""Budgets: from a model's window to the numbers a policy compares with.

Plain arithmetic on tokens; knows no model. Where the numbers of a window come from: `foldline.tokens.models`.
"""

from __future__ import annotations

from msgspec import Struct

OUTPUT_RESERVE_MIN = 8_192
OUTPUT_RESERVE_MAX = 32_768
OUTPUT_RESERVE_SHARE = 10
"""The default output reserve is a tenth of the window between these bounds (requirement BUD-1)."""
OUTPUT_CAP_MIN = 4_096
"""An output cap is never lowered below this: a shorter answer would be cut off in the middle of a call (requirement CMP-41)."""
SAFETY_PERCENT = 95
"""Share of the window that is planned with (requirement TOK-11)."""


class Room(Struct, frozen=True, gc=False):
    """What a request and its answer have between them."""

    window: int
    """Tokens; 0 where it is not known."""
    output_cap: int | None = None
    """Most output tokens that the request itself asks for."""
    output_max: int | None = None
    """Most output tokens that the model can write."""


def input_budget(tokens_window: int, output_cap: int | None = None) -> int:
    """Tokens the input may take: the window less the output reserve, never below 0. The reserve is the explicit output
    cap as it is (below 0 servers take it for none), else a tenth of the window clamped to 8,192 … 32,768; never more than half
    of the window, so that a nonsense cap leaves room (anomalyco/opencode#49965)."""
    reserve = output_cap
    if reserve is None or reserve < 0:
        reserve = min(max(tokens_window // OUTPUT_RESERVE_SHARE, OUTPUT_RESERVE_MIN), OUTPUT_RESERVE_MAX)
    return max(0, tokens_window - min(reserve, tokens_window // 2))


def output_cap_left(output_cap: int, tokens: int, *, tokens_window: int) -> int:
    """The output cap of a request of so many tokens: as it is where both fit the window, else what is left of it, never
    below 4,096, and never raised (requirement CMP-41)."""
    left = max(tokens_window - tokens, OUTPUT_CAP_MIN)
    return min(output_cap, left)


def effective_budget(tokens_window: int, reserved: int = 0) -> int:
    """95 % of the window, less a fixed reserve (200,000 → 190,000; with 1,000 reserved 189,000; requirement TOK-11)."""
    return max(0, tokens_window * SAFETY_PERCENT // 100 - reserved)


RESERVE_OUTPUT_MAX = 20_000
RESERVE_BUFFER = 13_000
"""What the published design of policy `reserve` keeps of a window: room for the model's output, at most so much, and a buffer beside
it for what comes before the next check (BUD-2 in `tests/manifest.py`)."""


def reserve_threshold(tokens_window: int, output_max: int | None = None) -> int:
    """Window less the model's output, at most 20,000, less 13,000, never below 0 (200,000 with 32,000 → 167,000; with
    8,000 → 179,000; requirement BUD-2)."""
    output = RESERVE_OUTPUT_MAX if output_max is None else min(output_max, RESERVE_OUTPUT_MAX)
    return max(0, tokens_window - output - RESERVE_BUFFER)


RESULT_SHARE_PERCENT = 15
CHARS_PER_TOKEN = 4
TURN_CHARS = (20_000, 400_000)
RESULT_CHARS = (10_000, 200_000)
"""Bounds of requirement BUD-8."""


def result_limits(tokens_window: int | None) -> tuple[int, int]:
    """Characters that all results of one turn, and one result, may take: 15 % of the window at 4 characters a token,
    and half of that, each within its bounds (200,000 → 120,000 and 60,000; no window known: 200,000 and 100,000)."""
    if tokens_window is None:
        return 200_000, 100_000
    turn = tokens_window * RESULT_SHARE_PERCENT // 100 * CHARS_PER_TOKEN
    turn = min(max(turn, TURN_CHARS[0]), TURN_CHARS[1])
    return turn, min(max(turn // 2, RESULT_CHARS[0]), RESULT_CHARS[1])


def replacement_max(tokens_source: int, tokens_window: int) -> int:
    """The bound on what replaces a history: min(50,000, half the window, max(5,000, 80 % of the source)) (CMP-10)."""
    return min(50_000, tokens_window // 2, max(5_000, tokens_source * 80 // 100))
