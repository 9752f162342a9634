"""What a compaction costs, in first token counts of the same history.

    python -m benchmarks.bench_compact [--quick]

A history of 2,000 messages and 1.2 million tokens is brought down to half, a quarter and a twentieth.

local passes   the tiers of `balanced` without a look for facts: nothing is carried out of what is shortened, and the last
               tier writes one line a message. What users said was read before. Beyond decoding and counting the history
               once, bringing it to half may cost `RATIO_MAX` counts and `PEAK_MAX` bytes.
balanced       the same tiers as they are: facts carried, a ledger written, and the retention of the report. Cold: nothing
               known yet, `COLD_MAX` counts; warm: found before, as in a session that has been compacted once or has come
               half the way to its threshold, `WARM_MAX`.
compact        `foldline.compact` on a caller's dicts, with decoding and counting, in a loop: warm.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import structs

import foldline
from benchmarks.histories import chat_history
from benchmarks.measure import Bound, cpu_medians, is_quick, milliseconds, peak_bytes, verdict
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.ledger.constraints import constraints
from foldline.ledger.supersession import _read
from foldline.passes.budget_reduction import BudgetReduction
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.microcompact import Microcompact
from foldline.presets import policy_of
from foldline.reduce import Goal, history_of, reduce
from foldline.survival import measured
from foldline.tokens.choose import counter_for
from foldline.wire.formats import codec

MESSAGES, MESSAGES_QUICK = 2_000, 60
TARGETS = {"half": 0.5, "a quarter": 0.25, "a twentieth": 0.05}
RATIO_MAX = 2.0
COLD_MAX, WARM_MAX = 12.0, 3.0
PEAK_MAX = 20e6


def main() -> None:
    """Print the figures; exit 1 when a ratio is broken."""
    quick = is_quick()
    dicts = chat_history(MESSAGES_QUICK if quick else MESSAGES)
    chat, counter, policy = codec("openai-chat"), counter_for(), policy_of("balanced")
    messages = [chat.decode(value) for value in dicts]
    needs = chat.rules.needs
    history = history_of(messages, needs=needs, counter=counter, tokens_fixed=0)
    print(f"{len(messages):,} messages, {history.tokens:,} tokens")
    report = Report(format="openai-chat")
    works: dict[str, Callable[[], object]] = {
        "decode": lambda: [chat.decode(value) for value in dicts],
        "first token count": lambda: counter.weights_of(messages),
        "repair + first token count": lambda: history_of(
            messages, needs=needs, counter=counter, tokens_fixed=0
        ),
    }
    local = without_facts(policy)

    def once(goal: Goal, *, memo: dict[str, Any]) -> object:
        reduced = reduce(structs.replace(history, memo=memo), goal, counter=counter, report=report)
        return measured(reduced)

    def cold(goal: Goal) -> object:
        _read.cache_clear()
        constraints.cache_clear()
        return once(goal, memo={})

    for name, share in TARGETS.items():
        bare, whole = Goal(policy=local, to=share), Goal(policy=policy, to=share)
        works[f"local passes to {name}"] = partial(reduce, history, bare, counter=counter, report=report)
        works[f"balanced to {name}, cold"] = partial(cold, whole)
        works[f"balanced to {name}, warm"] = partial(once, whole, memo=history.memo)
        works[f"compact to {name}"] = partial(foldline.compact, dicts, to=share)
    seconds = cpu_medians(works, quick=quick)
    milliseconds(seconds)
    count = seconds["first token count"]
    bounds = []
    for name in TARGETS:
        local_max = RATIO_MAX if name == "half" else float("inf")
        for work, most in (
            (f"local passes to {name}", local_max),
            (f"balanced to {name}, cold", COLD_MAX),
            (f"balanced to {name}, warm", WARM_MAX),
        ):
            bounds.append(Bound(f"{work} ÷ first count", seconds[work] / count, most=most))
    peak = peak_bytes(lambda: reduce(history, Goal(policy=local, to=0.5), counter=counter, report=report))
    bounds.append(Bound("peak of the local passes to half, MB", peak / 1e6, most=PEAK_MAX / 1e6))
    peak = peak_bytes(lambda: cold(Goal(policy=policy, to=0.5)))
    bounds.append(Bound("peak of balanced to half, cold, MB", peak / 1e6, most=PEAK_MAX / 1e6))
    verdict(bounds, quick=quick)


def without_facts(policy: Policy) -> Policy:
    """The policy with passes that look for no facts."""
    tiers = []
    for tier in policy.tiers:
        match tier.reduce:
            case BudgetReduction() as reduction:
                tier = structs.replace(tier, reduce=structs.replace(reduction, carry=0))
            case Microcompact() as clearing:
                tier = structs.replace(tier, reduce=structs.replace(clearing, carry_tokens=0))
            case FoldOldest() as fold:
                tier = structs.replace(tier, reduce=structs.replace(fold, summary="template"))
            case _:
                pass
        tiers.append(tier)
    return structs.replace(policy, tiers=tuple(tiers))


if __name__ == "__main__":
    main()
