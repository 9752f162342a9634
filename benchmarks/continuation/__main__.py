"""What is needed next, counted over real sessions: the command line, and the table.

    python -m benchmarks.continuation FILE... [--policy NAME]... [--shares 5,13,25] [--cuts N] [--ahead N]
                                              [--by-session] [--missed N] [--json]

Each session is cut at several places where a round has just ended. The prefix is brought to a share of its size in
several ways, and the facts that the real continuation mentions again, in the agent's or the user's own words and before
any tool shows them again, are looked for in what is left. Same input, same table: nothing is sampled or timed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from benchmarks.continuation.judge import KINDS, Fact
from benchmarks.continuation.measure import recent_rounds_tokens, text_of
from benchmarks.continuation.need import MESSAGES_AHEAD, Seen, needed
from benchmarks.continuation.rows import PLAIN, Case, Row, policy_row
from benchmarks.continuation.session import Session, load
from foldline.core.rounds import kept_seqs, outline_of
from foldline.tokens.choose import counter_for

BUNDLED = Path(__file__).parents[2] / "tests" / "data" / "langgraph" / "deerflow-5aa47db1-cjk.json"
FIXED_SHARE_MAX = 0.6
"""Where system prompt and last user message take more of the budget than this, there is nothing to choose."""
COUNTS = """\
Counted: facts that stand in the prefix as whole words and are mentioned again in the next {ahead} messages, in the agent's
text, reasoning or arguments, or in the user's text, before a tool result shows them again; found as whole words in what
is left. paths+ids: paths, file names, URLs, hashes, ids. numbers: a number beside its key. names: names of code.
figures: numbers of 3 digits or more, with or without a key. rounds: share of the budget that is whole rounds in an
unbroken run up to the end. size: tokens ÷ budget. Left out: cuts where system prompt and last user message alone take
more than {fixed:.0%} of the budget.
Not counted: whether the model would have used the fact, or found it again by a tool or by its address; what the session
would have done after a real compaction; facts said in other words; reasons and decisions. The agent of these
sessions saw its whole history: it mentions what it had in view."""


class Options(Struct, frozen=True, kw_only=True):
    """What to compare, and where."""

    files: tuple[str, ...]
    policies: tuple[str, ...] = ("balanced",)
    shares: tuple[int, ...] = (5, 13, 25)
    """Percent of the prefix."""
    cuts: int = 6
    ahead: int = MESSAGES_AHEAD


class Tally(Struct, frozen=True, kw_only=True):
    """One row at one cut and share."""

    session: str
    at: int
    share: int
    row: str
    tokens_target: int
    tokens: int
    rounds_tokens: int
    needed: dict[str, int]
    held: dict[str, int]
    missed: tuple[Fact, ...]


def tallies(options: Options) -> Iterator[Tally]:
    """Every row at every cut and share, in order."""
    counter = counter_for(counter="o200k_base")
    rows: dict[str, Row] = {**{name: policy_row(name) for name in options.policies}, **PLAIN}
    for path in options.files:
        for session in load(path, counter):
            for at in session.cuts(options.cuts):
                wanted = needed(session, at, ahead=options.ahead)
                for share in options.shares:
                    case = case_of(session, at, share=share)
                    if fixed_tokens(case) > case.tokens_target * FIXED_SHARE_MAX:
                        continue
                    for name, row in rows.items():
                        yield tally(case, row, name=name, wanted=wanted)


def fixed_tokens(case: Case) -> int:
    """Tokens of what no way may leave out: leading system messages and the last user message."""
    kept = kept_seqs(outline_of(case.view))
    return sum(item.tokens for item in case.view if item.seq in kept)


def case_of(session: Session, at: int, *, share: int) -> Case:
    """The prefix before `at`, to be brought to `share` percent of its size."""
    prefix = session.prefix(at)
    return Case(session=session, at=at, prefix=prefix, tokens_target=prefix.view.tokens * share // 100)


def tally(case: Case, row: Row, *, name: str, wanted: Sequence[Fact]) -> Tally:
    """What a row holds of the facts that are wanted."""
    kept = row(case)
    seen = Seen(text_of(kept.items))
    held = [fact for fact in wanted if seen.holds(fact)]
    return Tally(
        session=case.session.name,
        at=case.at,
        share=round(100 * case.tokens_target / case.view.tokens),
        row=name,
        tokens_target=case.tokens_target,
        tokens=kept.tokens,
        rounds_tokens=recent_rounds_tokens(case.view, kept.items),
        needed=dict(Counter(fact.kind for fact in wanted)),
        held=dict(Counter(fact.kind for fact in held)),
        missed=tuple(fact for fact in wanted if fact not in held),
    )


TARGETS: dict[int, dict[str, float]] = {
    5: {"paths+ids": 90, "numbers": 75},
    13: {"paths+ids": 95, "numbers": 80},
    25: {"paths+ids": 97, "numbers": 85},
}
"""Percent that a policy is to hold over many long sessions, by share of the prefix. Beside them: half of the budget is
whole rounds, or as much as the newest whole rounds fill where they fill less; and names of code are held as well as
half list + tail holds them, less `NAMES_SLACK`."""
ROUNDS_SHARE = 0.5
LIST_ROW, TAIL_ROW = "half list + tail", "last units"
NAMES_SLACK = 1.0
COLUMNS: dict[str, tuple[str, ...]] = {
    "paths+ids": ("paths", "identifiers"),
    **{kind: (kind,) for kind in KINDS if kind not in ("paths", "identifiers")},
}


def percent(found: Sequence[Tally], column: str) -> float | None:
    """A column of the table for one row at one share; `None` where nothing was needed."""
    if column == "rounds":
        return 100 * sum(rounds_share(t) for t in found) / len(found)
    total = sum(t.needed.get(kind, 0) for t in found for kind in COLUMNS[column])
    held = sum(t.held.get(kind, 0) for t in found for kind in COLUMNS[column])
    return 100 * held / total if total else None


def table(found: Sequence[Tally]) -> Iterator[str]:
    """One line for each share and row."""
    yield (
        f"{'share':>5} {'cuts':>5}  {'row':<24}"
        + "".join(f"{n:>11}" for n in COLUMNS)
        + f"{'rounds':>9}{'size':>7}"
    )
    for share, row in sorted(dict.fromkeys((t.share, t.row) for t in found), key=lambda pair: pair[0]):
        of = [t for t in found if (t.share, t.row) == (share, row)]
        cells = (percent(of, column) for column in COLUMNS)
        shown = "".join(f"{'–' if cell is None else f'{cell:.1f}':>11}" for cell in cells)
        size = sum(t.tokens for t in of) / sum(t.tokens_target for t in of)
        yield f"{share:>4}% {len(of):>5}  {row[-24:]:<24}{shown}{percent(of, 'rounds'):>8.0f}%{size:>7.2f}"


def verdicts(found: Sequence[Tally], policy: str) -> Iterator[str]:
    """What a policy is to hold, and whether it does."""
    for share, targets in TARGETS.items():
        of = {
            row: [t for t in found if (t.share, t.row) == (share, row)]
            for row in (policy, LIST_ROW, TAIL_ROW)
        }
        if not of[policy]:
            continue
        names = percent(of[LIST_ROW], "names")
        wanted: dict[str, float | None] = {**targets, "names": None if names is None else names - NAMES_SLACK}
        if share > min(TARGETS):
            wanted["rounds"] = (
                100 * sum(min(ROUNDS_SHARE, rounds_share(t)) for t in of[TAIL_ROW]) / len(of[TAIL_ROW])
            )
        if share > min(TARGETS):
            yield _rounds_by_cut(of[policy], of[TAIL_ROW], policy=policy, share=share)
        for column, least in wanted.items():
            value = percent(of[policy], column)
            if value is not None and least is not None:
                verdict = "met" if value >= least else "NOT MET"
                yield f"{policy} at {share}%: {column} {value:.1f}, wanted {least:.1f}: {verdict}"


def _rounds_by_cut(found: Sequence[Tally], tail: Sequence[Tally], *, policy: str, share: int) -> str:
    """In how many cuts whole rounds fill half of the budget, or as much of it as the newest whole rounds fill."""
    fill = {(t.session, t.at): rounds_share(t) for t in tail}
    full = [t for t in found if rounds_share(t) >= min(ROUNDS_SHARE, fill[t.session, t.at])]
    return f"{policy} at {share}%: rounds fill half, or what the newest whole rounds fill, in {len(full)} of {len(found)} cuts"


def rounds_share(tally: Tally) -> float:
    """Share of the budget that is whole recent rounds."""
    return min(1.0, tally.rounds_tokens / tally.tokens_target)


def counts(found: Sequence[Tally]) -> str:
    """What the figures rest on."""
    cuts = {(t.session, t.at): t.needed for t in found}
    total = Counter[str]()
    for wanted in cuts.values():
        total.update(wanted)
    facts = ", ".join(f"{total[kind]} {kind}" for kind in KINDS)
    return f"{len({name for name, _ in cuts})} sessions, {len(cuts)} cuts; needed: {facts}"


def options_of(argv: Sequence[str]) -> tuple[Options, argparse.Namespace]:
    """The command line's options."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.continuation", description=__doc__.splitlines()[0]
    )
    parser.add_argument("files", nargs="*", default=[str(BUNDLED)], help="session files of any format")
    parser.add_argument(
        "--policy", action="append", help="a name, or a dotted path to a Policy; may be repeated"
    )
    parser.add_argument("--shares", default="5,13,25", help="percent of the prefix, with commas")
    parser.add_argument("--cuts", type=int, default=6, help="places to cut each session at")
    parser.add_argument("--ahead", type=int, default=MESSAGES_AHEAD, help="messages looked ahead")
    parser.add_argument("--by-session", action="store_true", help="a table for each session too")
    parser.add_argument("--missed", type=int, default=0, metavar="N", help="print N facts each policy missed")
    parser.add_argument("--json", action="store_true", help="every tally as JSON")
    given = parser.parse_args(argv)
    options = Options(
        files=tuple(given.files),
        policies=tuple(given.policy or ("balanced",)),
        shares=tuple(int(share) for share in given.shares.split(",")),
        cuts=given.cuts,
        ahead=given.ahead,
    )
    return options, given


