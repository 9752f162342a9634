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
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from foldline.core.message import Message, Meta, Part, Text, ToolResult, Usage
from foldline.transcripts import claude_tree
from foldline.transcripts.claude_record import Record, decode, last_boundary
from foldline.transcripts.neutral import unix_time
from foldline.transcripts.source import START, BadLines, Mark, Source, keys
from foldline.transcripts.transcript import Transcript
from foldline.wire import slices, strict
from foldline.wire.anthropic_plain import read_plain
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
_ARGUMENTS = re.compile(r"<command-args>\s*[^<\s]")
"""A slash command's arguments: what the user typed after its name."""


class _Around(Struct, gc=False):
    content: Raw = Raw(b"")


class _Head(Struct, forbid_unknown_fields=True, gc=False):
    """A message with every key a provider gives it. What is written again of it has as many bytes as what was read,
    unless a key was given twice."""

    role: str
    content: Raw
    id: str | UnsetType | None = UNSET
    type: str | UnsetType | None = UNSET
    model: str | UnsetType | None = UNSET
    stop_reason: str | UnsetType | None = UNSET
    usage: Raw | UnsetType = UNSET
    stop_sequence: Raw | UnsetType = UNSET
    stop_details: Raw | UnsetType = UNSET
    container: Raw | UnsetType = UNSET
    context_management: Raw | UnsetType = UNSET
    diagnostics: Raw | UnsetType = UNSET


_around = msgspec.json.Decoder(_Around).decode
_head = msgspec.json.Decoder(_Head).decode
_write = msgspec.json.Encoder().encode


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
    """The reader of Claude Code session files. `whole`: as though its tool had never compacted."""

    name: str = "claude-code"
    whole: bool = False

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
        """The live context of the session's main branch, or all of that branch; the tuple is empty when no message can be
        read."""
        bad = BadLines()
        if self.whole:
            tree = claude_tree.uncompacted(decode(source, None, bad=bad), source)
            return _transcript(source, tree, start=None, bad=bad)
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
WHOLE = ClaudeCode(whole=True)


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


class _Line(Struct, frozen=True, kw_only=True, gc=False):
    """The message of one record, opened."""

    record: Record
    parts: tuple[Part, ...]
    content: bytes
    is_bare: bool
    """True when nothing stands around role and content."""
    id: str | None
    model: str | None
    stop_reason: str | None
    usage: bytes | None


def _opened(record: Record, anthropic: Codec) -> _Line:
    """A record's message, read with types where it holds nothing unusual. Raises `ValueError`."""
    body = record.body
    try:
        head = _head(body)
    except msgspec.MsgspecError:
        return _reopened(record, anthropic)
    content = bytes(head.content)
    parts = read_plain(content)
    if parts is None or head.role != record.type or len(_write(head)) != len(body):
        return _reopened(record, anthropic)
    return _Line(
        record=record,
        parts=parts,
        content=content,
        is_bare=head.type is UNSET and head.id is UNSET and head.usage is UNSET and head.model is UNSET,
        id=head.id or None,
        model=head.model or None,
        stop_reason=head.stop_reason or None,
        usage=bytes(head.usage) if head.usage is not UNSET else None,
    )


def _reopened(record: Record, anthropic: Codec) -> _Line:
    """The same for any message, or the reason why it cannot be read."""
    value = strict.loads(record.body)
    if not isinstance(value, dict):
        raise ValueError("message: expected an object")
    if "content" not in value:
        raise ValueError("message: no content")
    if value.get("role") != record.type:
        raise ValueError(f"message: role {value.get('role')!r} in a record of type {record.type}")
    content = content_of(record.body)
    origin = sent(record.type, content)
    return _Line(
        record=record,
        parts=anthropic.decode(origin if b'"input"' in origin else value).parts,
        content=content,
        is_bare=value.keys() == {"role", "content"},
        id=_text(value, "id"),
        model=_text(value, "model"),
        stop_reason=_text(value, "stop_reason"),
        usage=strict.dump(value["usage"]) if "usage" in value else None,
    )


