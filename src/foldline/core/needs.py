"""What a provider demands of a history, as values that repair and laws read: the rows of law ROLE.

Each codec's module (`foldline.wire`) gives its own, with the provider's page for each value. Knows no provider.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from foldline.core.message import Message, ToolCall, ToolResult, calls_of
from foldline.core.spelling import is_fit_id, is_fit_name


class Needs(Struct, frozen=True, kw_only=True, gc=False):
    """What a provider demands of a history."""

    results_role: Literal["user", "tool"] = "tool"
    """Role of the messages that results travel in."""
    blank_text: bool = True
    """True when a text without a visible character is accepted."""
    empty_failure: bool = True
    """False when a result that is marked as failed must hold something."""
    first: frozenset[str] = frozenset({"user", "assistant", "tool"})
    """Roles that may open the history, leading system messages apart."""
    alternates: bool = False
    """True when neighbours of one role have to travel as one message."""
    results_follow: bool = False
    """True when results have to stand right behind the one message that calls, not behind a run of messages."""
    results_match: bool = False
    """True when the results of a round have to be as many as its calls and named alike, or none at all yet."""
    ids_once: bool = False
    """True when an id may stand for one call in the whole history, not only in its round."""
    ids_max: int | None = None
    """Longest id of a call that is accepted, in characters."""
    ids_pattern: str | None = None
    """Regular expression that the id of a call must match whole."""
    names_pattern: str = r"(?s:.+)"
    """Regular expression that the name of a called tool must match whole."""
    names_kept: frozenset[str] = frozenset()
    """Names that stay although they do not, since the request's own tools are called so."""
    reasoning_may_end: bool = True
    """False when an assistant message may not end with reasoning."""
    reasoning_first: bool = False
    """True when no reasoning may stand behind a call, and the last assistant message opens with it if it has any."""
    reasoning_signed: bool = False
    """True when no reasoning is accepted but what the provider signed."""
    items: bool = False
    """True when a message is one item, results too: a run of the assistant's messages is what reasoning may not end."""
    system_between: bool = False
    """True when a system message in mid-conversation has to follow a user message, or one that ends with a server tool, and to be
    the last or before an assistant message; two of them travel as one."""
    tail_stays_open: bool = True
    """False when no result can arrive any more, as for a finished session's file."""

    def take_blank(self, message: Message) -> bool:
        """True when a text of `message` may be blank. Where results have a role of their own, an empty text beside
        calls is how an assistant message says that it only calls tools: it is accepted."""
        return self.blank_text or (self.results_role == "tool" and bool(calls_of(message)))

    def takes_id(self, part: ToolCall | ToolResult) -> bool:
        """True for a call or result whose id is accepted, or not written at all."""
        id = part.id if isinstance(part, ToolCall) else part.call_id
        return not part.wire_id or is_fit_id(id, pattern=self.ids_pattern, longest=self.ids_max)

    def takes_name(self, name: str) -> bool:
        """True for a name of a tool that is accepted."""
        return is_fit_name(name, pattern=self.names_pattern)
