"""compactbench's public templates through `foldline.compact`, answered by a reader that knows nothing of them.

    python benchmarks/bench_compactbench.py [--seeds N] [--failures]

Each template becomes a conversation with 32 turns of chatter, is compacted to a half, a quarter and an eighth of its
size, and compactbench's questions are answered from what is left by `oracle_reader`: forty lines that read only text not
marked as superseded. Prints the score of each family at each size beside two baselines, and the size reached; fails when
at a quarter the whole is below `OVERALL_MIN` or a family below `FAMILY_MIN`. It measures whether the words survive in the right
state, not whether a model would use them.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import foldline
from benchmarks.compactbench_cases import Case, cases, score
from benchmarks.oracle_reader import answer
from foldline.core.errors import TargetUnreachable

OVERALL_MIN = 0.95
FAMILY_MIN = 0.9
SHARES = (0.5, 0.25, 0.125)
JUDGED = 0.25
SEEDS = 5
Messages = list[dict[str, Any]]


def ours(case: Case, share: float) -> Messages:
    """`foldline.compact`; where the target cannot be reached, the smallest it can do."""
    try:
        return foldline.compact(case.messages, to=share).messages
    except TargetUnreachable as error:
        return list(error.result.messages)


def newest(case: Case, share: float) -> Messages:
    """Baseline: the newest messages that fit."""
    room = share * chars(case.messages)
    kept: Messages = []
    for message in reversed(case.messages):
        room -= len(message["content"])
        if room < 0:
            break
        kept.insert(0, message)
    return kept


def whole(case: Case, share: float) -> Messages:
    """Baseline: nothing compacted. What the reader gets wrong even so is its own limit, or what only a mark can tell."""
    return case.messages


def chars(messages: Messages) -> int:
    """Size as text, to compare sizes by."""
    return sum(len(message["content"]) for message in messages)


def answers_of(case: Case, messages: Messages) -> dict[str, str]:
    """The oracle's answer to each question."""
    return {q.key: answer(messages, q.prompt, q.type) for q in case.questions}


def measure(
    made: list[Case], method: Callable[[Case, float], Messages], share: float
) -> tuple[dict[str, float], float, dict[str, list[str]]]:
    """Mean score of each family, size left ÷ size before, and the questions failed by template."""
    scores: dict[str, list[float]] = defaultdict(list)
    failed: dict[str, list[str]] = defaultdict(list)
    before = after = 0
    for case in made:
        messages = method(case, share)
        answers = answers_of(case, messages)
        scores[case.family].append(score(case, answers))
        failed[case.template] += [q.key for q in case.questions if not q.passed(answers[q.key])]
        before += foldline.compact(case.messages, to=0.99).report.tokens_before
        after += tokens(messages)
    means = {family: sum(values) / len(values) for family, values in sorted(scores.items())}
    return means, after / before, {key: keys for key, keys in failed.items() if keys}


def tokens(messages: Messages) -> int:
    """Tokens of a history, counted as `foldline` counts."""
    return foldline.compact(messages, to=10**9).report.tokens_before


def main() -> None:
    """Print the table; exit 1 where it falls short."""
    seeds = int(sys.argv[sys.argv.index("--seeds") + 1]) if "--seeds" in sys.argv else SEEDS
    made = [case for seed in range(seeds) for case in cases(seed)]
    print(f"{len(made)} cases, families: mean of compactbench's score; size: tokens left ÷ tokens before\n")
    short = False
    for name, method in (
        ("foldline", ours),
        ("newest messages that fit", newest),
        ("nothing compacted", whole),
    ):
        for share in SHARES if method is not whole else (1.0,):
            means, size, failed = measure(made, method, share)
            overall = sum(means.values()) / len(means)
            row = "  ".join(f"{family} {value:.2f}" for family, value in means.items())
            print(f"{name:26} to {share:5.3f}: overall {overall:.2f}  size {size:.2f}  {row}")
            if "--failures" in sys.argv and method is ours:
                for template, keys in sorted(failed.items()):
                    print(f"    {template}: {dict((key, keys.count(key)) for key in sorted(set(keys)))}")
            if method is ours and share == JUDGED:
                short = overall < OVERALL_MIN or min(means.values()) < FAMILY_MIN
    if short:
        sys.exit(1)


if __name__ == "__main__":
    main()
