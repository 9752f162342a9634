"""Writes docs/reference/passes.md, policies.md and report.md from the values themselves.

    python scripts/make_reference.py           writes the pages
    python scripts/make_reference.py --check   exits 1 when a page is not what would be written

Fields, defaults and most sentences come from the docstrings of the passes, policies and reports; owns the pages' prose
and a sentence for each key of a document that is no value of its own (`foldline.context/1`, `foldline.check/1`).
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from foldline.catalogue import policies
from foldline.core.completion import FAILURES, Failure
from foldline.core.laws import Violation
from foldline.core.pairing import Repair
from foldline.engine.report import Cache, Covers, PassReport, Report, Summary
from foldline.passes.bounded_fold import BoundedFold
from foldline.passes.budget_reduction import BudgetReduction
from foldline.passes.collapse import Collapse
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.fold_range import FoldRange
from foldline.passes.microcompact import Microcompact
from foldline.passes.snip import Snip
from foldline.passes.supersession import MarkSuperseded
from foldline.summary.full_summary import FullSummary
from foldline.summary.prose_ledger import ProseLedger
from foldline.summary.segments import Segments

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
PASSES: tuple[type[Struct], ...] = (
    BudgetReduction,
    Microcompact,
    Snip,
    Collapse,
    FoldRange,
    FoldOldest,
    BoundedFold,
    ProseLedger,
    FullSummary,
    Segments,
    MarkSuperseded,
)
IDS = re.compile(r" \((?:requirements? )?[A-Z]{3}-\d+(?:, [A-Z]{3}-\d+)*\)|, requirement [A-Z]{3}-\d+")
"""Where a docstring says which requirement a field meets; a reader of the page has no use for it."""
MADE = "*This page is made by `scripts/make_reference.py`; change the values, not the page.*"


class Field(NamedTuple):
    """One field of a value: its default as it is written, and what its docstring says."""

    name: str
    default: str
    says: str


def fields_of(value: type[Struct]) -> Iterator[Field]:
    """The fields of a value, in order. A docstring may run on over several fields ("… and")."""
    body = ast.parse(inspect.getsource(value)).body[0]
    assert isinstance(body, ast.ClassDef)
    said: dict[str, str] = {}
    for node, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            said[node.target.id] = " ".join(str(after.value.value).split()) if is_text else ""
    for field in fields(value):
        default = "" if field.default is NODEFAULT else _default(field.default)
        yield Field(field.name, default, IDS.sub("", said.get(field.name, "")).replace("`None`", "none"))


def _default(value: Any) -> str:
    if value is None or value == () or value == {}:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if type(value) in PASSES:
        return f"[{value.name}](#{value.name})"
    return f"{value:,}" if isinstance(value, int) else f"`{value}`" if isinstance(value, str) else str(value)


def table(header: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [header, ("---",) * len(header), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


# ── passes ───────────────────────────────────────────────────────────────────────────────────────────────────

PASSES_OPENING = f"""\
# Passes

{MADE}

A pass plans one kind of reduction and changes nothing itself: it reads the view and returns edits, which are applied
together and checked against the laws. Its thresholds are the fields of its value. Which pass runs when, and how far, is
a [policy](policies.md)'s to say. Cheapest first; `prose-ledger`, `summary` and `segments` [ask a model](../guides/models.md),
and are passed over where none is at hand:

"""
PASSES_CLOSING = """\
Every cut leaves a notice with an address (`[foldline: 1,026 tokens cleared · m7.0@2536dde3]`), every fold and every
snip stands in a block whose tag is its address; `foldline show FILE ADDRESS` opens the original. Pins, leading system
messages, the last user message and rounds that wait for a result stay where they are. Before the tiers of any policy,
words of a user that a later message supersedes get a part behind them that says so (`supersession`).
"""
PASSES_SAY = {
    "head": "What stays of the beginning of a result over its limit.",
    "tail": "What stays of its end.",
    "summary_tokens_max": "Most tokens of one summary.",
}
"""Fields that their values leave to their names."""


def about(value: type[Struct]) -> tuple[str, str, str, str, str]:
    """What a pass's docstring says: what it does, its picture, what it costs, the cache, when to reach for it."""
    first, picture, text = inspect.cleandoc(value.__doc__ or "").split("\n\n", 2)
    text = " ".join(text.split())
    costs, breaks, reach = (text.index(word) for word in ("Costs:", "Breaks the cache", "Reach for it"))
    return (
        " ".join(first.split()),
        picture,
        _sentence(text[costs + len("Costs: ") : breaks]),
        _sentence(text[breaks + len("Breaks the cache ") : reach]),
        _sentence(text[reach + len("Reach for it ") :].split(". ")[0]),
    )


