"""Asking a model about a session file: what of a transcript a completer is shown, in which wire format.

A transcript's messages are in one wire's own shape, or in none: then they are converted, as `foldline.files` does when it writes.
Counterpart for a caller's own list: `foldline.api`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from foldline.asking import Basis, answering
from foldline.core.completion import Ask, Reply
from foldline.reduce import Goal
from foldline.transcripts.transcript import Transcript
from foldline.wire import strict
from foldline.wire.completion import Completer
from foldline.wire.formats import CODECS, DEFAULT
from foldline.wire.tools import convert_tools

FOCUS_NOTE = "focus has no effect without a model to write the summary"
UNASKED_NOTE = "policy {} never asks a model: none was asked"


def asking_notes(goal: Goal) -> tuple[str, ...]:
    """What a person should know of a focus that nobody hears, or a model that nobody asks."""
    asks = goal.has_model and bool(goal.policy.asking)
    unheard = (FOCUS_NOTE,) if goal.focus and not asks else ()
    return (*unheard, *((UNASKED_NOTE.format(goal.policy.name),) if goal.has_model and not asks else ()))


def answering_for(
    transcript: Transcript, completer: Completer, *, on_delta: Callable[[str], None] | None = None
) -> Callable[[Ask], Reply]:
    """What answers the questions of a compaction of this transcript."""
    own = next((message.format for message in transcript.messages if message.format in CODECS), "")
    format = own or (transcript.wire if transcript.wire in CODECS else DEFAULT)
    system = transcript.system.text if transcript.system is not None else None
    basis = Basis(format=format, system=system, tools=_tools(transcript, format))
    answer = answering(completer, basis, on_delta=on_delta)
    return answer if own else lambda ask: answer(_converted(ask))


def _converted(ask: Ask) -> Ask:
    """The question with the view among what is converted: its messages are in no wire's shape."""
    return replace(ask, live=(), messages=(*(item.message for item in ask.live), *ask.messages))


def _tools(transcript: Transcript, format: str) -> list[Any] | None:
    tools, _ = convert_tools(transcript.tools, to=format)
    return None if tools is None else list(strict.parse(tools))
