"""Repair: a history that arrived broken, made fit to send, and every repair named.

Nothing here is a compaction: it is part of the projection, a pure function of the messages, so it gives the same
view each time and a result that turns up later takes its place by itself. What is done:

    call without a result, conversation went on   →  an "interrupted" result is put in (google/adk-python#7236)
    call that waits for a person                  →  a "waiting" result is put in, the round is kept (adk-python#4740)
    result far from its call, or before it        →  moved to its round
    result twice                                  →  a status line gives way to the final result; a copy goes
    result without any call                       →  taken out (pydantic/pydantic-ai#4728); in the last
                                                     message told as a text of ours, since the answer is about it
    one id for two calls of a round               →  the second pair gets an id of its own
    arguments or a result of a wrong shape        →  written as text, or as an object, whichever the wire has
    id that the provider refuses                  →  another that stands for it, in call and result alike
    tool's name that the provider refuses, or     →  another that stands for it, unless the request's own tools
      none                                           are called so: who runs them knows them by that name
    text without a visible character              →  taken out where the provider refuses it
    failed result that holds nothing              →  a line of ours in it, where the provider refuses it
    message left with nothing                     →  taken out
    history left with nothing                     →  a line of ours in its place: no provider takes an empty one
    reasoning at the end of a message, or of a    →  taken out where the provider refuses it there
      run of messages that are one item each
    reasoning behind a call, or behind other      →  put in front, where the provider takes it there alone
      content of the newest answer
    reasoning that nobody signed                  →  taken out where the provider takes signed reasoning alone
    part that only the model may write, in        →  taken out: nothing can answer it there
      somebody else's message
    part or key in a shape that is refused        →  as the codec read it: a picture under the type that its data has,
                                                     a line of ours for one without any, no empty list of calls
    what kept an assistant's message apart from   →  a line of ours in its place, where the provider takes reasoning
      one with reasoning, and cannot be sent         at the beginning alone, and would have the two joined
    half a surrogate pair                         →  U+FFFD (anthropics/claude-code#69927)
    system message where the provider takes none  →  moved to the next place where it does
    history that opens with the assistant         →  a line of ours before it, where the provider demands a user
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from operator import is_

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.mending import mended_part
from foldline.core.message import (
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    is_blank,
    is_empty_failure,
    may_open,
)
from foldline.core.needs import Needs
from foldline.core.pairing import Placed, Repair, ours, pair
from foldline.core.part_places import is_compaction, late_reasoning, out_of_shape, why_not
from foldline.core.spelling import fit_id, fit_name
from foldline.core.system_place import misplaced, system_in_place

OPENING = "[foldline: the conversation opens with the assistant]"
SILENT = "[foldline: the tool failed and said nothing]"
APART = "[foldline: what stood here cannot be sent]"
NOTHING = "[foldline: the conversation holds nothing that can be sent]"


class Repaired(Struct, frozen=True, kw_only=True):
    """A history fit to send."""

    placed: tuple[Placed, ...]
    repairs: tuple[Repair, ...]


def repair(messages: Sequence[Message], needs: Needs) -> Repaired:
    """Repair a whole history; O(n). A sound history comes back as the same message objects. Idempotent."""
    repairs: list[Repair] = []
    placed = paired(cleaned(messages, needs, repairs=repairs), needs, repairs=repairs)
    if messages and not placed:
        seq = len(messages) - 1
        placed = [Placed(seq=seq, message=ours("user", Text(text=NOTHING)))]
        repairs.append(Repair(kind="empty-message", seq=seq, why="nothing of the history is left to send"))
    opening = next((n for n, p in enumerate(placed) if p.message.role != "system"), None)
    if opening is not None and not may_open(placed[opening].message, needs.first):
        seq = placed[opening].seq
        placed.insert(opening, Placed(seq=seq, message=ours("user", Text(text=OPENING))))
        repairs.append(
            Repair(kind="first-role", seq=seq, why="the history does not open with a user message")
        )
    if needs.system_between and (
        wrong := [placed[at].seq for at, _ in misplaced([p.message for p in placed])]
    ):
        placed = system_in_place(placed)
        why = "no place where the provider takes a system message"
        repairs.extend(Repair(kind="moved-system", seq=seq, why=why) for seq in wrong)
    return Repaired(placed=tuple(placed), repairs=tuple(sorted(repairs, key=lambda r: r.seq)))


def paired(
    clean: list[Placed], needs: Needs, *, repairs: list[Repair], taken: Container[str] = frozenset()
) -> list[Placed]:
    """As `pair` leaves clean messages, and no two of the assistant side by side that would be joined and may not be."""
    placed = pair(clean, needs, repairs=repairs, taken=taken)
    if not (needs.reasoning_first and needs.alternates):
        return placed
    out: list[Placed] = []
    for entry in placed:
        before = out[-1] if out else None
        if before is not None and may_not_join(before.message, entry.message) and not _came_so(before, entry):
            out.append(Placed(seq=before.seq, message=apart()))
            why = "a message between the assistant's own cannot be sent"
            repairs.append(Repair(kind="kept-apart", seq=before.seq, why=why))
        out.append(entry)
    return out


def may_not_join(first: Message, second: Message) -> bool:
    """True for two messages of the assistant of which the second reasons, in front of which nothing may stand."""
    return first.role == second.role == "assistant" and any(
        [isinstance(part, Reasoning) for part in second.parts]
    )


def apart() -> Message:
    """The line of ours that keeps two messages apart."""
    return ours("user", Text(text=APART))


def _came_so(first: Placed, second: Placed) -> bool:
    return second.seq == first.seq + 1 and not (first.message.synthetic or second.message.synthetic)


# ── one message ──────────────────────────────────────────────────────────────────────────────────────────────


def cleaned(
    messages: Sequence[Message], needs: Needs, *, repairs: list[Repair], first: int = 0
) -> list[Placed]:
    """Each message by itself, the last first: whether reasoning may end one depends on what is left behind it. `first`: the
    ordinal of the first one."""
    placed: list[Placed] = []
    may_end = needs.reasoning_may_end
    is_last = True
    for seq in range(first + len(messages) - 1, first - 1, -1):
        message = _in_shape(messages[seq - first], seq, repairs=repairs)
        message = _with_parts(message, seq, needs=needs, repairs=repairs)
        if needs.reasoning_first and message.role == "assistant":
            message, is_last = _reasoning_first(message, seq, is_last=is_last, repairs=repairs), False
        message = _respelt(message, seq, needs=needs, repairs=repairs)
        if not needs.empty_failure and any(map(is_empty_failure, message.parts)):
            message = _with_words(message, seq, repairs=repairs)
        clean = _clean(message, seq, needs=needs, may_end=may_end, repairs=repairs)
        if clean is not None:
            placed.append(Placed(seq=seq, message=clean))
            may_end = needs.reasoning_may_end or (needs.items and clean.role == "assistant")
    placed.reverse()
    return placed


def _in_shape(message: Message, seq: int, *, repairs: list[Repair]) -> Message:
    """The message with its parts written as they were read, where the wire had another shape for them than is taken."""
    unfit = out_of_shape(message)
    repairs.extend(Repair(kind=kind, seq=seq, why=why) for kind, why in unfit)
    return replace(message, edited=True) if unfit else message


def _with_parts(message: Message, seq: int, *, needs: Needs, repairs: list[Repair]) -> Message:
    """The message without parts that may not stand in it."""
    whys = [why_not(part, message, needs=needs) for part in message.parts]
    if not any(whys):
        return message
    repairs.extend(Repair(kind="refused-part", seq=seq, why=why) for why in whys if why)
    kept = tuple(part for part, why in zip(message.parts, whys, strict=True) if not why)
    return replace(message, parts=kept, edited=True)


def _reasoning_first(message: Message, seq: int, *, is_last: bool, repairs: list[Repair]) -> Message:
    """The message with its reasoning in front, where it may not stand elsewhere."""
    why = late_reasoning(message, is_last=is_last)
    if not why:
        return message
    repairs.append(Repair(kind="late-reasoning", seq=seq, why=why))
    parts = sorted(message.parts, key=lambda part: 2 - isinstance(part, Reasoning) - 2 * is_compaction(part))
    return replace(message, parts=tuple(parts), edited=True)


def _respelt(message: Message, seq: int, *, needs: Needs, repairs: list[Repair]) -> Message:
    """The message with an id for each call and result, and a name for each call, that can be sent."""
    parts = tuple([_respelt_part(part, needs) for part in message.parts])
    if all(map(is_, parts, message.parts)):
        return message
    for part, was in zip(parts, message.parts, strict=True):
        if isinstance(part, ToolCall) and isinstance(was, ToolCall) and part is not was:
            if part.id != was.id:
                repairs.append(Repair(kind="refused-id", seq=seq, why=f"id {was.id!r:.80} became {part.id}"))
            if part.name != was.name:
                why = f"tool name {was.name!r:.80} became {part.name}"
                repairs.append(Repair(kind="refused-name", seq=seq, why=why))
    return replace(message, parts=parts, edited=True)


def _respelt_part(part: Part, needs: Needs) -> Part:
    if not isinstance(part, (ToolCall, ToolResult)) or part.server:
        return part
    if not needs.takes_id(part):
        part = (
            replace(part, id=fit_id(part.id), edited=True)
            if isinstance(part, ToolCall)
            else replace(part, call_id=fit_id(part.call_id), edited=True)
        )
    if part.name is None or needs.takes_name(part.name) or part.name in needs.names_kept:
        return part
    return replace(part, name=fit_name(part.name), edited=True)


def _clean(
    message: Message, seq: int, *, needs: Needs, may_end: bool, repairs: list[Repair]
) -> Message | None:
    """The message without what no provider takes; `None` when nothing is left. `may_end`: reasoning may end it."""
    mended = [mended_part(part) for part in message.parts]
    if _is_fit(mended, message, may_end=may_end):
        return message
    parts: list[Part] = []
    touched = False
    for part, was in zip(mended, message.parts, strict=True):
        if part is not was:
            repairs.append(Repair(kind="lone-surrogate", seq=seq, why="half a surrogate pair became U+FFFD"))
            touched = True
        if is_blank(part) and (part.edited or not needs.take_blank(message)):
            touched = True
            continue
        parts.append(part)
    if not may_end and message.role == "assistant":
        while parts and isinstance(parts[-1], Reasoning):
            parts.pop()
            touched = True
            repairs.append(Repair(kind="trailing-reasoning", seq=seq, why="reasoning that nothing follows"))
    if not parts or all(is_blank(part) for part in parts):
        repairs.append(
            Repair(
                kind="empty-message",
                seq=seq,
                why=f"{_article(message.role)} {message.role} message without content",
            )
        )
        return None
    if not touched:
        return message
    if any(is_blank(part) for part in message.parts) and len(parts) < len(message.parts):
        repairs.append(Repair(kind="blank-text", seq=seq, why="a text without a visible character"))
    return replace(message, parts=tuple(parts), edited=True)


def _with_words(message: Message, seq: int, *, repairs: list[Repair]) -> Message:
    """The message with a line of ours in each failed result that holds nothing."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult) and is_empty_failure(part):
            repairs.append(Repair(kind="empty-failure", seq=seq, why="a failed result without content"))
            part = replace(part, content=(Text(text=SILENT),), edited=True)
        parts.append(part)
    return replace(message, parts=tuple(parts), edited=True)


def _is_fit(mended: list[Part], message: Message, *, may_end: bool) -> bool:
    """True for a message with nothing to do about it, as nearly all are."""
    return (
        bool(mended)
        and all(map(is_, mended, message.parts))
        and not any(map(is_blank, mended))
        and (may_end or not isinstance(mended[-1], Reasoning))
    )


def _article(word: str) -> str:
    return "an" if word[:1] in "aeiou" else "a"
