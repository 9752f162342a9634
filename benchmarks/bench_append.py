"""What one more message costs: append a weighed message to a view and ask whether it is over its threshold.

    python -m benchmarks.bench_append [--quick]

At 20,000 messages it may cost at most `RATIO_MAX` times what it costs at 200: a session's steady state must not
depend on its length.
"""

from __future__ import annotations

from functools import partial

from benchmarks.measure import Bound, cpu_medians, is_quick, milliseconds, verdict
from foldline.core.budget import Room
from foldline.core.message import Message, Text
from foldline.core.view import View, item_of, view_of
from foldline.presets import policy_of
from foldline.tokens.choose import counter_for

RATIO_MAX = 1.5
SECONDS_MAX = 50e-6
"""Printed, not asserted: about what one append and check may take on a small machine."""
SIZES = (200, 20_000)
APPENDS = 200
TEXT = "Read the failing test, then the module it covers, and say what has to change. " * 20


def main() -> None:
    """Print the figures; exit 1 when the ratio is broken."""
    quick = is_quick()
    counter, policy = counter_for(), policy_of("balanced")
    window = 10**9

    def work(view: View) -> None:
        for _ in range(APPENDS):
            message = Message(role="user", parts=(Text(text=TEXT, slot=0),))
            weights, overhead = counter.weights(message)
            view = view.append(item_of(view.next_seq, message, weights=weights, overhead=overhead))
            if view.tokens >= policy.threshold.tokens(Room(window)):
                raise AssertionError("the threshold is out of reach")

    views = {f"append + check at {size:,} messages": _view(size) for size in SIZES}
    medians = cpu_medians({name: partial(work, view) for name, view in views.items()}, quick=quick)
    each = {name: seconds / APPENDS for name, seconds in medians.items()}
    milliseconds(each)
    small, large = each.values()
    milliseconds({"about what it may be on a small machine": SECONDS_MAX})
    name = f"append + check at {SIZES[1]:,} ÷ at {SIZES[0]:,} messages"
    verdict([Bound(name, large / small, most=RATIO_MAX)], quick=quick)


def _view(size: int) -> View:
    message = Message(role="user", parts=(Text(text="go on", slot=0),))
    view = view_of(())
    for seq in range(size):
        view = view.append(item_of(seq, message, weights=(2,), overhead=4))
    return view


if __name__ == "__main__":
    main()
