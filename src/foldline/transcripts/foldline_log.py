"""The foldline log as a session format (format `foldline`): read into a live view, written with nothing lost.

Owns what the kinds of entries mean. The log holds every message ever said; compactions are entries that hold edits, and
the view is what the messages come to when the edits are applied:

    log     m0 m1 m2 m3 │ compaction {fold 1–2} │ m4          view    m0 [fold 1–2] m3 m4

Edits name messages by ordinal, the count of message entries before them. Lines and checksums are
`foldline.log.lines`, the JSON of values `foldline.log.values`; the format in words is
`docs/reference/log-format.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.edit import Drop, Edit, Fold, Replace, edited
from foldline.core.entry import Entry
from foldline.core.errors import SessionCorrupt, UnknownFormat
from foldline.core.message import Message, Meta, Part, Usage
from foldline.core.ports import TokenCounter
from foldline.core.view import Item, Span, item_of
from foldline.log.lines import Header, Log, parse_log, write_log
from foldline.log.values import (
    Json,
    bytes_json,
    dumps,
    edit_json,
    elements,
    members,
    message_json,
    read_bytes,
    read_edit,
    read_message,
    read_system,
    read_usage,
    system_json,
)
from foldline.transcripts.neutral import count, string
from foldline.transcripts.source import Source
from foldline.transcripts.transcript import Transcript, Written
from foldline.wire import strict
from foldline.wire.formats import CODECS, DEFAULT

NAME: Final = "foldline"
_SIGN: Final = b'{"foldline":'


class LogSource(Struct, frozen=True, kw_only=True):
    """What a log's own writer needs: the log itself, and where in it the live messages stand."""

    log: Log
    wire: str
    compactions: tuple[tuple[Edit, ...], ...]
    """The edits of each compaction that was not undone."""
    ordinals: tuple[int, ...]
    """Ordinal in `Transcript.history` of each live message; a fold has that of the first message it stands for."""


class _Contents(Struct, kw_only=True):
    """What the entries say, in order."""

    messages: list[Message]
    compactions: dict[int, tuple[Edit, ...]]
    """By the `seq` of their entry."""
    system: Message | None = None
    tools: bytes | None = None
    floor: int = 0
    """Messages there were at the last compaction: no usage from before it is trusted."""
    unknown: Counter[str]


class _Reader:
    name = NAME

    def recognise(self, head: bytes) -> int:
        """100 for a first line of any version."""
        return 100 if head.startswith(_SIGN) else 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """The one session. A torn end is left out and noted; raises `SessionCorrupt` for any other damage."""
        log = parse_log(source.document())
        if log.state == "corrupt":
            raise SessionCorrupt(log.end, f"{log.detail}; restore {source.path} from a copy")
        if log.header is None:
            raise source.fail(f"{log.detail}; give a log that was written to its first line feed")
        about = _about(log.header, source)
        contents = _contents(log, source)
        compactions = tuple(contents.compactions.values())
        live = _live(contents.messages, compactions)
        wire = string(about.get("wire")) or log.header.format
        at = _last_usage(live, contents.floor)
        return (
            Transcript(
                format=NAME,
                wire=wire if wire in CODECS else DEFAULT,
                messages=tuple(item.message for item in live),
                history=tuple(contents.messages),
                system=contents.system,
                tools=contents.tools,
                id=string(about.get("id")),
                model=string(about.get("model")),
                tokens_window=count(about.get("tokens_window")) or None,
                usage=_usage_of(live[at].message) if at is not None else None,
                usage_at=at,
                skipped=tuple(sorted(contents.unknown.items())),
                notes=() if log.state == "clean" else (f"at byte {log.end:,}: {log.detail}; left out",),
                source=LogSource(
                    log=log,
                    wire=log.header.format,
                    compactions=compactions,
                    ordinals=tuple(item.seq for item in live),
                ),
            ),
        )


class _Writer:
    name = NAME
    wire = ""

    def write(self, transcript: Transcript, result: Written) -> bytes:
        """A log of the whole history and, as its last entry, the compaction that led to `result`.

        A transcript that came from a log keeps all its entries, unknown ones included. Where `result` says no
        edits and holds other messages than the transcript, they become a log of their own.
        """
        origin = transcript.source
        if isinstance(origin, LogSource) and (result.edits or result.messages == transcript.messages):
            entries = [(entry.kind, entry.body) for entry in origin.log.entries]
            header = origin.log.header
            assert header is not None  # the reader refuses a log without one
            entries += _compaction(result, lambda index: origin.ordinals[index])
            return write_log(format=header.format, body=header.body, entries=entries)
        messages = transcript.messages if result.edits else result.messages
        about = {
            "id": transcript.id,
            "model": transcript.model,
            "tokens_window": transcript.tokens_window,
            "wire": transcript.wire,
            "from": transcript.format,
        }
        entries = [*_opening(transcript, result), *(("message", dumps(message_json(m))) for m in messages)]
        entries += _compaction(result, lambda index: index)
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


