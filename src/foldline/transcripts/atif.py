"""ATIF trajectories, versions 1.0 to 1.8 (format `atif`): reading.

Owns the way from steps to messages: a step of the agent is an assistant message, and its observation's results are
messages after it. Steps that were copied from an earlier trajectory (`is_copied_context`) are part of the live context;
their metrics are not, since they measured another one. Embedded sub-agents' trajectories are conversations of their
own and left out. The other way is `foldline.transcripts.atif_write`.

Shapes: PyPI `atif` 1.8.0, after the RFC `0001-trajectory-format` of harbor-framework/harbor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from foldline.core.message import Message, Meta, Part, Reasoning, ToolCall, ToolResult
from foldline.log.values import read_part, read_synthetic
from foldline.transcripts import document
from foldline.transcripts.atif_write import EXTRA, WRITER, AtifWriter
from foldline.transcripts.neutral import (
    arguments_text,
    content_parts,
    mappings,
    neutral,
    string,
    text_parts,
    unix_time,
    usage_of,
)
from foldline.transcripts.source import Source, keys
from foldline.transcripts.transcript import Transcript
from foldline.wire.usage import read_usage

__all__ = ["READER", "WRITER", "AtifWriter"]

_SIGN: Final = "ATIF-v"
Kept: TypeAlias = Sequence[tuple[int, Part]]
"""Parts ATIF has no word for, with their indexes."""

_MAJOR: Final = "ATIF-v1."
INDEX_MAX: Final = 1_000_000
"""Above any index of a part."""


class _Atif:
    name = "atif"

    def recognise(self, head: bytes) -> int:
        """100 for a schema version, 70 for the keys of a trajectory whose version is not in sight."""
        found = keys(head, depth=2)
        if (found.get("schema_version") or "").startswith(_SIGN):
            return 100
        return 70 if {"steps.step_id", "steps.source"} <= found.keys() else 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """The one trajectory of the file."""
        root = document.fields(document.open_document(source))
        version = str(document.read(source, root.get("schema_version"), at="schema_version"))
        if version.startswith(_SIGN) and not version.startswith(_MAJOR):
            raise source.fail(f"is {version}, and only ATIF-v1 is known; convert it to ATIF-v1.8")
        messages: list[Message] = []
        usage_at: int | None = None
        for index, step in document.objects(source, root.get("steps"), at="steps"):
            made = _messages(source, step, at=f"steps[{index}]")
            if made and made[0].meta is not None and made[0].meta.usage is not None:
                usage_at = len(messages)
            messages.extend(made)
        if not messages:
            return ()
        agent = document.read(source, root.get("agent"), at="agent")
        agent = agent if isinstance(agent, dict) else {}
        apart = len(document.items(root.get("subagent_trajectories")))
        tools = document.fields(root.get("agent")).get("tool_definitions")
        return (
            Transcript(
                format=self.name,
                wire="openai-chat",
                messages=tuple(messages),
                tools=document.raw_bytes(tools) if document.items(tools) else None,
                id=_id(source, root),
                model=string(agent.get("model_name")),
                usage=usage_of(messages[usage_at]) if usage_at is not None else None,
                usage_at=usage_at,
                skipped=(("subagent_trajectories", apart),) if apart else (),
                source={"agent": agent},
            ),
        )


READER: Final = _Atif()


def _id(source: Source, root: dict[str, Any]) -> str | None:
    for name in ("session_id", "trajectory_id"):
        if known := string(document.read(source, root.get(name), at=name)):
            return known
    return None


def _messages(source: Source, step: dict[str, Any], *, at: str) -> list[Message]:
    """The messages of one step: what was said, then one message for each result."""
    try:
        said = _said(step)
        return [*([said] if said.parts else []), *_observed(step)]
    except (ValueError, LookupError, TypeError) as error:
        raise document.unreadable(source, str(error), at=at) from error


def _said(step: dict[str, Any]) -> Message:
    """What the step's source said; raises `ValueError` for an unknown source and for parts that make no sense."""
    said, kept = tuple(content_parts(step.get("message"))), _kept(step)
    match step.get("source"):
        case "agent":
            message = neutral("assistant", _agent_parts(step, said=said, kept=kept), meta=_meta(step))
        case "system":
            message = neutral("system", _woven(said, kept), meta=_meta(step))
        case "user":
            message = neutral("user", _woven(said, kept), meta=_meta(step))
        case other:
            raise ValueError(f"source {other!r} is none of system, user and agent")
    return replace(message, synthetic=read_synthetic(_extra(step).get("synthetic")))


