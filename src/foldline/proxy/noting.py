"""What became of a request, in its record: what its session made of it, and what the provider counted.

Counterparts: `foldline.proxy.meters`, which owns records, and `foldline.proxy.exchange`, which knows when.
"""

from __future__ import annotations

from foldline.proxy.desk import Going
from foldline.proxy.meters import Record


def note(record: Record, going: Going) -> None:
    """What was done for a request, in its record."""
    prepared, out = going.out.prepared, going.out
    record.why, record.cause = out.why, out.cause or record.cause
    if prepared is None:
        return
    record.session = going.name
    record.tokens_sent, record.tokens_in = prepared.tokens.tokens, out.tokens_came
    report = prepared.report
    made = (one.name for one in report.passes if one.edits)
    record.passes = tuple(dict.fromkeys((*record.passes, *made)))
    record.output_cap = prepared.lowered.partition(":")[0]
    notes = (note for note in report.notes if note != prepared.lowered)
    record.notes = tuple(dict.fromkeys((*record.notes, *notes)))
    summary = report.summary
    record.summary_requests += summary.requests
    record.summary_failures += len(summary.failures)
    if summary.usage is not None:
        record.summary_tokens += summary.usage.tokens_input + summary.usage.tokens_output
    record.is_compaction = record.is_compaction or report.outcome == "compacted"
    if out.is_edited:
        record.outcome = "edited"


def observed(record: Record) -> None:
    """What was done is what would have been done: nothing of it went up, and nothing was saved."""
    record.is_compaction = False
    if record.outcome == "edited":
        record.outcome, record.tokens_would_send = "would edit", record.tokens_sent
    record.tokens_sent = record.tokens_in


def weigh(record: Record, tokens_input: int | None) -> None:
    """By the provider's own count, where it gave one: what was taken out, or would be, weighs as what was sent did."""
    if not tokens_input:
        return
    sent = record.tokens_sent
    if sent:
        record.tokens_would_send = record.tokens_would_send * tokens_input // sent
    is_less = record.outcome in ("edited", "recovered") and sent
    record.tokens_in = record.tokens_in * tokens_input // sent if is_less else tokens_input
    record.tokens_sent, record.is_counted = tokens_input, True
