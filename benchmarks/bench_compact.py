"""What a compaction costs, in first token counts of the same history.

    python -m benchmarks.bench_compact [--quick]

A history of 2,000 messages and 1.2 million tokens is brought down by the policy `balanced`, through the engine
(`foldline.reduce`) and through `foldline.compact` on a caller's dicts. Beyond decoding and counting the history once,
that may cost `RATIO_MAX` counts, and `PEAK_MAX` bytes. Half is what the policy itself aims at; a quarter and a
twentieth, where old rounds are folded, are printed beside it.

What the passes themselves cost, without the facts that `balanced` carries out of every text it shortens, is measured
apart: reading a text for its facts costs many times what counting its tokens does.
"""

from __future__ import annotations

from functools import partial

from msgspec import structs

import foldline
from benchmarks.histories import chat_history
from benchmarks.measure import Bound, cpu_medians, is_quick, milliseconds, peak_bytes, verdict
from foldline.engine.policy import Policy
from foldline.engine.report import Report
from foldline.passes.budget_reduction import BudgetReduction
from foldline.passes.microcompact import Microcompact
from foldline.presets import policy_of
from foldline.reduce import Goal, history_of, needs_of, reduce
from foldline.tokens.choose import counter_for
from foldline.wire.formats import codec

MESSAGES, MESSAGES_QUICK = 2_000, 60
TARGETS = {"half": 0.5, "a quarter": 0.25, "a twentieth": 0.05}
RATIO_MAX = 2.0
PEAK_MAX = 20e6


def main() -> None:
    """Print the figures; exit 1 when a ratio is broken."""
    quick = is_quick()
    dicts = chat_history(MESSAGES_QUICK if quick else MESSAGES)
    chat, counter, policy = codec("openai-chat"), counter_for(), policy_of("balanced")
    messages = [chat.decode(value) for value in dicts]
    needs = needs_of(chat.rules, tail_stays_open=True)
    history = history_of(messages, needs=needs, counter=counter, tokens_fixed=0)
    print(f"{len(messages):,} messages, {history.tokens:,} tokens")
    report = Report(format="openai-chat")
    bare = Goal(policy=without_facts(policy), to=0.5)
    works = {
        "decode": lambda: [chat.decode(value) for value in dicts],
        "first token count": lambda: counter.weights_of(messages),
        "repair + first token count": lambda: history_of(
            messages, needs=needs, counter=counter, tokens_fixed=0
        ),
    }
    works["reduce to half, no facts carried"] = lambda: reduce(history, bare, counter=counter, report=report)
    for name, share in TARGETS.items():
        goal = Goal(policy=policy, to=share)
        works[f"reduce to {name}"] = partial(reduce, history, goal, counter=counter, report=report)
        works[f"foldline.compact to {name}"] = partial(foldline.compact, dicts, to=share)
    seconds = cpu_medians(works, quick=quick)
    milliseconds(seconds)
    count, once = seconds["first token count"], seconds["first token count"] + seconds["decode"]
    passes = seconds["reduce to half, no facts carried"] / count
    bounds = [Bound("reduce to half, no facts carried ÷ first count", passes, most=RATIO_MAX)]
    for name in TARGETS:
        most = RATIO_MAX if name == "half" else float("inf")
        beyond = seconds[f"foldline.compact to {name}"] - once
        bounds.append(
            Bound(f"reduce to {name} ÷ first count", seconds[f"reduce to {name}"] / count, most=most)
        )
        bounds.append(Bound(f"compact to {name}, beyond decode and count ÷ count", beyond / count, most=most))
    peak = peak_bytes(lambda: foldline.compact(dicts, to=0.5))
    bounds.append(Bound("peak of foldline.compact to half, MB", peak / 1e6, most=PEAK_MAX / 1e6))
    verdict(bounds, quick=quick)


def without_facts(policy: Policy) -> Policy:
    """The policy with passes that carry no fact out of what they shorten."""
    tiers = []
    for tier in policy.tiers:
        match tier.reduce:
            case BudgetReduction() as reduction:
                tier = structs.replace(tier, reduce=structs.replace(reduction, carry=0))
            case Microcompact() as clearing:
                tier = structs.replace(tier, reduce=structs.replace(clearing, carry_tokens=0))
            case _:
                pass
        tiers.append(tier)
    return structs.replace(policy, tiers=tuple(tiers))


if __name__ == "__main__":
    main()
