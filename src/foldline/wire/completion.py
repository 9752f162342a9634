"""A request to a completer and what may come back, in wire form: what a caller's completer sees.

Counterpart: `foldline.core.completion`, which says the same in messages. Whoever drives a pass turns one into the other
(`foldline.asking`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from foldline.core.completion import Purpose
from foldline.core.message import Message, Text
from foldline.wire.formats import codec


class CompletionRequest(Struct, frozen=True, kw_only=True):
    """What a completer is given, in wire form (`foldline.CompletionRequest`)."""

    format: str
    """Wire format of all of it."""
    model: str | None
    system: Any
    """The conversation's own in a fork, in the format's own shape; a text in a call of its own; `None` for none."""
    tools: list[Any] | None
    """The conversation's tools in a fork, so that the prefix is the same. A call of one is never carried out."""
    messages: list[Any]
    """Without the instruction."""
    instruction: str
    """To be sent as the last user message; `request.wire()` does it."""
    purpose: Purpose = "summary"
    is_fork: bool = False
    """True where the request goes on from the conversation's last one, so that everything else of it (sampling, thinking)
    should be as there and the provider's cache is hit."""
    output_cap: int | None = None
    """Most output tokens wanted; `None`: whatever the caller's own requests say."""
    attempt: int = 1

    def wire(self) -> list[Any]:
        """The messages with the instruction behind them, in the format's own shape; new values, nothing shared is changed.
        In a fork the instruction is a message of its own, so that the prefix stays; in a call of its own it stands in
        the message with what is to be read, which servers that want roles to alternate take too."""
        reader = codec(self.format)
        said = Message(role="user", parts=(Text(text=self.instruction),))
        if self.is_fork or len(self.messages) != 1:
            return [*self.messages, reader.encode(said)]
        return [reader.encode(reader.join(reader.decode(self.messages[0]), said))]


class Delta(Struct, frozen=True, kw_only=True, gc=False):
    """A piece of a reply as it comes: what an iterator may yield in place of a plain text (requirement CMP-20)."""

    text: str = ""
    reasoning: str = ""
    """What the model thinks aloud; shown, never taken for the summary."""


class ReplyLike(Protocol):
    """What a completer may return beside a text, or yield last of all deltas: any object with these attributes. Where it
    also has `messages` (the model's message as the wire has it, in a list), a refused call is answered with that."""

    text: str
    """The whole text; where it comes behind deltas and is empty, theirs counts."""
    stop_reason: str | None
    tool_calls: Any
    """Each an object or a dict with `id`, `name` and `arguments`; empty for none."""
    usage: Any
    """A `Usage`, the provider's own dict, or `None`."""


Piece: TypeAlias = "str | Delta | ReplyLike"
Completer: TypeAlias = Callable[[CompletionRequest], "str | Iterator[Piece] | ReplyLike"]
AsyncCompleter: TypeAlias = Callable[
    [CompletionRequest],
    "Awaitable[str | ReplyLike] | AsyncIterator[Piece] | str | Iterator[Piece] | ReplyLike",
]
