"""What is needed next, counted over real sessions: the command line, and the table.

    python -m benchmarks.continuation FILE... [--policy NAME]... [--designs] [--shares 5,13,25] [--cuts N]
                                              [--ahead N] [--least N] [--by-session] [--missed N] [--json]

A FILE may be a folder, of which every file is read. What is not counted is named with its reason.

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

from msgspec import Struct, to_builtins

from benchmarks.continuation.designs import DESIGNS
from benchmarks.continuation.judge import KINDS, Fact
from benchmarks.continuation.measure import Rounds, recent_rounds, text_of
from benchmarks.continuation.need import MESSAGES_AHEAD, Seen, needed
from benchmarks.continuation.rows import PLAIN, Case, Row, policy_row, row_of
from benchmarks.continuation.session import (
    PREFIX_TOKENS_MIN,
    REST_MESSAGES_MIN,
    LeftOut,
    Session,
    conversations,
    files_in,
)
from foldline.core.rounds import kept_seqs, outline_of
from foldline.tokens.choose import counter_for

BUNDLED = Path(__file__).parents[2] / "tests" / "data" / "langgraph" / "deerflow-5aa47db1-cjk.json"
FIXED_SHARE_MAX = 0.4
"""Where the last user message takes more of the budget than this, half for rounds would leave next to nothing for facts."""
NAMED_MAX = 8
"""Names that a line of what is left out gives."""
COUNTS = """\
Counted: facts that stand in the prefix as whole words and are mentioned again in the next {ahead} messages, in the agent's
text, reasoning or arguments, or in the user's text, before a tool result shows them again; found as whole words in what
is left. paths+ids: paths, file names, URLs, hashes, ids. numbers: a number beside its key. names: names of code.
figures: numbers of 3 digits or more, with or without a key.
rounds: share of the budget that is whole rounds in an unbroken run up to the end; every message of a whole round is what it
was. standing: the same with rounds whose results were shortened or cleared, at what they take then. half: cuts in which
whole rounds fill half of the budget. room: cuts in which they do not, though one further round would fit into half; in all
others it would pass half. size: tokens ÷ budget. The system prompt that opens a session is no part of the prefix.
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
    designs: bool = False
    """The designs that were tried too."""
    least: int = PREFIX_TOKENS_MIN
    """Tokens of the shortest prefix."""


class Tally(Struct, frozen=True, kw_only=True):
    """One row at one cut and share."""

    session: str
    at: int
    share: int
    row: str
    tokens_target: int
    tokens: int
    rounds: Rounds
    needed: dict[str, int]
    held: dict[str, int]
    missed: tuple[Fact, ...]


def tallies(options: Options, left: list[LeftOut]) -> Iterator[Tally]:
    """Every row at every cut and share, in order. What is not counted is added to `left`."""
    counter = counter_for(counter="o200k_base")
    designs = {name: row_of(policy) for name, policy in DESIGNS.items()} if options.designs else {}
    named = {name: policy_row(name) for name in options.policies}
    rows: dict[str, Row] = {**named, **designs, **PLAIN}
    for path in files_in(options.files):
        for session in conversations(path, counter, tokens_min=options.least):
            if isinstance(session, LeftOut):
                left.append(session)
                continue
            cuts = session.cuts(options.cuts, tokens_min=options.least)
            if not cuts:
                left.append(
                    LeftOut(session.name, f"fewer than {REST_MESSAGES_MIN} messages behind every cut")
                )
            for at in cuts:
                wanted = needed(session, at, ahead=options.ahead)
                for share in options.shares:
                    case = case_of(session, at, share=share)
                    if fixed_tokens(case) > case.tokens_target * FIXED_SHARE_MAX:
                        why = f"at {share} % the last user message takes more than {FIXED_SHARE_MAX:.0%} of the budget"
                        left.append(LeftOut(f"{session.name}@{at}", why))
                        continue
                    for name, row in rows.items():
                        yield tally(case, row, name=name, wanted=wanted)


