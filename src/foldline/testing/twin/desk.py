"""What all dialects of one twin share: its settings, its script, its cache, and the record of what came.

A dialect is one function a route: it is given the desk and what arrived, and gives a `Response` or raises `Refused`. Threads
meet here: whatever they share is changed under one lock. Counterpart: `foldline.testing.twin.server`, which owns the sockets.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypedDict

import msgspec
from msgspec import Struct

from foldline.testing.twin import overflow
from foldline.testing.twin.cache import Cached, PromptCache
from foldline.testing.twin.measure import Scales
from foldline.testing.twin.script import Answer, Delivery, Fault, Received, Script, Step
from foldline.tokens.models import Model, looked_up

MODEL_UNKNOWN: Final = "model"
"""Taken where a request names none."""
SECRET_HEADERS: Final = frozenset(
    {"authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "proxy-authorization"}
)


class Settings(Struct, frozen=True, kw_only=True):
    """What a twin is, beside its script."""

    window: int | None = None
    """Tokens of input and output; `None`: the named model's own."""
    output_max: int | None = None
    """Most output tokens that a request may want; `None`: the model's own."""
    provider: str | None = None
    """Whose words are used for an overflow; `None`: the dialect's own provider."""
    cache_tokens_min: int = 1_024
    """A shorter prefix is not cached."""
    binds_thinking: bool = False
    """True: signed thinking is good only behind the conversation it was made in, as newer Claude models have it."""
    truncates: bool = False
    """True: an input that is too long is cut without a word, and the usage says what was read of it, as Ollama does."""


class Options(TypedDict, total=False):
    """The fields of `Settings`, as keywords of a `Twin`."""

    window: int | None
    output_max: int | None
    provider: str | None
    cache_tokens_min: int
    binds_thinking: bool
    truncates: bool


class Arrival(Struct, frozen=True, kw_only=True):
    """A request as it came."""

    dialect: str
    path: str
    query: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    parsed: dict[str, Any]
    number: int
    """Which of the twin's requests it is, from 0."""


class Response(Struct, frozen=True, kw_only=True):
    """What is sent back: a JSON value, or the frames of a stream."""

    body: Any = None
    frames: tuple[bytes, ...] | None = None
    kind: str = "text/event-stream; charset=utf-8"
    """Content type of the frames."""
    ping: bytes = b": ping\n\n"
    error: bytes = b""
    """The frame of an error event, where the delivery ends in one."""
    delivery: Delivery = Delivery()


class ScriptedFault(Exception):
    """The script wants an error here."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.message)


class Desk:
    """The state of one twin."""

    def __init__(
        self, script: Iterable[Step | Script], *, settings: Settings, summaries: Iterable[str | None]
    ) -> None:
        self.settings = settings
        self.cache = PromptCache(settings.cache_tokens_min)
        self.stored: dict[str, list[Any]] = {}
        """By the id of a response: the conversation that led to it and its output."""
        self.threads: dict[str, dict[str, Any]] = {}
        """By the id of a response: the conversation that Anthropic holds."""
        self.continued: set[str] = set()
        """Responses that a thread went on from."""
        self.received: list[Received] = []
        self.changed = threading.Condition()
        self._script = iter(script)
        self._summaries = iter(summaries)
        self._scales: dict[tuple[str, str], Scales] = {}
        self._numbers = itertools.count(1)

    def scales(self, format: str, name: str) -> Scales:
        """The scales for a model."""
        with self.changed:
            return self._scales.setdefault((format, name), Scales(format, name))

    def model(self, name: str) -> Model:
        """What is known of a model; of an unknown one, without a word, the default."""
        return looked_up(name)[0]

    def window(self, name: str) -> int:
        """Tokens that a request may take."""
        return self.settings.window or self.model(name).max_input

    def id(self, prefix: str) -> str:
        """An id of the twin's own; no two are alike."""
        with self.changed:
            return f"{prefix}{next(self._numbers):024d}"

    def step(self, number: int) -> Answer:
        """The next answer of the script. Raises `ScriptedFault` where an error stands there."""
        with self.changed:
            step = next(self._script, None)
            received = self.received[number]
        if callable(step):  # outside the lock: it may wait for another request
            step = step(received)
        if step is None:
            raise ScriptedFault(EXHAUSTED)
        if isinstance(step, Fault):
            raise ScriptedFault(step)
        return Answer(text=step) if isinstance(step, str) else step

    def summary(self, default: str) -> str | None:
        """What the server's own compaction writes; `None` for one that failed."""
        with self.changed:
            return next(self._summaries, default)

    def note(self, number: int, **changes: Any) -> None:
        """Adds to the record of a request."""
        with self.changed:
            self.received[number] = msgspec.structs.replace(self.received[number], **changes)
            self.changed.notify_all()

    def note_cached(self, number: int, cached: Cached) -> Cached:
        """Adds what the cache made of a request."""
        told = {"tokens_cached": cached.read, "tokens_written": cached.written}
        self.note(number, **told, tokens_shared=cached.shared, extends=cached.extends)
        return cached

    def fit(self, sizes: overflow.Sizes, *, provider: str) -> int:
        """Tokens of the input that is read. Raises `Refused` where it does not fit."""
        if self.settings.truncates:
            return sizes.input if sizes.input <= sizes.limit else sizes.limit // 2
        refused = overflow.over(sizes, provider=self.settings.provider or provider)
        if refused is not None:
            raise refused
        return sizes.input


EXHAUSTED: Final = Fault(
    status=500,
    message="the twin's script has no step left for this request; add one, or give an endless script",
    headers={"x-should-retry": "false"},
)
"""What is said when the script is at its end: an error that no client retries."""


def shown_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers in lower case, without those that carry keys."""
    return {name.lower(): value for name, value in headers if name.lower() not in SECRET_HEADERS}


def endless(*steps: Step | Script) -> Iterator[Step | Script]:
    """A script that begins anew at its end."""
    return itertools.cycle(steps)