def _sentence(text: str) -> str:
    text = text.strip().removesuffix(".")
    return text[:1].upper() + text[1:]


def passes_page() -> str:
    """docs/reference/passes.md."""
    told = {value: about(value) for value in PASSES}
    rows = (
        (f"[{_name(v)}](#{_name(v)})", what, costs, cache, reach)
        for v, (what, _, costs, cache, reach) in told.items()
    )
    out = [
        PASSES_OPENING,
        table(("pass", "what it does", "costs", "breaks the cache", "reach for it"), rows),
        "\n",
    ]
    out.append(PASSES_CLOSING)
    for value, (what, picture, *_) in told.items():
        out.append(f"\n## {_name(value)}\n\n{what}\n\n```text\n{inspect.cleandoc(picture)}\n```\n\n")
        listed = [f for f in fields_of(value) if f.name != "name"]
        rows = ((f"`{f.name}`", f.default, f.says or PASSES_SAY[f.name]) for f in listed)
        out.append(table(("field", "default", "means"), rows))
    return "".join(out)


def _name(value: type[Struct]) -> str:
    return str(next(field.default for field in fields(value) if field.name == "name"))


# ── policies ─────────────────────────────────────────────────────────────────────────────────────────────────

POLICIES_OPENING = f"""\
# Policies

{MADE}

A policy says when a compaction is due, which passes run in which order, and how far. `--policy NAME` and
`policy="NAME"` take one of these; `foldline policies NAME` prints it, with `--json` whole. Numbers of tokens are for a
window of {{window:,}}; the policy takes those of the model's. Where you name a target (`--to`, `to=`), every tier goes for
yours, and a tier runs only while the view is still over it.

"""
LINES = {
    "threshold": "a compaction is due from",
    "target": "and goes down to",
    "handoff": "a hand-off note is due from",
    "advice": "a compaction by hand is suggested from",
    "forced": "the request waits for it from",
}
BUDGETS = """\

`input` is the window less the output reserve (a tenth of the window between 8,192 and 32,768, or the request's own
output cap, as long as the window has room for both; never more than half of the window); `effective` is 95 % of the window less what a policy reserves; `reserve` is the window less the model's
longest output (at most 20,000) less 13,000; `window` is the window. A tier that *needs* something which a call without
a session or a model does not have is listed and passed over.
"""


def policies_page() -> str:
    """docs/reference/policies.md."""
    known = [one for one in policies() if one["file"] is None]  # the user's own are not the page's
    out = [POLICIES_OPENING.format(window=known[0].get("tokens_window", 200_000))]
    rows = (
        (f"[{p['name']}](#{p['name']})", p["sentence"], _line(p["threshold"]), _line(p["target"]))
        for p in known
    )
    out.append(table(("policy", "for what", "due from", "down to"), rows))
    out.append(BUDGETS)
    for policy in known:
        out.append(f"\n## {policy['name']}\n\n{policy['sentence']}")
        out.append(f" Numbers: {policy['source']}.\n\n" if policy.get("source") else "\n\n")
        said = [f"- {words} {_line(policy[key])}\n" for key, words in LINES.items() if policy.get(key)]
        if policy.get("counter"):
            said.append(f"- tokens are counted with `{policy['counter']}`\n")
        if policy["skill_tokens"]:
            said.append(
                f"- of each skill that is restored behind a summary {policy['skill_tokens']:,} tokens\n"
            )
        if policy["native"]["clears"]:
            said.append(
                "- in a session with `native=True` at Anthropic the service clears in the place of `microcompact`: "
                + " · ".join(f"`{key}` {value:,}" for key, value in policy["native"]["clears"].items())
                + "\n"
            )
        out += [*said, "\n", table(("tier", "runs", "its values"), (_tier(tier) for tier in policy["tiers"]))]
    return "".join(out)


