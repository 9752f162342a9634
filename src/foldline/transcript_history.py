"""A transcript as the engine takes it: one request, repaired for a wire format and weighed.

Counterparts: `foldline.files`, which reduces and converts it; `foldline.lookup` and `foldline.distribution`, which look at it.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from foldline.core.mending import mended
from foldline.core.message import Message
from foldline.core.needs import Needs
from foldline.core.ports import TokenCounter
from foldline.core.received import received
from foldline.ledger.numbering import Numbered
from foldline.outgoing import fixed_tokens
from foldline.reduce import History, history_of, renumbered
from foldline.transcripts.transcript import Transcript
from foldline.wire.body import declared_limits
from foldline.wire.codec import Request
from foldline.wire.formats import CODECS, codec

ANY_SPELLING: Final[Any] = {key: getattr(Needs(), key) for key in ("ids_max", "ids_pattern", "names_pattern")}
"""Of the demands, those on ids and names, as they are where no provider is meant."""


def history_for(
    transcript: Transcript, counter: TokenCounter, *, wire: str, tail_stays_open: bool | None = None
) -> History:
    """A transcript repaired for a wire format and weighed. The session of another tool is over: what has no result
    will get none; a request body may still be waiting for it. `tail_stays_open`: whether it may (left out: a request body
    alone)."""
    stays_open = transcript.format in CODECS if tail_stays_open is None else tail_stays_open
    needs = replace(codec(wire).rules.needs_for(transcript.model), tail_stays_open=stays_open)
    if source_format(transcript) != wire:
        # conversion makes one message of a run of the assistant's, and spells anew
        needs = replace(
            needs,
            results_follow=False,
            items=True,
            reasoning_first=False,
            reasoning_signed=False,
            **ANY_SPELLING,
        )
    request = request_of(transcript, transcript.messages, format=wire)
    said = transcript.history
    history = history_of(
        transcript.messages,
        needs=needs,
        counter=counter,
        tokens_fixed=fixed_tokens(request, counter),
        numbers=() if said else None,
    )
    if said:
        originals = tuple([received(message) for message in said])
        history = renumbered(history, transcript.numbers, originals=originals)
    return replace(history, limits=declared_limits(transcript.tools))


def by_places(transcript: Transcript) -> Transcript:
    """The same, its messages counted by their places, as a log will count them that is made of it, and not by folds among them."""
    if transcript.history:
        return transcript
    numbers = tuple([Numbered(ordinal=place) for place in range(len(transcript.messages))])
    return replace(transcript, history=transcript.messages, numbered=numbers)


def is_gone_on_with(transcript: Transcript) -> bool:
    """Whether a call at the end may still get its result: a request body is one of many, and a durable session is opened
    again; the session of another tool is over."""
    return transcript.format in (*CODECS, "foldline")


def source_format(transcript: Transcript) -> str:
    """The wire format of a transcript's messages; empty when a reader made them of no wire's values."""
    return next((message.format for message in transcript.messages if message.format), "")


def request_of(transcript: Transcript, messages: tuple[Message, ...], *, format: str) -> Request:
    """Its messages, or others in their place, as a request of a wire format, with its system prompt and tools."""
    system = mended(transcript.system) if transcript.system is not None else None
    return Request(format=format, messages=messages, system=system, tools=transcript.tools)


def tokens_of(request: Request, counter: TokenCounter) -> int:
    """Tokens of a whole request."""
    weights = counter.weights_of(request.messages)
    return fixed_tokens(request, counter) + sum(overhead + sum(parts) for parts, overhead in weights)
