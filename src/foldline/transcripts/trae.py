"""TRAE agent trajectories (format `trae`).

Owns the trajectory document: `llm_interactions` holds one request and one response a call, and its
`input_messages` are only what is new, so that the conversation is the running concatenation. `agent_steps` repeats
everything; what the last calls came to, which was not sent any more, stands there alone. Results are user messages with a
`tool_result`; every later user text is the host's.

    interactions   [in: system system user │ out: call]  [in: result │ out: call]  [in: result …
    read            system system user       assistant        tool      assistant       tool …

Shapes: trae-agent `utils/trajectory_recorder.py`; read only. Sizes: the largest public file is 3.7 MB.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from foldline.core.message import Message, Meta, Part, ToolCall, ToolResult, calls_of
from foldline.transcripts import document
from foldline.transcripts.neutral import (
    arguments_text,
    content_parts,
    mapping,
    mappings,
    neutral,
    string,
    text_parts,
    unix_time,
    usage_of,
)
from foldline.transcripts.source import HEAD_MAX, Source, keys
from foldline.transcripts.transcript import Transcript
from foldline.wire.usage import read_usage

_ANTHROPIC: Final = frozenset(("anthropic", "bedrock"))
"""Providers whose messages and token counts are Anthropic's own; the others are OpenAI's."""


class _Trae:
    name = "trae"

    def recognise(self, head: bytes) -> int:
        """100 for the keys of a trajectory, 80 when only those before a long task are in sight."""
        found = keys(head)
        if "llm_interactions" in found or {"task", "start_time", "max_steps"} <= found.keys():
            return 100
        return 80 if len(head) >= HEAD_MAX and list(found)[:1] == ["task"] else 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """The one conversation of the file."""
        root = document.fields(document.open_document(source))
        provider = string(document.read(source, root.get("provider"), at="provider"))
        messages: list[Message] = []
        usage_at: int | None = None
        steps = document.objects(source, root.get("llm_interactions"), at="llm_interactions")
        for index, step in steps:
            for entry in mappings(step.get("input_messages")):
                messages.append(_input(entry, first=index == 0))
            if isinstance(response := step.get("response"), dict):
                messages.append(_response(response, provider, time=step.get("timestamp")))
                usage_at = len(messages) - 1 if usage_of(messages[-1]) else usage_at
        if not messages:
            return ()
        messages += _last_results(source, root.get("agent_steps"), calls=calls_of(messages[-1]))
        model = string(document.read(source, root.get("model"), at="model"))
        return (
            Transcript(
                format=self.name,
                wire="anthropic" if provider in _ANTHROPIC else "openai-chat",
                messages=tuple(messages),
                model=_last_model(messages) or model,
                usage=usage_of(messages[usage_at]) if usage_at is not None else None,
                usage_at=usage_at,
            ),
        )


READER: Final = _Trae()


def _input(entry: dict[str, Any], *, first: bool) -> Message:
    """A message on its way in. After the first call every user text is the host's: reminders and complaints."""
    result = entry.get("tool_result")
    if isinstance(result, dict):
        return neutral("tool", (_result(result),))
    if entry.get("role") == "system":
        return neutral("system", content_parts(entry.get("content")))
    return neutral("user", content_parts(entry.get("content")), meta=None if first else Meta(injected=True))


def _last_results(source: Source, steps: document.Piece, *, calls: Sequence[ToolCall]) -> list[Message]:
    """The results of the calls that end the conversation, from the step that made them."""
    open_ids = {call.id for call in calls}
    pieces = document.items(steps) if open_ids else []
    for at in range(len(pieces) - 1, -1, -1):
        step = mapping(document.read(source, pieces[at], at=f"agent_steps[{at}]"))
        told = [one for one in mappings(step.get("tool_results")) if str(one.get("call_id")) in open_ids]
        if told:
            return [neutral("tool", (_result(one),)) for one in told]
    return []


def _result(told: dict[str, Any]) -> ToolResult:
    """Output and error stream are two texts; `success` alone says whether it failed."""
    error = told.get("error")
    return ToolResult(
        call_id=str(told.get("call_id") or ""),
        content=(*content_parts(told.get("result")), *text_parts(string(error))),
        name=string(told.get("name")),
        is_error=told.get("success") is False,
    )


def _response(response: dict[str, Any], provider: str | None, *, time: Any) -> Message:
    parts: list[Part] = [*content_parts(response.get("content"))]
    parts += [_call(call) for call in mappings(response.get("tool_calls"))]
    meta = Meta(
        time_s=unix_time(time),
        model=string(response.get("model")),
        usage=read_usage(
            mapping(response.get("usage")), format="anthropic" if provider in _ANTHROPIC else "trae"
        ),
        stop_reason=string(response.get("finish_reason")),
    )
    return neutral("assistant", parts, meta=meta)


def _call(call: dict[str, Any]) -> ToolCall:
    return ToolCall(
        id=str(call.get("call_id") or call.get("id") or ""),
        name=str(call.get("name") or "unknown"),
        arguments=arguments_text(call.get("arguments")),
    )


def _last_model(messages: list[Message]) -> str | None:
    return next((m.meta.model for m in reversed(messages) if m.meta and m.meta.model), None)
