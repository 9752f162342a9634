"""Which format an input is in, and the one door through which every format is read and written.

Owns the names of formats and the order in which readers are asked. Decides by content, never by file name.
Knows no format itself: each reader says how sure it is of the first 64 kB, the surest wins, and at equal
certainty the one that stands first in `READERS`.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Final, cast

from msgspec.structs import replace

from foldline.core.errors import UnknownFormat
from foldline.transcripts.source import NO_JSON, Progress, Source, keys, open_source
from foldline.transcripts.transcript import Reader, Transcript, Writer
from foldline.wire import strict

READERS: Final = {
    "claude-code": "foldline.transcripts.claude_code:READER",
    "codex": "foldline.transcripts.codex:READER",
    "pi": "foldline.transcripts.pi:READER",
    "kimi": "foldline.transcripts.kimi:READER",
    "foldline": "foldline.transcripts.foldline_log:READER",
    "langgraph": "foldline.transcripts.langgraph:READER",
    "swe-agent": "foldline.transcripts.swe_agent:READER",
    "openhands": "foldline.transcripts.openhands:READER",
    "tau-bench": "foldline.transcripts.tau_bench:READER",
    "trae": "foldline.transcripts.trae:READER",
    "atif": "foldline.transcripts.atif:READER",
    "anthropic": "foldline.transcripts.wire_file:ANTHROPIC",
    "openai-responses": "foldline.transcripts.wire_file:OPENAI_RESPONSES",
    "gemini": "foldline.transcripts.wire_file:GEMINI",
    "openai-chat": "foldline.transcripts.wire_file:OPENAI_CHAT",
}
"""Format name → module and the `Reader` in it, imported when first asked."""

NAMED: Final = {"openai-chat": "foldline.transcripts.wire_file:OPENAI_CHAT_NAMED"}
"""The format that bodies are taken for which say nothing of theirs → its `Reader` for whoever names it, and is not asked again."""

WHOLE: Final = {
    "claude-code": "foldline.transcripts.claude_code:WHOLE",
    "codex": "foldline.transcripts.codex:WHOLE",
    "pi": "foldline.transcripts.pi:WHOLE",
    "kimi": "foldline.transcripts.kimi:WHOLE",
}
"""The formats whose files keep what their tool compacted away → the `Reader` that reads them as though it never had."""

WRITERS: Final = {
    "anthropic": "foldline.transcripts.wire_file:ANTHROPIC_WRITER",
    "openai-chat": "foldline.transcripts.wire_file:OPENAI_CHAT_WRITER",
    "openai-responses": "foldline.transcripts.wire_file:OPENAI_RESPONSES_WRITER",
    "gemini": "foldline.transcripts.wire_file:GEMINI_WRITER",
    "claude-code": "foldline.transcripts.claude_code_write:WRITER",
    "foldline": "foldline.transcripts.foldline_log:WRITER",
    "atif": "foldline.transcripts.atif:WRITER",
}

ALIASES: Final = {
    "claude": "claude-code",
    "codex-rollout": "codex",
    "kimi-wire": "kimi",
    "langgraph-thread": "langgraph",
    "swe-agent-traj": "swe-agent",
    "openhands-llm-log": "openhands",
    "trae-agent": "trae",
    "openai": "openai-chat",
}
"""Other names people give the same formats."""

CERTAIN = 100
"""A reader this sure ends the search."""
LINES_TRIED_MAX = 8
"""Lines at the start of an input that are asked for its format, one after the other."""
_KEYS_SHOWN = 8


def reader(name: str) -> Reader:
    """The reader of a format, by name or alias. Raises `UnknownFormat`."""
    return cast(Reader, _load(READERS, name, missing="no reader"))


def _named(name: str) -> Reader:
    return cast(Reader, _load({**READERS, **NAMED}, name, missing="no reader"))


def writer(name: str) -> Writer:
    """The writer of a format, by name or alias. Raises `UnknownFormat`."""
    return cast(Writer, _load(WRITERS, name, missing="no writer"))


def _load(table: dict[str, str], name: str, *, missing: str) -> object:
    place = table.get(ALIASES.get(name, name))
    if place is None:
        raise UnknownFormat(
            name, tuple(sorted(table)), why=f"there is {missing} for a format called {name!r}"
        )
    module, attribute = place.split(":")
    return getattr(import_module(module), attribute)


def recognise(head: bytes) -> str | None:
    """The format of an input that begins with `head` (at most 64 kB), or `None` when no reader knows it.

    A first line that no reader knows may be damaged: the lines after it are tried, up to `LINES_TRIED_MAX`.
    """
    for _ in range(LINES_TRIED_MAX):
        name = _surest(head)
        _, _, head = head.partition(b"\n")
        if name is not None or not head:
            return name
    return None


def _surest(head: bytes) -> str | None:
    best, sureness = None, 0
    for name in READERS:
        sure = reader(name).recognise(head)
        if sure > sureness:
            best, sureness = name, sure
        if sure >= CERTAIN:
            break
    return best


def read(
    given: str | os.PathLike[str] | bytes,
    *,
    format: str = "auto",
    progress: Progress | None = None,
    name: str = "-",
) -> tuple[Transcript, ...]:
    """All conversations in a file, or in bytes (then `name` stands in errors).

    `format` is a format's name or `auto`. `progress` is called with `(bytes_done, bytes_total)`. Raises
    `InvalidTranscript` for an input that cannot be read or holds no conversation, `UnknownFormat` for a name
    nobody knows or content that no reader recognises.
    """
    asked = _named(format) if format != "auto" else None
    source = open_source(given, name=name, progress=progress)
    found = _recognised(source) if asked is None else asked
    transcripts = found.read(source)
    if not transcripts:
        raise source.fail(f"holds no conversation in the format {found.name}; name another with --from")
    return transcripts


def read_whole(given: str | os.PathLike[str] | bytes, *, format: str) -> tuple[Transcript, ...] | None:
    """As `read`, of a format in `WHOLE`: everything that was said, without the summaries of its tool; `None` for another
    format. What a provider counted for a compacted request says nothing of the next one with these messages, so none is `usage`."""
    if ALIASES.get(format, format) not in WHOLE:
        return None
    found = cast(Reader, _load(WHOLE, format, missing="no whole reader")).read(open_source(given))
    return tuple(replace(transcript, usage=None, usage_at=None) for transcript in found)


def _recognised(source: Source) -> Reader:
    name = recognise(source.head)
    if name is None:
        looks = _looks_like(source.head)
        if looks is None:
            raise source.fail(NO_JSON)
        raise UnknownFormat(
            None, tuple(sorted(READERS)), why=f"{source.path}: {looks}; name the format with --from"
        )
    return reader(name)


def _looks_like(head: bytes) -> str | None:
    """What can be said of content that no reader recognises; `None` when it is not JSON at all."""
    found = keys(head)
    if not found:
        try:
            strict.loads(head)
        except strict.BadJson:
            is_begun = head.lstrip()[:1] in (b"[", b"{")
            return "JSON that breaks off, or goes on for long, before its first object" if is_begun else None
        return "JSON without an object in it"
    names = [name for name in found if name.isprintable()][:_KEYS_SHOWN]
    shown = ", ".join(names) or "(nothing a person could read)"
    return f"no reader recognises JSON objects with the keys {shown}"
