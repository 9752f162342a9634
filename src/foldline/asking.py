"""Between a pass that asks and a completer that answers: an `Ask` becomes a request in wire form, whatever comes back a `Reply`.

    Ask ──► CompletionRequest ──► completer ──► text · deltas · reply object · the SDK's response ──► Reply

A fork is encoded as the conversation's own request is, so that it extends it byte for byte; a call of its own stands alone.
What a completer raises is a reply that says so, without a secret in it; what is no fault (an abort, a cancelled task) goes
through. Counterparts: `foldline.core.completion` and `foldline.wire.completion`, the values on both sides.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.completion import Ask, Reply
from foldline.core.errors import InvalidOption
from foldline.core.foreign import Raised, atried, tried
from foldline.core.message import Message, ToolCall, Usage, calls_of
from foldline.engine.driving import Done, Owed, step
from foldline.log.secrets import find
from foldline.outgoing import joined
from foldline.own_loop import is_in_a_loop, is_of_another_loop, waited
from foldline.reduce import Goal
from foldline.threads import off
from foldline.wire import strict
from foldline.wire.codec import Request, Rules
from foldline.wire.completion import AsyncCompleter, Completer, CompletionRequest, Delta
from foldline.wire.convert import convert
from foldline.wire.formats import codec
from foldline.wire.overflow import classify_error
from foldline.wire.response import read_response
from foldline.wire.usage import SHAPES, read_usage

FOCUS_NOTE = "focus has no effect without a model to write the summary"
UNASKED_NOTE = "policy {} never asks a model: none was asked"
PIECES_MAX = 1_000_000
"""Deltas of one reply; more is no reply."""
WITHHELD = "…"
"""Stands in an error where a secret stood."""
NO_COMPLETER = "give a function that takes a CompletionRequest and returns the text, deltas or a reply"
IN_A_LOOP = (
    "it awaits, and waiting for it here would hold up the event loop that runs in this thread; await acompact, or the twin of what "
    "you called whose name begins with a"
)
ANOTHER_LOOP = (
    "its client was used in another event loop before, and its connections belong to that one; give each loop a client of its own, or "
    "take a sync client"
)

Told = TypeVar("Told")
Question = TypeVar("Question")
Answer = TypeVar("Answer")
Listen = Callable[[str], None]


class Basis(Struct, frozen=True, kw_only=True):
    """What the conversation's own requests have, and a fork of it shares."""

    format: str
    model: str | None = None
    system: Any = None
    """In the format's own shape, as everything here."""
    tools: list[Any] | None = None
    rules: Rules | None = None
    """Where they are not the format's own (`foldline.wire.formats.PLAIN`)."""
    follows: Mapping[int, int] | None = None
    """As `foldline.outgoing.joined` takes it: by ordinal, the one that came next."""


def answering(
    completer: Completer, basis: Basis, *, on_delta: Listen | None = None
) -> Callable[[Ask], Reply]:
    """What answers an `Ask` by calling `completer`. `on_delta` gets each piece of text and reasoning as it comes. One that awaits
    is waited for in foldline's own event loop. Raises `InvalidOption` where the completer is none, or awaits and the caller's
    own event loop would be held up."""
    _check(completer)

    def answer(ask: Ask) -> Reply:
        request = request_of(ask, basis)
        return _judged(tried(lambda: _read(completer(request), request, on_delta=on_delta)))

    return answer


def aanswering(
    completer: AsyncCompleter, basis: Basis, *, on_delta: Listen | None = None
) -> Callable[[Ask], Awaitable[Reply]]:
    """As `answering`, for a completer that may await; one that does not is called off the event loop."""
    _check(completer)
    awaits = awaited(completer)

    async def answer(ask: Ask) -> Reply:
        return _judged(await atried(called(request_of(ask, basis))))

    async def called(request: CompletionRequest) -> Reply:
        given = completer(request) if awaits else await off(completer, request)
        return await _alater(given, request, on_delta=on_delta)

    return answer


def _judged(told: Reply | Raised) -> Reply:
    """The reply, or what the completer raised as one. What is no reply at all is the caller's mistake, and raised."""
    if not isinstance(told, Raised):
        return told
    if isinstance(told.error, InvalidOption):
        raise told.error
    if is_of_another_loop(told.error):
        raise InvalidOption("completer", None, why=ANOTHER_LOOP) from told.error
    return failed(told.error)


