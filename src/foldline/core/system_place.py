"""The place of a system message among others, where a provider grants it only one.

Anthropic takes a system message in mid-conversation behind a user's message or a server tool, and only last or before an
assistant message. A fold or a repair can take away the neighbour that made its place good; then it stands where the next
such place is. Knows nothing of views and rounds; used by `foldline.core.repair` and, after edits, `foldline.outgoing`.

    before   [user]  [system]  [user]  [assistant]        after   [user]  [user]  [system]  [assistant]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from foldline.core.message import Message, ToolCall, ToolResult
from foldline.core.pairing import Placed
from foldline.core.rounds import unanswered
from foldline.core.view import Item

Standing = TypeVar("Standing", Placed, Item)


def system_in_place(entries: Iterable[Standing]) -> list[Standing]:
    """The entries with every system message at the first good place from where it stands, else at the last one before.
    Leading ones stay, and none goes behind a call that still waits for its result; O(n)."""
    out: list[Standing] = []
    held: list[Standing] = []
    place = 0  # the last good one; 0 while there is none
    for entry in entries:
        role = entry.message.role
        if role == "system" and out and out[-1].message.role != "system":
            held.append(entry)
            continue
        if role == "assistant" and out and _may_precede(out[-1].message):
            out.extend(held)
            held, place = [], len(out)
        out.append(entry)
    if not held or not place or (_may_precede(out[-1].message) and not _waits(out)):
        return out + held
    return out[:place] + held + out[place:]


def misplaced(messages: Iterable[Message]) -> Iterator[tuple[int, str]]:
    """Index of each system message in a place that is not good, and why; leading ones apart."""
    before: Message | None = None
    waiting: list[int] = []
    for at, message in enumerate(messages):
        if message.role == "system":
            waiting += [at] if before is not None else []
            continue
        why = _why_not(before, message)
        yield from [(n, why) for n in waiting if why]
        before, waiting = message, []
    why = _why_not(before, None)
    yield from [(n, why) for n in waiting if why]


def _waits(entries: list[Standing]) -> bool:
    """True where a call of the last assistant message has no result yet: what stood behind it would say that none comes."""
    last = next((at for at in range(len(entries) - 1, -1, -1) if entries[at].message.role == "assistant"), 0)
    return bool(unanswered(entry.message for entry in entries[last:]))


def _why_not(before: Message | None, after: Message | None) -> str:
    if after is not None and after.role != "assistant":
        return "a system message stands last or before an assistant message"
    if before is not None and not _may_precede(before):
        return "a system message follows a user message or a server tool"
    return ""


def _may_precede(message: Message) -> bool:
    """True for what a system message may follow."""
    if message.role != "assistant":
        return message.role != "system"
    last = message.parts[-1] if message.parts else None
    return isinstance(last, (ToolCall, ToolResult)) and last.server
