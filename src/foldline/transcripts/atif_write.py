"""ATIF trajectories (version 1.8): writing.

Owns the way from messages to steps: results go into the observation of the step that asked, by round, since real
histories use an id again later. What ATIF has no word for (signed reasoning, documents, opaque parts, arguments that
are no JSON object) goes into `extra.foldline`, from where `foldline.transcripts.atif` puts it back.

A compacted history is a continuation: every step of it is marked `is_copied_context`, as ATIF asks of what was carried
over from an earlier trajectory, and `trajectory_id` is made of the content. The earlier file is not touched; whoever
keeps both sets its `continued_trajectory_ref` (see `AtifWriter`).

    history   user  assistant+c1  tool r1  assistant             steps   user  agent{c1, observation r1}  agent
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from foldline.core.message import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    is_injected,
)
from foldline.log.values import part_json
from foldline.transcripts.neutral import mappings
from foldline.transcripts.transcript import NewHistory, Transcript
from foldline.wire import strict
from foldline.wire.tools import convert_tools

VERSION: Final = "ATIF-v1.8"
EXTRA: Final = "foldline"
"""Key under `extra` of all that is ours."""
_NAMESPACE: Final = uuid.UUID("6f1f7b0e-0d52-5c11-9a55-7a2f3f0c9d41")
_IMAGES: Final = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))
_AUDIO: Final = frozenset(
    f"audio/{name}" for name in ("wav", "mpeg", "mp4", "aac", "ogg", "flac", "webm", "aiff")
)

Json = dict[str, Any]


class AtifWriter(Struct, frozen=True, kw_only=True):
    """Writes one trajectory."""

    name: str = "atif"
    wire: str = ""
    holds_prompt: bool = True
    agent: str = "unknown"
    """`agent.name` and `agent.version` where the transcript names none; ATIF demands both."""
    agent_version: str = "unknown"
    continued_as: str | None = None
    """Path or address of the trajectory that goes on from here (`continued_trajectory_ref`), for the file of the
    history before a compaction."""

    def write(self, transcript: Transcript, result: NewHistory) -> bytes:
        """The whole document, UTF-8, indented by two spaces, with a line feed at its end."""
        compacted = any(m.edited or m.synthetic in ("fold", "summary") for m in result.messages)
        system = result.system if result.system is not None else transcript.system
        messages = [*([system] if system is not None else []), *result.messages]
        steps = _steps(messages)
        if compacted:
            for step in steps:
                step["is_copied_context"] = True
        told: Json = {
            "schema_version": VERSION,
            "session_id": transcript.id,
            "trajectory_id": None,
            "agent": self._agent(transcript, result),
            "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
            "final_metrics": _final(steps),
            "continued_trajectory_ref": self.continued_as,
            "extra": {EXTRA: {"from": transcript.format, "compacted": compacted}},
        }
        told["trajectory_id"] = str(uuid.uuid5(_NAMESPACE, strict.dump(told).decode()))
        kept = {key: value for key, value in told.items() if value is not None}
        return json.dumps(kept, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"

    def _agent(self, transcript: Transcript, result: NewHistory) -> Json:
        tools = result.tools if result.tools is not None else transcript.tools
        own = transcript.source.get("agent", {}) if isinstance(transcript.source, dict) else {}
        agent: Json = {
            "name": own.get("name") or (transcript.format if self.agent == "unknown" else self.agent),
            "version": own.get("version") or self.agent_version,
            "model_name": transcript.model,
            "tool_definitions": _definitions(tools) if tools is not None else None,
            "extra": own.get("extra"),
        }
        return {key: value for key, value in agent.items() if value is not None}


WRITER: Final = AtifWriter()


# ── steps ────────────────────────────────────────────────────────────────────────────────────────────────────


def _steps(messages: Iterable[Message]) -> list[Json]:
    """The steps of a history, without their numbers."""
    steps: list[Json] = []
    asked: dict[str, Json] = {}
    for message in messages:
        results = [part for part in message.parts if isinstance(part, ToolResult) and not part.server]
        for result in results:
            asker = asked.get(result.call_id)
            _observe(_holder(steps) if asker is None else asker, result, orphan=asker is None)
        rest = [part for part in message.parts if not isinstance(part, ToolResult) or part.server]
        if not rest:
            continue
        step = _step(message, rest)
        steps.append(step)
        # an id may come again in a later round: results answer the newest step that used it
        asked.update({call["tool_call_id"]: step for call in step.get("tool_calls", ())})
    return steps


def _step(message: Message, parts: Sequence[Part]) -> Json:
    """One step; parts that ATIF cannot say go to `extra` with their indexes."""
    source = {"assistant": "agent", "system": "system", "user": "user", "tool": "user"}[message.role]
    said: list[Json] = []
    kept: list[list[Any]] = []
    thoughts: list[str] = []
    calls: list[Json] = []
    for index, part in enumerate(parts):
        if isinstance(part, Reasoning) and source == "agent":
            thoughts += [part.text] if part.text else []
            if part.signature or part.redacted or part.provider:
                kept.append([index, part_json(part, 0)])
        elif isinstance(part, ToolCall) and not part.server and source == "agent":
            calls.append(_call(part))
        elif isinstance(part, (Text, Media)) and (piece := _piece(part)) is not None:
            said.append(piece)
        else:
            kept.append([index, part_json(part, 0)])
    meta = message.meta
    step: Json = {
        "timestamp": _stamp(meta.time_s) if meta is not None and meta.time_s is not None else None,
        "source": source,
        "model_name": meta.model if meta is not None and source == "agent" else None,
        "message": _content(said),
        "reasoning_content": "\n".join(thoughts) or None,
        "tool_calls": calls or None,
        "metrics": _metrics(meta.usage) if meta is not None and meta.usage and source == "agent" else None,
        "extra": _extra(
            id=meta.id if meta is not None else None,
            injected=is_injected(message),
            synthetic=message.synthetic,
            parts=kept,
        ),
    }
    return {key: value for key, value in step.items() if value is not None}


def _call(call: ToolCall) -> Json:
    """A call; arguments that are no JSON object stand as text in `extra`."""
    arguments: Any = None
    try:
        arguments = strict.loads(call.arguments.encode("utf-8", "surrogatepass"))
    except strict.BadJson:
        pass  # models write broken JSON; the text is kept below
    fits = isinstance(arguments, dict)
    same = fits and strict.dump(arguments).decode() == call.arguments
    told: Json = {
        "tool_call_id": call.id,
        "function_name": call.name,
        "arguments": arguments if fits else {},
    }
    extra = _extra(arguments=None if same else call.arguments, wire_id=None if call.wire_id else False)
    return told if extra is None else {**told, "extra": extra}


def _observe(step: Json, result: ToolResult, *, orphan: bool = False) -> None:
    """Put a result into the observation of the step that asked; an orphan names its call in `extra` alone."""
    said: list[Json] = []
    kept: list[list[Any]] = []
    for index, part in enumerate(result.content):
        piece = None if isinstance(part, Opaque) else _piece(part)
        if piece is None:
            kept.append([index, part_json(part, 0)])
        else:
            said.append(piece)
    told: Json = {} if orphan else {"source_call_id": result.call_id}
    told["content"] = _content(said)
    extra = _extra(
        call_id=result.call_id if orphan else None,
        is_error=result.is_error,
        interim=result.interim,
        parts=kept,
    )
    if extra is not None:
        told["extra"] = extra
    step.setdefault("observation", {"results": []})["results"].append(told)


def _holder(steps: list[Json]) -> Json:
    """A step that may hold a result no call asked for: the last one, or a new one where that is a user's."""
    if not steps or steps[-1]["source"] == "user":
        steps.append({"source": "system", "message": ""})
    return steps[-1]


