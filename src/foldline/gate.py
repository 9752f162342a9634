"""The gate: a compaction that keeps less than its policy's floors is repaired within its budget, or refused.

Rules that find no room make the target unreachable, with the smallest history that keeps them; any other kind below its
floor has the history go out as it came. Reads the retention that every report carries; the report of a refusal says which kind fell below which floor. Knows folds and counters. Counterpart: `foldline.survival`, which measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from foldline.core.address import block, read_block
from foldline.core.completion import Asked, Failure
from foldline.core.edit import Edit, Fold
from foldline.core.message import Text, speaks_for_user
from foldline.core.ports import TokenCounter
from foldline.core.view import item_of, view_of
from foldline.engine.policy import Floor
from foldline.engine.progress import Sizes, cause_of
from foldline.engine.report import BelowFloor, Report, cache_of
from foldline.engine.run import why_failed
from foldline.ledger.entries import HEADINGS
from foldline.ledger.render import INDEX_HEADING
from foldline.ledger.words import rule_lines, words_of
from foldline.reduce import Goal, History, Reduced, Reducing, reduce, reducing
from foldline.survival import measured

USER_TEXT_SHARE = 0.6
"""Share of the target up to which rules are promised to stay: where users wrote more than that, rules are the last to go,
and the report says how many did."""
BEYOND = (
    "users wrote more than {share:.0%} of the target: of {total} passages of recognised rules that left (one may hold several rules), "
    "{gone} are behind addresses"
)


def compacting(
    history: History,
    goal: Goal,
    *,
    counter: TokenCounter,
    report: Report,
    clock: Callable[[], float] = lambda: 0.0,
) -> Reducing:
    """`reducing`, judged. A summary by a model that keeps too little is repaired by the host; where that does not help, the
    policy's tiers without a model are what is judged, and the report names the failure."""
    floors = goal.policy.floors
    reduced = yield from reducing(history, goal, counter=counter, report=report, clock=clock)
    judged = gated(reduced, floors, counter=counter)
    summary = reduced.report.summary
    failure = _failure_of(judged, goal) if summary.form is not None else None
    if failure is None:
        return judged
    alone = reduce(history, replace(goal, has_model=False), counter=counter, report=report, clock=clock)
    again = gated(alone, floors, counter=counter)
    told = replace(
        again.report.summary,
        attempts=summary.attempts,
        requests=summary.requests,
        failures=(*summary.failures, failure),
        usage=summary.usage,
    )
    report = replace(again.report, summary=told)
    if not again.edits and report.outcome == "unreachable":  # nothing but the model could have helped
        why = why_failed([Asked(form="", failures=(failure,))])
        report = replace(report, outcome="failed", reason=why)
    return replace(again, report=report)


def _failure_of(judged: Reduced, goal: Goal) -> Failure | None:
    """What is wrong with a compaction that a model wrote: it keeps too little, or frees too little to be worth making."""
    report, attempt = judged.report, max(1, judged.report.summary.attempts)
    if report.outcome == "failed":
        return Failure(name="below_floor", attempt=attempt, why=report.reason or "")
    sizes = None if goal.to is not None or goal.at_once else sizes_of(judged, goal)
    if sizes is None or not sizes.is_too_little:
        return None
    return Failure(name="small_gain", attempt=attempt, why=cause_of(sizes))


def sizes_of(reduced: Reduced, goal: Goal) -> Sizes | None:
    """A compaction as the provider counts it, beside the line of the policy; `None` where there is no window."""
    if not goal.tokens_window:
        return None
    line, window, report = goal.policy.threshold, goal.tokens_window, reduced.report
    due = line.tokens(goal.room)
    return Sizes(
        before=round(report.tokens_before * goal.scale),
        after=round(report.tokens_after * goal.scale),
        line=due + line.over,
        target=round((report.tokens_target or 0) * goal.scale),
        window=window,
        fixed=round(reduced.before.tokens_fixed * goal.scale),
        largest=round(max((item.tokens for item in reduced.view), default=0) * goal.scale),
    )


