"""The codec port, the request value, and the providers' rules as data.

A codec reads wire values into `foldline.core.message.Message` and writes them back. The law it lives by is
LOSSLESS: `encode(decode(x)) == x` for every value that was not edited, byte for byte for bytes, the very same
object for a caller's dict. Where one part of a message was edited, its siblings and the envelope keep every key
they came with: the codec opens `origin`, replaces the content of the edited slots and leaves the rest.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import Message
from foldline.core.needs import Needs

WireValue: TypeAlias = dict[str, Any]
"""A wire message as a JSON object; values may be `msgspec.Raw` slices of the original bytes."""


class Rules(Struct, frozen=True, kw_only=True):
    """What one provider demands: of a history, of ids, and of the places of system text and of calls.

    Each codec's module cites the provider page or SDK source each value comes from.
    """

    format: str
    needs: Needs
    """The rows of law ROLE, of a history to which results may still come."""
    system: Literal["apart", "leading", "anywhere"]
    """Where system text may stand: outside the messages, only before the first turn, or anywhere."""
    ids_needed: bool = True
    """False where calls and results are paired without ids, and none is made up."""
    calls_open: bool = False
    """True when a message with calls must not stand behind another of the model's."""

    def needs_for(self, model: str | None) -> Needs:
        """The needs of a server of that model; `None`: of the format's own provider. Another one's that speaks Anthropic's wire signs
        nothing, and wants its reasoning back (can1357/oh-my-pi#908)."""
        is_own = model is None or "claude" in model.lower()
        return (
            self.needs
            if is_own or not self.needs.reasoning_signed
            else replace(self.needs, reasoning_signed=False)
        )


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

    def with_output(self, wire: WireValue, output: Any) -> WireValue:
        """The value of a message that holds one result, with a value of the wire's own as what the tool gave."""
        ...
