"""The audit of a session: what happened, without what was said, derived from its log.

    {"seq":1,"type":"USER_INPUT","content_hash":"5f0c…","timestamp":"2026-05-20T10:00:00.000Z"}
    {"seq":2,"type":"TOOL_CALL","tool":"read_file","params_hash":"9e77…","timestamp":"…"}
    {"seq":3,"type":"TOOL_RESULT","tool":"read_file","result_tokens":1200,"success":true,"duration_ms":45,"timestamp":"…"}
    {"seq":4,"type":"COMPRESSION","level":1,"input_tokens":98000,"output_tokens":65000,"duration_ms":2,"timestamp":"…"}
    {"seq":5,"type":"CHECKPOINT","messages_tokens":65000,"memory_size":0,"pending_tasks":[],"level":1,"remaining_tokens":65000,…}

Pure, entry by entry: the same log gives the same events with the same numbers. Hashes are made by a function that comes in,
so that whoever has the events cannot try words against them without its key. Parameters are never in an event, results
neither; of an error its first line. Knows no file; `foldline.privacy.hashed` keeps events without a log beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from msgspec import Struct

from foldline.core.entry import Entry
from foldline.core.errors import UnknownFormat
from foldline.core.message import Message, Text, ToolCall, ToolResult, is_injected
from foldline.core.ports import TokenCounter
from foldline.core.surrogates import whole
from foldline.log.said import own_time_of
from foldline.log.values import read_message
from foldline.wire import strict

Event: TypeAlias = dict[str, Any]
"""An event, its members in the order they are written."""

ERROR_CHARS_MAX: Final = 200
"""Characters of an error's first line that an event keeps."""
CALLS_MAX: Final = 4_096
"""Calls without a result that are remembered, the newest of each session."""
EVENT: Final = "event"
"""The kind of entry that holds an event itself, in a log without content."""
DELETED: Final = "DELETED"
"""In the place of such an event that was deleted by age: it keeps its number, and says nothing."""
_GONE: Final = b'{"deleted":"%s"}'


class AuditState(Struct, frozen=True, kw_only=True):
    """What later events depend on."""

    seq: int = 0
    calls: dict[str, tuple[str, int | None]] = {}
    """Name and time of the calls that wait for a result, by call id."""
    tokens: int = 0
    """Of the view, as far as the log says."""
    own: dict[str, int] = {}
    """Of those calls the times that their messages say themselves."""
    begun_ms: int | None = None
    compacted: tuple[int, int] | None = None
    """Level and tokens of a compaction whose checkpoint comes next."""


