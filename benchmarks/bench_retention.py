"""What a compacted history still says: facts in view at equal size, beside plain ways and beside a real agent's summary.

    python benchmarks/bench_retention.py [FILE...] [--policy NAME]... [--tokens 17858,10000,5000,1000] [--json]

A session file is compacted whole to 13 % and 10 % of its size; a pi session with a compaction of its own is cut before
its first one, brought to the sizes of `--tokens`, and compared with what pi itself made of it. Two judges look at the
facts of tool results: headroom's probes (`pip install headroom-ai==0.42.0`; left out, and said so, where they are
missing), and this project's own. What the columns mean stands in docs/reference/retention.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, this folder's parent is not on the path

from benchmarks.continuation.judge import Fact, occurs
from benchmarks.continuation.measure import recent_rounds, text_of
from benchmarks.continuation.rows import PLAIN, Case, Kept, Row, policy_row
from benchmarks.continuation.session import PI_COMPACTION, Session, load
from foldline.core.message import ToolResult, result_text, speaks_for_user
from foldline.core.ports import TokenCounter
from foldline.core.view import Item
from foldline.ledger.facts import Fact as LedgerFact
from foldline.ledger.found_in_text import extract
from foldline.tokens.choose import counter_for
from foldline.transcript_history import history_for
from foldline.transcripts import detect

BUNDLED = Path(__file__).parents[1] / "tests" / "data" / "langgraph" / "deerflow-5aa47db1-cjk.json"
PI_TOKENS = (17_858, 10_000, 5_000, 1_000)
"""What pi's first compaction came to (summary and kept tail), and smaller sizes."""
PI_ROW = "pi's own summary + tail"
SHARES = (13, 10)
"""Percent, for sessions with no compaction of their own."""
HEADROOM = "0.42.0"

Judge: TypeAlias = Callable[[Sequence[Item], str], dict[str, tuple[int, int]]]
"""(items before, text after) → kind → (facts, facts in view)."""


class Line(Struct, frozen=True, kw_only=True):
    """One row of a table."""

    session: str
    tokens_before: int
    tokens_target: int
    row: str
    tokens: int
    rounds: float
    """Share of the budget that is whole rounds, unbroken up to the end."""
    users: tuple[int, int]
    """User messages, and those in view verbatim."""
    found: dict[str, dict[str, tuple[int, int]]]
    """Judge → kind → (facts, facts in view)."""
    lost: int | None = None
    altered: int | None = None
    """As foldline reports them; `None` for a plain way."""


def headroom_judge() -> Judge | str:
    """headroom's probes of tool results; text that says why not where they are missing."""
    try:
        session_probes = import_module("headroom.evals.session_probes")
    except ImportError:
        return f"headroom-ai {HEADROOM} is not installed"

    def judge(before: Sequence[Item], after: str) -> dict[str, tuple[int, int]]:
        record = {
            "tokens_before": 1,
            "tokens_after": 1,
            "original_messages": [{"role": "tool", "content": text} for text in shown_by_tools(before)],
            "compressed_messages": [{"content": after}],
        }
        dims = session_probes.probe_event(record).dims
        return {kind: (tally.total, tally.retained) for kind, tally in dims.items()}

    return judge


def own_judge(before: Sequence[Item], after: str) -> dict[str, tuple[int, int]]:
    """This project's facts of tool results. In view: found again in what is left, or standing there as text; a number
    also in a run of numbers after its key."""
    counts: dict[str, tuple[int, int]] = {}
    wanted = {identity(fact): fact for text in shown_by_tools(before) for fact in extract(text)}
    again = {identity(fact) for fact in extract(after)}
    for fact in wanted.values():
        total, held = counts.get(fact.kind, (0, 0))
        in_view = (
            identity(fact) in again or fact.text in after or (bool(fact.value) and in_a_run(fact, after))
        )
        counts[fact.kind] = (total + 1, held + in_view)
    return counts