def left_out(left: Sequence[LeftOut]) -> Iterator[str]:
    """One line for each reason."""
    for why in dict.fromkeys(one.why for one in left):
        names = [one.name for one in left if one.why == why]
        more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
        yield f"left out, {why}: {len(names)} ({', '.join(names[:NAMED_MAX])}{more})"


def fixed_tokens(case: Case) -> int:
    """Tokens of what no way may leave out: the last user message."""
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
        rounds=recent_rounds(case.view, kept.items),
        needed=dict(Counter(fact.kind for fact in wanted)),
        held=dict(Counter(fact.kind for fact in held)),
        missed=tuple(fact for fact in wanted if fact not in held),
    )


TARGETS: dict[int, dict[str, float]] = {
    5: {"paths+ids": 90, "numbers": 75},
    13: {"paths+ids": 95, "numbers": 80},
    25: {"paths+ids": 97, "numbers": 85},
}
"""Percent that a policy is to hold over many long sessions, by share of the prefix. Beside them: in every cut half of the
budget is whole rounds, or one further round would pass half; and names of code are held as well as half list + tail holds
them, less `NAMES_SLACK`."""
ROUNDS_SHARE = 0.5
LIST_ROW = "half list + tail"
NAMES_SLACK = 1.0
COLUMNS: dict[str, tuple[str, ...]] = {
    "paths+ids": ("paths", "identifiers"),
    **{kind: (kind,) for kind in KINDS if kind not in ("paths", "identifiers")},
}


def percent(found: Sequence[Tally], column: str) -> float | None:
    """A column of the table for one row at one share; `None` where nothing was needed."""
    if column in ("rounds", "standing"):
        tokens = [t.rounds.whole if column == "rounds" else t.rounds.standing for t in found]
        shares = [min(1.0, size / t.tokens_target) for size, t in zip(tokens, found, strict=True)]
        return 100 * sum(shares) / len(found)
    total = sum(t.needed.get(kind, 0) for t in found for kind in COLUMNS[column])
    held = sum(t.held.get(kind, 0) for t in found for kind in COLUMNS[column])
    return 100 * held / total if total else None


def table(found: Sequence[Tally]) -> Iterator[str]:
    """One line for each share and row."""
    yield (
        f"{'share':>5} {'cuts':>5}  {'row':<24}"
        + "".join(f"{n:>11}" for n in COLUMNS)
        + f"{'rounds':>9}{'standing':>10}{'half':>6}{'room':>6}{'size':>7}"
    )
    for share, row in sorted(dict.fromkeys((t.share, t.row) for t in found), key=lambda pair: pair[0]):
        of = [t for t in found if (t.share, t.row) == (share, row)]
        cells = (percent(of, column) for column in COLUMNS)
        shown = "".join(f"{'–' if cell is None else f'{cell:.1f}':>11}" for cell in cells)
        rounds = (
            f"{percent(of, 'rounds'):>8.0f}%{percent(of, 'standing'):>9.0f}%{_filled(of):>6}{_room(of):>6}"
        )
        size = sum(t.tokens for t in of) / sum(t.tokens_target for t in of)
        yield f"{share:>4}% {len(of):>5}  {row[-24:]:<24}{shown}{rounds}{size:>7.2f}"


def verdicts(found: Sequence[Tally], policy: str) -> Iterator[str]:
    """What a policy is to hold, and whether it does."""
    for share, targets in TARGETS.items():
        of = {row: [t for t in found if (t.share, t.row) == (share, row)] for row in (policy, LIST_ROW)}
        if not of[policy]:
            continue
        names = percent(of[LIST_ROW], "names")
        wanted: dict[str, float | None] = {**targets, "names": None if names is None else names - NAMES_SLACK}
        yield _rounds_by_cut(of[policy], policy=policy, share=share)
        for column, least in wanted.items():
            value = percent(of[policy], column)
            if value is not None and least is not None:
                yield f"{policy} at {share}%: {column} {value:.1f}, wanted {least:.1f}: {_met(value >= least)}"


