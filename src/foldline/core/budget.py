"""Budgets: from a model's window to the numbers a policy compares with.

Plain arithmetic on tokens; knows no model. Where the numbers of a window come from: `foldline.tokens.models`.
"""

from __future__ import annotations

OUTPUT_RESERVE_MIN = 8_192
OUTPUT_RESERVE_MAX = 32_768
OUTPUT_RESERVE_SHARE = 10
"""The default output reserve is a tenth of the window between these bounds (requirement BUD-1)."""
SAFETY_PERCENT = 95
"""Share of the window that is planned with (requirement TOK-11)."""


def input_budget(tokens_window: int, output_cap: int | None = None) -> int:
    """Tokens the input may take: the window less the output reserve, never below 0. The reserve is the explicit output
    cap as it is, else a tenth of the window clamped to 8,192 … 32,768; never more than half of the window, so that a
    nonsense cap leaves room (anomalyco/opencode#49965)."""
    if output_cap is not None:
        reserve = min(output_cap, tokens_window // 2)
    else:
        reserve = min(max(tokens_window // OUTPUT_RESERVE_SHARE, OUTPUT_RESERVE_MIN), OUTPUT_RESERVE_MAX)
        reserve = min(reserve, tokens_window // 2)
    return max(0, tokens_window - reserve)


def effective_budget(tokens_window: int, reserved: int = 0) -> int:
    """95 % of the window, less a fixed reserve (200,000 → 190,000; with 1,000 reserved 189,000; requirement TOK-11)."""
    return max(0, tokens_window * SAFETY_PERCENT // 100 - reserved)
