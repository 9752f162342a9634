"""Every requirement of the design, with where it stands: done, begun, or the later stage it belongs to.

The one list of what this project claims. `test_manifest.py` compares it with the tests, both ways: a test says
which requirement it proves by naming the id in its docstring (`TOK-4`, `law PAIR`); an id claimed done must be
named by a test, and a test may name only ids done or begun. The gist is a reminder, not the definition.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

Status: TypeAlias = Literal[
    "done",
    "begun",
    "later: what survives",
    "later: durable sessions",
    "later: compaction by a model",
    "later: proxy",
    "later: surfaces",
    "later: memory",
]

DONE: Final = "done"
BEGUN: Final = "begun"  # tested as far as it is built, and not claimed
SURVIVES: Final = "later: what survives"
DURABLE: Final = "later: durable sessions"
MODEL: Final = "later: compaction by a model"
PROXY: Final = "later: proxy"
SURFACES: Final = "later: surfaces"
MEMORY: Final = "later: memory"


class Requirement(NamedTuple):
    """One row."""

    id: str
    gist: str
    status: Status


UNPROVEN: frozenset[str] = frozenset()
"""Ids claimed done whose test is still being written. Empty in every release."""


def row(id: str, gist: str, status: Status) -> Requirement:
    """A row of the table."""
    return Requirement(id, gist, status)


REQUIREMENTS: tuple[Requirement, ...] = (
    # Counting and projection
    row(
        "TOK-1",
        "exact counts where the model's tokenizer is offline: text, message, list, schemas, images",
        DONE,
    ),
    row("TOK-2", "CJK-aware estimate for models without a tokenizer, its error measured", DONE),
    row(
        "TOK-3",
        "projection: last usage plus an estimate of what was appended; the counted response once",
        DONE,
    ),
    row("TOK-4", "cached tokens are never counted twice, each wire format says how", DONE),
    row("TOK-5", "when the usage baseline is dropped and the whole request counted", DONE),
    row("TOK-6", "growth of system prompt and schemas since the baseline", DONE),
    row("TOK-7", "one snapshot before every request", DONE),
    row("TOK-8", "without an anchor the check is never skipped", DONE),
    row("TOK-9", "after a compaction no older usage is an anchor", DONE),
    row("TOK-10", "state unknown: local passes only", DONE),
    row("TOK-11", "effective budget: 95 % of the window; a further fixed reserve", DONE),
    # Budgets and thresholds
    row(
        "BUD-1",
        "input budget is the window less the output reserve, which is the request's own output cap where it names one; 70 % and 80 % of it",
        DONE,
    ),
    row("BUD-2", "threshold of window - min(max_output, 20,000) - 13,000", DONE),
    row("BUD-3", "the ladder starts over 85 % of the effective budget", DONE),
    row("BUD-4", "collapse at 90 % of the window, forced at 95 %", DONE),
    row("BUD-5", "displays use the policy's threshold as denominator", DONE),
    row("BUD-6", "a result over 4,000 characters keeps its first 2,400 and last 1,600", DONE),
    row("BUD-7", "limits differ by tool, declared by its registration", DONE),
    row("BUD-8", "a total for all results of one turn", DONE),
    row("BUD-9", "budget reduction never touches user or assistant text", DONE),
    row("BUD-10", "budget reduction is idempotent", DONE),
    row("BUD-11", "numerator of every display", DONE),
    row("BUD-12", "tiers in order, counted again after each", DONE),
    row("BUD-13", "manual compaction goes straight to the model", DONE),
    # Microcompact
    row(
        "MIC-1", "head 1,500 and tail 500 tokens of a result over its tool's threshold, the cut marked", DONE
    ),
    row("MIC-2", "old results cleared at 50 calls, then every 25; eight tools only", DONE),
    row("MIC-3", "clearing by the provider's own context editing", DONE),
    row("MIC-4", "local placeholders after about 90 idle minutes, or at the counts", DONE),
    row("MIC-5", "over 60 s since the last call: the last three tool turns keep their results", DONE),
    row("MIC-6", "a truncated result is never truncated twice", DONE),
    row("MIC-7", "placeholders are byte-stable", DONE),
    row("MIC-8", "old: all but the newest five results", DONE),
    row("MIC-9", "nothing is replaced where that frees nothing", DONE),
    row("MIC-10", "elapsed time comes in as a value", DONE),
    # Snip
    row("SNP-1", "the oldest run of messages goes, one notice stays; stated minima", DONE),
    row("SNP-2", "whole turns, oldest first, counted again after each", DONE),
    row("SNP-3", "read-only success before write before error, outside the recent window", DONE),
    row("SNP-4", "micro and snip land late", DONE),
    row("SNP-5", "the notice gives each removed message's first 80 characters", DONE),
    row("SNP-6", "snip stops when its target is met", DONE),
    row("SNP-7", "the protected window of ten tool turns, and when snip runs", DONE),
    row("SNP-8", "a one-line notice with the address of what went", DONE),
    # Collapse
    row("COL-1", "a span shows as one summary, and can be unfolded", DONE),
    row("COL-2", "template summary, one line a message", DONE),
    row("COL-3", "runs of 20 or more messages that decide nothing", DONE),
    row("COL-4", "segment summaries by a model", DONE),
    row("COL-5", "what the store keeps of each span, keyed by message ids", DONE),
    row("COL-6", "a span is never collapsed twice, and none refused wrongly", DONE),
    # Compaction by a model
    row("CMP-1", "checked before every request, tool loops included", DONE),
    row("CMP-2", "the summary comes from a fork with the cached prefix", DONE),
    row("CMP-3", "no tool runs in the fork", DONE),
    row("CMP-4", "what is taken of the reply", DONE),
    row("CMP-5", "forks never trigger a compaction", DONE),
    row("CMP-6", "one compress block as a user message, then the last two rounds", DONE),
    row("CMP-7", "six-field summary", DONE),
    row("CMP-8", "ledger of seven headings", DONE),
    row("CMP-9", "replacement: summary, recent fifth, files, checkpoint", DONE),
    row("CMP-10", "effect check: the bound of a replacement", DONE),
    row("CMP-11", "sampling: three attempts, each strictly smaller", DONE),
    row("CMP-12", "deterministic fallback: ledger, then whole units from the newest", DONE),
    row("CMP-13", "images go to the summariser as a placeholder", DONE),
    row("CMP-14", "circuit breaker of three failures a session", DONE),
    row("CMP-15", "manual compaction with instructions", DONE),
    row("CMP-16", "a new summary replaces history and old summary together", DONE),
    row("CMP-17", "hooks may block", DONE),
    row("CMP-18", "one compaction a response", DONE),
    row("CMP-19", "the instruction forbids tools at both ends", DONE),
    row("CMP-20", "the fork's request streams", DONE),
    row("CMP-21", "an error of the fork is a failure, an abort is not", DONE),
    row("CMP-22", "tool-call syntax inside a summary passes", DONE),
    row("CMP-23", "a result over the threshold is a failure", DONE),
    row("CMP-24", "the last user message stays verbatim in its place", DONE),
    row("CMP-25", "the smallest oldest range that reaches the target", DONE),
    row("CMP-26", "recovery instruction after the summary", DONE),
    row("CMP-27", "exact records put back verbatim", DONE),
    row("CMP-28", "form and bounds of exact records", DONE),
    row("CMP-29", "an empty or too large summary is a failure", DONE),
    row("CMP-30", "the mandatory checkpoint raises the target", DONE),
    row("CMP-31", "the last user message exactly once", DONE),
    row("CMP-32", "the fallback drops reasoning and images", DONE),
    row("CMP-33", "ignored while the model answers", DONE),
    row("CMP-34", "a second compaction while one runs is skipped", DONE),
    row("CMP-35", "no fallback: a warning, and the request goes out", DONE),
    row("CMP-36", "manual compaction with the breaker open", DONE),
    row("CMP-37", "full summary in one call, the last turns whole", DONE),
    row("CMP-38", "the system prompt comes from its configuration", DONE),
    row("CMP-39", "degradation when the context is exhausted", DONE),
    row("CMP-40", "notices and folded spans are user messages in a block that cannot be forged", DONE),
    row("CMP-41", "the output cap is lowered before compacting for it", DONE),
    # Reactive recovery
    row("REA-1", "an overflow error: one compaction, one retry", DONE),
    row("REA-2", "only before any content was delivered", DONE),
    row("REA-3", "a preset without a reactive tier", DONE),
    row("REA-4", "a failed recovery leaves the view as it was", DONE),
    # Hand-off
    row("HND-1", "one durable reminder in the band", DONE),
    row("HND-2", "one strict record an epoch", DONE),
    row("HND-3", "sent, stored, never shown", DONE),
    row("HND-4", "a new epoch begins with a committed checkpoint", DONE),
    # Journal, checkpoint, resume
    *(
        row(f"JRN-{number}", "journal, checkpoint and resume", DONE)
        for number in (1, 2, 3, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16, 17, 18, 19)
    ),
    row("JRN-4", "audit events with exactly the document's fields, derived from the log", DONE),
    row("JRN-11", "every event to the log, and to SQLite for questions over all sessions", DONE),
    row("JRN-12", "a compaction's checkpoint event carries level, remaining tokens and pending tasks", DONE),
    # Restore after compaction, hooks
    row("RST-1", "a mandatory step after each compaction", DONE),
    *(row(f"RST-{number}", "restore after a compaction", DONE) for number in (2, 3)),
    row("RST-4", "four kinds of evidence with budgets of their own", DONE),
    *(row(f"RST-{number}", "restore after a compaction", DONE) for number in range(5, 11)),
    *(row(f"HOK-{number}", "hooks before and after", DONE) for number in range(1, 5)),
    # Surfaces
    row("UIX-1", "compact with instructions and context as commands of a chat", DONE),
    row("UIX-2", "what is on screen stays", SURFACES),
    row("UIX-3", "the streamed summary's last 30 characters", DONE),
    *(row(f"UIX-{number}", "terminal, stdio and web", SURFACES) for number in (4, 5, 6)),
    row("UIX-7", "older history by page", DONE),
    *(row(f"UIX-{number}", "terminal, stdio and web", SURFACES) for number in range(8, 14)),
    # Function nodes, memory
    *(row(f"FUN-{number}", "function-call nodes", DONE) for number in range(1, 5)),
    *(row(f"MEM-{number}", "memory", MEMORY) for number in range(1, 13)),
    # Observability, presets
    row("OBS-1", "metrics", DONE),
    row("OBS-2", "a pass never mutates: values in, edits and hints out", DONE),
    row("OBS-3", "every report carries retention", DONE),
    *(
        row(f"PRE-{number}", "a preset with its document's values (memory: the MEM rows)", DONE)
        for number in range(1, 8)
    ),
    # Laws
    row("PAIR", "every call has its result, every result its call, by round", DONE),
    row("ROUND", "a round is kept or folded whole", DONE),
    row("CUT", "drops and folds begin and end at cut points", DONE),
    row("TAIL", "the last user message stands once, the open round untouched", DONE),
    row("ROLE", "roles in the order the target format demands", DONE),
    row("PIN", "pinned parts survive verbatim", DONE),
    row("PREFIX", "bytes before the first edited message are identical", DONE),
    row("ONCE", "one prefix break a compaction", DONE),
    row("LOSSLESS", "what was not edited leaves byte for byte", DONE),
    row("LOG", "the log is append-only; any prefix of it loads", DONE),
    row("REPLAY", "the log projects to the view the session had", DONE),
    row("SAME", "same input, same bytes", DONE),
    row("GAIN", "an applied compaction shrinks the view, and reports it", DONE),
    row("TRACE", "every synthetic message says what it covers and how to get it back", DONE),
    row("END", "the last tier reaches the target or says why not", DONE),
)
