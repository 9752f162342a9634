"""A stand-in for the facade: fixed answers, so that tests of the command line test it alone.

Its file names are commands to it: `broken.jsonl` raises what a broken file raises, and so on; text in them comes from
`TEXT`, which the environment of a child process may set. Run as a program it is the command line over this facade.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from foldline.core import errors
from foldline.transcripts.transcript import Transcript

TEXT = os.environ.get("STUB_TEXT", "text")
TOLD = ""
"""What a call is told as."""
POLICIES = ("balanced", "handoff")
FORMATS = ("anthropic", "pi")


class CompactOptions(Struct, frozen=True, kw_only=True):
    to: int | float | None
    policy: str = "balanced"
    model: str | None
    counter: str | None
    focus: str | None
    pins: tuple[str, ...] = ()
    as_format: str | None


class Answer(Struct, kw_only=True):
    """Whatever a facade function returns."""

    data: bytes | None = None
    report_document: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    text: str | None = None
    title: str = ""
    told: str = ""


def payload() -> str:
    """The text that stands in every field of the answers."""
    text: str = json.loads(TEXT) if TEXT.startswith('"') else TEXT
    return text


def raised_by(name: str) -> BaseException | None:
    """What reading a file of that name raises."""
    return {
        "missing.jsonl": errors.InvalidTranscript(name, None, "no such file; check the path"),
        "broken.jsonl": errors.InvalidTranscript(
            name, 12, "not valid JSON; cut the line or restore the file"
        ),
        "unknown.bin": errors.UnknownFormat(None, FORMATS, why="no reader recognises unknown.bin"),
        "busy.jsonl": errors.SessionBusy("busy.jsonl"),
        "blocked.jsonl": errors.CompactionBlocked("a hook said no"),
        "law.jsonl": errors.LawViolation("PAIR", "3"),
        "fault.jsonl": KeyError("slot"),
        "interrupt.jsonl": KeyboardInterrupt(),
        "full.jsonl": OSError(28, "No space left on device", "full.jsonl"),
        "recursion.jsonl": RecursionError("maximum recursion depth exceeded"),
    }.get(name)


def read(
    path: str,
    *,
    format: str = "auto",
    select: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Transcript, ...]:
    if format not in ("auto", *FORMATS):
        raise errors.UnknownFormat(format, FORMATS, why=f"no format is called {format!r}")
    name = os.path.basename(path)
    if (error := raised_by(name)) is not None:
        raise error
    if progress is not None:
        draw_slowly(progress)
    if path == "-" and not os.environ.get("STUB_NO_STDIN"):
        if os.environ.get("STUB_READY"):
            sys.stderr.write("reading\n")
            sys.stderr.flush()
        sys.stdin.buffer.read()
    one = Transcript(
        format="pi", wire="anthropic", messages=(), id=name, skipped=(("progress", 3),), notes=(payload(),)
    )
    return (one, one) if name == "many.json" and select is None else (one,)


def names_session(path: str) -> bool:
    """No session has a name here."""
    return False


def draw_slowly(progress: Callable[[int, int], None]) -> None:
    """Reports half a second of reading in small steps when `STUB_SLOW` is set."""
    import time

    start_s = time.monotonic()
    while os.environ.get("STUB_SLOW") and (spent_s := time.monotonic() - start_s) < 0.6:
        progress(int(spent_s * 1_000_000), 600_000)


def report(outcome: str, options: CompactOptions) -> dict[str, Any]:
    text = payload()
    return {
        "schema": "foldline.report/1",
        "format": "pi",
        "model": options.model,
        "policy": options.policy,
        "counter": options.counter or "o200k_base",
        "outcome": outcome,
        "reason": None if outcome == "compacted" else f"because {text}",
        "messages_before": 354,
        "messages_after": 41,
        "tokens_before": 135468,
        "tokens_after": 17853,
        "tokens_target": 17858,
        "passes": [
            {"name": "microcompact", "edits": 212, "tokens_freed": 60211, "seconds": 0.004},
            {"name": text, "edits": 1, "tokens_freed": 57404, "seconds": 0.0012},
        ],
        "covers": {"messages": 313, "addresses": [f"m{n}.0@4f2a91c0{text}" for n in range(12)]},
        "retention": {
            "paths": {"total": 120, "in_view": 101, "recallable": 19, "lost": 0, "altered": 0},
            "identifiers": {},
        },
        "retention_evicted": {},
        "summary": {"kind": "template", "evicted_tokens": 118000, "seen_tokens": 118000, "attempts": 0},
        "cache": {"prefix_tokens_kept": 5210, "tokens_reread": 12643, "net_tokens_saved_per_turn": 117615},
        "repairs": [{"seq": 3, "kind": "orphan", "why": text}, {"seq": 4, "kind": text, "why": text}],
        "notes": [text, "a note"],
        "valid": outcome != "failed",
        "violations": [{"law": "PAIR", "at": text, "why": text}] if outcome == "failed" else [],
        "seconds": 0.061,
    }


def compact(transcripts: tuple[Transcript, ...], options: CompactOptions, **asked: Any) -> Answer:
    if options.policy not in POLICIES:
        raise errors.UnknownPolicy(options.policy, POLICIES)
    if options.as_format not in (None, *FORMATS):
        raise errors.UnknownFormat(
            options.as_format, FORMATS, why=f"no format is called {options.as_format!r}"
        )
    if options.counter == "abacus":
        raise errors.InvalidOption("counter", "abacus", why="no counter of that name; there is o200k_base")
    if options.model == "nobody":
        warnings.warn(errors.UnknownModel(f"{options.model}{payload()} is not in the table"), stacklevel=2)
    name = transcripts[0].id or ""
    if name == "laborious.jsonl":
        stage = asked["progress"] or (lambda *told: None)
        draw_slowly(lambda done, total: stage(f"looking for {payload()}", done / total))
    outcome = "unreachable" if options.to == 1 else "failed" if name == "failing.jsonl" else "compacted"
    one = report(outcome, options)
    data = result()
    if len(transcripts) > 1:
        return Answer(
            data=b"[" + b",".join([data] * len(transcripts)) + b"]",
            report_document={
                "schema": "foldline.reports/1",
                "sessions": [one] * len(transcripts),
                "totals": {},
            },
        )
    return Answer(data=data, report_document=one)


def result() -> bytes:
    text = json.dumps({"messages": [{"role": "user", "content": payload()}]}, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace")


def convert(transcripts: tuple[Transcript, ...], *, as_format: str) -> Answer:
    if as_format not in FORMATS:
        raise errors.UnknownFormat(as_format, FORMATS, why=f"no format is called {as_format!r}")
    return Answer(data=result(), notes=(f"reasoning of {payload()} left out",))


def check(transcript: Transcript, *, as_format: str | None = None) -> dict[str, Any]:
    found = [{"law": "PAIR", "at": f"message 3 {payload()}", "why": payload()}]
    bad = transcript.id == "invalid.jsonl"
    return {
        "schema": "foldline.check/1",
        "format": as_format or "pi",
        "messages": 4,
        "valid": not bad,
        "violations": found * 3 if bad else [],
    }


def distribution(
    transcript: Transcript, *, model: str | None = None, policy: str | None = None, counter: str | None = None
) -> dict[str, Any]:
    window = None if transcript.id == "windowless.jsonl" else 200_000
    return {
        "schema": "foldline.context/1",
        "counter": "o200k_base",
        "policy": policy or "balanced",
        "tokens_total": 135_468,
        "tokens_projected": 135_468,
        "tokens_anchored": 130_000,
        "tokens_estimated": 5_468,
        "notes": [payload(), "window by default"],
        "tokens_window": window,
        "tokens_threshold": window and 160_000,
        "percent": window and 85,
        "by_kind": {"tool_results": 90_468, "assistant": 30_000, "user": 15_000, "media": 0},
        "by_tool": {payload(): 60_000, "read_file": 30_468},
        "largest": [{"address": f"m12.0@4f2a91c0{payload()}", "kind": payload(), "tokens": 9_000}],
    }


def show(transcripts: tuple[Transcript, ...], address: str) -> Answer:
    if address == "nowhere":
        raise errors.UnknownAddress(address, "the file holds no such message; take an address from a report")
    if address == "image":
        return Answer(data=b"\x89PNG\x00\xff", title="an image (image/png)")
    return Answer(text=payload(), title=f"result of {payload()}", told=TOLD)


def formats() -> list[dict[str, Any]]:
    return [{"name": "pi", "reads": True, "writes": False}]


def policies(name: str | None = None) -> list[dict[str, Any]]:
    if name is not None and name not in POLICIES:
        raise errors.UnknownPolicy(name, POLICIES)
    line = {"percent": 80, "of": "input", "reserved": 0, "tokens": 144_000}
    tiers = [
        {
            "name": "clamp",
            "needs": None,
            "done": None,
            "when": "always",
            "due": None,
            "target": None,
            "values": {"limit": 20_000},
        },
        {
            "name": "hand-off",
            "needs": "session",
            "done": "reminder",
            "when": "over",
            "due": line,
            "target": None,
            "values": {"said": payload()},
        },
    ]
    return [
        {"name": each, "sentence": payload(), "threshold": line, "tiers": tiers}
        for each in POLICIES
        if name in (None, each)
    ]


def models(name: str | None) -> list[dict[str, Any]]:
    known = [
        {
            "name": "claude-sonnet-5",
            "window": 200_000,
            "max_output": 64_000,
            "prices": {"input": 3.0, "output": 15.0},
            "family": payload(),
        }
    ]
    known.append(
        {"name": "gpt-5", "window": 400_000, "prices": {"input": 1.25, "output": None}, "family": payload()}
    )
    return [model for model in known if name in (None, model["name"])]


STANDS_FOR = (
    "foldline.files",
    "foldline.reading",
    "foldline.lookup",
    "foldline.distribution",
    "foldline.catalogue",
)
"""The modules of the facade."""


if __name__ == "__main__":
    from foldline.cli.main import main

    # A job in the background starts its children with interrupts ignored, and the tests may be such a job.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.modules |= dict.fromkeys(STANDS_FOR, sys.modules[__name__])
    main(prog_name="foldline")