def _meta(step: dict[str, Any]) -> Meta:
    told = step.get("metrics")
    metrics = told if isinstance(told, dict) and not step.get("is_copied_context") else {}
    extra = _extra(step)
    return Meta(
        id=string(extra.get("id")),
        time_s=unix_time(step.get("timestamp")),
        model=string(step.get("model_name")),
        usage=read_usage(metrics, format="atif"),
        injected=bool(extra.get("injected")),
    )


def _agent_parts(step: dict[str, Any], *, said: Sequence[Part], kept: Kept) -> list[Part]:
    """Reasoning, text, calls; reasoning that was kept whole (signed) stands for its readable copy."""
    parts: list[Part] = []
    if not any(isinstance(part, Reasoning) for _, part in kept):
        thought = string(step.get("reasoning_content"))
        parts += [Reasoning(text=thought)] if thought else []
    parts += said
    for call in mappings(step.get("tool_calls")):
        extra = _extra(call)
        arguments = string(extra.get("arguments")) or arguments_text(call.get("arguments"))
        call_id, name = str(call.get("tool_call_id") or ""), str(call.get("function_name") or "unknown")
        parts.append(ToolCall(id=call_id, name=name, arguments=arguments, wire_id=extra.get("wire_id", True)))
    return _woven(parts, kept)


def _woven(parts: Sequence[Part], kept: Kept) -> list[Part]:
    """The parts with those the format could not say put back at their indexes."""
    woven = list(parts)
    for index, part in kept:
        woven.insert(index, part)
    return woven


def _observed(step: dict[str, Any]) -> Iterator[Message]:
    """Results as messages of their own; what answers no call is text that the environment put in."""
    observation = step.get("observation")
    names = {call.get("tool_call_id"): call.get("function_name") for call in mappings(step.get("tool_calls"))}
    for result in mappings(observation.get("results")) if isinstance(observation, dict) else ():
        extra = _extra(result)
        call_id = string(result.get("source_call_id")) or string(extra.get("call_id"))
        content = content_parts(result.get("content")) or _delegated(result)
        if call_id is None:
            if content:
                yield neutral("user", content, meta=Meta(injected=True))
            continue
        inner: Any = tuple(_woven(content, _kept(result)))
        yield neutral(
            "tool",
            (
                ToolResult(
                    call_id=call_id,
                    content=inner,
                    name=string(names.get(call_id)),
                    is_error=bool(extra.get("is_error")),
                    interim=bool(extra.get("interim")),
                ),
            ),
        )


def _delegated(result: dict[str, Any]) -> tuple[Any, ...]:
    """A sub-agent's result may be a reference alone; then the reference is what the parent saw."""
    refs = mappings(result.get("subagent_trajectory_ref"))
    told = [string(ref.get("trajectory_id")) or string(ref.get("trajectory_path")) for ref in refs]
    return text_parts("\n".join(f"[sub-agent trajectory {name}]" for name in told if name))


def _kept(value: dict[str, Any]) -> list[tuple[int, Part]]:
    """The parts our own writer kept beside a step or a result, with their indexes."""
    kept = [(int(index), read_part(part, 0)) for index, part in _extra(value).get("parts", ())]
    if any(not 0 <= index < INDEX_MAX for index, _ in kept):
        raise ValueError("a part that was kept has no place")
    return kept


def _extra(value: dict[str, Any]) -> dict[str, Any]:
    """What our own writer added to a step, call or result."""
    extra = value.get("extra")
    ours = extra.get(EXTRA) if isinstance(extra, dict) else None
    return ours if isinstance(ours, dict) else {}
