"""A compaction report for people: the report's JSON document, laid out.

Owns the layout. Knows nothing of how a report comes about: what it shows is exactly what `--json` prints
(`foldline.report/1`, `foldline.reports/1`), so that neither can say what the other does not.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from foldline.cli import screen
from foldline.cli.layout import bar, count, fields, gap, grid, percent, plural, span, title
from foldline.cli.options import STDIN

if TYPE_CHECKING:
    from rich.console import RenderableType

    from foldline.transcripts.transcript import Transcript

ADDRESSES_MAX = 3
"""Addresses named in full, since they are there to be copied; the rest as a number."""
ROWS_MAX = 20
"""Sessions listed one by one."""
VIOLATIONS_MAX = 20
ALTERED = "altered: the same name stands there with another value; the old one is behind its address"

MENDED = {
    "interrupted-call": ("call", "without a result closed"),
    "waiting-call": ("call", "that waits for a person closed"),
    "moved-result": ("result", "moved behind its call"),
    "interim-result": ("interim result", "replaced by the final one"),
    "duplicate-result": ("repeated result", "left out"),
    "merged-result": ("second result", "put to the first"),
    "orphan-result": ("result", "without a call told as text"),
    "duplicate-id": ("call id", "made distinct"),
    "refused-id": ("call id", "respelt"),
    "refused-name": ("tool name", "respelt"),
    "blank-text": ("blank text", "left out"),
    "empty-failure": ("failed result", "without content given a line"),
    "empty-message": ("empty message", "left out"),
    "trailing-reasoning": ("reasoning part", "that nothing follows left out"),
    "late-reasoning": ("reasoning part", "moved to the front"),
    "refused-part": ("part", "that may not stand there left out"),
    "refused-shape": ("part", "in a refused shape written anew"),
    "kept-apart": ("user message", "put between two answers"),
    "lone-surrogate": ("half character", "replaced"),
    "no-arguments": ("call", "without arguments given empty ones"),
    "no-output": ("result", "without content given an empty one"),
    "first-role": ("opening user message", "added"),
    "moved-system": ("system message", "moved"),
}
"""What a repair of each kind did: to how many of what, and what."""

_STYLES = {
    "compacted": "bold green",
    "unchanged": "bold",
    "unreachable": "bold magenta",
    "failed": "bold red",
}


def blocks_of(
    document: Mapping[str, Any], *, name: str, is_planned: bool = False
) -> Iterator[RenderableType]:
    """What to show of a report document (of one session or of many) for the file called `name`; `is_planned`: nothing was done."""
    if "sessions" in document:
        yield from _many(document, name, is_planned=is_planned)
        return
    outcome = str(document["outcome"])
    yield title(_headed(outcome, is_planned=is_planned), name, style=_style(outcome, is_planned=is_planned))
    rows = [
        ("", _settings(document)),
        ("why", document.get("reason") if outcome != "compacted" else None),
        ("tokens", _tokens(document)),
        ("messages", _messages(document)),
        ("passes", _passes(document.get("passes") or ())),
        ("covers", _covers(document.get("covers") or {}, name)),
        ("summary", _summary(document.get("summary") or {})),
        ("mended", _repairs(document.get("repairs") or ())),
        ("facts", _retention(document.get("retention") or {})),
        ("cache", _cache(document.get("cache") or {}, outcome=outcome)),
        ("valid", _validity(document)),
        ("time", span(document["seconds"]) if document.get("seconds") is not None else None),
    ]
    yield fields(rows)


def _headed(outcome: str, *, is_planned: bool) -> str:
    return "would compact" if is_planned and outcome == "compacted" else outcome


def _style(outcome: str, *, is_planned: bool) -> str:
    """Green is what was done."""
    return "bold" if is_planned and outcome == "compacted" else _STYLES.get(outcome, "bold")


def notes_of(transcripts: Sequence[Transcript]) -> list[str]:
    """What a person should know of the reading: notes, and records left out, each said once."""
    from foldline.transcripts.transcript import left_aside

    notes = dict.fromkeys(note for transcript in transcripts for note in transcript.notes)
    skipped: dict[str, int] = {}
    for transcript in transcripts:
        for kind, times in transcript.skipped:
            skipped[kind] = skipped.get(kind, 0) + times
    if skipped:
        notes[left_aside(sorted(skipped.items()))] = None
    return list(notes)


def notes_in(document: Mapping[str, Any]) -> list[str]:
    """What a report document has to say beside its numbers, each note once."""
    reports = document.get("sessions", [document])
    return list(dict.fromkeys(str(note) for report in reports for note in report.get("notes") or ()))


def _settings(document: Mapping[str, Any]) -> str:
    model = document.get("model")
    said = [document.get("format"), document.get("policy"), f"counted with {document.get('counter')}", model]
    return " · ".join(str(part) for part in said if part)


def _tokens(document: Mapping[str, Any]) -> RenderableType:
    before, after, target = (int(document.get(f"tokens_{key}") or 0) for key in ("before", "after", "target"))
    words = f"{count(before)} → {count(after)}"
    if before > after:
        is_mended = document.get("outcome") == "unchanged"
        words += "   mended only" if is_mended else f"   {percent(before - after, before)} less"
    if target:
        words += f" · target {count(target)}"
    whole = max(before, after, 1)
    rows: list[RenderableType] = [screen.cell(words, "bold")]
    if before:
        rows += [
            bar(before / whole, style="dim"),
            bar(after / whole, mark=target / whole if target else None),
        ]
    return grid([(row,) for row in rows])


def _messages(document: Mapping[str, Any]) -> str:
    before, after = document.get("messages_before") or 0, document.get("messages_after") or 0
    read = "once mended" if document.get("repairs") else "as read"
    said = f"{count(before)} {read}, {count(after)} as written"
    return said if (document.get("covers") or {}).get("messages") else f"{said}, none folded"


def _passes(passes: Sequence[Mapping[str, Any]]) -> RenderableType | None:
    rows = [
        (
            screen.cell(entry["name"]),
            screen.cell(plural(entry["edits"], "edit")),
            screen.cell(f"{count(entry['tokens_freed'])} freed", "bold"),
            screen.cell(span(entry["seconds"]), "dim"),
        )
        for entry in passes
        if entry.get("edits")
    ]
    return grid(rows, right=(1, 2, 3)) if rows else None


def _covers(covers: Mapping[str, Any], name: str) -> RenderableType | None:
    addresses = list(covers.get("addresses") or ())
    if not addresses:
        return None
    folded = covers.get("messages") or 0
    words = f"{plural(folded, 'message')} folded" if folded else "parts of messages, no message whole"
    if folded and any("-" in address for address in addresses):
        words += " (a range spans those between that stay, too)"
    rows = [screen.cell(f"{words}; read the originals with")]
    file = "FILE" if name == STDIN else shlex.quote(name)
    rows.append(screen.cell(f"foldline show {file} ADDRESS", "cyan"))
    if name == STDIN:
        rows.append(screen.cell("FILE is what came from stdin; it is kept nowhere else", "dim"))
    rows += [screen.cell(f"  {address}", "cyan") for address in addresses[:ADDRESSES_MAX]]
    if len(addresses) > ADDRESSES_MAX:
        rows.append(
            screen.cell(f"  and {count(len(addresses) - ADDRESSES_MAX)} more (--json names them all)", "dim")
        )
    return grid([(row,) for row in rows])


def _summary(summary: Mapping[str, Any]) -> str | None:
    kind, evicted = summary.get("kind"), summary.get("evicted_tokens") or 0
    if not kind:
        return None
    seen = percent(summary.get("seen_tokens") or 0, evicted)
    return f"{kind}, made from {seen} of the {count(evicted)} tokens that left" if evicted else str(kind)


def _repairs(repairs: Sequence[Mapping[str, Any]]) -> str | None:
    kinds: dict[str, int] = {}
    for repair in repairs:
        kind = str(repair.get("kind"))
        kinds[kind] = kinds.get(kind, 0) + 1
    return ", ".join(mended(kind, times) for kind, times in sorted(kinds.items())) or None


def mended(kind: str, times: int) -> str:
    """So many repairs of a kind, in words."""
    if kind not in MENDED:
        return f"{count(times)} × {kind}"
    noun, done = MENDED[kind]
    return f"{plural(times, noun)} {done}"


def _retention(retention: Mapping[str, Mapping[str, int]]) -> str | None:
    keys = ("total", "in_view", "recallable", "lost", "altered")
    sums = {key: sum(int(kind.get(key) or 0) for kind in retention.values()) for key in keys}
    if not sums["total"]:
        return None
    states = " · ".join(f"{count(sums[key])} {key.replace('_', ' ')}" for key in keys[1:])
    said = f"words of {count(sums['total'])}: {states}"
    return f"{said} ({ALTERED})" if sums["altered"] else said


def _cache(cache: Mapping[str, Any], *, outcome: str) -> str | None:
    if not cache:
        return None
    words = f"{count(cache.get('prefix_tokens_kept') or 0)} tokens of the prefix kept"
    words += f" · {count(cache.get('tokens_reread') or 0)} read anew once"
    saved = cache.get("net_tokens_saved_per_turn")
    return f"{words} · {count(saved)} saved each turn" if saved and outcome != "unchanged" else words


def _validity(document: Mapping[str, Any]) -> RenderableType | None:
    if document.get("valid") is None:
        return None
    if document["valid"]:
        return screen.cell("yes, by the laws and the provider's rules", "green")
    return grid([(screen.cell("no", "bold red"),), *violation_rows(document.get("violations") or ())])


def violation_rows(violations: Sequence[Any]) -> list[tuple[RenderableType, ...]]:
    """One row each: place, law, why; `VIOLATIONS_MAX` of them and the number of the rest."""
    rows: list[tuple[RenderableType, ...]] = []
    for found in violations[:VIOLATIONS_MAX]:
        said = found if isinstance(found, Mapping) else {"why": found}
        words = " ".join(str(said[key]) for key in ("law", "at") if said.get(key) not in (None, ""))
        rows.append((screen.cell(f"{words}: {said.get('why', '')}" if words else said.get("why", "")),))
    if len(violations) > VIOLATIONS_MAX:
        rows.append(
            (
                screen.cell(
                    f"and {count(len(violations) - VIOLATIONS_MAX)} more (--json lists them all)", "dim"
                ),
            )
        )
    return rows


def _many(document: Mapping[str, Any], name: str, *, is_planned: bool) -> Iterator[RenderableType]:
    sessions: Sequence[Mapping[str, Any]] = document["sessions"]
    outcomes = [str(session["outcome"]) for session in sessions]
    tally = {outcome: outcomes.count(outcome) for outcome in _STYLES if outcome in outcomes}
    gravest = list(tally)[-1] if tally else "unchanged"
    told = (f"{number:,} {_headed(outcome, is_planned=is_planned)}" for outcome, number in tally.items())
    yield title(", ".join(told), name, style=_style(gravest, is_planned=is_planned))
    rows: list[tuple[RenderableType, ...]] = []
    for index, session in enumerate(sessions[:ROWS_MAX]):
        before, after = session.get("tokens_before") or 0, session.get("tokens_after") or 0
        rows.append(
            (
                screen.cell(index, "dim"),
                screen.cell(f"{count(before)} → {count(after)}", "bold"),
                screen.cell(f"target {count(session.get('tokens_target') or 0)}", "dim"),
                screen.cell(
                    _headed(str(session["outcome"]), is_planned=is_planned),
                    _style(str(session["outcome"]), is_planned=is_planned),
                ),
                screen.cell("" if session.get("valid", True) else "not valid", "bold red"),
            )
        )
    yield gap(grid(rows, right=(0, 1, 2)))
    if len(sessions) > ROWS_MAX:
        yield gap(screen.cell(f"and {count(len(sessions) - ROWS_MAX)} more (--json lists them all)", "dim"))
    before, after = (sum(int(s.get(key) or 0) for s in sessions) for key in ("tokens_before", "tokens_after"))
    yield gap(
        screen.cell(
            f"in all {count(before)} → {count(after)} tokens in {count(len(sessions))} sessions", "bold"
        )
    )