def identity(fact: LedgerFact) -> tuple[str, str, str]:
    """What makes two facts the same; another value of the same key is another fact."""
    return fact.kind, fact.key, fact.value


def in_a_run(fact: LedgerFact, text: str) -> bool:
    """True where a number's value stands beside its key, or in a run of numbers after it."""
    return fact.value in text and occurs(Fact("numbers", fact.key, fact.value), text)


def shown_by_tools(items: Sequence[Item]) -> list[str]:
    """The text of every result."""
    return [
        result_text(part) for item in items for part in item.message.parts if isinstance(part, ToolResult)
    ]


def line_of(case: Case, kept: Kept, *, row: str, judges: dict[str, Judge]) -> Line:
    """One history, judged."""
    text = text_of(kept.items)
    said = [item.message.text for item in case.view if speaks_for_user(item.message)]
    retention = kept.report.to_dict().get("retention", {}) if kept.report is not None else {}
    return Line(
        session=case.session.name,
        tokens_before=case.view.tokens,
        tokens_target=case.tokens_target,
        row=row,
        tokens=kept.tokens,
        rounds=recent_rounds(case.view, kept.items).whole / case.tokens_target,
        users=(len(said), sum(message in text for message in said)),
        found={name: judge(case.view.items(), text) for name, judge in judges.items()},
        lost=sum(kind.get("lost", 0) for kind in retention.values()) if retention else None,
        altered=sum(kind.get("altered", 0) for kind in retention.values()) if retention else None,
    )


def before_first_compaction(path: str, counter: TokenCounter) -> tuple[Session, Kept] | None:
    """A pi session up to its first compaction, and what pi went on with; `None` for any other file."""
    lines = Path(path).read_bytes().splitlines(keepends=True)
    at = next((n for n, line in enumerate(lines) if line.startswith(PI_COMPACTION)), None)
    if at is None:
        return None
    before, after = (_session(b"".join(lines[:end]), path, counter) for end in (at, at + 1))
    return before, Kept(items=after.items)


def _session(data: bytes, path: str, counter: TokenCounter) -> Session:
    (transcript,) = detect.read(data, name=path)
    history = history_for(transcript, counter, wire=transcript.wire)
    return Session(Path(path).stem, history, counter)


