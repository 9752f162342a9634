"""Recorded documents for the tests of this folder, and short words for what stands in a transcript."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from foldline.core.message import ToolCall, ToolResult, calls_of, results_of
from foldline.transcripts.source import Source, open_source
from foldline.transcripts.transcript import Reader, Transcript

DATA = Path(__file__).parents[1] / "data"


def bytes_of(value: Any) -> bytes:
    """A value as compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


def read_one(reader: Reader, given: Path | bytes | Any) -> Transcript:
    """The only conversation of a file, of bytes or of a JSON value."""
    data = given if isinstance(given, (bytes, Path)) else bytes_of(given)
    (found,) = reader.read(open_source(data))
    return found


def read_lines(read: Callable[[Source], tuple[Transcript, ...]], *rows: Any) -> Transcript:
    """The only conversation of such lines: a text as it is, anything else as JSON."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (found,) = read(open_source("\n".join([*lines, ""]).encode()))
    return found


def words(transcript: Transcript) -> list[str]:
    """The text of each message, or the kind of its first part."""
    return [message.text or type(message.parts[0]).__name__ for message in transcript.messages]


def calls_in(transcript: Transcript) -> list[ToolCall]:
    """All calls, in order."""
    return [call for message in transcript.messages for call in calls_of(message)]


def results_in(transcript: Transcript) -> list[ToolResult]:
    """All results, in order."""
    return [result for message in transcript.messages for result in results_of(message)]
