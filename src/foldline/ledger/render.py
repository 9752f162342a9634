"""Writing the ledger: entries under their headings, facts in a dense index, within a budget.

What does not fit leaves in a stated order: facts (oldest first), files that were only read, tasks served, commands that
went well, decisions, commands that failed, changes to the workspace, open tasks, what users said (what says least first),
and last what they ruled.
Quoted text cannot open a block of ours, and every line says where it comes from, so that a later compaction can read
the ledger back and carry it on. Counterpart: `book`, which makes the entries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from foldline.core.address import escape_tags
from foldline.ledger.book import Entry, Section
from foldline.ledger.facts import Fact, FactKind, Origin
from foldline.ledger.lines import unbroken
from foldline.ledger.ranks import rank_of

HEADINGS: tuple[tuple[Section, str], ...] = (
    ("objective", "Objective and constraints"),
    ("decisions", "Decisions and rationale"),
    ("mutations", "Workspace mutations"),
    ("read", "Files read"),
    ("evidence", "Verification evidence"),
    ("tasks", "Active tasks and background work"),
    ("risks", "Open risks or blockers"),
    ("next", "Exact next action"),
)
INDEX_HEADING = "Facts"
LABELS: tuple[tuple[FactKind, str], ...] = (
    ("errors", "errors"),
    ("paths", "paths"),
    ("identifiers", "identifiers"),
    ("numbers", "numbers, newest first"),
    ("symbols", "names"),
)
NUMBERS_LABEL = "numbers, newest first: "
SEPARATOR = " · "
QUOTE = '"'
"""What an entry opens with that quotes a user; a rule stands without, verbatim."""
ENTRY_SHARE = 0.2
"""Share of the budget that entries may take before facts get a line."""
LABEL_TOKENS = 4
COST_WEIGHT = 0.7
"""How much a fact's length counts against its rank: of two facts wanted alike the shorter comes first."""
KIND_WEIGHTS: dict[FactKind, float] = {
    "errors": 0.12,
    "numbers": 0.25,
    "paths": 0.3,
    "identifiers": 0.4,
    "symbols": 1.0,
}
"""Chosen with `benchmarks/continuation`: the lower, the sooner a kind gets its place."""
SEPARATOR_TOKENS = 1
HEADING_TOKENS = 8
OMITTED_TOKENS = 16
"""Room kept for the line that says what was left out."""

_VERIFIES = re.compile(
    r"\b(?:test|check|lint|build|pytest|tsc|mypy|ruff|cargo|make|jest|vitest|verify|bench)\w*\b",
    re.IGNORECASE,
)
"""Commands that verify something, whose success is worth a line."""
_SOURCE = re.compile(r" \((m\d+) (user|assistant|tool|system)(?: ×(\d+))?\)$")


class Written(Struct, frozen=True, kw_only=True):
    """The ledger as text."""

    text: str
    entries: tuple[Entry, ...]
    """What stands in it, in order."""
    facts: tuple[Fact, ...]
    omitted: int
    """Entries that did not fit."""


def line_of(entry: Entry) -> str:
    """One entry as it stands in the ledger: one line, whatever it quotes."""
    times = f" ×{entry.times}" if entry.times > 1 else ""
    return f"- {escape_tags(unbroken(entry.text))} (m{entry.seq} {entry.origin}{times})"