def cases_of(path: str, counter: TokenCounter, sizes: Sequence[int]) -> Iterator[tuple[Case, dict[str, Row]]]:
    """What a file gives to compact, with the rows that belong to it alone."""
    pi = before_first_compaction(path, counter)
    if pi is not None:
        session, real = pi
        for size in sizes:
            rows: dict[str, Row] = {PI_ROW: lambda _: real} if size == sizes[0] else {}
            yield whole_case(session, size), rows
        return
    for session in load(path, counter):
        for share in SHARES:
            yield whole_case(session, session.history.view.tokens * share // 100), {}


def whole_case(session: Session, tokens_target: int) -> Case:
    """A whole session, to be brought to a size."""
    at = len(session.items)
    return Case(session=session, at=at, prefix=session.prefix(at), tokens_target=tokens_target)


TARGETS: dict[int, tuple[float, float, float]] = {17_858: (95, 90, 95), 5_000: (90, 70, 80)}
"""Percent in view of paths, URLs and hashes; keyed numbers; error lines: what a policy is to hold of pi's session, by
each judge, with every user message."""
ROUNDS_LEAST = {17_858: 0.5}
"""Share of the budget that is to be whole recent rounds."""


def verdicts(lines: Sequence[Line], policies: Sequence[str]) -> Iterator[str]:
    """What a policy is to hold of a session with a compaction of its own, and whether it does."""
    real = {line.session for line in lines if line.row == PI_ROW}
    for line in lines:
        if line.session not in real or line.row not in policies or line.tokens_target not in TARGETS:
            continue
        place = f"{line.row} at {line.tokens_target:,}"
        yield f"{place}: user messages {line.users[1]} of {line.users[0]}: {_met(line.users[1] == line.users[0])}"
        least = ROUNDS_LEAST.get(line.tokens_target, 0.0)
        yield f"{place}: whole recent rounds {line.rounds:.0%}, wanted {least:.0%}: {_met(line.rounds >= least)}"
        for name, found in line.found.items():
            shares = tuple(100 * held / total if total else 100.0 for total, held in columns_of(found))
            wanted = TARGETS[line.tokens_target]
            met = all(share >= want for share, want in zip(shares, wanted, strict=True))
            cells = " / ".join(f"{share:.1f}" for share in shares)
            yield f"{place}: {name} {cells}, wanted {' / '.join(map(str, wanted))}: {_met(met)}"


def _met(holds: bool) -> str:
    return "met" if holds else "NOT MET"


def table(lines: Sequence[Line], judges: Sequence[str]) -> Iterator[str]:
    """One block for each session and size."""
    for key in dict.fromkeys((line.session, line.tokens_before, line.tokens_target) for line in lines):
        session, before, target = key
        of = [line for line in lines if (line.session, line.tokens_before, line.tokens_target) == key]
        yield f"\n{session}: {before:,} → {target:,} tokens ({100 * target / before:.0f} %)"
        heads = "".join(
            f"{name + ' ' + kind:>18}" for name in judges for kind in ("paths+ids", "numbers", "errors")
        )
        yield f"{'row':<26}{'tokens':>8}{'users':>8}{'rounds':>8}{heads}{'lost':>6}{'altered':>9}"
        for line in of:
            cells = "".join(f"{cell:>18}" for name in judges for cell in cells_of(line.found[name]))
            users = f"{line.users[1]}/{line.users[0]}"
            ends = "".join(f"{'–' if n is None else n:>{w}}" for n, w in ((line.lost, 6), (line.altered, 9)))
            yield f"{line.row[-25:]:<26}{line.tokens:>8,}{users:>8}{line.rounds:>8.0%}{cells}{ends}"


def cells_of(found: dict[str, tuple[int, int]]) -> Iterator[str]:
    """Percent in view of each column, with how many facts there were."""
    for total, held in columns_of(found):
        yield f"{100 * held / total:.1f} of {total}" if total else "–"


def columns_of(found: dict[str, tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """(facts, facts in view) of paths, URLs and hashes; of keyed numbers; of error lines, by either judge's names."""
    for kinds in (("artifacts", "paths", "identifiers"), ("numerics", "numbers"), ("errors",)):
        pairs = [found.get(kind, (0, 0)) for kind in kinds]
        yield sum(total for total, _ in pairs), sum(held for _, held in pairs)


def main(argv: Sequence[str]) -> None:
    """Compact, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", default=[str(BUNDLED)])
    parser.add_argument("--policy", action="append")
    parser.add_argument("--tokens", default=",".join(map(str, PI_TOKENS)))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="the bundled session alone")
    given = parser.parse_args(argv)
    counter = counter_for(counter="o200k_base")
    judges: dict[str, Judge] = {"our": own_judge}
    headroom = headroom_judge()
    if isinstance(headroom, str):
        print(f"headroom's probes are left out: {headroom}", file=sys.stderr)
    else:
        judges = {"hr": headroom, **judges}
    policies: dict[str, Row] = {name: policy_row(name) for name in given.policy or ("balanced",)}
    sizes = [int(size) for size in given.tokens.split(",")]
    lines = [
        line_of(case, row(case), row=name, judges=judges)
        for path in given.files
        for case, own in cases_of(path, counter, sizes)
        for name, row in {**policies, **PLAIN, **own}.items()
    ]
    if given.json:
        rows: list[dict[str, Any]] = [{f: getattr(line, f) for f in Line.__struct_fields__} for line in lines]
        print(json.dumps({"schema": "foldline.bench.retention/1", "lines": rows}, ensure_ascii=False))
        return
    print(*table(lines, tuple(judges)), "", *verdicts(lines, tuple(policies)), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
