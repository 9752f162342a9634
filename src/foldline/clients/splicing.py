"""Streamed answers to one request that reach its caller as one: what is said goes out as it comes, what may be a call of `recall` does not.

    answer 1   opening  text  text ┆ call of recall  end                        ┆ held from here on, answered inside
    answer 2                       ┆ opening  text  text ┆ end                  ┆ held until it is known that nothing is called
    caller     opening  text  text              text  text  end

An answer is held back from its first tool call on, or from what ends it: a call beside one of recall is not run, and what a model says
behind its calls goes out with them, or once they were answered, without them. The first answer goes out in its very bytes; of one behind it those events are written anew that say a place, a number
or an id. Sans IO: bytes in, bytes out. What differs between the formats is `foldline.clients.dialects`'; who asks on is the proxy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from foldline.clients.calls import Call, plain
from foldline.clients.dialects import DIALECTS, Event, Kind
from foldline.wire import strict
from foldline.wire.events import EVENT_BYTES_MAX, Events

_FRAME_END: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n|\Z)){2}")
_DATA: Final = b"data:"
ENDED: Final[Kind] = "ends"


def is_one_answer(call: Call) -> bool:
    """True for a request of one answer; several come woven into each other."""
    config = plain(call.body.get("generationConfig"))
    told = config.get("candidateCount") if isinstance(config, dict) else None
    return all(count in (None, 1) for count in (plain(call.body.get("n")), told))


class Splice:
    """All that is said to one request. Mutable; of one reader."""

    def __init__(self, format: str) -> None:
        self._made = DIALECTS[format]
        self._dialect = self._made()
        self._has_said = self._is_behind = False
        self._begin()

    def _begin(self) -> None:
        """Of one answer."""
        self._rest, self._looked = b"", 0
        self._held: list[bytes] = []
        """In their bytes alone: a long call comes in thousands of events."""
        self.calls = False
        """True where a call is held back."""
        self._is_shut = False
        """True while nothing goes out, since it calls or ends."""
        self._is_free = False
        """True once all that comes goes out at once."""

    @property
    def is_quiet(self) -> bool:
        """True while something may be held back, or left out."""
        return bool(self._held) or self._is_behind

    def take(self, data: bytes) -> bytes:
        """Bytes of an answer, as they came; what goes out now: whole events."""
        self._rest += data
        ready, start = [], 0
        for end in _FRAME_END.finditer(self._rest, self._looked):
            ready.append(self._frame(self._rest[start : end.end()]))
            start = end.end()
        self._rest = self._rest[start:]
        self._looked = max(0, len(self._rest) - len(b"\r\n\r"))
        if len(self._rest) > EVENT_BYTES_MAX:
            ready.append(self.close())
        return b"".join(ready)

    def close(self) -> bytes:
        """The answer has come; some servers leave out the last blank line."""
        rest, self._rest, self._looked = self._rest, b"", 0
        return self._frame(rest) if rest else b""

    def released(self) -> bytes:
        """It is the caller's: what was held goes out, and what follows at once."""
        self._is_free = True
        if self._is_behind:
            return self._flushed()
        return b"".join(self._let_go())

    def goes_on(self) -> bytes:
        """It was answered inside, and another one follows: what it said is said, its calls and its end are not."""
        said = self._beside_calls() if self.calls else b""
        if self._has_said:
            self._dialect.go_on()
        else:
            self._dialect = self._made()
        self._is_behind = self._has_said
        self._begin()
        return said

    def _beside_calls(self) -> bytes:
        """What is held, without the calls in it; nothing where it says nothing."""
        frames = [
            (raw, event) for raw, event in ((raw, _read(raw)[0]) for raw in self._held) if event is not None
        ]
        kept = self._dialect.beside_calls([event for _, event in frames])
        if not any(event is not None and self._dialect.kind(event) == "says" for event in kept):
            return b""
        self._has_said = True
        told = [None if event is None else self._dialect.told(event) for event in kept]
        return b"".join(
            _written(raw, made, came=event) for (raw, event), made in zip(frames, told, strict=True)
        )

    def _frame(self, raw: bytes) -> bytes:
        event, is_last = _read(raw)
        kind = self._dialect.kind(event) if event is not None else ENDED if is_last else "passes"
        if kind == "breaks":
            return self._broken(raw, event)
        if not self._is_free and self._is_to_be_held(kind):
            self.calls = self.calls or kind == "calls"
            self._is_shut = self._is_shut or kind in ("calls", ENDED)
            self._held.append(raw)
            return b""
        self._has_said = self._has_said or kind == "says"
        return self._flushed() + self._said(raw, event)

    def _is_to_be_held(self, kind: Kind) -> bool:
        return self._is_shut or kind in ("waits", "calls", ENDED) or (kind == "passes" and bool(self._held))

    def _broken(self, raw: bytes, event: Event | None) -> bytes:
        """The answer ends in an error: none of its calls is made, and nothing more is held."""
        said = self._beside_calls() if self.calls else b""
        if self.calls:
            self._let_go()
        return said + self.released() + self._said(raw, event)

    def _flushed(self) -> bytes:
        return b"".join(self._said(raw, _read(raw)[0]) for raw in self._let_go())

    def _let_go(self) -> list[bytes]:
        held, self._held, self.calls = self._held, [], False
        return held

    def _said(self, raw: bytes, event: Event | None) -> bytes:
        return raw if event is None else _written(raw, self._dialect.told(event), came=event)


def _read(raw: bytes) -> tuple[Event | None, bool]:
    """The event in some lines, if it is one, and whether they say that the stream is over."""
    events = Events()
    return next(iter(events.feed(raw + b"\n\n")), None), events.has_ended


def _written(raw: bytes, event: Mapping[str, Any] | None, *, came: Event | None) -> bytes:
    """An event in its own bytes, or with other data on one line; nothing for one that is not said."""
    if event is came:
        return raw
    if event is None:
        return b""
    lines = raw.splitlines(keepends=True)
    first = next(place for place, line in enumerate(lines) if line.startswith(_DATA))
    end = lines[first][len(lines[first].rstrip(b"\r\n")) :]
    lines[first] = b"%b %b%b" % (_DATA, strict.dump(event), end)
    return b"".join(line for place, line in enumerate(lines) if place == first or not line.startswith(_DATA))