class _Builder:
    """Makes messages of live records, one record at a time."""

    def __init__(self, anthropic: Codec, bad: BadLines) -> None:
        self.codec, self.bad = anthropic, bad
        self.messages: list[Message] = []
        self.firsts: list[Record] = []
        """The first record of each message."""
        self.others: dict[int, list[_Line]] = {}
        """Index of a message → its other lines."""
        self.skipped: Counter[str] = Counter()
        self.model: str | None = None
        self.usages: dict[int, tuple[bytes, str | None]] = {}
        """By message the wire usage and record id of its last line that reports one."""
        self.under_way: dict[str, int] = {}
        """Response id → index of its message, until the user speaks again."""

    def add(self, record: Record) -> None:
        """Take one record; a line whose message cannot be read is counted as bad."""
        try:
            line = _opened(record, self.codec)
        except ValueError as error:
            self.bad.add(record.number, str(error))
            return
        if record.type == "assistant":
            self._response(line)
        else:
            self._user(line)

    def _user(self, line: _Line) -> None:
        record = line.record
        if b"tool_result" not in record.body:
            self.under_way = {}
        injected = record.isMeta is True or is_injected(line.parts)
        origin = record.body if line.is_bare else sent("user", line.content)
        meta = Meta(id=record.uuid, time_s=unix_time(record.timestamp), injected=injected)
        self._append(record, line.parts, origin=origin, meta=meta)

    def _response(self, line: _Line) -> None:
        record = line.record
        if line.model == SYNTHETIC_MODEL:
            self.skipped["notice of the client"] += 1
            return
        new = len(self.messages)
        index = self.under_way.get(line.id, new) if line.id is not None else new
        if index < new:
            self.others.setdefault(index, []).append(line)
        else:
            meta = Meta(
                id=record.uuid,
                response_id=line.id,
                time_s=unix_time(record.timestamp),
                model=line.model,
                stop_reason=line.stop_reason,
            )
            self._append(record, line.parts, origin=sent("assistant", line.content), meta=meta)
            if line.id is not None:
                self.under_way[line.id] = index
        record.body = b""  # the line's content holds what is needed
        if line.usage is not None:
            self.usages[index] = line.usage, record.uuid
        self.model = line.model or self.model

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
            meta = replace(first.meta, stop_reason=others[-1].stop_reason)
            assert isinstance(first.origin, bytes)
            contents = [content_of(first.origin), *[line.content for line in others]]
            parts = [part for of_line in (first.parts, *[line.parts for line in others]) for part in of_line]
            if len(parts) == len(contents) == len(set(contents)):  # a block a line, as the client writes them
                slotted = tuple([replace(part, slot=slot) for slot, part in enumerate(parts)])
                origin = sent("assistant", b"[%b]" % b",".join(map(_inside, contents)))
                self.messages[index] = replace(first, parts=slotted, origin=origin, meta=meta)
            else:
                read = self.codec.decode(sent("assistant", merged(contents)))
                self.messages[index] = replace(read, meta=meta)

    def places(self, source: Source, start: Mark | None) -> Places:
        """Where the lines of the messages stand."""
        return Places(
            source=source,
            ids=[record.uuid for record in self.firsts],
            offsets=[record.offset for record in self.firsts],
            more={
                index: tuple([line.record.offset for line in others]) for index, others in self.others.items()
            },
            boundary=start.offset if start is not None else None,
        )

    def last_usage(self, preserved: frozenset[str | None]) -> tuple[Usage | None, int | None]:
        """The newest usage a provider reported since the last boundary, and its message's index. Each answer gets its own."""
        last: tuple[Usage | None, int | None] = None, None
        for index, (reported, uuid) in self.usages.items():
            value = strict.parse(reported)
            usage = read_usage(value, format="anthropic") if isinstance(value, dict) else None
            meta = self.messages[index].meta
            if usage is None or not usage.tokens_context or meta is None:
                continue
            self.messages[index] = replace(self.messages[index], meta=replace(meta, usage=usage))
            if uuid not in preserved:
                last = usage, index
        return last


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
    blocks = dict.fromkeys([block for content in contents for block in blocks_of(content)])
    return b"[%b]" % b",".join(blocks)


def _inside(content: bytes) -> bytes:
    """The one block of a content."""
    return content[1:-1].strip() if content.startswith(b"[") else blocks_of(content)[0]


def is_injected(parts: Sequence[Part]) -> bool:
    """True when everything a user message says was put there by the client."""
    said = [part for part in parts if not isinstance(part, ToolResult)]
    return bool(said) and all(
        isinstance(part, Text) and INJECTED.match(part.text) and not _ARGUMENTS.search(part.text)
        for part in said
    )
