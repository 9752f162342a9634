"""Texts: what of a message can be found, part by part, and who said it.

Owns which words of a part go into the index and what stands at an address. Media are found by name and place, never by
their bytes; signatures and encrypted content have no words. What recall itself gave back is left out: it says again
what stands elsewhere. Knows messages; counterparts: `foldline.recall.words`, which cuts text, and
`foldline.recall.quote`, which writes what recall gives back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, assert_never, get_args

from msgspec import Struct

from foldline.core.address import digest_of, is_recalled
from foldline.core.json_text import decoded
from foldline.core.message import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    is_injected,
)

Kind: TypeAlias = Literal["text", "reasoning", "call", "result", "error", "media", "other"]
"""What a part is. `error`: the result of a call that failed."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
ROLES: Final[tuple[Role, ...]] = get_args(Role)

_HIDDEN: Final = frozenset(
    {"data", "signature", "encrypted_content", "encrypted_index", "file_data", "inlineData"}
)
"""Keys of a part of unknown kind whose values are bytes or secrets of a provider, not words."""
TOOL: Final = "recall"
"""The name of recall's own tool …"""
ASKS: Final = frozenset(
    ("query", "address", "lines", "chars", "role", "kind", "tool", "since", "until", "limit", "tokens")
)
"""… and what it can be asked."""
_DEPTH_MAX: Final = 64
"""Levels of such a part that are looked into."""


class Said(Struct, frozen=True, kw_only=True, gc=False):
    """One part of a message, with its words."""

    slot: int
    role: Role
    """Who said it: a result was said by a tool and a reminder by the system, whatever message it came in."""
    kind: Kind
    tool: str
    """Name of the tool called, or that answered; else empty."""
    text: str
    """The words to be found; empty when there are none."""
    digest: int
    """The digest in the part's address, as a number."""


def said_in(message: Message, calls: Mapping[str, str]) -> Iterator[Said]:
    """The parts of a message. `calls`: the names of tools by call id, for results whose wire does not repeat it."""
    host = message.synthetic is not None or is_injected(message)
    role: Role = "system" if host and message.role == "user" else message.role
    for place, part in enumerate(message.parts):
        slot = part.slot if part.slot >= 0 else place
        digest = int(digest_of([part]), 16)
        if type(part) is ToolResult:
            tool = part.name or calls.get(part.call_id, "")
            kind: Kind = "error" if part.is_error else "result"
            yield Said(slot=slot, role="tool", kind=kind, tool=tool, text=words_in(part), digest=digest)
        else:
            tool = part.name if type(part) is ToolCall else ""
            yield Said(
                slot=slot, role=role, kind=kind_of(part), tool=tool, text=words_in(part), digest=digest
            )


def kind_of(part: Part) -> Kind:
    """What a part is."""
    match part:
        case Text():
            return "text"
        case Reasoning():
            return "reasoning"
        case ToolCall():
            return "call"
        case ToolResult():
            return "error" if part.is_error else "result"
        case Media():
            return "media"
        case Opaque():
            return "other"
    assert_never(part)


def words_in(part: Part) -> str:
    """The words of a part that can be found."""
    match part:
        case Text() | Reasoning():
            return part.text
        case ToolCall():
            return "" if is_asking(part) else f"{part.name} {_plain_json(part.arguments)}"
        case ToolResult():
            return "" if is_recalled(part) else "\n".join([words_in(inner) for inner in part.content])
        case Media():
            return " ".join(
                [told for told in (part.name, part.url, part.ref) if told and not told.startswith("data:")]
            )
        case Opaque():
            return f"{part.type} {_plain_json(part.raw.decode('utf-8', 'replace'))}"
    assert_never(part)


def is_asking(call: ToolCall) -> bool:
    """True for a call of recall itself, whose words only repeat what is looked for."""
    return call.name.rpartition("__")[2] == TOOL and asked_in(call) is not None


def asked_in(call: ToolCall) -> dict[str, Any] | None:
    """What a call asks recall for; `None` where it asks for something that recall does not know."""
    value = decoded(call.arguments or "{}")
    return value if isinstance(value, dict) and value.keys() <= ASKS else None


def _plain_json(json_text: str) -> str:
    """JSON with its strings as they are meant, where escapes stand in it; text that is no JSON as it is."""
    if "\\" not in json_text and len(json_text) < 2_000:
        return json_text
    value = decoded(json_text)
    return json_text if value is None else "\n".join(_strings(value, 0))


def _strings(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEPTH_MAX:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _HIDDEN:
                yield key
                yield from _strings(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, depth + 1)
    elif value is not None:
        yield str(value)


def shown_text(part: Part) -> str:
    """What stands at a part's address, to the character: text and results as they are, calls with their arguments, media
    by what is known of them."""
    match part:
        case Text() | Reasoning():
            return part.text
        case ToolCall():
            return f"{part.name} {part.arguments}"
        case ToolResult():
            return "\n".join([shown_text(inner) for inner in part.content])
        case Media():
            return media_words(part)
        case Opaque():
            return part.raw.decode("utf-8", "replace")
    assert_never(part)


def media_words(media: Media) -> str:
    """A line for a picture or file where text alone can stand."""
    known = [
        told
        for told in (media.mime, media.name, media.url, media.ref)
        if told and not told.startswith("data:")
    ]
    size = f"{len(media.data):,} characters of data" if media.data else ""
    return f"[{media.kind}: {', '.join([*known, *([size] if size else [])]) or 'no more is known'}]"


def media_in(parts: Sequence[Part]) -> tuple[Media, ...]:
    """Every picture and file of some parts, those inside results too."""
    found: list[Media] = []
    for part in parts:
        if isinstance(part, Media):
            found.append(part)
        elif isinstance(part, ToolResult):
            found += [inner for inner in part.content if isinstance(inner, Media)]
    return tuple(found)