def gated(reduced: Reduced, floors: Sequence[Floor], *, counter: TokenCounter) -> Reduced:
    """The compaction with its retention measured; repaired where that lifts it to its floors, else taken back. A
    history that is too long to be measured passes, with the note that says so."""
    reduced = replace(reduced, report=measured(reduced))
    if reduced.report.outcome != "compacted":
        return reduced
    below = below_floors(reduced.report, floors)
    if not below:
        return reduced
    target = reduced.report.tokens_target or 0
    for room in (target, reduced.before.tokens):
        repaired = _repaired(reduced, below, tokens_max=room, counter=counter)
        judged = reduced if repaired is None else replace(repaired, report=measured(repaired))
        short = below_floors(judged.report, _in_force(judged, floors))
        if not short:
            return _noted(judged) if judged.report.tokens_after <= target else _unreachable(judged)
        if {one.kind for one in short} != {"constraints"}:
            break
    return _refused(reduced, short)


def below_floors(report: Report, floors: Iterable[Floor]) -> tuple[BelowFloor, ...]:
    """The kinds of which too little of what left the view is kept, each with its floor and its share in percent."""
    found: list[BelowFloor] = []
    for floor in floors:
        counts = report.retention_evicted.get(floor.kind)
        if counts is None or not counts["total"]:
            continue
        in_view, held = counts["in_view"], counts["total"] - counts["lost"]
        shares = (("in_view", floor.in_view, in_view), ("not_lost", floor.not_lost, held))
        for what, wanted, kept in shares:
            if 100 * kept < wanted * counts["total"]:
                reached = 100 * kept // counts["total"]
                found.append(BelowFloor(kind=floor.kind, what=what, floor=wanted, reached=reached))
    return tuple(found)


def _in_force(reduced: Reduced, floors: Sequence[Floor]) -> Sequence[Floor]:
    """The floors, without the one of rules in view where users wrote more than the target has room for."""
    if not _is_crowded(reduced):
        return floors
    return [replace(floor, in_view=0) if floor.kind == "constraints" else floor for floor in floors]


def _is_crowded(reduced: Reduced) -> bool:
    target = reduced.report.tokens_target
    said = sum(item.tokens for item in reduced.before.view if speaks_for_user(item.message))
    return target is None or said + reduced.before.tokens_fixed > USER_TEXT_SHARE * target


def _noted(reduced: Reduced) -> Reduced:
    """The compaction, with a note where rules left the view for want of room."""
    counts = reduced.report.retention_evicted.get("constraints")
    if counts is None or counts["in_view"] == counts["total"]:
        return reduced
    gone = counts["total"] - counts["in_view"]
    note = BEYOND.format(share=USER_TEXT_SHARE, gone=gone, total=counts["total"])
    return replace(reduced, report=replace(reduced.report, notes=(*reduced.report.notes, note)))


# ── repair ───────────────────────────────────────────────────────────────────────────────────────────────────


