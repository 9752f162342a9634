"""What must hold of any bytes at all: they are refused in words, or everything that can be done with them is sound.

One call runs what the command line runs (read, context, check, compact, convert, show) in one process and raises
`AssertionError` where a promise is broken. Errors that are not foldline's own come through as they are.
"""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Literal, get_args, get_origin, get_type_hints

from foldline import files
from foldline.core.errors import InvalidTranscript, SessionCorrupt, UnknownFormat
from foldline.core.message import Part
from foldline.distribution import distribution
from foldline.engine.report import Report
from foldline.lookup import show
from foldline.provider_rules import PROVIDER
from foldline.transcripts import detect
from foldline.transcripts.transcript import Transcript
from tests.linear import beside, scan

NAME = "hostile.jsonl"
COUNTER = "length/4"
"""Structure is what these cases are about; a counter without a table keeps them fast."""
SCANS_MAX = 30
"""What one case may take: so many plain looks at each of 300,000 characters, half a second on a slow core. Cases are small."""
TARGETS = (1, 25, 60, 250, 0.3, 0.6, 0.9)
TARGET_FORMATS = (None, None, *detect.WRITERS)
WIRES = frozenset({"anthropic", "openai-chat", "openai-responses", "gemini"})
ADDRESSES_MAX = 3
EXPECTED = (InvalidTranscript, UnknownFormat, SessionCorrupt)


def survive(data: bytes, draw: random.Random, *, format: str = "auto") -> str:
    """`refused`, or the outcome of the compaction of the last conversation."""
    outcome, begun = "", draw.getstate()

    def work() -> None:
        nonlocal outcome
        draw.setstate(begun)
        outcome = _run(data, draw, format=format)

    assert beside(lambda _: work, lambda _: scan, most=SCANS_MAX).wrong == ""
    return outcome


def _run(data: bytes, draw: random.Random, *, format: str) -> str:
    try:
        found = detect.read(data, format=format, name=NAME)
    except EXPECTED as error:
        names_place_and_step(str(error))
        return "refused"
    outcome = ""
    for transcript in found:
        looks_sound(transcript)
        outcome = shrinks_sound(transcript, draw)
    files.convert(found, as_format=draw.choice(tuple(detect.WRITERS)))
    return outcome


def names_place_and_step(sentence: str) -> None:
    """Which file, and what to do next (after a semicolon, or a list of the formats that can be named)."""
    assert NAME in sentence, sentence
    assert "; " in sentence or "? " in sentence or sentence.endswith("?"), sentence
    assert len(sentence) < 2_000, f"{len(sentence)} characters of error"


_hints = cache(get_type_hints)


def holds_its_types(part: Part) -> None:
    """A reader let nothing through that the value's fields do not allow."""
    for name, hint in _hints(type(part)).items():
        value = getattr(part, name)
        if get_origin(hint) is Literal:
            assert value in get_args(hint), f"{type(part).__name__}.{name} is {value!r}"
        elif get_origin(hint) is tuple:
            for inner in value:
                holds_its_types(inner)
        else:
            assert isinstance(value, hint), f"{type(part).__name__}.{name} is {value!r}"


def looks_sound(transcript: Transcript) -> None:
    """`context` adds up and its addresses open; `check` says what it finds; all of it is JSON."""
    for message in transcript.messages:
        for part in message.parts:
            holds_its_types(part)
    counted = distribution(transcript, counter=COUNTER)
    assert sum(counted["by_kind"].values()) == counted["tokens_total"]
    assert min(counted["by_kind"].values()) >= 0
    for item in counted["largest"][:ADDRESSES_MAX]:
        show([transcript], item["address"])
    checked = files.check(transcript)
    assert checked["valid"] is not bool(checked["violations"])
    json.dumps([counted, checked], allow_nan=False)


def shrinks_sound(transcript: Transcript, draw: random.Random) -> str:
    """What comes out of `compact` is valid or says why not, reads again, and does not get worse the second time."""
    target, wanted = draw.choice(TARGETS), draw.choice(TARGET_FORMATS)
    options = files.CompactOptions(to=target, counter=COUNTER, as_format=wanted)
    try:
        (done,) = files.compact([transcript], options).results
    except InvalidTranscript:  # an item stands there by reference alone
        return "refused"
    report = done.report
    assert report.outcome in ("compacted", "unchanged", "unreachable"), f"{report.outcome}: {report.reason}"
    assert report.valid is not bool(report.violations)
    assert (report.outcome == "compacted") is (report.reason is None)
    for address in report.covers.addresses[:ADDRESSES_MAX]:
        show([transcript], address)
    json.dumps(report.to_dict(), allow_nan=False)
    assert _holds(report), f"{transcript.format} → {done.format}: {report.violations[:3]}"
    if report.messages_after:
        _reads_again(done, report.tokens_target or 0)
    return report.outcome


def _holds(report: Report) -> bool:
    """True where every law does: what only a provider refuses is told, and stays."""
    return all(one.law == PROVIDER for one in report.violations)


def _reads_again(done: files.FileResult, target: int) -> None:
    (again,) = detect.read(done.data, format=done.format, name=NAME)
    if done.format in WIRES:
        checked = files.check(again)
        assert checked["valid"] is done.report.valid, f"{done.format}: {checked['violations'][:3]}"
    if done.report.outcome == "compacted" and target > 0:
        options = files.CompactOptions(to=target, counter=COUNTER)
        (second,) = files.compact([again], options).results
        assert second.report.outcome != "failed", second.report.reason
        assert _holds(second.report), f"again, {done.format}: {second.report.violations[:3]}"
