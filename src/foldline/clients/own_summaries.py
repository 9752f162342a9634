"""Requests in which an agent sums up its own conversation: known by the words that it asks its model with.

Such a request ends with an instruction of the agent's as the user's last message (behind which Claude Code puts a reminder of the
system's), and what comes of it takes the conversation's place in the agent's next request. Looked for where an instruction begins, in the user's own text and nowhere else: a tool's result that
quotes one says nothing. Owns the words of agents that are known; each with where they were read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from foldline.clients.calls import LEADING
from foldline.clients.chains import ReadList
from foldline.core.message import Message, Text

CUES: Final = (
    "CRITICAL: Respond with TEXT ONLY",  # Claude Code 2.1, seen on the wire
    "CONTEXT CHECKPOINT COMPACTION",  # Codex, codex-rs/core/templates/compact/prompt.md
    "generate the <state_snapshot>",  # Gemini CLI, and Qwen Code after it, chatCompressionService.ts
    "Provide a detailed prompt for continuing our conversation above",  # opencode, session/compaction.ts
)
MARKS: Final = (*(cue.encode() for cue in CUES), *(b'"%b"' % role.encode() for role in LEADING), b"\\u")
"""One of them stands in the bytes of a last message that asks for a summary, or that another one has to be read behind: a cue, a role
that is passed over, or a letter that is written otherwise."""
BEGINNING_CHARS: Final = 400
"""A cue stands within so many characters of the instruction."""
WHY: Final = "the agent sums up its own conversation"
IN_PART: Final = (
    f"{WHY}, which is larger than the window beside the output it asks for: what is in view was sent"
)


def sums_up(read: ReadList) -> bool:
    """True for a request that asks for it. Nearly always the bytes of its last message say that it does not."""
    last = read.wires[-1] if read.wires else b""
    return any(mark in last for mark in MARKS) and is_own_summary(read.newest())


def is_own_summary(newest: Iterable[Message]) -> bool:
    """True where the last message of a request asks for it. `newest`: its messages, the last one first."""
    last = next((message for message in newest if message.role not in LEADING), None)
    if last is None or last.role != "user":
        return False
    texts = (part.text[:BEGINNING_CHARS] for part in last.parts if isinstance(part, Text))
    return any(cue in text for text in texts for cue in CUES)