async def adriven(
    asking: Generator[Question, Answer, Told],
    answer: Callable[[Question], Awaitable[Answer]],
    *,
    owed: Owed = lambda asked: None,
) -> Told:
    """As `foldline.engine.driving.drive`, awaiting the answers, with everything between them off the event loop. Cancelled, it waits for what
    runs, and gives up; but what is owed, since what it belongs to is done, is still asked: the answer that is waited for is
    given up for the one that `owed` gives, and the task is cancelled behind the last."""
    reply: Answer | None = None
    cancelled: asyncio.CancelledError | None = None
    try:
        while True:
            going = asyncio.ensure_future(off(step, asking, reply))
            try:
                asked = await asyncio.shield(going)
            except asyncio.CancelledError as error:
                await asyncio.wait([going])
                asked, cancelled = going.result(), error
                if not isinstance(asked, Done) and owed(asked) is None:
                    raise
            if isinstance(asked, Done):
                if cancelled is not None:
                    raise cancelled
                told: Told = asked.value
                return told
            try:
                reply = await answer(asked)
            except asyncio.CancelledError as error:
                cancelled, reply = error, owed(asked)
                if reply is None:
                    raise
    finally:
        asking.close()


def asking_notes(goal: Goal) -> tuple[str, ...]:
    """What a person should know of a focus that nobody hears, or a model that nobody asks."""
    asks = goal.has_model and bool(goal.policy.asking)
    unheard = (FOCUS_NOTE,) if goal.focus and not asks else ()
    return (*unheard, *((UNASKED_NOTE.format(goal.policy.name),) if goal.has_model and not asks else ()))


def _check(completer: object) -> None:
    if not callable(completer):
        raise InvalidOption("completer", completer, why=NO_COMPLETER)


def awaited(completer: object) -> bool:
    """True for a completer that is known to await: a coroutine function, or one over an async client."""
    if getattr(completer, "awaits", False) is True:
        return True
    called = inspect.getattr_static(completer, "__call__", None)
    return any(
        test(one)
        for test in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        for one in (completer, called)
    )


# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────


def request_of(ask: Ask, basis: Basis) -> CompletionRequest:
    """The request in wire form. The messages of a fork's view are encoded as the conversation's own request has them."""
    reader = codec(basis.format)
    sent: list[Message] = []
    if ask.is_fork:
        sent = joined(ask.live, reader, rules=basis.rules or reader.rules, follows=basis.follows)
    messages = [*sent, *_in_format(ask.messages, basis.format)]
    return CompletionRequest(
        format=basis.format,
        model=basis.model,
        system=basis.system if ask.is_fork else ask.system,
        tools=basis.tools if ask.is_fork else None,
        messages=[reader.encode(message) for message in messages],
        instruction=ask.instruction,
        purpose=ask.purpose,
        is_fork=ask.is_fork,
        output_cap=ask.output_cap,
        attempt=ask.attempt,
    )


def _in_format(messages: tuple[Message, ...], format: str) -> tuple[Message, ...]:
    """Messages made here, as the format has them."""
    if not messages:
        return ()
    return convert(Request(format="", messages=messages, system=None, tools=None), format).request.messages


# ── what comes back ──────────────────────────────────────────────────────────────────────────────────────────


def _read(given: Any, request: CompletionRequest, *, on_delta: Listen | None) -> Reply:
    if inspect.isawaitable(given) or isinstance(given, AsyncIterator):
        if is_in_a_loop():
            if inspect.iscoroutine(given):
                given.close()
            raise InvalidOption("completer", given, why=IN_A_LOOP)
        return waited(_alater(given, request, on_delta=on_delta))
    if isinstance(given, Iterator):
        flow = _Flow(on_delta)
        for piece in given:
            flow.take(piece)
        return flow.reply(request)
    return _whole(given, request)


async def _alater(given: Any, request: CompletionRequest, *, on_delta: Listen | None) -> Reply:
    """What a completer awaits, in the loop in which it is to be awaited."""
    if inspect.isawaitable(given):
        given = await given
    if isinstance(given, AsyncIterator):
        return await _aread(given, request, on_delta=on_delta)
    return await off(_read, given, request, on_delta=on_delta)


async def _aread(given: AsyncIterator[Any], request: CompletionRequest, *, on_delta: Listen | None) -> Reply:
    flow = _Flow(on_delta)
    async for piece in given:
        flow.take(piece)
    return flow.reply(request)