def _contents(log: Log, source: Source) -> _Contents:
    contents = _Contents(messages=[], compactions={}, unknown=Counter())
    for entry in log.entries:
        try:
            _take(contents, entry)
        except (ValueError, LookupError, TypeError, OverflowError, UnknownFormat) as error:
            why = f"missing {error}" if isinstance(error, KeyError) else str(error)
            what = f"{entry.kind} entry {entry.seq} cannot be read: {why}"
            raise SessionCorrupt(entry.offset, f"{what}; restore {source.path} from a copy") from error
    return contents


def _take(contents: _Contents, entry: Entry) -> None:
    body = entry.body
    match entry.kind:
        case "message":
            contents.messages.append(read_message(body))
        case "system":
            contents.system = read_system(body)
        case "tools":
            contents.tools = read_bytes("tools", body)
        case "compaction" | "edit":
            edits = elements(members(body)["edits"])
            made = tuple(edit for told in edits for edit in read_edit(told))
            for edit in made:
                _refuse_nowhere(edit, messages=len(contents.messages))
            contents.compactions[entry.seq] = made
            contents.floor = len(contents.messages)
        case "undo":
            contents.compactions.pop(int(strict.loads(body)["entry"]), None)
        case "usage":
            told = strict.loads(body)
            at = int(told["message"])
            meta = replace(contents.messages[at].meta or Meta(), usage=read_usage(told["usage"]))
            contents.messages[at] = replace(contents.messages[at], meta=meta)
        case _:
            contents.unknown[entry.kind] += 1


def _refuse_nowhere(edit: Edit, *, messages: int) -> None:
    """Raise `ValueError` for an edit that names no message, or one that the log does not have."""
    match edit:
        case Replace():
            spans: tuple[Span, ...] = (Span(start=edit.seq, end=edit.seq + 1),)
        case Drop():
            spans = (edit.span,)
        case Fold():
            spans = edit.spans
    if not spans or any(not 0 <= span.start < span.end <= messages for span in spans):
        raise ValueError("an edit of messages that are not there")


class _Weightless:
    """A counter for a projection that nobody weighs."""

    def part(self, part: Part) -> int:
        return 0

    def weights_of(self, messages: Sequence[Message]) -> list[tuple[tuple[int, ...], int]]:
        return [self.weights(message) for message in messages]

    def weights(self, message: Message) -> tuple[tuple[int, ...], int]:
        return (0,) * len(message.parts), 0


def _live(messages: Sequence[Message], compactions: Sequence[Sequence[Edit]]) -> tuple[Item, ...]:
    """The view of a log: its messages with the edits of each compaction applied in turn."""
    counter = cast(TokenCounter, _Weightless())
    items = tuple(item_of(n, m, weights=(0,) * len(m.parts), overhead=0) for n, m in enumerate(messages))
    for edits in compactions:
        for batch in _batches(edits):
            items = edited(items, batch, counter=counter)
    return items


def _batches(edits: Sequence[Edit]) -> Iterator[Sequence[Edit]]:
    """The edits of one entry in runs that can be made at once: each sees what the earlier ones left, which only
    matters where it names the place of a fold made before it."""
    batch: list[Edit] = []
    folds: set[int] = set()
    for edit in edits:
        if not folds.isdisjoint(_named(edit)):
            yield batch
            batch, folds = [], set()
        batch.append(edit)
        if isinstance(edit, Fold):
            folds.add(min(_named(edit)))
    yield batch


def _named(edit: Edit) -> set[int]:
    """The ordinals an edit names."""
    match edit:
        case Replace():
            return {edit.seq}
        case Drop():
            return set(range(edit.span.start, edit.span.end))
        case Fold():
            return {seq for span in edit.spans for seq in range(span.start, span.end)}


def _last_usage(live: Sequence[Item], floor: int) -> int | None:
    """The last response with a usage among the messages since the last compaction."""
    for index in range(len(live) - 1, -1, -1):
        if live[index].seq < floor:
            return None
        if _usage_of(live[index].message) is not None:
            return index
    return None


def _usage_of(message: Message) -> Usage | None:
    return message.meta.usage if message.meta is not None else None


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────


def _opening(transcript: Transcript, result: Written) -> Iterator[tuple[str, bytes]]:
    system = result.system if result.system is not None else transcript.system
    tools = result.tools if result.tools is not None else transcript.tools
    if system is not None:
        yield "system", dumps(system_json(system))
    if tools is not None:
        yield "tools", dumps({"format": transcript.wire, **bytes_json("tools", tools)})


def _compaction(result: Written, ordinal: Callable[[int], int]) -> list[tuple[str, bytes]]:
    if not result.edits:
        return []
    body: Json = {
        "tokens_before": result.tokens_before,
        "tokens_after": result.tokens_after,
        "edits": [edit_json(edit, ordinal) for edit in result.edits],
        "report": _timeless(result.report),
    }
    return [("compaction", dumps({key: told for key, told in body.items() if told is not None}))]


def _timeless(value: Any) -> Any:
    """A report without how long things took: the same history and settings give the same log (law SAME)."""
    if isinstance(value, dict):
        return {key: _timeless(told) for key, told in value.items() if key != "seconds"}
    return [_timeless(told) for told in value] if isinstance(value, (list, tuple)) else value


def _format_of(messages: Sequence[Message]) -> str:
    """The one format of all messages, else `neutral`."""
    formats = {message.format for message in messages}
    return formats.pop() if len(formats) == 1 and "" not in formats else "neutral"
