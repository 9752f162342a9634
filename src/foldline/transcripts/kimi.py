"""Kimi Code wire files: an event log of one agent's context, replayed into messages.

Owns how events become messages: a step is one assistant message, opened by its first event and filled with its
content and calls; results follow. Its messages are of no wire format and turn into OpenAI chat most naturally.
Nothing writes this format.

    step.begin · content.part* · tool.call* · tool.result* · step.end     →  assistant (text, think, calls), tool …
    context.apply_compaction    →  the user messages it kept, then the summary
    context.clear · context.undo   →  nothing, or everything before the last user messages
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import (
    Message,
    Meta,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from foldline.transcripts.neutral import arguments_text, content_parts, is_prompt, neutral
from foldline.transcripts.source import BadLines, Source, keys, records
from foldline.transcripts.transcript import Transcript
from foldline.wire.usage import read_usage

ELIDED: Final = "[Some earlier user messages were left out here when the conversation was compacted.]"
"""Stands where a compaction kept the first and the last user messages only; the file does not keep the client's own
words for it."""
_EVENTS: Final = (
    "context.",
    "turn.",
    "usage.",
    "llm.",
    "config.",
    "full_compaction.",
    "tools.",
    "permission.",
)


class Kimi(Struct, frozen=True):
    """The reader of Kimi Code wire files. `whole`: as though its tool had never compacted."""

    name: str = "kimi"
    whole: bool = False

    def recognise(self, head: bytes) -> int:
        """Certain of a metadata line with a protocol version; nearly of context events."""
        found = keys(head, depth=2)
        kind = found.get("type") or ""
        if kind == "metadata" and "protocol_version" in found:
            return 100
        if kind in ("context.append_message", "context.append_loop_event", "turn.prompt"):
            return 95
        return 70 if kind.startswith(_EVENTS) and "time" in found else 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """The live context of the agent, or all that was said; the tuple is empty when no message can be read."""
        bad = BadLines()
        replay = _Replay(whole=self.whole)
        for number, record in records(source, bad):
            try:
                replay.take(record)
            except ValueError as error:
                bad.add(number, str(error))
        replay.close()
        if not replay.messages:
            if bad.count:
                raise bad.error(source)
            return ()
        usage, at = replay.usage or (None, None)
        return (
            Transcript(
                format="kimi",
                wire="openai-chat",
                messages=tuple(replay.messages),
                system=replay.system,
                model=replay.model,
                usage=usage,
                usage_at=at,
                skipped=tuple(sorted(replay.skipped.items())),
                notes=bad.notes(source) + replay.notes,
            ),
        )


READER = Kimi()
WHOLE = Kimi(whole=True)


class _Replay:
    """The context as the events leave it; `whole`: without those that compacted it."""

    def __init__(self, *, whole: bool) -> None:
        self.whole = whole
        self.messages: list[Message] = []
        self.skipped: Counter[str] = Counter()
        self.notes: tuple[str, ...] = ()
        self.system: Message | None = None
        self.model: str | None = None
        self.usage: tuple[Usage, int] | None = None
        self.step: str | None = None
        """The step under way."""
        self.parts: list[Part] = []
        self.results: list[Message] = []
        self.meta = Meta()

    def take(self, record: dict[str, Any]) -> None:
        """Apply one record."""
        kind = record.get("type")
        match kind:
            case "context.append_message":
                self.close()
                self.messages.append(_message(record.get("message"), record.get("time")))
            case "context.append_loop_event":
                self._event(record.get("event"), _seconds(record.get("time")))
            case "context.apply_compaction" if not (self.whole and self.messages):
                self._compact(record)
            case "context.clear":
                self._reset([])
            case "context.undo":
                self._undo(record.get("count"))
            case "config.update":
                self._configure(record)
            case "llm.request" if record.get("kind") == "loop" and isinstance(record.get("model"), str):
                self.model = record["model"]
            case _:
                self.skipped[str(kind)] += 1

    def _configure(self, record: dict[str, Any]) -> None:
        prompt, alias = record.get("systemPrompt"), record.get("modelAlias")
        if isinstance(prompt, str) and prompt:
            self.system = neutral("system", (Text(text=prompt),))
        if isinstance(alias, str):
            self.model = alias

    def _event(self, event: Any, time_s: float | None) -> None:
        if not isinstance(event, dict):
            raise ValueError("event: expected an object")
        step = (
            event.get("stepUuid") if event.get("type") in ("content.part", "tool.call") else event.get("uuid")
        )
        match event.get("type"):
            case "step.begin":
                self._open(step, time_s)
            case "content.part":
                self._open(step, time_s)
                self.parts.append(_part(event.get("part")))
            case "tool.call":
                self._open(step, time_s)
                self.parts.append(_call(event))
            case "tool.result":
                self.results.append(neutral("tool", (_result(event, self.parts),), meta=Meta(time_s=time_s)))
            case "step.end":
                self._end(event)
            case other:
                self.skipped[f"loop event {other}"] += 1

    def _open(self, step: Any, time_s: float | None) -> None:
        """Begin the message of a step, unless it is under way."""
        if step == self.step and step is not None:
            return
        self.close()
        self.step = step if isinstance(step, str) else "?"
        self.meta = Meta(id=self.step, time_s=time_s, model=self.model)

    def _end(self, event: dict[str, Any]) -> None:
        usage = event.get("usage")
        reason, response = event.get("finishReason"), event.get("messageId")
        self.meta = replace(
            self.meta,
            stop_reason=reason if isinstance(reason, str) else None,
            response_id=response if isinstance(response, str) else None,
            usage=read_usage(usage, format="kimi") if isinstance(usage, dict) else None,
        )
        self.close()

    def close(self) -> None:
        """Put the message of the step under way, and the results after it, into the context."""
        if self.parts:
            if self.meta.usage is not None and self.meta.usage.tokens_context:
                self.usage = (self.meta.usage, len(self.messages))
            self.messages.append(neutral("assistant", self.parts, meta=self.meta))
        self.messages += self.results
        self.step, self.parts, self.results, self.meta = None, [], [], Meta()

    def _reset(self, messages: list[Message]) -> None:
        self.close()
        self.messages, self.usage = messages, None

    def _undo(self, count: Any) -> None:
        """Take the last `count` user messages away, and what followed them."""
        self.close()
        places = [i for i, message in enumerate(self.messages) if is_prompt(message)]
        if isinstance(count, int) and 0 < count <= len(places):
            del self.messages[places[-count] :]
            if self.usage is not None and self.usage[1] >= len(self.messages):
                self.usage = None

    def _compact(self, record: dict[str, Any]) -> None:
        """The context after a compaction: in the newer form some user messages and the summary, in the older one the
        summary and what it did not cover."""
        self.close()
        text = record.get("contextSummary") or record.get("summary")
        if isinstance(text, dict):
            text = "\n".join(
                part.text for part in content_parts(text.get("content")) if isinstance(part, Text)
            )
        if not isinstance(text, str) or not text:
            raise ValueError("summary: expected text")
        meta = Meta(time_s=_seconds(record.get("time")))
        summary = replace(neutral("user", (Text(text=text),), meta=meta), synthetic="summary")
        kept, head = (
            _count(record.get("keptUserMessageCount")),
            _count(record.get("keptHeadUserMessageCount")),
        )
        if kept is None:
            covered = _count(record.get("compactedCount"))
            self._reset([summary, *(self.messages[covered:] if covered is not None else ())])
            return
        prompts = [message for message in self.messages if is_prompt(message)]
        if kept > len(prompts):
            self.notes = ("the last compaction kept more user messages than the file holds",)
        if head is None:
            self._reset([*prompts[max(0, len(prompts) - kept) :], summary])
            return
        tail = prompts[max(head, len(prompts) - (kept - head)) :]
        elided = neutral("user", (Text(text=ELIDED),), meta=replace(meta, injected=True))
        self._reset([*prompts[:head], elided, *tail, summary])


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _seconds(milliseconds: Any) -> float | None:
    number = isinstance(milliseconds, (int, float)) and not isinstance(milliseconds, bool)
    return milliseconds / 1000 if number else None


def _message(value: Any, time: Any) -> Message:
    """A message that was appended whole."""
    match value:
        case {"role": "user" | "assistant" | "system" | "tool" as role}:
            pass
        case _:
            raise ValueError("message: expected an object with a role")
    origin = value.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    trigger = isinstance(origin, dict) and kind == "system_trigger" and origin.get("variant") == "subagent"
    meta = Meta(time_s=_seconds(time), injected=role == "user" and kind not in (None, "user") and not trigger)
    if role == "tool":
        call = value.get("toolCallId")
        if not isinstance(call, str):
            raise ValueError("toolCallId: expected text")
        return neutral(
            "tool", (ToolResult(call_id=call, content=tuple(content_parts(value.get("content")))),), meta=meta
        )
    calls = value.get("toolCalls")
    parts: list[Part] = [*content_parts(value.get("content"))]
    parts += [_call(call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    message = neutral(role, parts, meta=meta)
    return replace(message, synthetic="summary") if kind == "compaction_summary" else message


def _part(part: Any) -> Part:
    """A piece of what the model said."""
    if not isinstance(part, dict):
        raise ValueError("part: expected an object")
    if part.get("type") == "think":
        text, seal = part.get("think"), part.get("encrypted")
        sealed = isinstance(seal, str) and bool(seal)
        return Reasoning(
            text=text if isinstance(text, str) else "",
            signature=seal if sealed else None,
            provider="openai-chat" if sealed else None,
        )
    return content_parts([part])[0]


def _call(event: dict[str, Any]) -> ToolCall:
    given = event.get("function")
    function: dict[str, Any] = given if isinstance(given, dict) else event
    identity = event.get("toolCallId") or event.get("id")
    name = function.get("name")
    if not isinstance(identity, str) or not isinstance(name, str):
        raise ValueError("tool.call: expected an id and a name")
    arguments = function["arguments"] if "arguments" in function else function.get("args")
    return ToolCall(id=identity, name=name, arguments=arguments_text(arguments))


def _result(event: dict[str, Any], parts: list[Part]) -> ToolResult:
    call, result = event.get("toolCallId"), event.get("result")
    if not isinstance(call, str):
        raise ValueError("tool.result: expected a toolCallId")
    inner: dict[str, Any] = result if isinstance(result, dict) else {"output": result}
    name = next((part.name for part in parts if isinstance(part, ToolCall) and part.id == call), None)
    return ToolResult(
        call_id=call,
        content=tuple(content_parts(inner.get("output"))),
        name=name,
        is_error=inner.get("isError") is True,
    )
