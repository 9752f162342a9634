"""Messages and their parts: what goes over the wire, read into one closed set of values.

Owns the vocabulary every layer above shares. Knows nothing of any provider's spelling: a codec in
`foldline.wire` reads a wire value into a `Message` and writes it back, and `origin` keeps what came in, so
that an untouched message leaves as the very bytes (or the very object) that arrived.
"""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

from msgspec import Struct

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

NEW = -1
"""The slot of a part that no wire value holds yet."""


class Text(Struct, frozen=True, kw_only=True, gc=False, tag=True, tag_field="part"):
    """Plain text, as written by its author."""

    text: str
    slot: int = NEW
    """Where the codec found the part in its message's origin; `NEW` when it was made here."""
    edited: bool = False
    """True when the value differs from what the origin holds at `slot`."""


class Reasoning(Struct, frozen=True, kw_only=True, gc=False, tag=True, tag_field="part"):
    """A model's reasoning. Signed reasoning is atomic: it stays byte for byte or goes whole, never shortened."""

    text: str = ""
    """What can be read of it: the reasoning or its summary; empty when redacted or encrypted."""
    signature: str | None = None
    """The provider's signature, or the encrypted content itself, as an opaque string."""
    redacted: bool = False
    """True when only the provider can read it."""
    provider: str | None = None
    """Wire format of the provider that signed it; `None` when unsigned."""
    slot: int = NEW
    edited: bool = False


class ToolCall(Struct, frozen=True, kw_only=True, gc=False, tag=True, tag_field="part"):
    """A request by the model to run a tool."""

    id: str
    """Pairs the call with its result within one round. A codec whose wire has no id makes one up (`wire_id=False`)."""
    name: str
    arguments: str
    """JSON text; not necessarily valid, since models write it."""
    wire_id: bool = True
    server: bool = False
    """True when the provider runs the tool itself and puts the result into the same message."""
    kind: str = ""
    """The wire's own name for a call that is no plain function's (`custom_tool_call`), on a wire that has several."""
    slot: int = NEW
    edited: bool = False


class Media(Struct, frozen=True, kw_only=True, gc=False, tag=True, tag_field="part"):
    """An image, document, recording or file. Exactly one of `data`, `url` and `ref` is set."""

    kind: Literal["image", "document", "audio", "video", "file"]
    mime: str | None = None
    data: str | None = None
    """Base64, or the plain text of a text document."""
    url: str | None = None
    ref: str | None = None
    """The provider's own file id."""
    detail: str | None = None
    """The provider's resolution hint (`low`, `high`, `auto`), where it has one."""
    name: str | None = None
    slot: int = NEW
    edited: bool = False


class Opaque(Struct, frozen=True, kw_only=True, gc=False, tag=True, tag_field="part"):
    """A wire part this version does not know. It passes through untouched and is never shortened."""

    type: str
    """The wire's own name for it (`compaction`, `container_upload`, …)."""
    raw: bytes
    """The part as compact JSON."""
    slot: int = NEW
    edited: bool = False


class ToolResult(Struct, frozen=True, kw_only=True, gc=False, tag=True, tag_field="part"):
    """What a tool answered."""

    call_id: str
    content: tuple[Text | Media | Opaque, ...] = ()
    """In order. The inner parts' slots count within the result. Empty when the tool returned nothing."""
    name: str | None = None
    """The tool's name where the wire repeats it, else left to the call it answers."""
    is_error: bool = False
    interim: bool = False
    """True when the wire says that a final result will follow (`pending`, `in_progress`)."""
    server: bool = False
    wire_id: bool = True
    kind: str = ""
    """The `kind` of the calls that such a result answers."""
    slot: int = NEW
    edited: bool = False


Part: TypeAlias = Text | Reasoning | ToolCall | ToolResult | Media | Opaque
"""The closed set. An unknown wire part is `Opaque`; it never vanishes."""

Synthetic: TypeAlias = Literal["fold", "notice", "summary", "repair", "reminder"]


class Usage(Struct, frozen=True, kw_only=True, gc=False):
    """What a provider said one response cost, normalised: `tokens_input` holds every input token once."""

    tokens_input: int
    """All input, cached or not: cache reads and writes are inside."""
    tokens_output: int = 0
    """All output, reasoning included."""
    tokens_cache_read: int = 0
    tokens_cache_write: int = 0
    tokens_total: int | None = None
    """The provider's own total, where it gives one."""

    @property
    def tokens_context(self) -> int:
        """Tokens the next request starts from: max(total, input + output) (requirement TOK-3)."""
        return max(self.tokens_total or 0, self.tokens_input + self.tokens_output)


