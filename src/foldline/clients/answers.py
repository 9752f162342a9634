"""An answer on its way back, read on the side: what passes to the caller is what came.

    bytes ──► caller
      └─────► events ──► response so far ──► taken in when it is whole

An answer that breaks off, or that its caller stops reading, is not taken in: the next request's list says what became of it.
Neither is one that cannot be heard, whatever its provider sends: reading on the side never raises, and never holds back a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from foldline.clients.following import Conversations
from foldline.clients.tickets import Ticket
from foldline.core.foreign import Raised, tried
from foldline.wire import strict
from foldline.wire.events import Events
from foldline.wire.streamed import streamed

ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024
"""An answer that came whole and is longer than this is not taken in."""
LIGHT_BYTES_MAX: Final = 64 * 1024
"""An answer that came whole and is no longer than this is read in well under a millisecond."""
ENDED: Final = ("finish_reason", "finishReason")


WAITING: Final = frozenset({"response.created", "response.in_progress", "response.queued", "ping"})
"""Events that say only that an answer may come: an overflow may still follow them (OpenAI answers 200, then refuses)."""
LAST: Final = frozenset(
    {"message_stop", "response.completed", "response.incomplete", "response.failed", "error"}
)
"""Events behind which nothing of an answer comes."""


class Heard:
    """One answer of a format, as far as it came: what was said and what it cost."""

    def __init__(self, format: str, *, is_stream: bool) -> None:
        self._format = format
        self._events = Events() if is_stream else None
        self._reader = streamed(format)
        self._data = bytearray()
        self._response: Any = None
        self.has_begun = not is_stream
        """True once it is known whether the answer came or a refusal in its place."""
        self.is_over = False
        """True once a stream has said its last event."""
        self.refusal: Any = None
        """What a stream began with in place of an answer, as the body of an error."""
        self.unheard: Raised | None = None
        """What was stumbled over, where something was: nothing of the answer is known then, and no more of it is heard."""

    @property
    def is_stream(self) -> bool:
        """True for server-sent events."""
        return self._events is not None

    @property
    def is_light(self) -> bool:
        """True where taking it in waits for nothing, and takes next to no time."""
        return len(self._data) <= LIGHT_BYTES_MAX

    def take(self, data: bytes) -> None:
        """Bytes as they came."""
        self._hear(lambda: self._take_bytes(data))

    def event(self, value: Mapping[str, Any]) -> None:
        """An event that came as a value."""
        self._hear(lambda: self._reader.take(value))

    def _hear(self, listen: Callable[[], Any]) -> None:
        told = None if self.unheard is not None else tried(listen)
        if isinstance(told, Raised):
            self.unheard, self.has_begun, self._response = told, True, {}

    def _take_bytes(self, data: bytes) -> None:
        if self._events is not None:
            for event in self._events.feed(data):
                self._take(event)
            self.is_over = self.is_over or self._events.has_ended
        elif len(self._data) <= ANSWER_BYTES_MAX:
            self._data += data

    def _take(self, event: Mapping[str, Any]) -> None:
        if not self.has_begun:
            self._begin(event)
        self._reader.take(event)
        self.is_over = self.is_over or _kind(event) in LAST

    def _begin(self, event: Mapping[str, Any]) -> None:
        kind = _kind(event)
        if kind in WAITING:
            return
        self.has_begun = True
        within = event.get("response") if kind == "response.failed" else event
        error = within.get("error") if isinstance(within, Mapping) else None
        if error or kind == "error":
            self.refusal = {"error": error or event}

    def response(self) -> Any:
        """The response, in the shape that it has when it comes whole; empty for what is none. Asked for at the end."""
        self._hear(self._end)
        return self._response

    def _end(self) -> None:
        if self._response is None:
            self._response = self._put_together()

    def _put_together(self) -> Any:
        if self._events is not None:
            for event in self._events.close():
                self._reader.take(event)
        elif self._data:
            try:
                whole = strict.loads(bytes(self._data))
            except ValueError:
                return {}
            if not isinstance(whole, list):
                return whole
            for event in whole:  # Gemini's stream without `alt=sse`: its events as one array
                self._reader.take(event if isinstance(event, dict) else {})
        return self._reader.response()


class Answer(Heard):
    """One answer in a conversation. `take` what came, then `end`."""

    def __init__(self, conversations: Conversations, ticket: Ticket, *, is_stream: bool) -> None:
        super().__init__(ticket.call.format, is_stream=is_stream)
        self._conversations, self._ticket = conversations, ticket
        self._has_ended = False

    @property
    def is_light(self) -> bool:
        """Without a session there is no log to be written, and none to be begun."""
        return super().is_light and self._ticket.chain.kept is None and not self._ticket.may_begin

    def end(self) -> Raised | None:
        """It came to its end, or its caller read no further: some leave a last line unread. Returns what went wrong here, where
        something did; the answer is its caller's all the same."""
        if self._has_ended:
            return None
        self._has_ended = True
        response = self.response()
        if self.unheard is not None:
            return self._conversations.left_out(self.unheard)
        if not is_complete(response, format=self._ticket.call.format):
            return None
        return self._conversations.answered(self._ticket, response)


def _kind(event: Mapping[str, Any]) -> str:
    kind = event.get("type")
    return kind if isinstance(kind, str) else ""


def is_complete(response: Any, *, format: str) -> bool:
    """True for an answer that says why it ended."""
    if not isinstance(response, (dict, Mapping)):  # asking a class is slow
        return False
    match format:
        case "anthropic":
            return response.get("stop_reason") is not None
        case "openai-responses":
            return response.get("status") in ("completed", "incomplete")
        case _:
            choices = response.get("choices", response.get("candidates"))
            first = choices[0] if isinstance(choices, list) and choices else {}
            return isinstance(first, (dict, Mapping)) and any(first.get(key) is not None for key in ENDED)


def refusal_of(data: bytes | str) -> Any:
    """The body of a refusal: its JSON, or its text."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    try:
        return strict.loads(text.encode("utf-8", "replace"))
    except ValueError:
        return text