def _line(line: dict[str, Any] | None) -> str:
    if line is None:
        return ""
    return f"{line['percent']} % of {line['of']}, {line['tokens']:,} tokens"


WHEN = {
    "always": "before every request",
    "over": "while over the target",
    "blind": "while over the target, and before every request where the window is not known",
}


DONE = {
    "reminder": "in a session: one hidden reminder between the hand-off line and the threshold",
    "restore": "in a session: what is restored behind each summary",
}


def _tier(tier: dict[str, Any]) -> tuple[str, str, str]:
    when = [WHEN[tier["when"]]]
    when += [f"from {_line(tier['due'])}"] if tier.get("due") else []
    when += [f"down to {_line(tier['target'])}"] if tier.get("target") else []
    runs = f"needs a {tier['needs']}" if tier.get("needs") else ", ".join(when)
    runs = DONE.get(tier.get("done") or "", runs)
    values = (
        f"`{key}` {_value(value)}" for key, value in tier["values"].items() if value not in (None, [], "")
    )
    return tier["name"], runs, " · ".join(values)


def _value(value: Any) -> str:
    if isinstance(value, dict):  # a pass in a pass
        return "(" + ", ".join(f"`{key}` {_value(inner)}" for key, inner in value.items()) + ")"
    if isinstance(value, list):
        return ", ".join(
            " ".join(map(_value, each)) if isinstance(each, list) else _value(each) for each in value
        )
    return _default(value).strip("`")


# ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────

