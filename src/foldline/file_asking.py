"""Asking a model about a session file: what of a transcript a completer is shown, in which wire format.

A transcript's messages are in one wire's own shape, or in none: then they are converted, as `foldline.files` does when it writes.
Signed reasoning stays behind.
Counterpart for a caller's own list: `foldline.api`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from foldline.asking import Basis, answering
from foldline.core.completion import Ask, Reply
from foldline.core.message import Message, Part, Reasoning
from foldline.core.view import Item
from foldline.ledger.numbering import follows_in
from foldline.transcripts.transcript import Transcript
from foldline.wire import strict
from foldline.wire.completion import Completer
from foldline.wire.formats import CODECS, DEFAULT
from foldline.wire.tools import convert_tools


def answering_for(
    transcript: Transcript, completer: Completer, *, on_delta: Callable[[str], None] | None = None
) -> Callable[[Ask], Reply]:
    """What answers the questions of a compaction of this transcript."""
    own = next((message.format for message in transcript.messages if message.format in CODECS), "")
    format = own or (transcript.wire if transcript.wire in CODECS else DEFAULT)
    system = transcript.system.text if transcript.system is not None else None
    follows = follows_in(transcript.numbers)
    basis = Basis(format=format, system=system, tools=_tools(transcript, format), follows=follows)
    answer = answering(completer, basis, on_delta=on_delta)
    return lambda ask: answer(_unsigned(ask) if own else _converted(_unsigned(ask)))


def _unsigned(ask: Ask) -> Ask:
    """The question without reasoning that a provider signed: whoever is asked about a file need not be who signed it, and
    refuses what it did not sign."""
    items = [item if not _signed(item.message) else _without_signed(item) for item in ask.live]
    return replace(ask, live=tuple(item for item in items if item.message.parts))


def _signed(message: Message) -> bool:
    return any(_is_signed(part) for part in message.parts)


def _is_signed(part: Part) -> bool:
    return isinstance(part, Reasoning) and (part.signature is not None or part.redacted)


def _without_signed(item: Item) -> Item:
    parts = tuple(part for part in item.message.parts if not _is_signed(part))
    return replace(item, message=replace(item.message, parts=parts, edited=True))


def _converted(ask: Ask) -> Ask:
    """The question with the view among what is converted: its messages are in no wire's shape."""
    return replace(ask, live=(), messages=(*(item.message for item in ask.live), *ask.messages))


def _tools(transcript: Transcript, format: str) -> list[Any] | None:
    tools, _ = convert_tools(transcript.tools, to=format)
    return None if tools is None else list(strict.parse(tools))
