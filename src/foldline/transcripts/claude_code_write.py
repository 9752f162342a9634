"""Writing a Claude Code session file that the client can resume.

Owns the records around messages: the compaction boundary, ids and links, one line a content block where the
original had them so. Kept messages keep their record, byte for byte but for a link that must change. Knows nothing
of why a message was folded or edited. Its counterpart is `claude_code`.

    boundary (parent: none) ─ summary ─ kept record ─ kept record ─ …      one line of descent

The client has its own system prompt and tools; those of another format are left out. Ids of new records are derived
from their content and times are taken from the record before, so that the same input gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias
from uuid import UUID, uuid5

from msgspec import Raw, Struct

from foldline.core.message import Message, is_injected
from foldline.transcripts.claude_code import Places, blocks_of, content_of, merged
from foldline.transcripts.claude_record import Record, decode_line
from foldline.transcripts.source import Mark, Source
from foldline.transcripts.transcript import NewHistory, Transcript
from foldline.wire import strict
from foldline.wire.codec import Codec
from foldline.wire.formats import codec
from foldline.wire.slices import fields as fields_of

NAMESPACE: Final = UUID("6f9d1a52-6a0e-5f0c-9d43-0f1c7a5b2e10")
"""Under it the ids of records made here are derived."""
EPOCH: Final = "1970-01-01T00:00:00.000Z"
"""The time of records for which the input gives none."""
VERSION: Final = "2.1.0"
"""Stated as client version when no record states one: the first whose boundary records look like ours."""
BOUNDARY_TEXT: Final = "Conversation compacted"
_FOLDS: Final = ("fold", "summary")
_ENVELOPE: Final = ("isSidechain", "agentId", "userType", "cwd", "version", "gitBranch")
"""Keys new records take over from the record before."""


Original: TypeAlias = tuple[Record, dict[str, Raw]]
"""A record of the file that was read, typed and as its values' bytes."""


class ClaudeCodeWriter(Struct, frozen=True):
    """The writer of Claude Code session files."""

    name: str = "claude-code"
    wire: str = "anthropic"
    holds_prompt: bool = False

    def write(self, transcript: Transcript, result: NewHistory) -> bytes:
        """The session file of these messages.

        Where one of them folds others, the file begins with a compaction boundary that names the last record before
        it and the tokens before and after. Raises `InvalidTranscript` when the file the transcript was read from
        has changed since.
        """
        places = transcript.source if isinstance(transcript.source, Places) else None
        out = _Out(transcript, places)
        if any(message.synthetic in _FOLDS and out.place(message) is None for message in result.messages):
            out.new_boundary(result)
        elif places is not None and places.boundary is not None:
            out.old_boundary(places.boundary)
        for message in result.messages:
            out.message(message)
        return b"\n".join(out.lines) + b"\n" if out.lines else b""


WRITER = ClaudeCodeWriter()