def _content(pieces: Sequence[Json]) -> str | list[Json]:
    """A string for nothing or one text, else ATIF content parts."""
    if not pieces:
        return ""
    if len(pieces) == 1 and pieces[0]["type"] == "text":
        return str(pieces[0]["text"])
    return list(pieces)


def _piece(part: Text | Media) -> Json | None:
    """An ATIF content part; `None` for a medium ATIF has no type for. Data travels as a `data:` address."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    mime = part.mime or ""
    path = part.url or (f"data:{mime};base64,{part.data}" if part.data else None)
    kind = "image" if mime in _IMAGES else "audio" if mime in _AUDIO else None
    if kind is None or path is None or part.detail or part.name or part.kind != kind:
        return None
    return {"type": kind, "source": {"media_type": mime, "path": path}}


def _extra(**told: Any) -> Json | None:
    kept = {key: value for key, value in told.items() if value not in (None, False, [])}
    if told.get("wire_id") is False:
        kept["wire_id"] = False
    return {EXTRA: kept} if kept else None


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────


def _stamp(time_s: float) -> str | None:
    """A Unix time in words; `None` for one that no calendar has."""
    try:
        return datetime.fromtimestamp(time_s, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return None


def _metrics(usage: Usage) -> Json:
    told = {
        "prompt_tokens": usage.tokens_input,
        "completion_tokens": usage.tokens_output,
        "cached_tokens": usage.tokens_cache_read or None,
    }
    return {key: value for key, value in told.items() if value is not None}


def _final(steps: Sequence[Json]) -> Json:
    """Sums over the steps' metrics, and their number."""
    metrics = [step["metrics"] for step in steps if "metrics" in step and not step.get("is_copied_context")]
    final: Json = {"total_steps": len(steps)}
    if metrics:
        final["total_prompt_tokens"] = sum(told["prompt_tokens"] for told in metrics)
        final["total_completion_tokens"] = sum(told["completion_tokens"] for told in metrics)
        final["total_cached_tokens"] = sum(told.get("cached_tokens", 0) for told in metrics)
    return final


def _definitions(tools: bytes) -> list[Json]:
    """Tool schemas in OpenAI's shape; a tool that has none there (a provider's own) stands as it is, and what is no object is
    none."""
    definitions: list[Json] = []
    for tool in mappings(strict.loads(tools)):
        turned = None if "function" in tool else convert_tools(strict.dump([tool]), to="openai-chat")[0]
        definitions += [tool] if turned is None else strict.loads(turned)
    return definitions
