"""What a reader gives: the live context of one conversation, and what its writer needs to put it back.

Live context means what the model would be sent next: after the last compaction boundary, on the live branch of
a tree, side chains apart, streamed duplicates merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from msgspec import Struct

from foldline.core.edit import Edit
from foldline.core.message import Message, Usage
from foldline.ledger.numbering import Numbered, numbers_of
from foldline.transcripts.source import Source


class Transcript(Struct, frozen=True, kw_only=True):
    """One conversation read from a file."""

    format: str
    """The file's format, as recognised (`claude-code`, `pi`, `anthropic`, …)."""
    wire: str
    """The wire format its messages are in, or turn into most naturally (`anthropic`, `openai-chat`, …)."""
    messages: tuple[Message, ...]
    history: tuple[Message, ...] = ()
    """Every message ever said, compacted or not, where the file keeps them all; empty: `messages` are all there are."""
    numbered: tuple[Numbered, ...] = ()
    """Where each of `messages` stands in `history`; empty where they are all there are, and count themselves."""
    system: Message | None = None
    tools: bytes | None = None
    """Tool schemas as a JSON array in the shape of `wire`."""
    id: str | None = None
    model: str | None = None
    tokens_window: int | None = None
    """Where the file itself states the model's window."""
    usage: Usage | None = None
    """The last usage reported after the last compaction boundary; `None` when there is none to trust."""
    usage_at: int | None = None
    """Index in `messages` of the response that `usage` belongs to (its output is inside the usage)."""
    skipped: tuple[tuple[str, int], ...] = ()
    """Record types left out, with their counts, sorted by name."""
    notes: tuple[str, ...] = ()
    """What a person should know about the reading: lines that could not be read, branches left out."""
    source: Any = None
    """What the format's own writer needs to write the session back; opaque to everyone else."""

    @property
    def numbers(self) -> tuple[Numbered, ...]:
        """Of each of `messages` its place in the history that addresses count. O(n)."""
        known = self.numbered or numbers_of(self.messages)
        return known or tuple([Numbered(ordinal=index) for index in range(len(self.messages))])


_IN_WORDS = {"side chain": "side chain (a sub-agent's own steps; what it answered stays)"}
"""Kinds whose name alone says too little."""


def left_aside(skipped: Iterable[tuple[str, int]]) -> str:
    """Record types left out and their counts, in words for a person."""
    kinds = ", ".join(f"{times:,} × {_IN_WORDS.get(kind, kind)}" for kind, times in skipped)
    return f"left out, no part of the conversation: {kinds}"


class Reader(Protocol):
    """Reads one session format. Stateless; one value a format, named in `foldline.transcripts.detect.READERS`."""

    name: str

    def recognise(self, head: bytes) -> int:
        """How surely `head` (at most the first 64 kB) is this format: 0 not at all … 100 certainly."""
        ...

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """All conversations of the input. Raises `InvalidTranscript` with the place and the next step."""
        ...


class NewHistory(Struct, frozen=True, kw_only=True):
    """What a writer is to put into a file: the new history, beside the `Transcript` it came from."""

    messages: tuple[Message, ...]
    """In the writer's `wire` format where it has one. A message whose `meta.id` is that of an original message
    is that message, edited or not; one without is new (a fold, a summary, a repair)."""
    system: Message | None = None
    tools: bytes | None = None
    """Tool schemas as a JSON array in the shape of the writer's `wire`."""
    tokens_before: int | None = None
    tokens_after: int | None = None
    """For formats whose compaction record states them."""
    edits: tuple[Edit, ...] = ()
    """For formats that keep the whole history (`foldline`): what leads from the transcript's messages to these.
    Ordinals are those of `Transcript.numbers`. Empty: the messages alone say it."""
    report: dict[str, Any] | None = None
    """The compaction report as JSON values, for formats that keep it beside the edits."""


class Writer(Protocol):
    """Writes one session format. Stateless; named in `foldline.transcripts.detect.WRITERS`."""

    name: str
    wire: str
    """Wire format the messages must be in (the caller converts them); empty: any."""
    holds_prompt: bool
    """False where the file has no place for a system prompt and tool schemas: its client brings its own."""

    def write(self, transcript: Transcript, result: NewHistory) -> bytes:
        """The whole file. The same arguments give the same bytes: no clock, no random."""
        ...
