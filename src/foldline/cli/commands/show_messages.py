"""`foldline show FILE`: the messages of a file, a page at a time.

Owns the page of a file; that of a durable session is `show_history`'s. What is shown is what the model would be sent
next, each message with the address that opens it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from foldline.cli import exits, report, screen
from foldline.cli.commands.show_history import CHARS_MAX, said_by, words_of
from foldline.cli.layout import plural, title
from foldline.cli.options import Source

if TYPE_CHECKING:
    from rich.console import RenderableType

    from foldline.core.message import Message
    from foldline.ledger.numbering import Numbered
    from foldline.transcripts.transcript import Transcript


def show_messages(source: Source, *, before: int | None, limit: int) -> int:
    """The newest page of a file's one conversation, or the one before a message, oldest first."""
    from foldline.lookup import told_of

    transcripts = source.read()
    if len(transcripts) > 1:
        raise click.UsageError(
            f"{source.name} holds {plural(len(transcripts), 'conversation')}; take one with --select N, from 0, "
            "or with its id",
            click.get_current_context(),
        )
    [transcript] = transcripts
    end = len(transcript.messages) if before is None else max(0, min(before, len(transcript.messages)))
    start = max(0, end - limit)
    older = start or None
    if source.as_json:
        screen.write_document(_document(transcript, source.name, numbers=range(start, end), before=older))
        return exits.DONE
    blocks: list[RenderableType] = []
    numbers = transcript.numbers
    for number in range(start, end):
        message = transcript.messages[number]
        address = _address(transcript, number, place=numbers[number])
        where = " · ".join(filter(None, (f"message {number}", address)))
        blocks += [title(said_by(message), where, style="bold"), words_of(message), ""]
    screen.show(*blocks)
    if start == end:
        screen.say(f"{source.name} says nothing{' before that' if before is not None else ''}")
    elif older is not None:
        screen.say(f"older: foldline show {source.file} --before {older}")
    if any(len(told_of(part)) > CHARS_MAX for m in transcript.messages[start:end] for part in m.parts):
        screen.say(f"long parts are cut; foldline show {source.file} ADDRESS prints a message whole")
    for note in report.notes_of(transcripts):
        screen.say(note)
    return exits.DONE


def _document(transcript: Transcript, file: str, *, numbers: range, before: int | None) -> dict[str, Any]:
    from foldline.session.history import wire_of

    places = transcript.numbers
    return {
        "schema": "foldline.messages/1",
        "file": file,
        "format": transcript.format,
        "messages": [
            {
                "number": number,
                "address": _address(transcript, number, place=places[number]),
                "message": wire_of(transcript.messages[number], transcript.wire),
            }
            for number in numbers
        ],
        "before": before,
    }


def _address(transcript: Transcript, number: int, *, place: Numbered) -> str | None:
    """What opens a message as it was said; `None` for one that stands for others, which it names itself."""
    from foldline.core.address import span_address

    message = transcript.messages[number]
    if place.covers or message.synthetic is not None:
        return None
    original: Message = transcript.history[place.ordinal] if transcript.history else message
    return span_address([(place.ordinal, original)])
