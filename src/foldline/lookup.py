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

from foldline.core.address import Place, digest_of, held, place_in
from foldline.core.errors import UnknownAddress
from foldline.core.json_text import decoded
from foldline.core.message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from foldline.core.received import slotted
from foldline.ledger.numbering import Counted, Numbered
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
    said = [counted(transcript) for transcript in transcripts]
    views = [
        Counted(one.messages, one.numbers) for one in transcripts if one.history
    ]  # with what stands for the rest
    for history in (*said, *views):
        found = _find(history, place)
        if found is not None:
            return found
    for transcript in transcripts:
        found = _find_mended(transcript, place)
        if found is not None:
            return found
    what = "something else" if any(place.start < len(history) for history in said) else "nothing"
    if any(_is_folded(history, place) for history in said):
        what = "the summary of an earlier compaction"
    raise UnknownAddress(
        address, f"this history holds {what} there; give the file that the address was made from"
    )


def counted(transcript: Transcript) -> Counted:
    """What a file holds of a history, by the numbers that addresses and ledgers give its messages."""
    if transcript.history:
        return _by_places(transcript.history)
    return Counted(transcript.messages, transcript.numbers)


def _by_places(messages: Sequence[Message], *, first: int = 0) -> Counted:
    return Counted(messages, [Numbered(ordinal=first + place) for place in range(len(messages))])


def _is_folded(history: Counted, place: Place) -> bool:
    """Whether a message of a place stands behind a fold of the same history."""
    return place.end <= len(history) and not history.is_whole(place.start, place.end)


def _show_short(transcripts: Sequence[Transcript], place: Place, *, address: str) -> Shown:
    """What stands at a place of the one history that counts it, as far as the file holds that yet."""
    if len(transcripts) != 1:
        why = f"each of {len(transcripts):,} conversations has such a place; select one, or give the whole address"
        raise UnknownAddress(address, why)
    [transcript] = transcripts
    said = counted(transcript)
    if _is_folded(said, place):
        raise UnknownAddress(
            address, "folded away in an earlier compaction; open it in the file that was compacted then"
        )
    found = _find(said, replace(place, digest=_digest_at(said[place.start : place.end], place)))
    if found is None:
        raise UnknownAddress(address, f"this history holds {held(len(said), place)}")
    return found


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
    found = _find(_by_places(messages, first=place.start), replace(place, digest=now))
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


def _find(history: Counted, place: Place) -> Shown | None:
    """What stands at a place of a history; of a range a fold in the place of what it stands for."""
    found = [(number, slotted(message)) for number, message in history.within(place.start, place.end)]
    messages = [message for _, message in found]
    if not messages or place.end > len(history):
        return None
    if place.slot is not None:
        part = next((part for part in messages[0].parts if part.slot == place.slot), None)
        if part is None or digest_of([part]) != place.digest:
            return None
        return _shown(part, f"{_name(part)} of message {place.start}")
    if digest_of(part for message in messages for part in message.parts) != place.digest:
        return None
    text, told = (_joined(found, say) for say in (text_of, told_of))
    title = f"messages {place.start} to {place.end - 1}"
    return Shown(
        title=title if place.end - place.start > 1 else f"message {place.start}", text=text, told=told
    )


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
    came = (slotted(message).parts for _, message in counted(transcript).within(place.start, place.end))
    said = [one for parts in came for one in parts if one.slot == part.slot and isinstance(one, ToolCall)]
    return said[0] if isinstance(part, ToolCall) and said else part


def _shown(part: Part, title: str) -> Shown:
    if isinstance(part, Media) and part.data is not None and part.mime is not None:
        try:
            return Shown(title=title, text=None, data=b64decode(part.data, validate=True))
        except ValueError:
            return Shown(title=title, text=part.data)
    return Shown(title=title, text=text_of(part), told=told_of(part))


def _joined(found: Sequence[tuple[int, Message]], say: Callable[[Part], str]) -> str:
    said = [(number, message.role, "\n".join(map(say, message.parts))) for number, message in found]
    if len(said) == 1:
        return said[0][2]
    return "\n\n".join(f"── message {number}, {role} ──\n{text}" for number, role, text in said)


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
