"""Session files through the engine: compact, convert, check.

The file-level twin of `foldline.api`, called by the command line. Knows formats by name alone; each reader and writer
is loaded when it is asked for. Raises `FoldlineError`s that name the place and the next step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from foldline.asking import asking_notes
from foldline.core.completion import Ask, Reply
from foldline.core.errors import InvalidTranscript
from foldline.core.laws import Violation
from foldline.core.needs import Needs
from foldline.core.ports import TokenCounter
from foldline.core.system_place import system_in_place
from foldline.core.view import Item
from foldline.engine.driving import drive, unanswered
from foldline.engine.report import Cache, Report
from foldline.file_asking import answering_for
from foldline.gate import compacting
from foldline.held_elsewhere import refuse_held_elsewhere
from foldline.ledger.numbering import follows_in
from foldline.memory import remembered
from foldline.outgoing import joined
from foldline.presets import policy_of
from foldline.provider_rules import broken_laws, refusals, same_words
from foldline.reduce import (
    Goal,
    Reduced,
    target_of,
)
from foldline.settings import Planned, plan_for, window_asked
from foldline.tokens.choose import counter_for
from foldline.transcript_history import (
    by_places,
    history_for,
    is_gone_on_with,
    request_of,
    source_format,
    tokens_of,
)
from foldline.transcripts import detect
from foldline.transcripts.transcript import NewHistory, Transcript, left_aside
from foldline.wire.codec import Request, Rules
from foldline.wire.completion import Completer
from foldline.wire.convert import convert as convert_request
from foldline.wire.formats import CODECS, codec
from foldline.wire.tools import fit_tools

HEAD_BYTES = 1 << 16
"""Of a file this much is enough to recognise most formats by."""
TRIES_MAX = 3
"""Most attempts to meet a target that is measured after conversion to another format."""
SYNTHETIC_FIRST = frozenset({"claude-code"})
"""Formats with a record of their own for a summary, which no neighbour may be joined to."""


SIZE_DIGITS = 3
"""Digits of a size that is told as about so much."""


class CompactOptions(Struct, frozen=True, kw_only=True):
    """What to do with a file."""

    to: int | float | None = None
    policy: str = "balanced"
    model: str | None = None
    counter: str | None = None
    focus: str | None = None
    pins: tuple[int | str, ...] = ()
    as_format: str | None = None


Progress: TypeAlias = Callable[[str, float | None], None]
"""Called with what is being done, and the share of it that is done; `None` where nobody knows."""


class FileResult(Struct, frozen=True, kw_only=True):
    """One conversation, compacted."""

    report: Report
    data: bytes
    """The whole file to write; for a wire format one JSON object."""
    format: str


class Compaction(Struct, frozen=True, kw_only=True):
    """All conversations of a file."""

    results: tuple[FileResult, ...]

    @property
    def data(self) -> bytes:
        """The file to write: one conversation's own, or a JSON list of several."""
        return _together([result.data for result in self.results])

    @property
    def report_document(self) -> dict[str, Any]:
        """`foldline.report/1` for one conversation, `foldline.reports/1` for several."""
        reports = [result.report.to_dict() for result in self.results]
        if len(reports) == 1:
            return reports[0]
        sums = ("messages_before", "messages_after", "tokens_before", "tokens_after")
        outcomes: dict[str, int] = {}
        for report in reports:
            outcomes[report["outcome"]] = outcomes.get(report["outcome"], 0) + 1
        totals = {name: sum(report[name] for report in reports) for name in sums}
        return {
            "schema": "foldline.reports/1",
            "sessions": reports,
            "totals": {"sessions": len(reports), "outcomes": dict(sorted(outcomes.items())), **totals},
        }


class Conversion(Struct, frozen=True, kw_only=True):
    """A file in another format."""

    data: bytes
    notes: tuple[str, ...]


# ── compact ──────────────────────────────────────────────────────────────────────────────────────────────────


