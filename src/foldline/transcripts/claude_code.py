"""Claude Code session files: JSON Lines, one record per content block, linked into a tree.

Owns what a record is and which of its message's bytes make one message: the lines of one response share
`message.id` and are merged, the last usage counts, local notices are left out. Which records are live is decided
in `claude_tree`; the content itself is read by the Anthropic codec, so that every part keeps its bytes. The
counterpart that writes such a file is `claude_code_write`.

Reading starts at the last compaction boundary, found from the end of the file, so that a long session costs what
its live context costs:

    … records … │ compact_boundary │ summary │ records after it │ EOF
                ↑ found backwards    └──────── read ────────────┘   (+ records the boundary says are preserved)
"""

from __future__ import annotations

import re
from collections import Counter, deque
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from foldline.core.message import Message, Meta, Part, Text, ToolResult, Usage
from foldline.transcripts import claude_tree
from foldline.transcripts.claude_record import Record, decode, last_boundary
from foldline.transcripts.source import START, BadLines, Mark, Source, keys
from foldline.transcripts.transcript import Transcript
from foldline.wire import slices, strict
from foldline.wire.codec import Codec
from foldline.wire.formats import codec
from foldline.wire.usage import read_usage

SYNTHETIC_MODEL: Final = "<synthetic>"
"""The `model` of error notices the client writes as if the assistant had said them."""
INJECTED: Final = re.compile(
    r"\s*(?:<(?:command-(?:name|message)|local-command-|bash-(?:stdout|stderr)|task-notification|"
    r"system-reminder|user-prompt-submit-hook|user-memory-input)|\[Request interrupted by user|"
    r"Caveat: The messages below were generated)"
)
"""How text begins that the client puts into user records: output of commands, reminders, notices."""
USAGES_MAX: Final = 64
"""Newest usages looked at for one that says something; a client that reports nothing does so throughout."""
_ARGUMENTS = re.compile(r"<command-args>\s*[^<\s]")
"""A slash command's arguments: what the user typed after its name."""


class _Around(Struct, gc=False):
    content: Raw = Raw(b"")


_around = msgspec.json.Decoder(_Around).decode
_SENT: Final = {"role", "content"}


class Places(Struct, frozen=True):
    """What the writer needs of the file a transcript came from. Flat lists: a session has 100,000 lines."""

    source: Source
    ids: list[str | None]
    """Of each message in order, the id of its first record."""
    offsets: list[int]
    """Of each message, the byte its first line begins at."""
    more: dict[int, tuple[int, ...]]
    """Index of a message that came in several lines → the offsets of the others."""
    boundary: int | None
    """Byte offset of the compaction boundary the live context begins with."""


class ClaudeCode(Struct, frozen=True):
    """The reader of Claude Code session files."""

    name: str = "claude-code"

    def recognise(self, head: bytes) -> int:
        """Certain when the first records carry the client's links; likely for a bare title or snapshot record."""
        found = keys(head)
        kind = found.get("type")
        if "parentUuid" in found and "sessionId" in found:
            return 100
        if "uuid" in found and "sessionId" in found and kind in ("user", "assistant", "system"):
            return 95
        if kind == "summary" and "leafUuid" in found:
            return 95
        if kind in _OPENERS and ("sessionId" in found or "messageId" in found):
            return 80
        return 90 if b'"parentUuid":' in head and b'"isSidechain":' in head else 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """The live context of the session's main branch; the tuple is empty when no message can be read."""
        bad = BadLines()
        start = last_boundary(source)
        try:
            tree = claude_tree.live(decode(source, start, bad=bad), source, whole=start is None)
        except claude_tree.Outside:
            start, bad = None, BadLines()
            tree = claude_tree.live(decode(source, start, bad=bad), source, whole=True)
        return _transcript(source, tree, start=start, bad=bad)


_OPENERS: Final = (
    "file-history-snapshot",
    "queue-operation",
    "progress",
    "permission-mode",
    "mode",
    "last-prompt",
)
READER = ClaudeCode()


def _transcript(
    source: Source, tree: claude_tree.Tree, *, start: Mark | None, bad: BadLines
) -> tuple[Transcript, ...]:
    builder = _Builder(codec("anthropic"), bad)
    for record in tree.live:
        if record.is_message:
            builder.add(record)
    builder.finish()
    if not builder.messages:
        if bad.count:
            raise bad.error(source)
        return ()
    skipped = tree.skipped + builder.skipped
    usage, usage_at = builder.last_usage(tree.preserved)
    return (
        Transcript(
            format="claude-code",
            wire="anthropic",
            messages=tuple(builder.messages),
            id=tree.live[-1].sessionId,
            model=builder.model,
            usage=usage,
            usage_at=usage_at,
            skipped=tuple(sorted((name, count) for name, count in skipped.items() if count)),
            notes=bad.notes(source, start or START) + tree.notes,
            source=builder.places(source, start),
        ),
    )