def _repaired(
    reduced: Reduced, below: Sequence[BelowFloor], *, tokens_max: int, counter: TokenCounter
) -> Reduced | None:
    """The compaction with the rules that left in its newest fold, in a request of at most `tokens_max`, facts making room
    for them; `None` where the fold has no room, or where it is not rules that fell below their floor."""
    folds = [edit for edit in reduced.edits if isinstance(edit, Fold)]
    if "constraints" not in {one.kind for one in below} or not folds:
        return None
    fold = folds[-1]
    at = next((n for n, item in enumerate(reduced.view) if item.message is fold.message), None)
    if at is None:
        return None
    items = list(reduced.view.items())
    shown = {item.seq for item in items if not item.covers}
    gone = [item for item in reduced.before.view if item.seq not in shown]
    lines = rule_lines(gone, words_of(reduced.before.view.items(), reduced.before.memo))
    room = tokens_max - reduced.before.tokens_fixed - reduced.view.tokens + items[at].tokens
    message = _with_rules(fold, lines, room=room, counter=counter)
    if message is None:
        return None
    weights, overhead = counter.weights(message.message)
    items[at] = item_of(
        items[at].seq, message.message, weights=weights, overhead=overhead, covers=items[at].covers
    )
    view = view_of(tuple(items), next_seq=reduced.view.next_seq)
    edits: tuple[Edit, ...] = tuple(message if edit is fold else edit for edit in reduced.edits)
    report = replace(
        reduced.report,
        tokens_after=view.tokens + reduced.before.tokens_fixed,
        cache=replace(
            reduced.report.cache,
            tokens_reread=reduced.report.cache.tokens_reread + view.tokens - reduced.view.tokens,
            net_tokens_saved_per_turn=reduced.before.view.tokens - view.tokens,
        ),
    )
    return replace(reduced, view=view, edits=edits, report=report)


def _with_rules(fold: Fold, rules: Sequence[str], *, room: int, counter: TokenCounter) -> Fold | None:
    """The fold with these rules under their heading, within `room` tokens; for want of it lines of facts leave, the last
    first, then the oldest rules."""
    found = read_block(fold.message.text)
    if found is None or not rules:
        return None
    kind, address, body = found
    heading, *wanted = rules
    lines = [line for line in body.split("\n") if line not in wanted]
    while wanted:
        message = replace(
            fold.message,
            parts=(Text(text=block(kind, address, body=_joined(lines, heading, wanted=wanted))),),
        )
        if counter.message(message) <= room:
            return replace(fold, message=message)
        if INDEX_HEADING_LINE in lines:
            lines.pop()
        else:
            wanted.pop(0)
    return None


def _joined(lines: Sequence[str], heading: str, *, wanted: Sequence[str]) -> str:
    """A fold's lines with the rules first under their heading."""
    if heading in lines:
        at = lines.index(heading) + 1
        return "\n".join([*lines[:at], *wanted, *lines[at:]])
    at = _place_of_objective(lines)
    return "\n".join([*lines[:at], heading, *wanted, *lines[at:]])


INDEX_HEADING_LINE = f"## {INDEX_HEADING}"


def _place_of_objective(lines: Sequence[str]) -> int:
    """Where the first heading of a ledger stands, or would."""
    headings = [f"## {heading}" for _, heading in HEADINGS] + [INDEX_HEADING_LINE]
    return next((n for n, line in enumerate(lines) if line in headings), len(lines))


def _unreachable(reduced: Reduced) -> Reduced:
    """The smallest history that keeps what users ruled (requirement CMP-30): the target has no room for it."""
    over = reduced.report.tokens_after - (reduced.report.tokens_target or 0)
    reason = f"what users ruled takes {over:,} tokens more than that; raise the target, or say which rules no longer hold"
    return replace(reduced, report=replace(reduced.report, outcome="unreachable", reason=reason))


def _refused(reduced: Reduced, below: tuple[BelowFloor, ...]) -> Reduced:
    """The history as it came, and why."""
    before = reduced.before
    reason = "refused: " + "; ".join(
        f"of the {one.kind.replace('_', ' ')} that would leave, {one.reached} % {SAYS[one.what]}, and the policy's floor is"
        f" {one.floor} %"
        for one in below
    )
    report = replace(
        reduced.report,
        outcome="failed",
        reason=f"{reason}; give a larger target, pin what must stay, or take another policy",
        below_floor=below,
        tokens_after=before.tokens,
        messages_after=len(before.view),
        cache=cache_of(before.view, before.view, fixed=before.tokens_fixed),
    )
    return replace(reduced, view=before.view, edits=(), report=report)


SAYS: Mapping[str, str] = {"in_view": "would stay in view", "not_lost": "could be read again"}