REPORT_SAYS = {
    "schema": "Name and version of the document.",
    "model": "The model that was named; null when none was.",
    "policy": "The policy that ran.",
    "counter": "What tokens are counted with (see [tokens](../concepts/tokens.md)).",
    "outcome": "`compacted` · `unchanged` (nothing was to be done) · `unreachable` (the smallest history is larger than the "
    "target; it is given all the same) · `failed` (refused, with `below_floor`: too little of what left would be kept; a model's "
    "summary came to nothing and the policy has no other way; or a pass planned what a law forbids: a fault of ours. Nothing "
    "changed).",
    "reason": "Why, for every outcome but `compacted`.",
    "messages_before": "Messages of the history, repairs included.",
    "messages_after": "Messages of the result as it is written.",
    "tokens_before": "Tokens of the whole request: system prompt, tools, messages.",
    "tokens_after": "The same of the result.",
    "tokens_target": "The target in tokens; null below the policy's threshold.",
    "passes": "What ran, in order (below).",
    "covers": "What left the view (below).",
    "retention": "By kind of fact, over the whole history: `total`, `in_view` (its words stand there, whatever was said around them), `recallable`, `lost`, `altered` (the same name stands in view with another value). `constraints` counts the rules that were recognised by their wording; a passage of rules counts once, however many it holds. May be empty.",
    "retention_evicted": "The same over what left the view. May be empty.",
    "summary": "The synthetic message that stands for what was folded (below).",
    "cache": "What happens to the provider's prefix cache (below).",
    "violations": "What it breaks, where it does not (below).",
    "seconds": "Wall-clock time; the one figure that differs between two runs.",
    "name": "As the policy names it.",
    "edits": "Edits made.",
    "tokens_freed": "Tokens by which the view shrank.",
    "evicted_tokens": "Tokens that were folded.",
    "net_tokens_saved_per_turn": "Tokens that each later request does without.",
    "law": "The law or provider's rule.",
    "why": "In words.",
    "kind": "What was done: `interrupted-call`, `orphan-result`, …",
}
CONTEXT_SAYS = {
    "schema": "`foldline.context/1`; several conversations: `foldline.contexts/1` with `sessions`.",
    "format": "Of the file.",
    "model": "The model that was named, else the file's own.",
    "policy": "Whose threshold is shown.",
    "counter": "What tokens are counted with.",
    "messages": "Messages as they would be sent.",
    "tokens_total": "Tokens of the whole request, counted here.",
    "tokens_projected": "What the next request takes, as the policy counts it: the two that follow, added.",
    "tokens_anchored": "What the provider last said, where the file has a usage after its last boundary; else 0.",
    "tokens_estimated": "Estimate of what came after it.",
    "tokens_window": "What a request may take: the model's window, or its input limit where that is smaller; else the stated "
    "default.",
    "tokens_window_whole": "The window for a request and its answer together; the same number where the input has no limit of "
    "its own.",
    "window_source": "Where the window is from: a settings file (`override`), what a provider named in a refusal (`refusal`), "
    "the session file (`stated`), the `default`, else the model table.",
    "tokens_threshold": "From here on the policy compacts.",
    "percent": "`tokens_projected` against `tokens_threshold`, half rounded up, at most 100; no display divides by the window.",
    "by_kind": "Tokens of `system`, `tools`, `user`, `assistant`, `reasoning`, `tool_calls`, `tool_results`, `media`, "
    "`summaries`; they add up to `tokens_total`.",
    "by_tool": "Tokens of results by tool, most first.",
    "largest": "The largest parts: `address`, `kind`, `tokens`.",
    "read_again": "Of a session whose compactions took readings out of view, and left out elsewhere: how many (`evicted`), how many of them were soon read again (`again`), and whether that is so often that more should be kept (`keep_more`).",
    "notes": "What else a person should know.",
}
CHECK_SAYS = {
    "schema": "`foldline.check/1`; several conversations: `foldline.checks/1` with `sessions`.",
    "format": "The format whose rules are applied.",
    "messages": "Messages of the history as it stands; nothing is repaired.",
    "valid": "True when there are no violations; else the exit code is 1.",
    "violations": "As in the report.",
}
PARTS: tuple[tuple[str, type[Struct]], ...] = (
    ("One of `passes`", PassReport),
    ("`covers`", Covers),
    ("`summary`", Summary),
    ("One of `summary.failures`", Failure),
    ("`cache`", Cache),
    ("One of `repairs`", Repair),
    ("One of `violations`", Violation),
)
REPORT_OPENING = f"""\
# Reports

{MADE}

What `foldline compact --json` prints and `foldline.compact(…).report.to_dict()` gives: `foldline.report/1`. A file with
several conversations gives `{{"schema": "foldline.reports/1", "sessions": [report, …], "totals": {{…}}}}`. Keys may be
added; none is renamed or taken away within a version.

"""


def described(value: type[Struct]) -> Iterator[tuple[str, str]]:
    """Each key with its sentence: the field's own docstring, else this script's."""
    for field in fields_of(value):
        yield f"`{field.name}`", field.says or REPORT_SAYS[field.name]


def report_page() -> str:
    """docs/reference/report.md."""
    out = [REPORT_OPENING, table(("key", "means"), described(Report))]
    for heading, value in PARTS:
        out += [f"\n### {heading}\n\n", table(("key", "means"), described(value))]
    out += ["\n### Names of failures\n\nWhy a model's text was not taken; what follows is told in "]
    out += ["[a model writes the summary](../guides/models.md).\n\n"]
    out += [table(("name", "means"), ((f"`{name}`", says) for name, says in FAILURES.items()))]
    out += ["\n## What `foldline context --json` prints\n\n"]
    out += [table(("key", "means"), ((f"`{key}`", says) for key, says in CONTEXT_SAYS.items()))]
    out += ["\n## What `foldline check --json` prints\n\n"]
    out += [table(("key", "means"), ((f"`{key}`", says) for key, says in CHECK_SAYS.items()))]
    return "".join(out)


PAGES = {"passes.md": passes_page, "policies.md": policies_page, "report.md": report_page}


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` only compare them."""
    stale = 0
    for name, page in PAGES.items():
        path, text = FOLDER / name, page()
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{path.name} is out of date; run: python scripts/make_reference.py", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
