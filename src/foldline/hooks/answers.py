"""What a hook's answer means: further instructions, added text, a block, something to show.

    exit 0   text on stdout                          further instructions (PreCompact), added text (SessionStart)
             {"decision": "block", "reason"}         block it (PreCompact alone; requirement CMP-17)
             {"continue": false, "stopReason"}       the same
             {"hookSpecificOutput": {"hookEventName", "additionalContext"}}     as the text on stdout
             {"systemMessage"}                       shown to the person
    exit 2   shown, and blocks only where its settings say so (requirement HOK-2)
    else, too slow, too much, not started: shown; the compaction goes on

A callable answers `None`, a text, or the same object. All of it is bounded, and foldline's own tags in it are escaped: a hook
may say what is to be minded, not where our blocks end. Knows no process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from msgspec import Struct

from foldline.core.address import escape_tags
from foldline.core.surrogates import is_torn, whole
from foldline.hooks.occasion import Event
from foldline.hooks.running import OUTPUT_BYTES_MAX, Ran
from foldline.ledger.lines import one_line
from foldline.wire import strict

ADDED_CHARS_MAX: Final = 4_000
"""Longest text a hook may add, characters."""
NOTE_CHARS_MAX: Final = 400
"""Longest thing it may have shown."""
BLOCKING: Final[Event] = "PreCompact"
"""The one occasion at which there is still something to block."""

Fields: TypeAlias = Mapping[str, Any]


class Answer(Struct, frozen=True, kw_only=True):
    """What one hook answered."""

    added: str = ""
    """For the model: instructions or further text, escaped and bounded."""
    blocked: str | None = None
    """Why the compaction is not to be made; `None`: it may."""
    notes: tuple[str, ...] = ()
    """For the person."""


def of_command(ran: Ran, event: Event, *, name: str, blocks_on_exit_2: bool = False) -> Answer:
    """What a command's end means."""
    if ran.end:
        return Answer(
            notes=(
                noted(
                    name, _ENDS.get(ran.end, "could not be started") + (f" ({ran.why})" if ran.why else "")
                ),
            )
        )
    if ran.exit_code == 0:
        return _of_text(ran.stdout, event, name=name, is_cut=ran.is_cut)
    said = ran.stderr.strip() or ran.stdout.strip()
    if ran.exit_code == 2 and blocks_on_exit_2 and event == BLOCKING:
        return Answer(blocked=noted(name, said or "exit code 2"))
    code = ran.exit_code if ran.exit_code is not None else "unknown"
    end = f"was ended by signal {-code}" if isinstance(code, int) and code < 0 else f"exit code {code}"
    return Answer(notes=(noted(name, f"{end}: {said}" if said else end),))


_ENDS: Final = {
    "timeout": "took too long and was ended",
    "too-much": "wrote without end and was ended",
    "stopped": "was ended, since the compaction was given up",
    "unknown": "ended, and its exit code is not known: this process ignores the ends of its children",
}


def of_value(value: object, event: Event, *, name: str) -> Answer:
    """What a callable's answer means."""
    match value:
        case None:
            return Answer()
        case str():
            return _added(value, event, name=name)
        case Mapping():
            return _of_fields(value, event, name=name)
        case _:
            why = f"answered a {type(value).__name__}; give None, a text or an object"
            return Answer(notes=(noted(name, why),))


def noted(name: str, what: str) -> str:
    """Something to show, on one line."""
    return f"hook {name}: {one_line(_mended(what), NOTE_CHARS_MAX)}"


def _of_text(text: str, event: Event, *, name: str, is_cut: bool) -> Answer:
    text = text.strip()
    if not text.startswith("{"):
        answer = _added(text, event, name=name)
        return (
            _noting(
                answer, name=name, what=f"wrote more than {OUTPUT_BYTES_MAX:,} bytes; the rest is left out"
            )
            if is_cut
            else answer
        )
    try:
        fields = strict.loads(text.encode("utf-8", "replace"), bytes_max=2 * OUTPUT_BYTES_MAX)
    except ValueError as error:
        return Answer(
            notes=(noted(name, f"its output begins as JSON and is none ({error}); it is left out"),)
        )
    return _of_fields(fields, event, name=name)


def _of_fields(fields: Fields, event: Event, *, name: str) -> Answer:
    answer = _specific(fields.get("hookSpecificOutput"), event, name=name)
    shown = fields.get("systemMessage")
    if isinstance(shown, str) and shown.strip():
        answer = _noting(answer, name=name, what=shown)
    why = _block_in(fields)
    if why is None:
        return answer
    if event != BLOCKING:
        return _noting(answer, name=name, what=f"there is nothing left to block at {event} ({why})")
    return Answer(added=answer.added, blocked=noted(name, why), notes=answer.notes)


def _block_in(fields: Fields) -> str | None:
    if fields.get("decision") == "block":
        return _text(fields.get("reason")) or "no reason given"
    if fields.get("continue") is False:
        return _text(fields.get("stopReason")) or "no reason given"
    return None


def _specific(specific: object, event: Event, *, name: str) -> Answer:
    if not isinstance(specific, Mapping):
        return Answer()
    meant = specific.get("hookEventName", event)
    if meant != event:
        return Answer(
            notes=(
                noted(
                    name, f"what it said is for {_text(meant) or 'no event'}, not for {event}; it is left out"
                ),
            )
        )
    return _added(_text(specific.get("additionalContext")), event, name=name)


def _added(text: str, event: Event, *, name: str) -> Answer:
    """Text for the model; at PostCompact there is none to add to."""
    text = _mended(text).strip()
    if not text or event == "PostCompact":
        return Answer()
    escaped = escape_tags(text[: ADDED_CHARS_MAX + 1])
    if len(escaped) <= ADDED_CHARS_MAX:
        return Answer(added=escaped)
    why = f"said more than {ADDED_CHARS_MAX:,} characters; the rest is left out"
    return Answer(added=escaped[:ADDED_CHARS_MAX].rstrip(), notes=(noted(name, why),))


def _noting(answer: Answer, *, name: str, what: str) -> Answer:
    return Answer(added=answer.added, blocked=answer.blocked, notes=(*answer.notes, noted(name, what)))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mended(text: str) -> str:
    return whole(text) if is_torn(text) else text
