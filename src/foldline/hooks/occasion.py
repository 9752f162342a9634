"""The occasions of a compaction at which hooks run, and what each is told.

The fields are those of Claude Code's hooks, so that a script written for one serves the other:

    PreCompact    session_id transcript_path cwd hook_event_name · trigger custom_instructions (compact_instructions)
    SessionStart  session_id transcript_path cwd hook_event_name · source="compact" (model)
    PostCompact   session_id transcript_path cwd hook_event_name · trigger compact_summary

In this order, the compaction behind the first (requirement HOK-4). Knows no process and no callable; counterpart: `foldline.hooks.answers`.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct

Event: TypeAlias = Literal["PreCompact", "SessionStart", "PostCompact"]
EVENTS: tuple[Event, ...] = get_args(Event)
Trigger: TypeAlias = Literal["manual", "auto"]
TRIGGERS: tuple[Trigger, ...] = get_args(Trigger)
Payload: TypeAlias = dict[str, Any]


class Occasion(Struct, frozen=True, kw_only=True):
    """One compaction of one session, as far as hooks are told of it."""

    session_id: str
    trigger: Trigger
    """`manual`: a person or the host asked for it. `auto`: a threshold was reached, or a provider said that it is too long."""
    cwd: str = ""
    """Where the session works, and where commands run."""
    transcript_path: str = ""
    """The session's log; empty where there is none on disk."""
    model: str | None = None


def before(occasion: Occasion, *, instructions: str = "") -> Payload:
    """What PreCompact is told. `instructions`: what the person asked the summary to mind."""
    told = {
        **_common(occasion, "PreCompact"),
        "trigger": occasion.trigger,
        "custom_instructions": instructions,
    }
    return {**told, "compact_instructions": instructions} if instructions else told


def started(occasion: Occasion) -> Payload:
    """What SessionStart is told when the session goes on behind a compaction."""
    told = {**_common(occasion, "SessionStart"), "source": "compact"}
    return {**told, "model": occasion.model} if occasion.model is not None else told


def after(occasion: Occasion, *, summary: str) -> Payload:
    """What PostCompact is told. `summary`: the text that now stands for what went."""
    return {**_common(occasion, "PostCompact"), "trigger": occasion.trigger, "compact_summary": summary}


def _common(occasion: Occasion, event: Event) -> Payload:
    return {
        "session_id": occasion.session_id,
        "transcript_path": occasion.transcript_path,
        "cwd": occasion.cwd,
        "hook_event_name": event,
    }
