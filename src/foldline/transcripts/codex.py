"""Codex rollout files: JSON Lines of `{"timestamp", "type", "payload"}`.

Owns which records carry the conversation: `response_item` is what the model saw, `event_msg` a second copy of it for
people, `compacted` a new history that replaces all before it. The items themselves are Responses input items and are
read by that codec, bytes and all. Nothing writes this format.

    … items … │ compacted {replacement_history} │ items │ EOF
              ↑ found backwards                  (a rollback takes the last user turns away again)
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import Message, Meta, Text, Usage
from foldline.transcripts.neutral import is_prompt, unix_time
from foldline.transcripts.source import START, BadLines, Mark, Source, keys
from foldline.transcripts.transcript import Transcript
from foldline.wire import slices, strict
from foldline.wire.formats import codec
from foldline.wire.usage import read_usage

KEPT_BYTES_MAX: Final = 80_000
"""Bytes of user messages that a compaction without a replacement history keeps: the client's 20,000 tokens at its
four bytes a token (`codex-rs/core/src/compact.rs`, `COMPACT_USER_MESSAGE_MAX_TOKENS`)."""
INJECTED: Final = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<skill>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<INSTRUCTIONS>",
)
"""How user messages begin that the client wrote."""
_RECORDS: Final = frozenset(
    (
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "world_state",
        "token_usage_record",
    )
)
_INTERNAL = "internal_"
"""What keys that never leave Codex begin with."""
_NOT_SENT: Final = frozenset(("ghost_snapshot",))
"""Item types the client keeps for itself."""
_OLD_ITEMS: Final = frozenset(
    ("message", "reasoning", "function_call", "function_call_output", "local_shell_call", "custom_tool_call",
     "custom_tool_call_output", "web_search_call")
)  # fmt: skip


class Codex(Struct, frozen=True):
    """The reader of Codex rollout files. `whole`: as though its tool had never compacted."""

    name: str = "codex"
    whole: bool = False

    def recognise(self, head: bytes) -> int:
        """Certain of a `session_meta` line; nearly of any record with a payload of a known type."""
        found = keys(head, depth=2)
        if "payload" in found and found.get("type") in _RECORDS:
            return 100 if found["type"] == "session_meta" else 90
        if b'"record_type":"state"' in head and "id" in found and "timestamp" in found:
            return 80  # releases before July 2025: a bare first line, then bare items
        return 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """The live context of the session, or all that was said; the tuple is empty when no item can be read."""
        reading = _Reading(source, whole=self.whole)
        start = START if self.whole else _last_replacement(source)
        if start is not START:
            reading.take_head(start)
        for number, line in source.lines(start):
            reading.take(number, line)
        return reading.transcripts(start)


READER = Codex()
WHOLE = Codex(whole=True)


def _last_replacement(source: Source) -> Mark:
    """The last record that replaces the whole history, found from the end; `START` when there is none."""
    for mark in source.marks_back(b'"replacement_history"'):
        record = _record(source.line_at(mark.offset))
        if record is not None and record.get("type") == "compacted":
            if isinstance(record["payload"].get("replacement_history"), list):
                return mark
    return START


def _record(line: bytes) -> dict[str, Any] | None:
    """A record with a payload, or `None`."""
    try:
        record = strict.loads(line)
    except strict.BadJson:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("payload"), dict) else None


class _Reading:
    """One pass over the records; `whole`: past those that compact what was said in this file."""

    def __init__(self, source: Source, *, whole: bool) -> None:
        self.source, self.bad, self.whole = source, BadLines(), whole
        self.codec = codec("openai-responses")
        self.messages: list[Message] = []
        self.items: set[str] = set()
        """Ids of the items so far."""
        self.skipped: Counter[str] = Counter()
        self.system: Message | None = None
        self.id: str | None = None
        self.model: str | None = None
        self.window: int | None = None
        self.usage: tuple[Usage, int] | None = None

    def take_head(self, before: Mark) -> None:
        """What the records before `before` say of the session: its first line, and the last model named."""
        first = _record(next(self.source.lines())[1])
        if first is not None and first.get("type") == "session_meta":
            self._session(first["payload"])
        for mark in self.source.marks_back(b'"turn_context"', before.offset):
            record = _record(self.source.line_at(mark.offset))
            if record is not None and record.get("type") == "turn_context":
                self._turn(record["payload"])
                return

    def take(self, number: int, line: bytes) -> None:
        """Take one line."""
        try:
            record = strict.loads(line)
            if not isinstance(record, dict):
                raise ValueError("not a JSON object")
            self._record(line, record)
        except ValueError as error:  # BadJson is one, and what a codec refuses
            self.bad.add(number, str(error))

    def _record(self, line: bytes, record: dict[str, Any]) -> None:
        kind, payload = str(record.get("type")), record.get("payload")
        if not isinstance(payload, dict):
            if payload is None and kind in _OLD_ITEMS:
                self._item(line, record, time_s=None)
            else:
                self._old_head(record)
            return
        match kind:
            case "session_meta" if self.id is None:
                self._session(payload)
            case "turn_context":
                self._turn(payload)
            case "response_item":
                raw = bytes(slices.fields(line)["payload"])
                self._item(raw, payload, time_s=unix_time(record.get("timestamp")))
            case "compacted" if not (self.whole and self.messages):
                self._compacted(line, payload, time_s=unix_time(record.get("timestamp")))
            case "event_msg":
                self._event(payload)
            case _:
                self.skipped[kind] += 1

    def _session(self, payload: dict[str, Any]) -> None:
        given = payload.get("base_instructions") or payload.get("instructions")
        text = given.get("text") if isinstance(given, dict) else given
        if isinstance(payload.get("id"), str):
            self.id = payload["id"]
        if isinstance(text, str) and text:
            self.system = self.codec.system_of({"instructions": text})

    def _old_head(self, record: dict[str, Any]) -> None:
        if self.id is None and not self.messages and isinstance(record.get("id"), str):
            self._session(record)
        else:
            self.skipped[str(record.get("type") or record.get("record_type") or "(no type)")] += 1

    def _turn(self, payload: dict[str, Any]) -> None:
        if isinstance(payload.get("model"), str):
            self.model = payload["model"]

    def _item(self, raw: bytes, item: Any, *, time_s: float | None) -> None:
        if not isinstance(item, dict):
            raise ValueError("an item must be an object")
        kind = str(item.get("type"))
        if kind in _NOT_SENT:
            self.skipped[f"response_item {kind}"] += 1
            return
        identity = item.get("id")
        again = isinstance(identity, str) and identity in self.items
        extra = {key for key in item if key.startswith(_INTERNAL) or (again and key == "id")}
        if extra:  # the endpoint refuses a second item of one id, and keys that are Codex's own
            raw = strict.dump({key: value for key, value in item.items() if key not in extra})
        read = self.codec.decode(raw)
        if isinstance(identity, str):
            self.items.add(identity)
        meta = Meta(
            id=identity if isinstance(identity, str) else None,
            time_s=time_s,
            model=self.model if read.role == "assistant" else None,
            injected=is_injected(read),
        )
        self.messages.append(replace(read, meta=meta))

    def _compacted(self, line: bytes, payload: dict[str, Any], *, time_s: float | None) -> None:
        """Start over from the history the record gives, or from the user's messages and the summary."""
        self.usage = None
        history = payload.get("replacement_history")
        if isinstance(history, list):
            self.messages, self.items = [], set()
            raw = slices.fields(bytes(slices.fields(line)["payload"]))["replacement_history"]
            for piece, value in zip(slices.items(bytes(raw)), history, strict=True):
                self._item(bytes(piece), value, time_s=time_s)
            return
        summary = payload.get("message")
        self.messages = self._kept()
        if isinstance(summary, str) and summary:
            item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": summary}]}
            made = self.codec.decode(strict.dump(item))
            self.messages.append(replace(made, synthetic="summary", meta=Meta(time_s=time_s)))

    def _kept(self) -> list[Message]:
        """The newest user messages, oldest first, as many as fit."""
        kept: list[Message] = []
        left = KEPT_BYTES_MAX
        for message in reversed(self.messages):
            if is_prompt(message):
                left -= len(message.text.encode("utf-8", "replace"))
                if left < 0:
                    break
                kept.append(message)
        return kept[::-1]

    def _event(self, payload: dict[str, Any]) -> None:
        kind = payload.get("type")
        self.skipped[f"event_msg {kind}"] += 1
        if kind == "token_count" and isinstance(payload.get("info"), dict):
            self._count(payload["info"])
        elif kind == "task_started":
            self._see_window(payload.get("model_context_window"))
        elif kind == "thread_rolled_back":
            turns = payload.get("num_turns")
            self._roll_back(turns if isinstance(turns, int) else 0)

    def _see_window(self, tokens: Any) -> None:
        if isinstance(tokens, int) and tokens > 0:
            self.window = tokens

    def _count(self, info: dict[str, Any]) -> None:
        self._see_window(info.get("model_context_window"))
        given = info.get("last_token_usage")
        usage = (
            read_usage(given, format="codex", tokens_window=self.window) if isinstance(given, dict) else None
        )
        at = next(
            (i for i in reversed(range(len(self.messages))) if self.messages[i].role == "assistant"), None
        )
        if usage is not None and at is not None:
            self.usage = (usage, at)
            meta = replace(self.messages[at].meta or Meta(), usage=usage)
            self.messages[at] = replace(self.messages[at], meta=meta)

    def _roll_back(self, turns: int) -> None:
        """Take the last `turns` user turns away."""
        for _ in range(min(turns, len(self.messages))):
            while self.messages and not is_prompt(self.messages.pop()):
                pass
        if self.usage is not None and self.usage[1] >= len(self.messages):
            self.usage = None

    def transcripts(self, start: Mark) -> tuple[Transcript, ...]:
        """What was read, as the reader gives it."""
        if not self.messages:
            if self.bad.count:
                raise self.bad.error(self.source)
            return ()
        usage, at = self.usage or (None, None)
        return (
            Transcript(
                format="codex",
                wire="openai-responses",
                messages=tuple(self.messages),
                system=self.system,
                id=self.id,
                model=self.model,
                tokens_window=self.window,
                usage=usage,
                usage_at=at,
                skipped=tuple(sorted(self.skipped.items())),
                notes=self.bad.notes(self.source, start),
            ),
        )


def is_injected(message: Message) -> bool:
    """True when everything a user message says was put there by the client."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    return (
        message.role == "user" and bool(texts) and all(text.lstrip().startswith(INJECTED) for text in texts)
    )