def write(
    entries: Sequence[Entry], facts: Sequence[Fact], *, budget: int, count: Callable[[list[str]], list[int]]
) -> Written:
    """The ledger within `budget` tokens. `facts` come most wanted first."""
    lines = [line_of(entry) for entry in entries]
    costs = count(lines)
    vital = sum(
        [cost + 1 for entry, cost in zip(entries, costs, strict=True) if entry.section == "objective"]
    )
    needed = sum(costs) + len(costs) + HEADING_TOKENS * len({entry.section for entry in entries})
    crowded = needed > budget or (bool(facts) and needed - vital > int(budget * ENTRY_SHARE))
    room = budget - OMITTED_TOKENS if crowded else budget
    cap = int(room * ENTRY_SHARE) if facts and crowded else room
    order = sorted(
        range(len(entries)),
        key=lambda n: (_leaving(entries[n]), _rank(entries[n], crowded=crowded), -entries[n].seq),
    )
    kept: set[int] = set()
    sections: set[Section] = set()
    used = 0
    for place in order:
        section = entries[place].section
        cost = costs[place] + 1 + (0 if section in sections else HEADING_TOKENS)
        is_vital = section == "objective"
        if used + cost <= (room if is_vital else cap):
            kept.add(place)
            sections.add(section)
            used += cost
    omitted = len(entries) - len(kept)
    listed = tuple(entries[n] for n in sorted(kept))
    left = room - used - HEADING_TOKENS
    while True:
        chosen, index_lines = index(facts, left, count=count)
        text = _text(entries, lines, kept=kept, index=index_lines, omitted=omitted if room >= 0 else 0)
        excess = count([text])[0] - budget if chosen else 0
        if excess <= 0:
            return Written(text=text, entries=listed, facts=chosen, omitted=omitted)
        left -= max(excess, left // 16)  # pieces counted one by one can come to more when they stand in a row


def _leaving(entry: Entry) -> int:
    """The higher, the sooner an entry leaves."""
    match entry.section:
        case "objective":
            return 1 if entry.text.startswith(QUOTE) else 0
        case "next":
            return 2
        case "tasks":
            return 7 if entry.text.startswith(("[served]", "[withdrawn]")) else 3
        case "mutations":
            return 4
        case "evidence":
            if not entry.text.endswith(("→ ok", "→ ran")):
                return 4
            return 5 if _VERIFIES.search(entry.text) else 7
        case "risks":
            return 5
        case "decisions":
            return 5
        case "read" | "index":
            return 8


def _rank(entry: Entry, *, crowded: bool) -> int:
    """Of two quotations, the one that says more stays longer."""
    quotes = crowded and entry.section == "objective" and entry.text.startswith(QUOTE)
    return rank_of(entry.text.strip(QUOTE)) if quotes else 0


def _text(
    entries: Sequence[Entry], lines: Sequence[str], *, kept: set[int], index: Sequence[str], omitted: int
) -> str:
    out: list[str] = []
    for section, heading in HEADINGS:
        here = [lines[n] for n in sorted(kept) if entries[n].section == section]
        if here:
            out += [f"## {heading}", *here]
    if index:
        out += [f"## {INDEX_HEADING}", *index]
    if omitted:
        out.append(f"({omitted} older entries not listed)")
    return "\n".join(out)


def index(
    facts: Sequence[Fact], room: int, *, count: Callable[[list[str]], list[int]]
) -> tuple[tuple[Fact, ...], list[str]]:
    """The facts that fit into `room` tokens, most wanted first, and one line for each kind of them. Of two wanted alike
    the shorter comes first; a path counts for more than a name of its length."""
    room -= LABEL_TOKENS * len({fact.kind for fact in facts})
    if room <= 0 or not facts:
        return (), []
    costs = count([escape_tags(unbroken(fact.text)) for fact in facts])
    order = sorted(
        range(len(facts)), key=lambda n: (n + 1) * costs[n] ** COST_WEIGHT * KIND_WEIGHTS[facts[n].kind]
    )
    taken: set[int] = set()
    for place in order:
        if costs[place] + SEPARATOR_TOKENS <= room:
            taken.add(place)
            room -= costs[place] + SEPARATOR_TOKENS
    chosen = _led_by_newest([fact for n, fact in enumerate(facts) if n in taken], facts)
    lines = []
    for kind, label in LABELS:
        here = [fact for fact in chosen if fact.kind == kind]
        texts = _by_key(here) if kind == "numbers" else [fact.text for fact in here]
        if texts:
            lines.append(f"{label}: {SEPARATOR.join(escape_tags(unbroken(text)) for text in texts)}")
    return tuple(chosen), lines


def _led_by_newest(chosen: Sequence[Fact], facts: Sequence[Fact]) -> list[Fact]:
    """What is chosen, without the older values of a number whose newest, the first of its key, is not."""
    first: dict[str, str] = {}
    for fact in facts:
        if fact.kind == "numbers":
            first.setdefault(fact.key, fact.value)
    led = {fact.key for fact in chosen if fact.kind == "numbers" and fact.value == first[fact.key]}
    return [fact for fact in chosen if fact.kind != "numbers" or fact.key in led]


def _by_key(numbers: Sequence[Fact]) -> list[str]:
    """Numbers with their key once, newest value first: `limit: 100, 50`."""
    values: dict[str, list[str]] = {}
    for fact in numbers:
        values.setdefault(fact.key, []).append(fact.value)
    return [f"{key}: {', '.join(dict.fromkeys(found))}" for key, found in values.items()]


# ── reading it back ──────────────────────────────────────────────────────────────────────────────────────────

_SECTION_OF = {heading: section for section, heading in HEADINGS}
_KIND_OF = {label: kind for kind, label in LABELS}
_ORIGINS: dict[str, Origin] = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}


def read(body: str) -> tuple[tuple[Entry, ...], tuple[Fact, ...]]:
    """The entries and facts of an earlier ledger, to be carried on; text that is no ledger gives nothing."""
    entries: list[Entry] = []
    facts: list[Fact] = []
    section: Section | None = None
    for line in body.split("\n"):
        if line.startswith("## "):
            section = _SECTION_OF.get(line[3:], "index" if line[3:] == INDEX_HEADING else None)
        elif section == "index":
            facts.extend(facts_in_line(line))
        elif section is not None and line.startswith("- "):
            entry = _entry_in(line, section)
            if entry is not None:
                entries.append(entry)
    return tuple(entries), tuple(facts)


def _entry_in(line: str, section: Section) -> Entry | None:
    source = _SOURCE.search(line)
    if source is None:
        return None
    text = line[2 : source.start()]
    return Entry(
        section=section,
        key=key_of(section, text),
        text=text,
        seq=int(source.group(1)[1:]),
        origin=_ORIGINS[source.group(2)],
        times=int(source.group(3) or 1),
    )


def key_of(section: Section, text: str) -> str:
    """The key an entry's text was made with."""
    match section:
        case "mutations" | "read":
            return re.sub(r" (?:edited|written|read)(?: \(failed\))?$", "", text)
        case "evidence":
            return text.partition("` → ")[0].removeprefix("`")
        case "tasks":
            return re.sub(r"^\[\w+\] | \(in progress\)$", "", text)
        case "next":
            return "said"
        case _:
            return text


def facts_in_line(line: str) -> Iterable[Fact]:
    """The facts of one line of an index; none of any other line."""
    label, _, rest = line.partition(": ")
    kind = _KIND_OF.get(label)
    if kind is None:
        return ()
    texts = [text for text in rest.split(SEPARATOR) if text]
    if kind != "numbers":
        return [Fact(kind=kind, key=text, text=text) for text in texts]
    pairs = [
        (key, value)
        for key, _, values in (text.partition(": ") for text in texts)
        for value in values.split(", ")
    ]
    return [Fact(kind=kind, key=key, text=f"{key}: {value}", value=value) for key, value in pairs]