class _Out:
    """The file under way: its lines, and the record the next one hangs on."""

    def __init__(self, transcript: Transcript, places: Places | None) -> None:
        self.transcript, self.places = transcript, places
        self.codec: Codec = codec("anthropic")
        self.lines: list[bytes] = []
        self.parent: str | None = None
        self.time = EPOCH
        self.envelope: dict[str, Any] = {
            "isSidechain": False,
            "userType": "external",
            "cwd": "",
            "version": VERSION,
            "gitBranch": "",
        }
        self.session = transcript.id or str(uuid5(NAMESPACE, f"session of {transcript.format}"))
        self.taken: set[str] = set()
        self.original: dict[str, int] = {}
        """Message id → its index in the original."""
        self.last_before: str | None = None
        """Id of the last record of the original conversation."""
        if places is not None and places.offsets:
            ids = Counter(places.ids)  # a file in which ids were blanked out has one for all
            self.original = {
                name: at for at, name in enumerate(places.ids) if name is not None and ids[name] == 1
            }
            record, fields = self._original(self._offsets(len(places.offsets) - 1)[-1])
            self._remember(fields)
            self.last_before = record.uuid

    def place(self, message: Message) -> int | None:
        """The index of an original message; `None` for a new one."""
        identity = message.meta.id if message.meta is not None else None
        return self.original.get(identity) if identity is not None else None

    def _offsets(self, index: int) -> tuple[int, ...]:
        """Where the lines of an original message begin."""
        assert self.places is not None
        return (self.places.offsets[index], *self.places.more.get(index, ()))

    def _remember(self, fields: dict[str, Raw]) -> None:
        """Take over what new records repeat from the record before."""
        for key in _ENVELOPE:
            if key in fields:
                self.envelope[key] = fields[key]
        if "timestamp" in fields:
            self.time = strict.parse(bytes(fields["timestamp"]))

    def _add(self, record: dict[str, Any], uuid: str) -> None:
        self.lines.append(strict.dump(record))
        self.parent = uuid

    def _uuid(self, content: bytes) -> str:
        """An id made of the record's place and content, unlike any other here."""
        place = f"{self.session} {self.parent} {len(self.lines)}"
        name = f"{place} {content.decode(errors='replace')}"
        return str(uuid5(NAMESPACE, name.encode("utf-8", "replace").decode()))

    def new_boundary(self, result: NewHistory) -> None:
        """The record that a compaction took place here."""
        metadata: dict[str, Any] = {"trigger": "manual"}
        if result.tokens_before is not None:
            metadata["preTokens"] = result.tokens_before
        if result.tokens_after is not None:
            metadata["postTokens"] = result.tokens_after
        uuid = self._uuid(f"boundary after {self.last_before}".encode("utf-8", "backslashreplace"))
        record = {
            "parentUuid": None,
            "logicalParentUuid": self.last_before,
            **self.envelope,
            "sessionId": self.session,
            "type": "system",
            "subtype": "compact_boundary",
            "content": BOUNDARY_TEXT,
            "isMeta": False,
            "timestamp": self.time,
            "uuid": uuid,
            "level": "info",
            "compactMetadata": metadata,
        }
        self._add(record, uuid)

    def old_boundary(self, offset: int) -> None:
        """The boundary the conversation began with; what it preserved stands behind it now."""
        record, fields = self._original(offset)
        given = fields.get("compactMetadata", Raw(b"{}"))
        metadata = fields_of(given) if bytes(given).startswith(b"{") else {}
        kept = {key: value for key, value in metadata.items() if not key.startswith("preserved")}
        if len(kept) != len(metadata):
            fields["compactMetadata"] = Raw(strict.dump(kept))
        self._add(fields, record.uuid or "")

    def message(self, message: Message) -> None:
        """The record or records of one message."""
        index = self.place(message)
        if index is None:
            self._new(message)
            return
        originals = [self._original(offset) for offset in self._offsets(index)]
        if message.edited or not _is_unchanged(message, originals):
            self._edited(message, originals)
        else:
            for record, fields in originals:
                self._kept(record, fields)

    def _original(self, offset: int) -> Original:
        """The record that begins at this byte of the file that was read."""
        assert self.places is not None
        source: Source = self.places.source
        line = next(source.placed_lines(Mark(offset, 0)), (0, 0, b""))[2]
        record = decode_line(line)
        if not isinstance(record, Record):
            raise source.fail("the file has changed since it was read; read it again")
        fields = fields_of(line)
        if record.uuid is None:  # a boundary may come without an id; what follows it must hang on one
            record.uuid = self._uuid(line)
            fields["uuid"] = Raw(strict.dump(record.uuid))
        return record, fields

    def _kept(self, record: Record, fields: dict[str, Raw]) -> None:
        """An original record, hung on the record before."""
        if record.parentUuid != self.parent:
            fields["parentUuid"] = Raw(strict.dump(self.parent))
        self._remember(fields)
        self.taken.add(record.uuid or "")
        self._add(fields, record.uuid or "")

    def _edited(self, message: Message, originals: list[Original]) -> None:
        """The original records with new content, each with as many blocks as it had."""
        content = fields_of(self.codec.encode_bytes(message))["content"]
        if len(originals) == 1:
            self._rewritten(*originals[0], content=content)
            return
        blocks = blocks_of(bytes(content))
        sizes = [len(blocks_of(content_of(bytes(fields["message"])))) for _, fields in originals]
        if sum(sizes) != len(blocks):  # lines that repeated a block: all of it goes into the first one
            sizes = [len(blocks), *([0] * (len(sizes) - 1))]
        for (record, fields), size in zip(originals, sizes, strict=True):
            if size:
                mine, blocks = blocks[:size], blocks[size:]
                self._rewritten(record, fields, content=Raw(b"[%b]" % b",".join(mine)))

    def _rewritten(self, record: Record, fields: dict[str, Raw], *, content: Raw) -> None:
        message = {**fields_of(fields["message"]), "content": content}
        self._kept(record, {**fields, "message": Raw(strict.dump(message))})

    def _new(self, message: Message) -> None:
        """A record for a message no original record holds."""
        wire = self.codec.encode_bytes(message)
        meta = message.meta
        uuid = meta.id if meta is not None and meta.id is not None and _is_uuid(meta.id) else self._uuid(wire)
        if uuid in self.taken:
            uuid = self._uuid(wire)
        self.taken.add(uuid)
        if meta is not None and meta.time_s is not None:
            self.time = _iso(meta.time_s)
        record: dict[str, Any] = {
            "parentUuid": self.parent,
            **self.envelope,
            "sessionId": self.session,
            "type": "assistant" if message.role == "assistant" else "user",
            "message": Raw(wire) if message.role != "assistant" else self._response(message, wire, uuid=uuid),
            "uuid": uuid,
            "timestamp": self.time,
        }
        if message.synthetic in _FOLDS:
            record |= {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
        elif message.synthetic is not None or is_injected(message):
            record["isMeta"] = True
        self._add(record, uuid)

    def _response_id(self, given: str | None, uuid: str) -> str:
        """The provider's id, unless another message has it: the lines of one id are one message."""
        identity = given if given is not None and given not in self.taken else f"msg_{UUID(uuid).hex}"
        self.taken.add(identity)
        return identity

    def _response(self, message: Message, wire: bytes, *, uuid: str) -> dict[str, Any]:
        """An assistant message with the keys of a response, which the client expects."""
        meta = message.meta
        fields = fields_of(wire)
        content = bytes(fields["content"])
        if content.startswith(b'"'):
            content = b'[{"type":"text","text":%b}]' % content
        return {
            "id": self._response_id(meta.response_id if meta is not None else None, uuid),
            "type": "message",
            "model": (meta.model if meta is not None else None) or self.transcript.model or "unknown",
            **fields,
            "content": Raw(content),
            "stop_reason": meta.stop_reason if meta is not None else None,
            "stop_sequence": None,
        }


def _is_unchanged(message: Message, originals: list[Original]) -> bool:
    """True when a message says what its records say: repairs may have joined it with the next one."""
    if not isinstance(message.origin, bytes):
        return False
    contents = [content_of(bytes(fields["message"])) for _, fields in originals]
    return content_of(message.origin) == (contents[0] if len(contents) == 1 else merged(contents))


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _iso(time_s: float) -> str:
    """A Unix time as the client writes times."""
    try:
        moment = datetime.fromtimestamp(time_s, UTC)
    except (OverflowError, ValueError, OSError):
        return EPOCH
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
