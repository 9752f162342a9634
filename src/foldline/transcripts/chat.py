"""Messages of OpenAI's chat format inside other people's documents.

Owns what `openhands`, `tau-bench` and `wire_file` share: slices of a document become messages through the codec, with
the place named when one is no message. Knows nothing of those documents.
"""

from __future__ import annotations

from collections.abc import Iterable

from foldline.core.message import Message
from foldline.transcripts.document import unreadable
from foldline.transcripts.source import Source
from foldline.wire import strict
from foldline.wire.formats import codec, settle


def decode_all(source: Source, slices: Iterable[bytes], *, wire: str, at: str) -> tuple[Message, ...]:
    """Each slice as a message of format `wire`; raises `InvalidTranscript` naming the place, `at[index]`."""
    reading = codec(wire)
    messages: list[Message] = []
    for index, data in enumerate(slices):
        try:
            strict.loads(data)
            messages.append(reading.decode(data))
            source.took(len(data))
        except ValueError as error:  # what is no JSON (BadJson) and what is no message
            raise unreadable(source, str(error), at=f"{at}[{index}]") from error
    return settle(wire, messages)
