"""A request to a completer and what may come back, in wire form: what a caller's completer sees.

Counterpart: `foldline.core.completion`, which says the same in messages. Whoever drives a pass turns one into the other.
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
    tools: list[Any] | None
    """The conversation's tools in a fork, so that the prefix is the same. A call of one is never carried out."""
    messages: list[Any]
    """Without the instruction."""
    instruction: str
    """To be sent as the last user message; `request.wire()` does it."""
    purpose: Purpose = "summary"
    output_cap: int | None = None
    """Most output tokens wanted; `None`: whatever the caller's own requests say."""
    attempt: int = 1

    def wire(self) -> list[Any]:
        """The messages with the instruction behind them, in the format's own shape; new values, nothing shared is changed."""
        said = codec(self.format).encode(Message(role="user", parts=(Text(text=self.instruction),)))
        return [*self.messages, said]


class ReplyLike(Protocol):
    """What a completer may return beside a text: any object with these attributes."""

    text: str
    stop_reason: str | None
    tool_calls: Any
    """Each an object or a dict with `id`, `name` and `arguments`; empty for none."""
    usage: Any
    """A `Usage`, the provider's own dict, or `None`."""


Completer: TypeAlias = Callable[[CompletionRequest], "str | Iterator[str] | ReplyLike"]
AsyncCompleter: TypeAlias = Callable[
    [CompletionRequest], "Awaitable[str | ReplyLike] | AsyncIterator[str] | str | Iterator[str] | ReplyLike"
]
