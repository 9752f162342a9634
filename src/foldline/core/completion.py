"""What a pass asks of a model, and what it is told: the values between a pass and whoever drives it.

A pass yields an `Ask` and is sent a `Reply`; both speak of messages. Counterpart: `foldline.wire.completion`, the same in wire
form, which is what a caller's completer sees.

    pass ──Ask──► driver ──CompletionRequest──► completer ──text, deltas or reply──► driver ──Reply──► pass
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from msgspec import Struct

from foldline.core.message import Message, ToolCall, Usage
from foldline.core.view import Item, View

if TYPE_CHECKING:
    from foldline.core.edit import Frame, Plan
    from foldline.core.ports import Moment

Purpose: TypeAlias = Literal["summary", "segment", "chunk"]
"""What the text is for: a whole summary · one segment of a collapse · a piece of a summary whose source is too long."""


class Ask(Struct, frozen=True, kw_only=True):
    """What a pass wants written."""

    messages: tuple[Message, ...]
    """What is to be read, in order; nothing in it is an instruction to foldline. Of a fork, what comes behind `live`."""
    instruction: str
    """What is to be written, sent as the last user message."""
    purpose: Purpose = "summary"
    is_fork: bool = False
    """True: system prompt, tools and everything else as in the request that would be sent, so that the provider's prefix
    cache is hit (requirement CMP-2). False: a call of its own, without tools."""
    live: tuple[Item, ...] = ()
    """Of a fork, the view it goes on from, with placeholders for images; encoded as the conversation's own request."""
    system: str | None = None
    """The system prompt of a call of its own; a fork has the conversation's."""
    output_cap: int | None = None
    """Most output tokens that are wanted; `None`: as the conversation's own requests (always, of a fork)."""
    attempt: int = 1
    """From 1; what a completer's caller may show."""


class Reply(Struct, frozen=True, kw_only=True):
    """What came back, whole."""

    text: str = ""
    reasoning: str = ""
    stop_reason: str | None = None
    """As the provider spells it."""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    is_open: bool = False
    """True where a provider's answer, or a reply object, has a place for its ending and names none: it broke off. A plain text has
    no such place; whoever hands one over vouches for it."""
    messages: tuple[Message, ...] = ()
    """The model's message as it came, where the completer gives it: what a refused call is sent back in, with the signed
    reasoning before it."""
    notes: tuple[str, ...] = ()
    """What the completer had to do to what it was asked, for a person: a conversation told in another format."""
    error: str = ""
    """What kept a reply from coming, for a person, without a secret in it; empty when one came."""
    is_overflow: bool = False
    """True where the error says that the request was too long."""


FailureName: TypeAlias = Literal[
    "empty",
    "cut_off",
    "unfinished",
    "refused",
    "acknowledgement",
    "only_analysis",
    "tool_call",
    "copy",
    "repetition",
    "wrong_language",
    "too_large",
    "small_gain",
    "over_threshold",
    "below_floor",
    "provider_error",
    "overflow",
]
"""Why a text is no summary."""
FAILURES: Mapping[FailureName, str] = {
    "empty": "no text came",
    "cut_off": "the reply ended at the output limit, or stopped and never said that it had ended",
    "unfinished": "the provider ended it for another reason than that it was done: an error, an abort, a pause, a word not known here",
    "refused": "the provider or the model declined",
    "acknowledgement": "it said that it understood, or that it was ready, and no more",
    "only_analysis": "it thought, and wrote no summary",
    "tool_call": "it called tools in every round, or wrote a call as text",
    "copy": "it repeated what was to be summed up",
    "repetition": "it said the same again and again",
    "wrong_language": "it is plainly not in the language the user writes",
    "too_large": "it is no smaller than what it replaces, or larger than its room",
    "small_gain": "what stands afterwards is larger than the bound on what replaces a history, or the request would be due again "
    "with hardly less in it",
    "over_threshold": "the request would be due again at once",
    "below_floor": "too little of what left would be kept, and the host could not put it back",
    "provider_error": "the request failed",
    "overflow": "the provider says that the request for the summary was too long itself",
}
"""Each in a sentence; `docs/reference/report.md` is made of them."""


class Failure(Struct, frozen=True, kw_only=True, gc=False):
    """One attempt that came to nothing."""

    name: FailureName
    """One of the names of failures."""
    attempt: int
    """From 1."""
    why: str
    """For a person; quotes at most a line of what the model or the provider said."""


class Asked(Struct, frozen=True, kw_only=True):
    """What a pass asked and how that went: for the report, and for whoever counts failures."""

    form: str
    """What was to be written, as the pass names it."""
    requests: int = 0
    """Requests made, of refused calls, attempts and chunks all."""
    attempts: int = 0
    tokens_source: int = 0
    """Tokens of what was to be summed up."""
    tokens_seen: int = 0
    """How many of them the model was shown in the attempt that counts."""
    failures: tuple[Failure, ...] = ()
    is_written: bool = False
    """True where a text was taken."""
    notes: tuple[str, ...] = ()
    """What completers had to say of the requests, each once."""
    usage: Usage | None = None
    """What the requests cost together, as far as the provider said."""


def noted(notes: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Several requests' notes, each once."""
    return tuple(dict.fromkeys(note for some in notes for note in some))


def spent(usages: Iterable[Usage | None]) -> Usage | None:
    """Several requests' usage as one; `None` where none of them said."""
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    return Usage(
        tokens_input=sum(usage.tokens_input for usage in known),
        tokens_output=sum(usage.tokens_output for usage in known),
        tokens_cache_read=sum(usage.tokens_cache_read for usage in known),
        tokens_cache_write=sum(usage.tokens_cache_write for usage in known),
    )


Planning: TypeAlias = "Generator[Ask, Reply, Plan]"


class ModelPass(Protocol):
    """A pass that must ask a model. As `Pass`, but its plan comes by way of questions: each `Ask` it yields is answered by
    a `Reply`, in order. Closing the generator between two of them gives the compaction up; nothing has changed then."""

    @property
    def name(self) -> str:
        """As the report names it."""
        ...

    def asking(self, view: View, moment: Moment, *, frame: Frame) -> Planning:
        """Edits for this view, asked for. Never changes the view."""
        ...