def compact(
    transcripts: Sequence[Transcript],
    options: CompactOptions,
    *,
    completer: Completer | None = None,
    on_delta: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Compaction:
    """Bring each conversation to its goal. An unreachable target is an outcome, with the smallest history as data.
    `completer`: who writes the summaries; `on_delta` hears them."""
    return Compaction(
        results=tuple(
            _compact_one(
                transcript,
                options,
                answer=unanswered
                if completer is None
                else answering_for(transcript, completer, on_delta=on_delta),
                window=window_asked(completer, model=options.model),
                progress=_numbered(progress, number, of=len(transcripts)),
            )
            for number, transcript in enumerate(transcripts, 1)
        )
    )


def _numbered(progress: Progress | None, number: int, *, of: int) -> Progress:
    """The same of one conversation, of several with its number."""
    if progress is None:
        return lambda stage, share: None
    if of == 1:
        return progress
    return lambda stage, share: progress(f"{number:,} of {of:,}, {stage}", share)


def _compact_one(
    transcript: Transcript,
    options: CompactOptions,
    *,
    answer: Callable[[Ask], Reply],
    window: int | None,
    progress: Progress,
) -> FileResult:
    refuse_held_elsewhere(transcript.messages, path="the conversation")
    target = _target_format(transcript, options.as_format)
    goal, planned = goal_of(options, transcript)
    goal = replace(
        goal,
        has_model=answer is not unanswered,
        tokens_window_asked=window,
        focus=options.focus or "",
    )
    named = options.counter or goal.policy.counter or planned.counter
    counter = counter_for(options.model, counter=named, wire=transcript.wire)
    progress("counting tokens", None)
    counted = by_places(transcript) if target == "foldline" else transcript
    history = history_for(counted, counter, wire=_wire_of(transcript, target))
    blank = Report(
        format=transcript.format,
        model=options.model,
        notes=(*_notes(transcript, options), *asking_notes(goal), *planned.notes),
    )
    asked = target_of(history.tokens, goal, tokens_fixed=history.tokens_fixed)
    progress("looking for what may leave", None)
    with remembered(partial(_looked, progress=progress)) as memo:
        history = replace(history, memo=memo)
        for _ in range(TRIES_MAX):
            reduced = drive(
                compacting(history, goal, counter=counter, report=blank, clock=perf_counter), answer
            )
            progress("checking what comes out", None)
            sent = outgoing(transcript, reduced.view.items(), target=target)
            over = _tokens_over(sent, asked, counter=counter)
            if over <= 0 or reduced.report.outcome not in ("compacted", "unchanged"):
                break
            goal = replace(
                goal, to=max(1, reduced.report.tokens_after - over)
            )  # asked, less what conversion adds
    report = _final_report(reduced, sent, asked=asked, counter=counter, target=target)
    if not report.valid:
        report = replace(report, unmended=_unmended(report.violations, transcript, target=target))
    written = NewHistory(
        messages=sent.request.messages,
        system=sent.request.system,
        tools=sent.request.tools,
        tokens_before=report.tokens_before,
        tokens_after=report.tokens_after,
        edits=reduced.edits,
        report=report.to_dict(),
    )
    data = detect.writer(target).write(transcript, written)
    own = () if options.model or options.counter else by_its_own(transcript, sent, counter=counter)
    more = (*own, *left_out(written, target), *unrecognised(data, target))
    report = replace(report, notes=(*report.notes, *more))
    return FileResult(report=report, data=data, format=target)


def _looked(done: int, total: int, *, progress: Progress) -> None:
    if done < total:
        progress("looking for facts", done / total)
    else:
        progress("writing what stands for the rest", None)


def by_its_own(transcript: Transcript, sent: Sent, *, counter: TokenCounter) -> tuple[str, ...]:
    """The size of the result for the model that the file names, where that one counts otherwise: `context` tells it so. In
    three digits, since the report's own numbers are by another counter."""
    if transcript.model is None:
        return ()
    own = counter_for(
        transcript.model, counter=plan_for(transcript.model).counter, wire=sent.request.format or None
    )
    if own.name == counter.name:
        return ()
    tokens = tokens_of(sent.request, own)
    about = round(tokens, min(0, SIZE_DIGITS - len(str(tokens))))
    return (
        f"for {transcript.model}, which the file names, the result is about {about:,} tokens (--model counts so)",
    )


def left_out(written: NewHistory, target: str) -> tuple[str, ...]:
    """What a person should know of a file that has no place for a system prompt and tools. Empty where it has, or there are none."""
    gone = [
        name
        for name, part in (("system prompt", written.system), ("tools", written.tools))
        if part is not None
    ]
    if detect.writer(target).holds_prompt or not gone:
        return ()
    what = " and ".join(gone)
    return (
        f"a {target} file has no place for the {what}: left out, its client brings its own; "
        "rules in it that must go on holding belong into that client's own instructions",
    )


def unrecognised(data: bytes, target: str) -> tuple[str, ...]:
    """What a person should know of a file in a wire format that says nothing only this format says: it would be read as
    another. Empty where it is recognised, or holds no message to be recognised by."""
    if target not in CODECS or detect.recognise(data[:HEAD_BYTES]) == target:
        return ()
    try:
        found = detect.read(data)[0].format
    except InvalidTranscript:
        return ()
    if found == target:
        return ()
    return (f"`check` and `show` will take the result for {found}; add --from {target} there",)


def goal_of(options: CompactOptions, transcript: Transcript) -> tuple[Goal, Planned]:
    """The options as the engine wants them, and the numbers they are planned with."""
    planned = plan_for(options.model, stated=transcript.tokens_window if options.model is None else None)
    goal = Goal(
        policy=policy_of(options.policy, planned.window),
        to=options.to,
        tokens_window=planned.window,
        output_max=planned.output_max,
        pins=options.pins,
    )
    return goal, planned


class Sent(Struct, frozen=True, kw_only=True):
    """A reduced history as the target format will carry it."""

    request: Request
    notes: tuple[str, ...]
    converted: bool


def outgoing(transcript: Transcript, items: Sequence[Item], *, target: str) -> Sent:
    """The messages of a view in the target's wire format, with what conversion had to leave out."""
    wire = detect.writer(target).wire
    source = source_format(transcript)
    reader = codec(_wire_of(transcript, target))
    if not wire or (source == wire and target not in CODECS):
        placed = system_in_place(items) if reader.rules.needs.system_between else items
        request = request_of(transcript, tuple(item.message for item in placed), format=source or wire)
        return Sent(request=_with_tools(request, reader.rules), notes=(), converted=False)
    if source == wire:
        follows = follows_in(transcript.numbers)
        messages = tuple(joined(items, reader, rules=reader.rules, follows=follows))
        request = request_of(transcript, messages, format=wire)
        return Sent(request=_with_tools(request, reader.rules), notes=(), converted=False)
    apart = [item.message for item in items if target in SYNTHETIC_FIRST and item.message.synthetic == "fold"]
    rest = tuple(item.message for item in items if item.message not in apart)
    done = convert_request(request_of(transcript, rest, format=source), wire)
    notes = done.notes
    if done.reasoning_dropped:
        parts = "1 reasoning part that {} cannot carry was left out"
        if done.reasoning_dropped > 1:
            parts = f"{done.reasoning_dropped:,} reasoning parts that {{}} cannot carry were left out"
        notes = (*notes, parts.format(wire))
    request = replace(done.request, messages=(*apart, *done.request.messages))
    return Sent(request=request, notes=notes, converted=True)


def _with_tools(request: Request, rules: Rules) -> Request:
    """The request, its tools called as their calls are."""
    return replace(request, tools=fit_tools(request.tools, pattern=rules.needs.names_pattern))


def _tokens_over(sent: Sent, asked: int | None, *, counter: TokenCounter) -> int:
    """Tokens by which the converted history misses the target; 0 when it was not converted."""
    if not sent.converted or asked is None:
        return 0
    return tokens_of(sent.request, counter) - asked


def _violations(sent: Sent, needs: Needs, *, target: str) -> tuple[Violation, ...]:
    if sent.converted:  # its own demands are on what conversion takes, not on what it makes
        needs = codec(sent.request.format).rules.needs
    return _broken(sent.request, replace(needs, tail_stays_open=True), target=target)


def _broken(request: Request, needs: Needs, *, target: str) -> tuple[Violation, ...]:
    """What a history breaks. What a client makes of its own session file is not judged, but what a body holds."""
    broken = broken_laws(request.messages, needs)
    if broken or target not in CODECS:
        return broken
    return refusals(request, needs)


def _unmended(broken: tuple[Violation, ...], transcript: Transcript, *, target: str) -> tuple[Violation, ...]:
    """Of what the result breaks, what the input broke in the same words."""
    request, needs = _as_it_stands(transcript, target=target)
    given = broken_laws(request.messages, needs)
    return same_words(broken, (*given, *refusals(request, needs)) if target in CODECS else given)


def _final_report(
    reduced: Reduced, sent: Sent, *, asked: int | None, counter: TokenCounter, target: str
) -> Report:
    """The report on what is written: sizes after conversion, against the target that was asked for."""
    report = replace(reduced.report, tokens_target=asked)
    if sent.converted:
        after = tokens_of(sent.request, counter)
        kept = min(report.cache.prefix_tokens_kept, after)
        cache = Cache(
            prefix_tokens_kept=kept,
            tokens_reread=after - kept,
            net_tokens_saved_per_turn=report.tokens_before - after,
        )
        report = replace(report, tokens_after=after, cache=cache)
        if asked is not None and report.tokens_after > asked and report.outcome in ("compacted", "unchanged"):
            why = f"in the other format the history takes {report.tokens_after:,} tokens; raise the target"
            report = replace(report, outcome="unreachable", reason=why)
    violations = _violations(sent, reduced.before.needs, target=target)
    return replace(
        report,
        messages_after=len(sent.request.messages),
        notes=(*report.notes, *sent.notes),
        valid=not violations,
        violations=violations,
    )


def _target_format(transcript: Transcript, wanted: str | None) -> str:
    if wanted is not None:
        return detect.writer(wanted).name
    return transcript.format if transcript.format in detect.WRITERS else transcript.wire


def _wire_of(transcript: Transcript, target: str) -> str:
    return detect.writer(target).wire or source_format(transcript) or transcript.wire


def _notes(transcript: Transcript, options: CompactOptions) -> tuple[str, ...]:
    notes = list(transcript.notes)
    if transcript.skipped:
        notes.append(left_aside(transcript.skipped))
    if options.as_format is None and transcript.format not in detect.WRITERS:
        notes.append(
            f"{transcript.format} is not written; the result is {transcript.wire} (--as names another format)"
        )
    return tuple(notes)


def _together(files: Sequence[bytes]) -> bytes:
    if len(files) == 1:
        return files[0]
    return b"[\n" + b",\n".join(data.strip() for data in files) + b"\n]\n"


# ── convert and check ────────────────────────────────────────────────────────────────────────────────────────


def convert(transcripts: Sequence[Transcript], *, as_format: str) -> Conversion:
    """The same conversations in another format, repaired where they were broken, nothing reduced."""
    files: list[bytes] = []
    notes: list[str] = []
    target = detect.writer(as_format).name
    counter = counter_for(counter="length/4")
    for transcript in transcripts:
        history = history_for(transcript, counter, wire=_wire_of(transcript, target))
        sent = outgoing(transcript, history.view.items(), target=target)
        request = sent.request
        written = NewHistory(messages=request.messages, system=request.system, tools=request.tools)
        files.append(detect.writer(target).write(transcript, written))
        notes += [*left_out(written, target), *unrecognised(files[-1], target)]
        notes += [*transcript.notes, *sent.notes]
        notes += [f"message {repair.seq}: {repair.kind}, {repair.why}" for repair in history.repairs]
    return Conversion(data=_together(files), notes=tuple(notes))


def check(transcript: Transcript, *, as_format: str | None = None) -> dict[str, Any]:
    """The laws and the provider's rules on a history exactly as it stands (`foldline.check/1`)."""
    target = _target_format(transcript, as_format)
    request, needs = _as_it_stands(transcript, target=target)
    violations = _broken(request, needs, target=target)
    return {
        "schema": "foldline.check/1",
        "format": target,
        "messages": len(request.messages),
        "valid": not violations,
        "violations": msgspec.to_builtins(violations),
    }


def _as_it_stands(transcript: Transcript, *, target: str) -> tuple[Request, Needs]:
    wire = _wire_of(transcript, target)
    source = source_format(transcript)
    request = request_of(transcript, transcript.messages, format=source)
    if source != wire:
        request = convert_request(request, wire).request
    return request, replace(
        codec(wire).rules.needs_for(transcript.model), tail_stays_open=is_gone_on_with(transcript)
    )
