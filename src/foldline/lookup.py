"""The original behind an address: `foldline show FILE ADDRESS`.

An address says where in the history it was made from, and carries a piece of the digest of what stood there; a file
that holds something else is refused rather than shown. A short one carries none: it is opened where it can mean one place.
Counterpart: `foldline.core.address`, which makes addresses.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from typing import Any, assert_never

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import Place, digest_of, held, place_in, read_block
from foldline.core.errors import UnknownAddress
from foldline.core.json_text import decoded
from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.core.received import slotted
from foldline.tokens.choose import counter_for
from foldline.transcript_history import history_for
from foldline.transcripts.transcript import Transcript
from foldline.wire.strict import dump_text

VALUE_CHARS = 80
"""A value of a call that is longer, or has several lines, has lines of its own."""
DEPTH_MAX = 8
"""Levels of a call's arguments that are laid open; what is deeper stays JSON."""


class Shown(Struct, frozen=True, kw_only=True):
    """What stood at an address."""

    title: str
    """What it is: `tool result of message 12`, `messages 4 to 47`."""
    text: str | None
    """The original text, to the character; several messages with a line between that names each."""
    data: bytes | None = None
    """The bytes of an image or another file; then `text` is `None`."""
    told: str = ""
    """The text for a reader, as `told_of` has it."""


def show(transcripts: Sequence[Transcript], address: str) -> Shown:
    """The original behind an address. Raises `UnknownAddress` where the history holds nothing or something else there."""
    place = place_in(address)
    if not place.digest:
        return _show_short(transcripts, place, address=address)
    for transcript in transcripts:
        for messages in (transcript.messages, transcript.history):
            found = _find(messages, place)
            if found is not None:
                return found
    for transcript in transcripts:
        found = _find_mended(transcript, place)
        if found is not None:
            return found
    messages_max = max((len(one) for read in transcripts for one in (read.messages, read.history)), default=0)
    what = "something else" if place.start < messages_max else "nothing"
    raise UnknownAddress(
        address, f"this history holds {what} there; give the file that the address was made from"
    )


def _show_short(transcripts: Sequence[Transcript], place: Place, *, address: str) -> Shown:
    """What stands at a place of the one history that counts it. In a file that was compacted, and does not keep what it was made
    from, a ledger counts other messages than the file has."""
    if len(transcripts) != 1:
        why = f"each of {len(transcripts):,} conversations has such a place; select one, or give the whole address"
        raise UnknownAddress(address, why)
    [transcript] = transcripts
    said = transcript.history or transcript.messages
    if not transcript.history and any(map(_is_fold, said)):
        raise UnknownAddress(
            address,
            "the summaries of this file name messages of the file that it was made from: open it there. What stands here is "
            "opened by its whole address, as `foldline show FILE` lists it",
        )
    found = _find(said, replace(place, digest=_digest_at(said[place.start : place.end], place)))
    if found is None:
        raise UnknownAddress(address, f"this history holds {held(len(said), place)}")
    return found


def _is_fold(message: Message) -> bool:
    return any(isinstance(part, Text) and read_block(part.text) is not None for part in message.parts)


def show_in(
    messages: Sequence[Message],
    address: str,
    *,
    forgotten: Callable[[], frozenset[int]] = frozenset,
    messages_in_all: Callable[[], int],
) -> Shown:
    """The original behind an address, given the messages at its ordinals and no others; where something was forgotten
    there (`forgotten`: in which messages), what is left, and the title says so. Raises `UnknownAddress`."""
    place = place_in(address)
    now = _digest_at(messages, place)
    found = _find(messages, replace(place, digest=now), first=place.start)
    if found is None:
        raise UnknownAddress(address, f"this session holds {held(messages_in_all(), place)}")
    if place.digest == now:
        return found
    if not forgotten().isdisjoint(range(place.start, place.end)):
        return replace(found, title=f"{found.title}, of which something was forgotten")
    if place.digest:
        raise UnknownAddress(
            address, "this session holds something else there; take the address from its own view"
        )
    return found


def _digest_at(messages: Sequence[Message], place: Place) -> str:
    """The digest of what stands at a place now."""
    parts = [part for message in messages for part in slotted(message).parts]
    return digest_of(part for part in parts if place.slot is None or part.slot == place.slot)


