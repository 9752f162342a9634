"""Summaries by the very model that the conversation is with: asked of the same upstream, with the key and headers of the request
in hand, as the conversation's next request would be.

The key is in memory for that request alone; it is in no session, no error and no log. A session prepares off the event loop, so
this waits in a thread for what the loop reads. Counterpart for clients with an SDK: `foldline.clients.same_model`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from msgspec import Struct

from foldline.clients.answers import ANSWER_BYTES_MAX, refusal_of
from foldline.clients.exchange import REFUSED
from foldline.clients.same_model import LOOP, ON_ITS_WAY, PIECE_S_MAX, as_sent
from foldline.core.errors import InvalidOption, ProviderFailed
from foldline.providers.bodies import Body, body_for
from foldline.providers.faults import AnswerFailed, failed, sound
from foldline.providers.replies import StreamedReply
from foldline.proxy.encodings import Opening
from foldline.proxy.headers import Pairs, secrets_in
from foldline.proxy.limits import REFUSAL_BYTES_MAX
from foldline.proxy.relay import Relay, Sending, Unreached
from foldline.proxy.routes import Provider
from foldline.wire import strict
from foldline.wire.completion import CompletionRequest
from foldline.wire.events import Events

Made = TypeVar("Made")


class InHand(Struct, frozen=True, kw_only=True):
    """The request for which a summary is asked: where it goes, and as whom."""

    relay: Relay
    provider: Provider
    target: str
    headers: Pairs


IN_HAND: Final[ContextVar[InHand | None]] = ContextVar("foldline_in_hand", default=None)


@contextmanager
def in_hand(one: InHand) -> Iterator[None]:
    """While a request is prepared for."""
    token = IN_HAND.set(one)
    try:
        yield
    finally:
        IN_HAND.reset(token)


class Upstream:
    """The completer of the proxy's sessions."""

    def __call__(self, request: CompletionRequest) -> StreamedReply:
        """Ask as the conversation asks. Raises `InvalidOption` where no request is in hand; reading raises `ProviderFailed`."""
        call, hand, loop = ON_ITS_WAY.get(), IN_HAND.get(), LOOP.get()
        if call is None or hand is None or loop is None or call.model is None:
            raise InvalidOption("completer", "upstream", why="it is asked while a request is on its way")
        said = as_sent(request, call) if request.is_fork else request
        body = body_for(said, format=call.format, model=call.model, parameters=call.parameters)
        return StreamedReply(_events(hand, body, loop=loop), format=body.format, notes=body.notes)


def _events(hand: InHand, body: Body, *, loop: asyncio.AbstractEventLoop) -> Generator[dict[str, Any]]:
    def waited(asked: Coroutine[Any, Any, Made]) -> Made:
        return asyncio.run_coroutine_threadsafe(asked, loop).result(PIECE_S_MAX)

    sending = Sending(
        method="POST",
        provider=hand.provider,
        target=streaming_target(hand.target, body.format),
        headers=hand.headers,
        body=strict.dump(http_value(body)),
    )
    try:
        response = waited(hand.relay.send(sending))
    except Unreached as unreached:
        raise ProviderFailed(hand.provider, None, why=unreached.why) from None
    opening = Opening(response.headers.get("content-encoding", ""), bytes_max=ANSWER_BYTES_MAX)
    events = Events()
    try:
        if response.status >= REFUSED:
            data = opening.take(waited(response.content.read(REFUSAL_BYTES_MAX)))
            raise _refused(response.status, data, hand=hand)
        while piece := waited(response.content.readany()):
            yield from map(sound, events.feed(opening.take(piece)))
        yield from map(sound, events.close())
    except AnswerFailed as error:
        raise _failed(error, hand=hand) from None
    finally:
        loop.call_soon_threadsafe(response.close)


class _Refusal(Exception):
    """As `foldline.providers.faults` reads one."""

    def __init__(self, status: int, body: Any) -> None:
        self.status_code, self.body = status, body
        super().__init__("refused")


def _refused(status: int, data: bytes, *, hand: InHand) -> ProviderFailed:
    return _failed(_Refusal(status, refusal_of(data)), hand=hand)


def _failed(error: Exception, *, hand: InHand) -> ProviderFailed:
    secrets = secrets_in(hand.headers, hand.target)
    key = "of the agent that sent the request"
    return failed(error, provider=hand.provider, key=key, secrets=secrets)


def http_value(body: Body) -> dict[str, Any]:
    """The body as HTTP has it: Gemini's model is in the path, and its cap among the other settings."""
    if body.format != "gemini":
        return dict(body.value)
    value = {key: told for key, told in body.value.items() if key not in ("model", "max_output_tokens")}
    cap = body.value.get("max_output_tokens")
    if cap is not None:
        value["generationConfig"] = {"maxOutputTokens": cap, **(value.get("generationConfig") or {})}
    return value


def streaming_target(target: str, format: str) -> str:
    """Where the same is asked as a stream."""
    if format != "gemini":
        return target
    path, _, query = target.partition("?")
    path = path.removesuffix(":generateContent").removesuffix(":streamGenerateContent")
    kept = [pair for pair in query.split("&") if pair and not pair.startswith("alt=")]
    return f"{path}:streamGenerateContent?{'&'.join([*kept, 'alt=sse'])}"
