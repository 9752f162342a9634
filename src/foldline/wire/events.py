"""Server-sent events: the JSON values in a stream of bytes, however it was cut into pieces.

Owns the framing alone: lines, `data:`, blank lines. What an event says is `foldline.wire.streamed`'s to read. Every provider
streams so; Gemini where `alt=sse` is asked for, as its SDK does.

    b'event: x\\ndata: {"a"' │ b':1}\\n\\ndata: [DONE]\\n\\n'   ──►   {"a": 1}
"""

from __future__ import annotations

import re
from typing import Any, Final

from foldline.wire import strict

EVENT_BYTES_MAX: Final = 16 * 1024 * 1024
"""An event longer than this is passed over: no provider sends one, and memory has an end."""
_LINE_END: Final = re.compile(rb"\r\n|\n|\r(?!\Z)")
_END_OF_STREAM: Final = b"[DONE]"


class Events:
    """A stream under way. Mutable; of one reader."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self.passed_over = 0
        """Events that were no JSON object, or too long."""
        self.has_ended = False
        """True once the stream said so itself, as OpenAI's does."""

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The events that are whole with these bytes, in order."""
        *lines, self._rest = _LINE_END.split(self._rest + data)
        found = []
        for line in lines:
            if line.startswith(b"data:"):
                self._size += len(line)
                if self._size <= EVENT_BYTES_MAX:
                    self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._size and (event := self._whole()) is not None:
                found.append(event)
        if len(self._rest) > EVENT_BYTES_MAX:
            self._rest, self._size = b"", EVENT_BYTES_MAX + 1
        return found

    def close(self) -> list[dict[str, Any]]:
        """What the stream's end makes whole: some servers leave out the last blank line."""
        return self.feed(b"\n\n")

    def _whole(self) -> dict[str, Any] | None:
        data, size = b"\n".join(self._data), self._size
        self._data, self._size = [], 0
        self.has_ended = self.has_ended or data == _END_OF_STREAM
        if data == _END_OF_STREAM:
            return None
        try:
            value = strict.loads(data) if size <= EVENT_BYTES_MAX else None
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
        self.passed_over += 1
        return None