def _find(history: Sequence[Message], place: Place, *, first: int = 0) -> Shown | None:
    """What stands at a place of a history whose first message has ordinal `first`."""
    messages = [slotted(message) for message in history[place.start - first : place.end - first]]
    if len(messages) != place.end - place.start:
        return None
    if place.slot is not None:
        part = next((part for part in messages[0].parts if part.slot == place.slot), None)
        if part is None or digest_of([part]) != place.digest:
            return None
        return _shown(part, f"{_name(part)} of message {place.start}")
    if digest_of(part for message in messages for part in message.parts) != place.digest:
        return None
    text, told = (_joined(messages, say, first=place.start) for say in (text_of, told_of))
    title = f"messages {place.start} to {place.end - 1}" if len(messages) > 1 else f"message {place.start}"
    return Shown(title=title, text=text, told=told)


def _find_mended(transcript: Transcript, place: Place) -> Shown | None:
    """A part that only the repaired history has: two results of one call, joined in the place of the first, or a call whose
    name no provider takes."""
    history = history_for(transcript, counter_for(counter="length/4"), wire=transcript.wire)
    for item in history.view:
        if item.seq == place.start and item.message.synthetic is None:
            for part in item.message.parts:
                if part.slot == place.slot and digest_of([part]) == place.digest:
                    said = _as_said(part, transcript, place=place)
                    return _shown(said, f"{_name(said)} of message {place.start}")
    return None


def _as_said(part: Part, transcript: Transcript, *, place: Place) -> Part:
    """A call by the name and arguments that the model gave, whatever they are sent as; any other part as it is mended."""
    messages = transcript.history or transcript.messages
    if not isinstance(part, ToolCall) or place.start >= len(messages):
        return part
    said = slotted(messages[place.start]).parts
    return next((one for one in said if one.slot == part.slot and isinstance(one, ToolCall)), part)


def _shown(part: Part, title: str) -> Shown:
    if isinstance(part, Media) and part.data is not None and part.mime is not None:
        try:
            return Shown(title=title, text=None, data=b64decode(part.data, validate=True))
        except ValueError:
            return Shown(title=title, text=part.data)
    return Shown(title=title, text=text_of(part), told=told_of(part))


def _joined(messages: Sequence[Message], say: Callable[[Part], str], *, first: int) -> str:
    said = ["\n".join(map(say, message.parts)) for message in messages]
    if len(messages) == 1:
        return said[0]
    return "\n\n".join(
        f"── message {seq}, {message.role} ──\n{text}"
        for seq, (message, text) in enumerate(zip(messages, said, strict=True), first)
    )


def _name(part: Part) -> str:
    return {Text: "text", Reasoning: "reasoning", ToolCall: "tool call", ToolResult: "tool result"}.get(
        type(part), "media" if isinstance(part, Media) else "part"
    )


def text_of(part: Part) -> str:
    """A part as text: text and results to the character, calls with their arguments, media by what is sent of them."""
    match part:
        case Text() | Reasoning():
            return part.text
        case ToolCall():
            return f"{part.name} {part.arguments}"
        case ToolResult():
            return "\n".join(text_of(inner) for inner in part.content)
        case Media():
            return part.data or part.url or part.ref or ""
        case Opaque():
            return part.raw.decode("utf-8", "replace")
        case _:
            assert_never(part)


def told_of(part: Part) -> str:
    """A part for a reader: a call by its tool and its values, a long one or one of several lines on lines of its own; any other part as
    `text_of` has it."""
    arguments = decoded(part.arguments) if isinstance(part, ToolCall) else None
    if not isinstance(part, ToolCall) or not isinstance(arguments, dict):
        return text_of(part)
    first, rest = [part.name], list[str]()
    for key, value in _values(arguments):
        if len(value) <= VALUE_CHARS and "\n" not in value:
            first.append(f"{key}={value}")
        else:
            rest += [f"  {key}:", *(f"    {line}" for line in value.split("\n"))]
    return "\n".join([" ".join(first), *rest])


def _values(value: Any, key: str = "", *, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The values of a structure, all of them, each with the way to it; a small structure is one."""
    if isinstance(value, str):
        yield key, value
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if depth > 0:
        written = dump_text(value)
        is_small = len(written) <= VALUE_CHARS and "\\n" not in written
        if not inner or is_small or depth > DEPTH_MAX:
            yield key, written
            return
    for name, each in inner:
        yield from _values(each, f"{key}.{name}" if key else str(name), depth=depth + 1)