def _filled(found: Sequence[Tally]) -> int:
    """In how many cuts whole rounds fill half of the budget."""
    return sum(t.rounds.whole >= t.tokens_target * ROUNDS_SHARE for t in found)


def _room(found: Sequence[Tally]) -> int:
    """In how many they do not, though one further round would fit into half."""
    return sum(
        bool(t.rounds.next) and t.rounds.whole + t.rounds.next < t.tokens_target * ROUNDS_SHARE for t in found
    )


def _rounds_by_cut(found: Sequence[Tally], *, policy: str, share: int) -> str:
    """The same in words, and how often the next round is larger than the whole budget."""
    half, room = _filled(found), _room(found)
    larger = sum(
        t.rounds.whole < t.tokens_target * ROUNDS_SHARE and t.rounds.next > t.tokens_target for t in found
    )
    return (
        f"{policy} at {share}%: whole rounds fill half in {half} of {len(found)} cuts; one further round would pass half in"
        f" {len(found) - half - room}, the whole budget in {larger} of them; room for one is left in {room}: {_met(not room)}"
    )


def _met(holds: bool) -> str:
    return "met" if holds else "NOT MET"


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
    parser.add_argument(
        "--designs", action="store_true", help="the designs of `balanced` that were tried too"
    )
    parser.add_argument("--shares", default="5,13,25", help="percent of the prefix, with commas")
    parser.add_argument("--cuts", type=int, default=6, help="places to cut each session at")
    parser.add_argument("--ahead", type=int, default=MESSAGES_AHEAD, help="messages looked ahead")
    parser.add_argument("--least", type=int, default=PREFIX_TOKENS_MIN, help="tokens of the shortest prefix")
    parser.add_argument("--by-session", action="store_true", help="a table for each session too")
    parser.add_argument("--missed", type=int, default=0, metavar="N", help="print N facts each policy missed")
    parser.add_argument("--json", action="store_true", help="every tally as JSON")
    given = parser.parse_args(argv)
    options = Options(
        files=tuple(given.files),
        policies=tuple(given.policy or ("balanced",)),
        designs=given.designs,
        shares=tuple(int(share) for share in given.shares.split(",")),
        cuts=given.cuts,
        ahead=given.ahead,
        least=given.least,
    )
    return options, given


def main(argv: Sequence[str]) -> None:
    """Count and print."""
    options, given = options_of(argv)
    left: list[LeftOut] = []
    found = list(tallies(options, left))
    if given.json:
        fields = Tally.__struct_fields__
        rows = [{name: to_builtins(getattr(t, name)) for name in fields} for t in found]
        names = [one._asdict() for one in left]
        shown = {"schema": "foldline.bench.continuation/2", "tallies": rows, "left_out": names}
        print(json.dumps(shown, ensure_ascii=False))
        return
    if not found:
        print(*left_out(left), sep="\n", file=sys.stderr)
        sys.exit("no session is long enough to be cut")
    if given.by_session:
        for name in dict.fromkeys(t.session for t in found):
            of = [t for t in found if t.session == name]
            print(f"{name}: {counts(of)}", *table(of), "", sep="\n")
    print(counts(found), *table(found), sep="\n")
    for policy in options.policies:
        print("", *verdicts(found, policy), sep="\n")
    print("", *left_out(left), "", COUNTS.format(ahead=options.ahead), sep="\n")
    for name in options.policies if given.missed else ():
        print(f"\nmissed by {name}:", *missed([t for t in found if t.row == name], given.missed), sep="\n")


def missed(found: Sequence[Tally], most: int) -> Iterator[str]:
    """Facts that were needed and not held, spread over the cases."""
    lines = [f"  {t.share}% {t.session}@{t.at} {fact.kind}: {fact}" for t in found for fact in t.missed]
    step = max(1, len(lines) // most)
    yield from lines[::step][:most]


if __name__ == "__main__":
    main(sys.argv[1:])
