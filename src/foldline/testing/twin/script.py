"""What the twin is told to say and how to send it, and what it tells of each request: the values of a script.

A script is a sequence of steps; a request that is in order takes the next one. Refused requests take none. Knows no
dialect: the modules beside this one spell an answer in each provider's words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

Stop: TypeAlias = Literal[
    "end", "tool_calls", "length", "refusal", "filter", "pause", "stop_sequence", "window"
]
"""Why an answer ends; each dialect has its own words for it."""
End: TypeAlias = Literal["done", "cut", "reset", "error"]
"""How a stream ends: in order · by a close without its last events · by a TCP reset · by an error event."""

DELTA_CHARS: Final = 24
"""Characters of text in one delta of a stream."""


class Call(Struct, frozen=True, kw_only=True):
    """One tool call of an answer."""

    name: str
    arguments: Mapping[str, Any] | str = {}
    """A text is sent as it stands, so that it may be broken JSON (Anthropic and Gemini cannot send that)."""
    id: str | None = None
    """`None`: the twin makes one."""


class Fault(Struct, frozen=True, kw_only=True):
    """An error in place of an answer, in the dialect's own body."""

    status: int
    message: str = ""
    """Empty: what the provider says at this status."""
    kind: str = ""
    """The error's type; empty: by status."""
    code: str | None = None
    """OpenAI's `code`, Anthropic's `details.error_code`."""
    retry_after_s: float | None = None
    headers: Mapping[str, str] = {}
    body: Any = None
    """The whole body in place of the dialect's own: a text, bytes or JSON, as gateways send it."""


class Delivery(Struct, frozen=True, kw_only=True):
    """How an answer is sent. Events count from 0, pings and duplicates not among them."""

    bytes_per_write: int | None = None
    """Most bytes of a stream in one write, so that events arrive split anywhere; `None`: an event a write."""
    duplicated: tuple[int, ...] = ()
    """Events that are sent twice."""
    pings: tuple[int, ...] = ()
    """Events in front of which a ping is sent (in dialects without pings: a comment line)."""
    wait_s: float = 0.0
    """Before the first byte."""
    stall_after: int | None = None
    """Events after which the stream stands still for `stall_s`, or until the twin is closed."""
    stall_s: float = 60.0
    end: End = "done"
    end_after: int = 0
    """Events that are sent before a `cut`, `reset` or `error`. Before the first event a reset is one of the connection."""
    error: Fault = Fault(status=529)
    """What an error event says."""


class Answer(Struct, frozen=True, kw_only=True):
    """What a model says."""

    text: str = ""
    thinking: str = ""
    """Signed, as the dialect does it; Chat Completions sends it as `reasoning_content`."""
    redacted: bool = False
    """Thinking comes without its text: `redacted_thinking`, or a reasoning item without a summary."""
    calls: tuple[Call, ...] = ()
    behind: str = ""
    """Text behind its calls, as some servers and models say it."""
    stop: Stop | None = None
    """`None`: `tool_calls` where there are any, `length` where the request's own cap cuts the text, else `end`."""
    usage: Mapping[str, Any] = {}
    """Keys of the usage that are said otherwise than counted; a value of `None` leaves the key out."""
    delivery: Delivery = Delivery()


class Received(Struct, frozen=True, kw_only=True):
    """One request that came."""

    dialect: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case, without those that carry keys."""
    body: bytes
    parsed: Any = None
    """The body as JSON; `None` where it is none."""
    tokens: int = 0
    """Of the whole input, after what the server edits."""
    tokens_cached: int = 0
    """Read from the prompt cache, as the usage says it."""
    tokens_written: int = 0
    """Written to the prompt cache."""
    tokens_shared: int = 0
    """Of the longest prefix that an earlier request had too, whatever the cache made of it."""
    extends: int | None = None
    """The newest earlier request all of which this one begins with; `None`: it broke every prefix, or is the first."""
    status: int = 0
    """0 while it is being answered."""
    refusal: str = ""
    """Why it was refused, as it was told."""


Step: TypeAlias = str | Answer | Fault
"""A text is an answer of that text."""
Script: TypeAlias = Callable[[Received], Step]
"""What decides by the request itself."""