def main(argv: Sequence[str]) -> None:
    """Count and print."""
    options, given = options_of(argv)
    found = list(tallies(options))
    if given.json:
        fields = Tally.__struct_fields__
        rows = [{name: getattr(t, name) for name in fields} for t in found]
        print(json.dumps({"schema": "foldline.bench.continuation/1", "tallies": rows}, ensure_ascii=False))
        return
    if not found:
        sys.exit("no session is long enough to be cut")
    if given.by_session:
        for name in dict.fromkeys(t.session for t in found):
            of = [t for t in found if t.session == name]
            print(f"{name}: {counts(of)}", *table(of), "", sep="\n")
    print(counts(found), *table(found), sep="\n")
    for policy in options.policies:
        print("", *verdicts(found, policy), sep="\n")
    print("\n" + COUNTS.format(ahead=options.ahead, fixed=FIXED_SHARE_MAX))
    for name in options.policies if given.missed else ():
        print(f"\nmissed by {name}:", *missed([t for t in found if t.row == name], given.missed), sep="\n")


def missed(found: Sequence[Tally], most: int) -> Iterator[str]:
    """Facts that were needed and not held, spread over the cases."""
    lines = [f"  {t.share}% {t.session}@{t.at} {fact.kind}: {fact}" for t in found for fact in t.missed]
    step = max(1, len(lines) // most)
    yield from lines[::step][:most]


if __name__ == "__main__":
    main(sys.argv[1:])