class Meta(Struct, frozen=True, kw_only=True, gc=False):
    """What a session file or SDK object says about a message beside its content. Never sent."""

    id: str | None = None
    """The record's own id (`uuid`, entry id, item id)."""
    response_id: str | None = None
    """The provider's id of the response a message belongs to."""
    time_s: float | None = None
    """Unix time, seconds."""
    model: str | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    injected: bool = False
    """True for text with role user that no user wrote: reminders, command output, notices of the host."""


class Message(Struct, frozen=True, kw_only=True, gc=False):
    """One message of a conversation. Out of the garbage collector's sight, since JSON holds no cycle.

    `parts` is a reading of `origin`; where nothing was edited, `origin` is what is sent.
    """

    role: Role
    """Who speaks. `tool` marks a message that holds results alone where the wire has such a role; on the
    Anthropic and Gemini wires results arrive in `user` messages."""
    parts: tuple[Part, ...]
    format: str = ""
    """Wire format of `origin`; empty when the message was made here."""
    origin: bytes | dict[str, Any] | None = None
    """The wire value as it came: JSON bytes from a file or socket, or the caller's own dict. Never changed."""
    edited: bool = False
    """True when `parts` differ from `origin`."""
    synthetic: Synthetic | None = None
    """Set when foldline wrote the message."""
    meta: Meta | None = None

    @property
    def text(self) -> str:
        """All plain text of the message, parts joined by a line feed."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


def calls_of(message: Message) -> tuple[ToolCall, ...]:
    """The calls that wait for a result from the client (server-side calls answer themselves)."""
    return tuple([p for p in message.parts if type(p) is ToolCall and not p.server])


def results_of(message: Message) -> tuple[ToolResult, ...]:
    """The results that answer a client-side call."""
    return tuple([p for p in message.parts if type(p) is ToolResult and not p.server])


def holds_results(message: Message) -> bool:
    """True for a message that answers a client-side call."""
    return any([type(p) is ToolResult and not p.server for p in message.parts])


def result_text(result: ToolResult) -> str:
    """All text inside a result, inner parts joined by a line feed."""
    return "\n".join([part.text for part in result.content if isinstance(part, Text)])


def is_text(message: Message) -> bool:
    """True for a message without pictures, documents and parts that this version does not know, in its results too."""
    inner = [one for part in message.parts if isinstance(part, ToolResult) for one in part.content]
    return not any(isinstance(part, (Media, Opaque)) for part in (*message.parts, *inner))


def is_blank(part: Part) -> bool:
    """True for a text part without a visible character, which every provider refuses."""
    return type(part) is Text and (not part.text or part.text.isspace())


def is_empty_failure(part: Part) -> bool:
    """True for a client-side result that is marked as failed and holds nothing, which some providers refuse."""
    return (
        type(part) is ToolResult
        and part.is_error
        and not part.server
        and all([type(inner) is Text and not inner.text for inner in part.content])
    )


def is_fold(message: Message) -> bool:
    """True for a message of ours that stands for others."""
    return message.synthetic in ("fold", "notice")


def is_native_compaction(message: Message) -> bool:
    """True for a message with a provider's own compaction in it: signed or sealed by the service, so that it is kept as it is
    and where it is, or lost. A block without content is one that failed, which stands for nothing."""
    return any([type(p) is Opaque and p.type == "compaction" and _is_whole(p) for p in message.parts])


def is_own(message: Message) -> bool:
    """True for a message as its author made it, and as the caller sends it: a provider's compaction goes out as it was signed."""
    return not (message.edited or message.synthetic is not None or is_native_compaction(message))


def _is_whole(part: Opaque) -> bool:
    told = json.loads(part.raw)
    return bool(told.get("content") or told.get("encrypted_content"))


def may_open(message: Message, first: frozenset[str]) -> bool:
    """True for a message that a history may open with: of a role in `first`, or a provider's own compaction, which stands
    first in place of what it summarises."""
    return message.role in first or is_native_compaction(message)


def is_injected(message: Message) -> bool:
    """True for a message that a program put where a person speaks."""
    return message.meta is not None and message.meta.injected


def speaks_for_user(message: Message) -> bool:
    """True for a message in which a person said something: role user, not made by a host, with text or media."""
    if message.role != "user" or message.synthetic or is_injected(message):
        return False
    return any(isinstance(part, (Text, Media)) and not is_blank(part) for part in message.parts)