class Audit:
    """Events of a log, entry by entry. `digest`: the hash of a content; `counter`: counts results and views; `state`: where
    an earlier reading ended."""

    def __init__(
        self, digest: Callable[[bytes], str], counter: TokenCounter, *, state: AuditState | None = None
    ) -> None:
        known = state or AuditState()
        self._digest, self._counter = digest, counter
        self._seq, self._tokens, self._begun_ms = known.seq, known.tokens, known.begun_ms
        self._calls, self._compacted = dict(known.calls), known.compacted
        self._own = dict(known.own)
        self._said_ms: int | None = None

    def state(self) -> AuditState:
        """Where this reading ended, to go on from; half pairs, which no JSON holds, mended."""
        calls = {whole(call_id): (whole(name), at) for call_id, (name, at) in self._calls.items()}
        return AuditState(
            seq=self._seq,
            calls=calls,
            own={whole(call_id): at for call_id, at in self._own.items()},
            tokens=self._tokens,
            begun_ms=self._begun_ms,
            compacted=self._compacted,
        )

    def events(self, entry: Entry) -> Iterator[Event]:
        """What an entry says happened; nothing for most."""
        for event in self._events(entry):
            self._seq += 1
            at = entry.time_ms if entry.kind != "message" or self._said_ms is None else self._said_ms
            yield {"seq": self._seq, **event, "timestamp": timestamp(at)}

    def _events(self, entry: Entry) -> Iterator[Event]:
        match entry.kind:
            case "message":
                yield from self._message(entry)
            case "begin":
                self._begun_ms = entry.time_ms
            case "compaction":
                yield self._compression(entry)
            case "checkpoint":
                yield self._checkpoint(entry)
            case _ if entry.kind == EVENT:
                told = _told(entry)
                if "deleted" in told:
                    yield {"type": DELETED}
                    return
                yield {key: value for key, value in told.items() if key not in ("seq", "timestamp")}
            case _:
                pass

    # ── messages ─────────────────────────────────────────────────────────────────────────────────────────────

    def _message(self, entry: Entry) -> Iterator[Event]:
        try:
            message = read_message(entry.body)
        except (ValueError, LookupError, TypeError, OverflowError, UnknownFormat):
            return  # of a later version: it is in the log, and no event
        self._tokens += self._counter.message(message)
        self._said_ms = own_time_of(message)
        mismatch = _told(entry).get("mismatch") if b'"mismatch"' in entry.body else None
        if isinstance(mismatch, dict):
            yield {
                "type": "USAGE_MISMATCH",
                "kind": "over window" if mismatch.get("kind") == "over window" else "truncated",
                "sent_tokens": _number(mismatch.get("tokens_sent")),
                "reported_tokens": _number(mismatch.get("tokens_reported")),
            }
        for part in message.parts:
            if isinstance(part, ToolCall):
                self._remember(part, entry.time_ms)
                yield {"type": "TOOL_CALL", "tool": part.name, "params_hash": self._hash(part.arguments)}
            elif isinstance(part, ToolResult) and not part.interim:
                yield self._result(part, entry.time_ms)
        if _is_users(message):
            said = "\n".join(part.text for part in message.parts if isinstance(part, Text))
            yield {"type": "USER_INPUT", "content_hash": self._hash(said)}

    def _remember(self, call: ToolCall, time_ms: int | None) -> None:
        self._calls.pop(call.id, None)
        self._calls[call.id] = (call.name, time_ms)
        if self._said_ms is not None:
            self._own[call.id] = self._said_ms
        while len(self._calls) > CALLS_MAX:
            gone = next(iter(self._calls))
            del self._calls[gone]
            self._own.pop(gone, None)

    def _result(self, result: ToolResult, time_ms: int | None) -> Event:
        name, called_ms = self._calls.pop(result.call_id, (result.name or "", None))
        event: Event = {
            "type": "TOOL_RESULT",
            "tool": name,
            "result_tokens": self._counter.part(result),
            "success": not result.is_error,
        }
        if result.is_error:
            said = next((part.text for part in result.content if isinstance(part, Text)), "")
            event["error"] = said.strip().split("\n")[0][:ERROR_CHARS_MAX]
        own_ms = self._own.pop(result.call_id, None)
        if own_ms is not None and self._said_ms is not None:
            called_ms, time_ms = own_ms, self._said_ms
        elif called_ms == time_ms:  # brought in with one append: how long it took is not known
            called_ms = None
        return {**event, "duration_ms": _between(called_ms, time_ms)}

    def _hash(self, text: str) -> str:
        return self._digest(text.encode("utf-8", "surrogatepass"))

    # ── compactions and checkpoints ──────────────────────────────────────────────────────────────────────────

    def _compression(self, entry: Entry) -> Event:
        told = _told(entry)
        level = _level(told.get("report"))
        before, after = _number(told.get("tokens_before")), _number(told.get("tokens_after"))
        self._tokens, self._compacted = after, (level, after)
        begun, self._begun_ms = self._begun_ms, None
        return {
            "type": "COMPRESSION",
            "level": level,
            "input_tokens": before,
            "output_tokens": after,
            "duration_ms": _between(begun, entry.time_ms),
        }

    def _checkpoint(self, entry: Entry) -> Event:
        told = _told(entry)
        self._tokens = _number(told.get("tokens"), self._tokens)
        pending = told.get("pending")
        event: Event = {
            "type": "CHECKPOINT",
            "messages_tokens": self._tokens,
            "memory_size": _number(told.get("memory")),
            "pending_tasks": [str(task) for task in pending] if isinstance(pending, list) else [],
        }
        if self._compacted is not None:
            level, tokens = self._compacted
            self._compacted = None
            event |= {"level": level, "remaining_tokens": tokens}
        return event


def deleted(body: bytes) -> bytes | None:
    """What stands in the place of an event that is deleted, of the same length; `None` where it is already."""
    room = len(body) - len(_GONE) + 2
    return None if body.startswith(_GONE[:11]) or room < 0 else _GONE % (b"_" * room)


def timestamp(time_ms: int | None) -> str | None:
    """A time as events have it: UTC, milliseconds; `None` for an entry that has none."""
    if time_ms is None:
        return None
    try:
        at = datetime.fromtimestamp(time_ms / 1000, tz=UTC)
    except (ValueError, OverflowError, OSError):  # beyond the years a calendar has
        return None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_users(message: Message) -> bool:
    if message.role != "user" or message.synthetic or is_injected(message):
        return False
    return any(not isinstance(part, ToolResult) for part in message.parts)


def _level(report: object) -> int:
    """How far a compaction went: the number of the last pass that edited something, from 1 in the order they ran."""
    passes = report.get("passes") if isinstance(report, dict) else None
    edits = [_number(one.get("edits")) for one in passes or () if isinstance(one, dict)]
    return max((place for place, count in enumerate(edits, start=1) if count), default=len(edits))


def _told(entry: Entry) -> dict[str, Any]:
    try:
        told = strict.loads(entry.body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _number(value: object, otherwise: int = 0) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _between(start_ms: int | None, end_ms: int | None) -> int | None:
    return None if start_ms is None or end_ms is None else max(0, end_ms - start_ms)
