"""The compaction report: what was done, in numbers (`foldline.report/1`).

A value with a fixed JSON form. Knows nothing of how it is shown; `foldline.cli` renders it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import parse_address
from foldline.core.completion import Asked, Failure, noted, spent
from foldline.core.edit import Edit, Fold, Replace
from foldline.core.laws import Violation
from foldline.core.message import Usage
from foldline.core.pairing import Repair
from foldline.core.view import View, seqs_in
from foldline.engine.run import Step

SCHEMA = "foldline.report/1"
OutcomeName: TypeAlias = Literal["compacted", "unchanged", "unreachable", "failed"]


class PassReport(Struct, frozen=True, kw_only=True):
    """One pass that ran."""

    name: str
    edits: int
    tokens_freed: int
    seconds: float


class Covers(Struct, frozen=True, kw_only=True):
    """What left the view."""

    messages: int
    """Messages folded away, those of earlier folds included."""
    addresses: tuple[str, ...]
    """Where each folded span and each shortened or cleared part can be asked for, in order."""


class Summary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The synthetic message that stands for the folded part. The keys that only a model's part fills are left out of the
    JSON form where no model was asked."""

    kind: str | None
    """`model`, `ledger`, `template`, `notice`, or `None` when nothing was folded."""
    evicted_tokens: int
    seen_tokens: int
    """How much of the evicted text the summariser read: all of it for a ledger, what is quoted for a template or a notice,
    what it was shown for a model."""
    attempts: int
    """Texts that a model was asked for; 0 without one."""
    form: str | None = None
    """Which summary a model wrote: `ledger`, `handoff`, `reserve`, `ladder`, `segments`, `full`."""
    requests: int = 0
    """Requests to the model, those included that answer a refused tool call or read a piece."""
    failures: tuple[Failure, ...] = ()
    """Attempts that came to nothing, each by name."""
    usage: Usage | None = None
    """Tokens that the model's requests cost together, as far as the provider said."""


class BelowFloor(Struct, frozen=True, kw_only=True):
    """A kind of which a compaction would have kept too little: why it was refused."""

    kind: str
    what: str
    """`in_view`, or `not_lost`: in view or behind an address."""
    floor: int
    """Percent of what would have left, as the policy says."""
    reached: int


class Cache(Struct, frozen=True, kw_only=True):
    """What the compaction does to the provider's prefix cache."""

    prefix_tokens_kept: int
    """Tokens before the first change: still cached."""
    tokens_reread: int
    """Tokens after it: written to the cache once more."""
    net_tokens_saved_per_turn: int


class Report(Struct, frozen=True, kw_only=True):
    """What one compaction did. `to_dict` gives the JSON form of `docs/reference/report.md`."""

    schema: str = SCHEMA
    format: str
    """Of the history that came in."""
    model: str | None = None
    policy: str = ""
    counter: str = ""
    outcome: OutcomeName = "unchanged"
    reason: str | None = None
    messages_before: int = 0
    messages_after: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    tokens_target: int | None = None
    passes: tuple[PassReport, ...] = ()
    covers: Covers = Covers(messages=0, addresses=())
    retention: dict[str, dict[str, int]] = {}
    retention_evicted: dict[str, dict[str, int]] = {}
    summary: Summary = Summary(kind=None, evicted_tokens=0, seen_tokens=0, attempts=0)
    cache: Cache = Cache(prefix_tokens_kept=0, tokens_reread=0, net_tokens_saved_per_turn=0)
    repairs: tuple[Repair, ...] = ()
    """What had to be mended in the history that came in."""
    notes: tuple[str, ...] = ()
    """Whatever else a person should know: lines skipped, reasoning dropped, a model not in the table."""
    below_floor: tuple[BelowFloor, ...] = ()
    """The kinds for whose sake a compaction was refused (outcome `failed`)."""
    valid: bool = True
    """Of a whole history (`compact`, a file): no law is broken, no demand, and the provider's judge finds nothing. Of a session's
    request: no law and no demand; a judge reads all, and a request costs what is new (`docs/decisions/0018`)."""
    violations: tuple[Violation, ...] = ()
    unmended: tuple[Violation, ...] = ()
    """Where the result is not valid, what the input broke already and no repair mends, by the input's ordinals; empty where the fault
    is foldline's."""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        value: dict[str, Any] = _listed(msgspec.to_builtins(self))
        return value


def _listed(value: Any) -> Any:
    """With lists for tuples. By way of JSON text it would fail on half a surrogate pair in a file's own words."""
    if isinstance(value, dict):
        return {key: _listed(told) for key, told in value.items()}
    return [_listed(told) for told in value] if isinstance(value, (list, tuple)) else value


def passes_of(steps: tuple[Step, ...]) -> tuple[PassReport, ...]:
    """The steps of a run as the report shows them."""
    return tuple(
        PassReport(
            name=step.name,
            edits=len(step.edits),
            tokens_freed=step.tokens_freed,
            seconds=round(step.seconds, 6),
        )
        for step in steps
    )


def covers_of(edits: tuple[Edit, ...], view: View) -> Covers:
    """What the final view no longer shows in full. Addresses of parts that were folded later are left out: the fold's
    address opens them too."""
    folded = {seq for item in view for seq in seqs_in(item.covers)}
    shortened = [edit for edit in edits if isinstance(edit, Replace) and edit.seq not in folded]
    placed = {(edit.seq, edit.slot, edit.address) for edit in shortened}
    placed |= {(parse_address(e.address).start, -1, e.address) for e in edits if isinstance(e, Fold)}
    return Covers(messages=len(folded), addresses=tuple([address for _, _, address in sorted(placed)]))


def cache_of(before: View, after: View, *, fixed: int) -> Cache:
    """The prefix that survives: system prompt, tools and every message before the first change."""
    kept = fixed
    for old, new in zip(before, after, strict=False):
        if old is not new:
            break
        kept += new.tokens
    total = after.tokens + fixed
    return Cache(
        prefix_tokens_kept=kept,
        tokens_reread=total - kept,
        net_tokens_saved_per_turn=before.tokens - after.tokens,
    )


def with_asked(report: Report, asked: Sequence[Asked]) -> Report:
    """The report with what a model was asked, and what its completer had to say of that; the same where nothing was."""
    if not asked:
        return report
    summary = replace(
        report.summary,
        form=next((one.form for one in reversed(asked) if one.is_written), None),
        attempts=sum(one.attempts for one in asked),
        requests=sum(one.requests for one in asked),
        failures=tuple(failure for one in asked for failure in one.failures),
        usage=spent(one.usage for one in asked),
    )
    return replace(report, summary=summary, notes=(*report.notes, *noted(one.notes for one in asked)))