class _Builder:
    """Makes messages of live records, one record at a time."""

    def __init__(self, anthropic: Codec, bad: BadLines) -> None:
        self.codec, self.bad = anthropic, bad
        self.messages: list[Message] = []
        self.firsts: list[Record] = []
        """The first record of each message."""
        self.others: dict[int, list[Record]] = {}
        """Index of a message → its other lines."""
        self.skipped: Counter[str] = Counter()
        self.model: str | None = None
        self.usages: deque[tuple[int, Any, str | None]] = deque(maxlen=USAGES_MAX)
        """Message index, wire usage and record id of the newest lines that report one."""
        self.under_way: dict[str, int] = {}
        """Response id → index of its message, until the user speaks again."""

    def add(self, record: Record) -> None:
        """Take one record; a line whose message cannot be read is counted as bad."""
        try:
            value = strict.loads(record.body)
            if not isinstance(value, dict):
                raise ValueError("message: expected an object")
            if "content" not in value:
                raise ValueError("message: no content")
            if value.get("role") != record.type:
                raise ValueError(f"message: role {value.get('role')!r} in a record of type {record.type}")
            if record.type == "assistant":
                self._response(record, value)
            else:
                self._user(record, value)
        except ValueError as error:
            self.bad.add(record.number, str(error))

    def _user(self, record: Record, value: dict[str, Any]) -> None:
        if b"tool_result" not in record.body:
            self.under_way = {}
        read = self.codec.decode(value)
        injected = record.isMeta is True or is_injected(read)
        origin = record.body if value.keys() == _SENT else sent("user", content_of(record.body))
        meta = Meta(id=record.uuid, time_s=unix_time(record.timestamp), injected=injected)
        self._append(record, read.parts, origin=origin, meta=meta)

    def _response(self, record: Record, value: dict[str, Any]) -> None:
        response, model = _text(value, "id"), _text(value, "model")
        if model == SYNTHETIC_MODEL:
            self.skipped[f"assistant {SYNTHETIC_MODEL}"] += 1
            return
        new = len(self.messages)
        index = self.under_way.get(response, new) if response is not None else new
        if index < new:
            self.codec.decode(value)  # a line that cannot be read must not take the others with it
            self.others.setdefault(index, []).append(record)
        else:
            origin = sent("assistant", content_of(record.body))
            read = self.codec.decode(origin if b'"input"' in origin else value)
            meta = Meta(
                id=record.uuid,
                response_id=response,
                time_s=unix_time(record.timestamp),
                model=model,
                stop_reason=_text(value, "stop_reason"),
            )
            self._append(record, read.parts, origin=origin, meta=meta)
            if response is not None:
                self.under_way[response] = index
            record.body = b""  # the origin holds what is needed
        if "usage" in value:
            self.usages.append((index, value["usage"], record.uuid))
        self.model = model or self.model

    def _append(self, record: Record, parts: tuple[Part, ...], *, origin: bytes, meta: Meta) -> None:
        self.messages.append(
            Message(
                role="assistant" if record.type == "assistant" else "user",
                parts=parts,
                format="anthropic",
                origin=origin,
                synthetic="summary" if record.isCompactSummary else None,
                meta=meta,
            )
        )
        self.firsts.append(record)

    def finish(self) -> None:
        """Join the lines of responses that came in several."""
        for index, others in self.others.items():
            first = self.messages[index]
            assert first.meta is not None
            meta = replace(first.meta, stop_reason=_text(strict.parse(others[-1].body), "stop_reason"))
            assert isinstance(first.origin, bytes)
            contents = [content_of(body) for body in (first.origin, *(line.body for line in others))]
            self.messages[index] = replace(self.codec.decode(sent("assistant", merged(contents))), meta=meta)

    def places(self, source: Source, start: Mark | None) -> Places:
        """Where the lines of the messages stand."""
        return Places(
            source=source,
            ids=[record.uuid for record in self.firsts],
            offsets=[record.offset for record in self.firsts],
            more={index: tuple(record.offset for record in others) for index, others in self.others.items()},
            boundary=start.offset if start is not None else None,
        )

    def last_usage(self, preserved: frozenset[str | None]) -> tuple[Usage | None, int | None]:
        """The newest usage a provider reported since the last boundary, and its message's index."""
        for index, value, uuid in reversed(self.usages):
            usage = read_usage(value, format="anthropic") if isinstance(value, dict) else None
            if usage is not None and usage.tokens_context and uuid not in preserved:
                meta = self.messages[index].meta
                assert meta is not None
                self.messages[index] = replace(self.messages[index], meta=replace(meta, usage=usage))
                return usage, index
        return None, None


def _text(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) else None


def sent(role: str, content: bytes) -> bytes:
    """The message a request holds: providers refuse the id, model and usage that stand around it in the file."""
    return b'{"role":"%b","content":%b}' % (role.encode(), content)


def content_of(message: bytes) -> bytes:
    """The bytes of a message's content. Raises `ValueError` where it has none."""
    try:
        content = bytes(_around(message).content)
    except msgspec.DecodeError:  # a lone surrogate escape
        content = bytes(slices.fields(message).get("content", b""))
    if not content:
        raise ValueError("message: no content")
    return content


def blocks_of(content: bytes) -> list[bytes]:
    """The blocks of a content, each in its own bytes; text content is one text block."""
    if content.startswith(b'"'):
        return [b'{"type":"text","text":%b}' % content]
    return [] if content == b"null" else [bytes(block) for block in slices.items(content)]


def merged(contents: list[bytes]) -> bytes:
    """The content of the lines of one response, block by block, to the byte. A block that a later line repeats to
    the byte is taken once."""
    blocks = dict.fromkeys(block for content in contents for block in blocks_of(content))
    return b"[%b]" % b",".join(blocks)


def is_injected(message: Message) -> bool:
    """True when everything a user message says was put there by the client."""
    said = [part for part in message.parts if not isinstance(part, ToolResult)]
    return bool(said) and all(
        isinstance(part, Text) and INJECTED.match(part.text) and not _ARGUMENTS.search(part.text)
        for part in said
    )


def unix_time(timestamp: str | None) -> float | None:
    """Seconds since 1970 of an ISO timestamp; `None` for anything else."""
    if not timestamp:
        return None
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return None
