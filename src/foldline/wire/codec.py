"""The codec port, the request value, and the providers' rules as data.

A codec reads wire values into `foldline.core.message.Message` and writes them back. The law it lives by is
LOSSLESS: `encode(decode(x)) == x` for every value that was not edited, byte for byte for bytes, the very same
object for a caller's dict. Where one part of a message was edited, its siblings and the envelope keep every key
they came with: the codec opens `origin`, replaces the content of the edited slots and leaves the rest.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from foldline.core.message import Message

WireValue: TypeAlias = dict[str, Any]
"""A wire message as a JSON object; values may be `msgspec.Raw` slices of the original bytes."""


class Rules(Struct, frozen=True, kw_only=True):
    """What one provider demands of a history: the rows of law ROLE and the limits on ids.

    Each codec's module cites the provider page or SDK source each value comes from.
    """

    format: str
    first: frozenset[str]
    """Roles that may open the history (leading system messages apart)."""
    alternates: bool
    """True when neighbours of one role must be joined before sending."""
    system: Literal["apart", "leading", "anywhere"]
    """Where system text may stand: outside the messages, only before the first turn, or anywhere."""
    results: Literal["user", "tool", "item"]
    """Where results travel: in the next user message, in messages of role tool, or as items of their own."""
    blank_text: bool
    """True when a text without a visible character is accepted."""
    empty_failure: bool = True
    """False when a result that is marked as failed must hold something."""
    ids_max: int | None = None
    """Longest tool call id accepted, in characters."""
    ids_pattern: str | None = None
    """Regular expression a tool call id must match whole."""
    results_follow: bool = False
    """True when results must stand right behind the one message that calls, not behind a run of messages."""
    calls_open: bool = False
    """True when a message with calls must not stand behind another of the model's."""
    ids_once: bool = False
    """True when an id may stand for one call in the whole history, not only in its round."""
    reasoning_may_end: bool = True
    """False when an assistant message may not end with reasoning."""
    system_between: bool = False
    """True when a system message in mid-conversation has to follow a user message, or one that ends with a server tool,
    and to be the last or before an assistant message; two of them travel as one."""


class Request(Struct, frozen=True, kw_only=True):
    """The part of a request body that carries the conversation."""

    format: str
    messages: tuple[Message, ...]
    system: Message | None = None
    """The system prompt where the wire keeps it apart from the messages (role `system`); else `None`."""
    tools: bytes | None = None
    """Tool schemas as JSON text (an array), exactly as they came; `None` when there are none."""


class Codec(Protocol):
    """One wire format."""

    name: str
    rules: Rules

    def decode(self, wire: bytes | WireValue) -> Message:
        """Read one wire message (Responses: one input item). A dict is kept as `origin`, never changed. Raises
        `ValueError` saying what is wrong with which key, for a value that is no message of this format."""
        ...

    def encode(self, message: Message) -> WireValue:
        """The wire value of a message of this format. An unedited message with a dict origin gives that very dict;
        with a bytes origin, the parsed object. Edited: origin's envelope and untouched parts, new content."""
        ...

    def encode_bytes(self, message: Message) -> bytes:
        """As `encode`, in JSON bytes; an unedited bytes origin comes back unchanged."""
        ...

    def system_of(self, body: WireValue) -> Message | None:
        """The system prompt a body keeps apart from its messages."""
        ...

    def encode_system(self, system: Message) -> Any:
        """The wire value of the system prompt, for the body's own key."""
        ...

    def join(self, first: Message, second: Message) -> Message:
        """One message with the parts of both, where two neighbours of one role must travel together."""
        ...