class _Flow:
    """A reply that comes piece by piece."""

    def __init__(self, on_delta: Listen | None) -> None:
        self._listen = on_delta
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._last: Any = None

    def take(self, piece: Any) -> None:
        """One more."""
        if len(self._text) + len(self._reasoning) >= PIECES_MAX:
            raise ValueError(f"the reply did not end within {PIECES_MAX:,} pieces")
        if isinstance(piece, str):
            piece = Delta(text=piece)
        if not isinstance(piece, Delta):
            self._last = piece
            return
        for said, kept in ((piece.text, self._text), (piece.reasoning, self._reasoning)):
            if said:
                kept.append(said)
                if self._listen is not None:
                    self._listen(said)

    def reply(self, request: CompletionRequest) -> Reply:
        """All of it."""
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        if self._last is None:
            return Reply(text=text, reasoning=reasoning)
        whole = _whole(self._last, request)
        return replace(whole, text=whole.text or text, reasoning=whole.reasoning or reasoning)


def _whole(given: Any, request: CompletionRequest) -> Reply:
    """A reply that came at once: a text, an object with `text`, or the SDK's own response."""
    if isinstance(given, str):
        return Reply(text=given)
    if isinstance(given, Reply):
        return given
    if not isinstance(getattr(given, "text", None), str) or not hasattr(given, "stop_reason"):
        return _response(given, request)
    messages = getattr(given, "messages", None)
    return Reply(
        text=given.text,
        reasoning=getattr(given, "reasoning", None) or "",
        stop_reason=given.stop_reason,
        is_open=given.stop_reason is None,
        tool_calls=tuple(_call(one) for one in getattr(given, "tool_calls", None) or ()),
        usage=_usage(getattr(given, "usage", None), request.format),
        messages=read_response(list(messages), format=request.format).messages if messages else (),
        notes=_notes(given),
    )


def _response(given: Any, request: CompletionRequest) -> Reply:
    """The response of an official SDK, as it is."""
    try:
        told = read_response(given, format=request.format)
    except InvalidOption as error:
        raise InvalidOption(
            "completer", given, why=f"it returned {type(given).__name__}; {NO_COMPLETER}"
        ) from error
    meta = told.messages[-1].meta
    return Reply(
        text="\n".join(message.text for message in told.messages if message.text),
        stop_reason=meta.stop_reason if meta is not None else None,
        is_open=told.is_open,
        tool_calls=tuple(call for message in told.messages for call in calls_of(message)),
        usage=meta.usage if meta is not None else None,
        messages=told.messages,
    )


def _notes(given: Any) -> tuple[str, ...]:
    """What a reply object has to say of its request; what is no text is left out."""
    notes = getattr(given, "notes", None)
    return tuple(note for note in notes if isinstance(note, str)) if isinstance(notes, (list, tuple)) else ()


def _call(given: Any) -> ToolCall:
    """A call, from an object or a dict."""
    told = (
        given
        if isinstance(given, Mapping)
        else {key: getattr(given, key, None) for key in ("id", "name", "arguments")}
    )
    arguments = told.get("arguments")
    return ToolCall(
        id=str(told.get("id") or told.get("name") or "call"),
        name=str(told.get("name") or "tool"),
        arguments=arguments if isinstance(arguments, str) else strict.dump_text(arguments or {}),
    )


def _usage(given: Any, format: str) -> Usage | None:
    if isinstance(given, Usage) or given is None:
        return given
    told = given if isinstance(given, Mapping) else strict.plain(given)
    return read_usage(told, format=format) if isinstance(told, Mapping) and format in SHAPES else None


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────


def failed(error: Exception) -> Reply:
    """An exception of a completer as the reply that it stands for. Words of a provider may quote the key that it refused:
    secrets are taken out."""
    status = (
        getattr(error, "status_code", None) or getattr(error, "code", None) or getattr(error, "status", None)
    )
    body = getattr(error, "body", None) or getattr(error, "details", None)
    body = body if isinstance(body, (Mapping, str, bytes)) and body else str(error)
    refusal = classify_error(status=status if isinstance(status, (int, str)) else None, body=body)
    return Reply(error=_without_secrets(Raised(error).why), is_overflow=refusal.is_overflow)


def _without_secrets(words: str) -> str:
    data, at, kept = words.encode("utf-8", "replace"), 0, b""
    for hit in find(data):
        kept += data[at : hit.start] + WITHHELD.encode()
        at = hit.end
    return (kept + data[at:]).decode("utf-8", "replace")
