"""The foldline log as a session format (format `foldline`): read into a live view, written with nothing lost.

The log holds every message ever said; compactions are entries that hold edits, and the view is what the messages come to
when the edits are applied (`foldline.log.replay`). Edits name messages by ordinal, the count of message entries before
them. Lines and checksums are `foldline.log.lines`, the JSON of values `foldline.log.values`; the format in words is
`docs/reference/log-format.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from foldline.core.errors import SessionCorrupt, UnknownFormat
from foldline.core.message import Message
from foldline.core.view import Item
from foldline.ledger.numbering import Numbered
from foldline.log.chain import Beyond
from foldline.log.lines import Header, Log, parse_log, write_log
from foldline.log.replay import Replay
from foldline.log.state import Anchor
from foldline.log.values import Json, bytes_json, dumps, edit_json, message_json, system_json, timeless
from foldline.transcripts.neutral import count, string
from foldline.transcripts.source import Source
from foldline.transcripts.transcript import NewHistory, Transcript
from foldline.wire import strict
from foldline.wire.formats import CODECS, DEFAULT

NAME: Final = "foldline"
_SIGN: Final = b'{"foldline":'


class LogSource(Struct, frozen=True, kw_only=True):
    """What a log's own writer needs: the log itself."""

    log: Log
    wire: str


class _Reader:
    name = NAME

    def recognise(self, head: bytes) -> int:
        """100 for a first line of any version."""
        return 100 if head.startswith(_SIGN) else 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """The one session. A torn end is left out and noted; raises `SessionCorrupt` for any other damage, `UnknownFormat` for
        a log of a later version."""
        try:
            log = parse_log(source.document())
        except UnknownFormat as error:
            raise UnknownFormat(error.name, error.known, why=f"{source.path}: {error.why}") from error
        if log.state == "corrupt":
            raise SessionCorrupt(log.end, f"{log.detail}; restore {source.path} from a copy")
        if log.header is None:
            raise source.fail(f"{log.detail}; give a log that was written to its first line feed")
        if log.header.at:
            raise source.fail(
                f"this is a later segment of a log, its first {log.header.at:,} bytes are in the archive beside it; name "
                "the session instead, or put the log together: (zcat archive/*.gz; tail -n +2 log.jsonl)"
            )
        about = _about(log.header, source)
        replay = Replay(keep=True)
        try:
            state = replay.run(log.entries)
        except Beyond as error:
            why = f"an entry takes back what no log before this one holds; restore {source.path} from a copy"
            raise SessionCorrupt(0, why) from error
        except SessionCorrupt as error:
            raise SessionCorrupt(error.offset, f"{error.why}; restore {source.path} from a copy") from error
        live = state.root.view.items()
        wire = string(about.get("wire")) or log.header.format
        anchor = state.root.anchor
        return (
            Transcript(
                format=NAME,
                wire=wire if wire in CODECS else DEFAULT,
                messages=tuple(item.message for item in live),
                history=tuple(replay.history),
                numbered=tuple(Numbered(ordinal=item.seq, covers=item.covers) for item in live),
                system=state.system,
                tools=state.tools,
                id=string(about.get("id")),
                model=state.model or string(about.get("model")),
                tokens_window=count(about.get("tokens_window")) or None,
                usage=anchor.usage if anchor is not None else None,
                usage_at=_index_of(live, anchor),
                skipped=tuple(sorted(replay.unknown.items())),
                notes=() if log.state == "clean" else (f"at byte {log.end:,}: {log.detail}; left out",),
                source=LogSource(log=log, wire=log.header.format),
            ),
        )


class _Writer:
    name = NAME
    wire = ""
    holds_prompt = True

    def write(self, transcript: Transcript, result: NewHistory) -> bytes:
        """A log of the whole history and, as its last entry, the compaction that led to `result`.

        A transcript that came from a log keeps all its entries, unknown ones included. Where `result` says no
        edits and holds other messages than the transcript, they become a log of their own.
        """
        origin = transcript.source
        if isinstance(origin, LogSource) and (result.edits or result.messages == transcript.messages):
            entries = [(entry.kind, entry.body) for entry in origin.log.entries]
            header = origin.log.header
            assert header is not None  # the reader refuses a log without one
            entries += _compaction(result)
            return write_log(format=header.format, body=header.body, entries=entries)
        messages = transcript.messages if result.edits else result.messages
        about = {
            "id": transcript.id,
            "model": transcript.model,
            "tokens_window": transcript.tokens_window,
            "wire": transcript.wire,
            "from": transcript.format,
        }
        entries = [*_opening(transcript, result), *(("message", _body(m, transcript)) for m in messages)]
        entries += _compaction(result)
        return write_log(
            format=_format_of(messages),
            body=dumps({key: told for key, told in about.items() if told is not None}),
            entries=entries,
        )


READER: Final = _Reader()
WRITER: Final = _Writer()


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────


def _about(header: Header, source: Source) -> Json:
    try:
        about = strict.loads(header.body)
    except strict.BadJson as error:
        raise SessionCorrupt(
            0, f"the first line cannot be read: {error}; restore {source.path} from a copy"
        ) from error
    return about if isinstance(about, dict) else {}


def _index_of(live: Sequence[Item], anchor: Anchor | None) -> int | None:
    """Where in the view the response stands that the usage came with."""
    if anchor is None:
        return None
    return next((index for index, item in enumerate(live) if item.seq == anchor.ordinal), None)


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────


def _opening(transcript: Transcript, result: NewHistory) -> Iterator[tuple[str, bytes]]:
    system = result.system if result.system is not None else transcript.system
    tools = result.tools if result.tools is not None else transcript.tools
    if system is not None:
        yield "system", dumps(system_json(system))
    if tools is not None:
        yield "tools", dumps({"format": transcript.wire, **bytes_json("tools", tools)})


def _body(message: Message, transcript: Transcript) -> bytes:
    """The body of a message's entry. What the provider counted for an answer is kept, but one answer's alone says what is sent next:
    others were asked with less than the log shows, or with what another tool had compacted (requirement TOK-3)."""
    told = message_json(message)
    usage = None if message.meta is None else message.meta.usage
    if usage is not None and usage is not transcript.usage:
        told["request"] = False
    return dumps(told)


def _compaction(result: NewHistory) -> list[tuple[str, bytes]]:
    if not result.edits:
        return []
    body: Json = {
        "tokens_before": result.tokens_before,
        "tokens_after": result.tokens_after,
        "edits": [edit_json(edit, lambda ordinal: ordinal) for edit in result.edits],
        "report": timeless(result.report),
    }
    return [("compaction", dumps({key: told for key, told in body.items() if told is not None}))]


def _format_of(messages: Sequence[Message]) -> str:
    """The one format of all messages, else `neutral`."""
    formats = {message.format for message in messages}
    return formats.pop() if len(formats) == 1 and "" not in formats else "neutral"
