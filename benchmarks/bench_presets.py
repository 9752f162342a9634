"""What each preset makes of real sessions: size, facts in view, prefix kept and read again, and what that costs.

    python -m benchmarks.bench_presets [FILE...] [--policy NAME]... [--shares 25] [--model claude-sonnet-4-5] [--json]

Each conversation is compacted once, where it ends, to a share of its size. Money is at the declared prices of the model
(`foldline models`): what was in the prefix cache and is read anew costs the difference between a cache write and a cache
read, once; every later request reads so many tokens less from the cache. Tiers that need a model or a session are idle.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, to_builtins

from benchmarks.continuation.measure import recent_rounds
from benchmarks.continuation.rows import policy_named
from benchmarks.continuation.session import load
from foldline.engine.report import Report
from foldline.presets import POLICIES
from foldline.reduce import Goal, History, reduce
from foldline.survival import measured
from foldline.tokens.choose import counter_for
from foldline.tokens.models import Prices
from foldline.tokens.models import model as model_of

BUNDLED = Path(__file__).parents[1] / "tests" / "data" / "langgraph" / "deerflow-5aa47db1-cjk.json"
MODEL = "claude-sonnet-4-5"
KINDS = ("paths", "identifiers", "numbers", "errors", "commands", "user_messages", "constraints")


class Line(Struct, frozen=True, kw_only=True):
    """One conversation by one policy."""

    session: str
    policy: str
    share: int
    tokens_before: int
    tokens_after: int
    reached: bool
    """Whether the target was met."""
    rounds: float
    """Share of the target that is whole recent rounds."""
    facts: dict[str, tuple[int, int]]
    """Kind → (facts, facts in view)."""
    breaks: int
    """Prefix breaks."""
    tokens_kept: int
    """Tokens of the prefix that stay cached."""
    tokens_reread: int
    dollars_once: float
    """What reading the rest anew costs."""
    dollars_saved: float
    """What each later request costs less."""


def lines_of(path: str, policies: Sequence[str], *, shares: Sequence[int], prices: Prices) -> Iterator[Line]:
    """Every conversation of a file by every policy."""
    counter = counter_for(counter="o200k_base")
    for session in load(path, counter):
        for share in shares:
            for name in policies:
                history = session.prefix(len(session.items))
                yield _line(history, name, session=session.name, share=share, prices=prices)


def _line(history: History, name: str, *, session: str, share: int, prices: Prices) -> Line:
    counter = counter_for(counter="o200k_base")
    target = history.tokens * share // 100
    goal = Goal(policy=policy_named(name), to=target)
    done = reduce(history, goal, counter=counter, report=Report(format="", model=None))
    report = measured(done)
    cache = report.cache
    write = prices.cache_write if prices.cache_write is not None else prices.input
    again = (write or 0) - (prices.cache_read or 0)
    return Line(
        session=session,
        policy=name,
        share=share,
        tokens_before=report.tokens_before,
        tokens_after=report.tokens_after,
        reached=report.tokens_after <= target,
        rounds=min(1.0, recent_rounds(history.view, done.view.items()).whole / target),
        facts={
            k: (report.retention[k]["total"], report.retention[k]["in_view"])
            for k in KINDS
            if report.retention
        },
        breaks=int(bool(done.edits)),
        tokens_kept=cache.prefix_tokens_kept,
        tokens_reread=cache.tokens_reread,
        dollars_once=cache.tokens_reread * again / 1e6,
        dollars_saved=(report.tokens_before - report.tokens_after) * (prices.cache_read or 0) / 1e6,
    )


def table(lines: Sequence[Line]) -> Iterator[str]:
    """One row for each share and policy, over all conversations."""
    kinds = "".join(f"{kind.replace('_', ' '):>15}" for kind in KINDS)
    yield (
        f"{'share':>5}  {'policy':<20}{'met':>7}{'size':>6}{'rounds':>8}{kinds}"
        f"{'breaks':>8}{'kept':>7}{'once $':>9}{'saved $':>9}"
    )
    for share, policy in dict.fromkeys((line.share, line.policy) for line in lines):
        of = [line for line in lines if (line.share, line.policy) == (share, policy)]
        before, after = (sum(getattr(line, f"tokens_{end}") for line in of) for end in ("before", "after"))
        cells = "".join(f"{_share_of(of, kind):>15}" for kind in KINDS)
        kept = sum(line.tokens_kept for line in of)
        yield (
            f"{share:>4}%  {policy[-19:]:<20}{f'{sum(line.reached for line in of)}/{len(of)}':>7}{after / before:>6.2f}"
            f"{sum(line.rounds for line in of) / len(of):>8.0%}{cells}{sum(line.breaks for line in of):>8}"
            f"{kept / before:>7.0%}{sum(line.dollars_once for line in of):>9.3f}"
            f"{sum(line.dollars_saved for line in of):>9.3f}"
        )


def _share_of(lines: Sequence[Line], kind: str) -> str:
    """Percent in view; a history that was left as it was shows all of its own."""
    total = sum(line.facts[kind][0] for line in lines if line.facts)
    held = sum(line.facts[kind][1] for line in lines if line.facts)
    return f"{100 * held / total:.0f} %" if total else "–"


def main(argv: Sequence[str]) -> None:
    """Compact and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", default=[str(BUNDLED)])
    parser.add_argument("--policy", action="append", help="a name, or a dotted path to a Policy")
    parser.add_argument("--shares", default="25")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="the bundled session alone")
    given = parser.parse_args(argv)
    prices = model_of(given.model).prices
    policies = given.policy or tuple(POLICIES)
    shares = [int(share) for share in given.shares.split(",")]
    lines = [line for path in given.files for line in lines_of(path, policies, shares=shares, prices=prices)]
    if given.json:
        print(json.dumps({"schema": "foldline.bench.presets/1", "lines": to_builtins(lines)}))
        return
    sessions = len({line.session for line in lines})
    before = sum(line.tokens_before for line in lines if line.policy == policies[0]) // len(shares)
    print(
        f"{sessions} conversations, {before:,} tokens; prices of {given.model}: {prices}",
        *table(lines),
        sep="\n",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
