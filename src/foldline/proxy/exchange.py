"""One request, up and down: read, reduced where it is a conversation, sent, recovered from a refusal at most once, passed back.

    body ─► call ─► Desk.outgoing ─► send ─┬─► answer ────────────────► client, as it comes
                                           └─► refusal ─► Desk.refused ─► send once more

Whatever goes wrong in here with a conversation, the request goes out as it came (or, where that was asked for, is refused), and the
record says so. What was delivered is never replayed. An answer that breaks off is given to the client as one that broke off, and is
not taken into the session.
"""

from __future__ import annotations

import asyncio
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final, Literal, TypeAlias, TypeVar

import aiohttp
from aiohttp import web
from msgspec import Struct

from foldline.clients.answers import Answer, Heard
from foldline.clients.calls import Call
from foldline.clients.exchange import REFUSED
from foldline.clients.joining import joined
from foldline.clients.splicing import Splice
from foldline.clients.threads import off
from foldline.clients.tickets import RECALLS_MAX
from foldline.core.foreign import Raised, tried
from foldline.core.message import Usage
from foldline.proxy.bodies import Bodies
from foldline.proxy.completing import InHand, in_hand
from foldline.proxy.desk import Desk, Going, Passed
from foldline.proxy.encodings import CannotOpen, opened
from foldline.proxy.faults import why_of
from foldline.proxy.guard import Head, Refusal
from foldline.proxy.headers import Pairs, request_headers
from foldline.proxy.incoming import Incoming
from foldline.proxy.limits import AT_ONCE_BYTES_MAX, BODY_BYTES_MAX
from foldline.proxy.meters import Record
from foldline.proxy.noting import note, observed, weigh
from foldline.proxy.outlet import Declined, Outlet
from foldline.proxy.relay import Relay, Sending, Unreached
from foldline.proxy.routes import Route
from foldline.proxy.unseen import repeats, unseen
from foldline.wire import strict
from foldline.wire.response import SHAPES
from foldline.wire.usage import read_usage

Made = TypeVar("Made")
TOO_OFTEN: Final = (
    f"the model called recall more than {RECALLS_MAX} times for one answer; it was asked without the tool"
)
WENT_ON: Final = "the conversation went on beside a call of recall; the model was asked without the tool"
BROKE_OFF: Final = "the upstream broke off its answer; try again"
NO_STREAM: Final = Refusal(
    status=502, why="the upstream answered without a stream where one was asked for; ask again without"
)
Mode: TypeAlias = Literal["open", "strict", "observe"]
Pipe: TypeAlias = Callable[[Incoming], Awaitable[Incoming | None]]


class Way(Struct, frozen=True, kw_only=True):
    """A request that may come in, and what is known of it."""

    outlet: Outlet
    asked: Head
    route: Route
    target: str
    record: Record
    opened: list[Incoming] = []
    """Answers of the upstream, to be closed in the end, however it ends."""


class Exchange:
    """Of one proxy."""

    def __init__(self, relay: Relay, desk: Desk, *, mode: Mode = "open", recalls: bool = False) -> None:
        self._relay, self._desk, self._mode, self._bodies = relay, desk, mode, Bodies()
        self._recalls = recalls and mode != "observe"

    async def answer(self, way: Way) -> web.StreamResponse:
        """Answer a request that may come in."""
        try:
            if way.route.kind == "conversation":
                return await self._followed(way)
            if way.route.kind in ("count", "compact"):
                return await self._counted(way)
            return await self._passed(way)
        except (Declined, Unreached) as error:
            way.record.status, way.record.why = error.status, error.why
            return await way.outlet.say(error.status, error.why)
        finally:
            for incoming in way.opened:
                incoming.close()

    # ── what is none of ours ─────────────────────────────────────────────────────────────────────────────────

    async def _passed(self, way: Way) -> web.StreamResponse:
        body = way.outlet.pieces() if _has_body(way.asked) else None
        headers = request_headers(way.asked.headers, is_heard=False, is_written_anew=False)
        if way.asked.every("content-length"):
            headers.append(("Content-Length", way.asked.one("content-length")))
        return await self._delivered(way, await self._opened(way, headers, body=body))

    async def _opened(
        self, way: Way, headers: Pairs, *, body: bytes | AsyncIterator[bytes] | None
    ) -> Incoming:
        """Send something that nobody here listens to."""
        sending = Sending(
            method=way.asked.method,
            provider=way.route.provider,
            target=way.target,
            headers=headers,
            body=body,
        )
        incoming = Incoming(await self._relay.send(sending), None)
        way.opened.append(incoming)
        return incoming

    async def _counted(self, way: Way) -> web.StreamResponse:
        """A count is one of what would be sent: an agent that asks how full its window is hears what the provider would. A list that the
        provider is asked to compact is sent whole, as an agent's own request for a summary is, and else as it would be sent."""
        data = await way.outlet.body()
        body = await off(self._counted_body, way, data)
        headers = request_headers(way.asked.headers, is_heard=False, is_written_anew=body is not None)
        return await self._delivered(
            way, await self._opened(way, headers, body=data if body is None else body)
        )

    def _counted_body(self, way: Way, data: bytes) -> bytes | None:
        call = self._call(way, data)
        if isinstance(call, str) or self._mode == "observe":
            return None
        body = self._desk.counted(call, only_too_long=way.route.kind == "compact")
        way.record.outcome = "as it came" if body is None else "edited"
        return None if body is None else strict.dump(body)

    # ── a conversation ───────────────────────────────────────────────────────────────────────────────────────

    async def _followed(self, way: Way) -> web.StreamResponse:
        data = await way.outlet.body()
        going = self._at_once(way, data) if len(data) <= AT_ONCE_BYTES_MAX else None
        if going is None:
            going = await self._waited_for(way, data)
        try:
            return await self._sent(way, data, going=going)
        finally:
            if isinstance(going, Going):
                self._desk.done(going)

    async def _waited_for(self, way: Way, data: bytes) -> Going | Passed:
        asking = asyncio.ensure_future(off(self._going, way, data))
        try:
            return await self._kept_alive(way, asking, data=data)
        except asyncio.CancelledError:
            asking.add_done_callback(self._given_up)
            raise

    async def _kept_alive(self, way: Way, work: asyncio.Future[Made], *, data: bytes) -> Made:
        return await way.outlet.kept_alive(work, is_stream=lambda: self._wants_stream(way, data))

    def _wants_stream(self, way: Way, data: bytes) -> bool:
        """Asked only of a request that has to wait."""
        if way.route.format == "gemini":
            return "streamGenerateContent" in way.target and "alt=sse" in way.target
        call = self._call(way, data)
        return isinstance(call, Call) and bytes(strict.dump(call.body.get("stream"))) == b"true"

    def _call(self, way: Way, data: bytes) -> Call | str:
        """The conversation in a body, or why there is none."""
        try:
            bytes_max = BODY_BYTES_MAX[way.route.provider]
            plain = opened(data, way.asked.one("content-encoding"), bytes_max=bytes_max)
            plain = plain.removeprefix(BOM_UTF8)  # which a reader of JSON may pass over (RFC 8259, 8.1)
            call = self._bodies.call(plain, format=way.route.format, model=way.route.model)
        except CannotOpen as error:
            return str(error)
        except ValueError:
            return "its body is no JSON that is read here"
        return "its body is no conversation" if call is None else call

    def _given_up(self, asking: asyncio.Future[Going | Passed]) -> None:
        """The client went while its request was prepared."""
        if (
            not asking.cancelled()
            and asking.exception() is None
            and isinstance(going := asking.result(), Going)
        ):
            self._desk.done(going)

    def _at_once(self, way: Way, data: bytes) -> Going | Passed | None:
        """What goes out for a short body, where nothing has to be waited for: on the event loop, since a thread takes longer."""
        call = self._call(way, data)
        if isinstance(call, str):
            return Passed(why=call, is_unread=True)
        way.record.model = call.model or ""
        return self._desk.at_once(call)

    def _going(self, way: Way, data: bytes) -> Going | Passed:
        """What goes out for a body. Off the event loop."""
        call = self._call(way, data)
        if isinstance(call, str):
            return Passed(why=call, is_unread=True)
        way.record.model = call.model or ""
        with in_hand(self._in_hand(way)):
            return self._desk.outgoing(call)

    def _refused(self, way: Way, going: Going, *, status: int, body: Any) -> Going | None:
        with in_hand(self._in_hand(way)):
            return self._desk.refused(going, status, body=body)

    def _in_hand(self, way: Way) -> InHand:
        headers = request_headers(way.asked.headers, is_heard=True, is_written_anew=True)
        return InHand(relay=self._relay, provider=way.route.provider, target=way.target, headers=headers)

    async def _sent(self, way: Way, data: bytes, *, going: Going | Passed) -> web.StreamResponse:
        if isinstance(going, Passed):
            self._say_why(way.record, going)
            return await self._delivered(way, await self._arrived(way, data, going=going))
        note(way.record, going)
        if self._mode == "observe":
            observed(way.record)
        incoming = await self._arrived(way, data, going=going)
        again = await self._again(way, data, refused=(incoming, going))
        if again is not None:
            incoming.close()
            note(way.record, again)
            way.record.outcome = "recovered"
            incoming = await self._arrived(way, data, going=again)
            await self._refusal(incoming)
            going = again
        if not (self._recalls and incoming.has_recall):
            return await self._delivered(way, incoming)
        if incoming.is_spliceable:
            splice = Splice(way.route.format)
            return await self._delivered(
                way, incoming, pipe=partial(self._spliced, way, data=data, splice=splice)
            )
        incoming = await self._recalled(way, data, first=incoming)
        await self._unseen(way, incoming, data=data)
        return await self._delivered(way, incoming)

    async def _recalled(self, way: Way, data: bytes, *, first: Incoming) -> Incoming:
        """The answer that is the client's: those that call recall are answered here, held back whole, and asked on, as often as one
        request may have it. What they say beside that stands in front of it."""
        incoming, earlier = first, list[Any]()
        while incoming.has_recall and not incoming.is_refusal:
            await self._waited(way, _held(incoming), data=data)
            again = await self._asked_on(way, incoming, data=data, is_delivered=incoming.is_joinable)
            if again is None:
                break
            if incoming.is_joinable and incoming.heard is not None:
                earlier.append(incoming.heard.response())
            incoming = again
        if earlier and not incoming.is_refusal:
            await self._waited(way, _held(incoming), data=data)
            await off(incoming.write_anew, partial(joined, earlier, format=way.route.format))
        return incoming

    async def _asked_on(
        self, way: Way, incoming: Incoming, *, data: bytes, is_delivered: bool
    ) -> Incoming | None:
        """The answer to what goes on, where one calls recall and is answered here; `None` for one that is the client's."""
        going, heard = incoming.going, incoming.heard
        assert going is not None, "it answers a request of a conversation"
        assert heard is not None, "and is heard"
        looking = off(self._looked_up, way, going, heard=heard, is_delivered=is_delivered)
        again = await self._waited(way, looking, data=data)
        if again is None:
            return None
        incoming.close()
        if isinstance(again, Passed):
            self._say_why(way.record, again)
            again = self._desk.without_recall(going)
        else:
            way.record.recalls += 1
            note(way.record, again)
            if not again.out.ticket.call.has_recall:
                is_often = again.out.ticket.recalls >= RECALLS_MAX
                way.record.notes = (*way.record.notes, TOO_OFTEN if is_often else WENT_ON)
        return await self._waited(way, self._sent_on(way, data, going=again), data=data)

    async def _spliced(self, way: Way, incoming: Incoming, *, data: bytes, splice: Splice) -> Incoming | None:
        """Pass on what an answer says; the next one, which goes on behind it, where it calls recall and is answered here."""
        opening, is_ended, piece = incoming.opening(), False, b"any"
        while piece:
            reading = _next(incoming)
            piece = await (self._waited(way, reading, data=data) if splice.is_quiet else reading)
            plain = opening.take(piece)
            if opening.failed:
                raise _BrokeOff
            await self._said(way, incoming, data=splice.take(plain) if piece else splice.close())
            if not is_ended and (incoming.is_over or not piece):
                is_ended = True
                again = await self._settled(way, incoming, data=data, splice=splice)
                if again is not None:
                    return again
        return None

    async def _settled(self, way: Way, incoming: Incoming, *, data: bytes, splice: Splice) -> Incoming | None:
        """What was held back of an answer that has ended is given out, or answered."""
        if splice.calls and incoming.has_recall:
            again = await self._asked_on(way, incoming, data=data, is_delivered=True)
            if again is not None:
                await self._said(way, incoming, data=splice.goes_on())
                return again
        await self._ended(way, incoming)
        await self._said(way, incoming, data=await off(splice.released))
        return None

    async def _said(self, way: Way, incoming: Incoming, *, data: bytes) -> None:
        """Give out whole events of an answer, behind the head of the first one that said any."""
        if not data:
            return
        if not way.outlet.is_begun:
            await way.outlet.begin(incoming)
        call = incoming.call
        is_named = call is not None and repeats(call)
        await way.outlet.write(unseen(data, call, is_stream=True) if call is not None and is_named else data)

    async def _waited(self, way: Way, work: Coroutine[Any, Any, Made], *, data: bytes) -> Made:
        """What is waited for while nothing goes out; given up when the client goes."""
        waited = asyncio.ensure_future(work)
        try:
            return await self._kept_alive(way, waited, data=data)
        finally:
            waited.cancel()

    async def _unseen(self, way: Way, incoming: Incoming, *, data: bytes) -> None:
        """An answer that names the tool which was added is held back whole, and names it no more."""
        call = incoming.call
        if call is None or incoming.is_refusal or incoming.is_stream or not repeats(call):
            return
        await self._waited(way, _held(incoming), data=data)
        await off(incoming.write_anew, lambda plain: unseen(plain, call, is_stream=False))

    async def _sent_on(self, way: Way, data: bytes, *, going: Going) -> Incoming:
        """Ask once more for the same request. Without the tool where what was recalled could not be kept or sent, or a model goes on
        calling it."""
        incoming = await self._arrived(way, data, going=going)
        await self._refusal(incoming)
        return incoming

    def _looked_up(
        self, way: Way, going: Going, *, heard: Heard, is_delivered: bool
    ) -> Going | Passed | None:
        with in_hand(self._in_hand(way)):
            return self._desk.recalled(going, heard.response(), is_delivered=is_delivered)

    def _say_why(self, record: Record, passed: Passed) -> None:
        record.why = passed.why
        if passed.is_fault:
            record.outcome = "failed open"
        if self._mode == "strict" and (passed.is_fault or passed.is_unread):
            record.outcome = "refused"
            why = f"the conversation cannot be kept ({passed.why}); mend the cause, or run without --strict"
            raise Declined(500 if passed.is_fault else 400, why)

    async def _again(self, way: Way, data: bytes, *, refused: tuple[Incoming, Going]) -> Going | None:
        """After a refusal, before anything was delivered: what to send once more."""
        incoming, going = refused
        refusal = await self._refusal(incoming)
        if refusal is None or self._mode == "observe":
            return None
        status = max(incoming.response.status, REFUSED)
        work = asyncio.ensure_future(off(self._refused, way, going, status=status, body=refusal))
        return await self._kept_alive(way, work, data=data)

    async def _refusal(self, incoming: Incoming) -> Any:
        try:
            return await incoming.refusal()
        except aiohttp.ClientError:
            raise Unreached(502, "the upstream broke off its answer at the beginning; try again") from None

    async def _arrived(self, way: Way, data: bytes, *, going: Going | Passed) -> Incoming:
        """Send a conversation up, as it came or as it is sent in its place; the answer, heard."""
        body = going.body if isinstance(going, Going) and self._mode != "observe" else None
        sent = data if body is None else await off(strict.dump, body)
        response = await self._relay.send(
            Sending(
                method="POST",
                provider=way.route.provider,
                target=way.target,
                headers=request_headers(way.asked.headers, is_heard=True, is_written_anew=body is not None),
                body=sent,
            )
        )
        is_stream = "text/event-stream" in response.headers.get("content-type", "")
        heard = Heard(way.route.format, is_stream=is_stream)
        if isinstance(going, Going) and self._mode != "observe":
            heard = self._desk.answer(going, is_stream=is_stream)
        incoming = Incoming(response, heard, going=going if isinstance(going, Going) else None)
        way.opened.append(incoming)
        return incoming

    # ── back ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _delivered(
        self, way: Way, incoming: Incoming, *, pipe: Pipe | None = None
    ) -> web.StreamResponse:
        """Pass an answer on as it comes. Its last piece goes out when the session has it, so that whoever has read it may ask
        again at once. `pipe`: what passes the events of one on, and gives the one that goes on behind it, if any does."""
        way.record.status = incoming.response.status
        outlet = way.outlet
        try:
            while pipe is not None and incoming.is_stream:
                again = await pipe(incoming)
                if again is None:
                    return await self._whole(way, incoming)
                incoming = again
                way.record.status = incoming.response.status
            if outlet.is_begun and not incoming.is_stream:
                return await self._said_as_event(way, incoming)
            if not outlet.is_begun:
                await outlet.begin(incoming)
            await self._piped(way, incoming)
            return await outlet.end()
        except _BrokeOff:
            way.record.is_cut = True
            if not outlet.is_begun:
                raise Unreached(502, BROKE_OFF) from None
            return outlet.cut()
        except (asyncio.CancelledError, ConnectionError):
            way.record.is_cut = True
            raise

    async def _whole(self, way: Way, incoming: Incoming) -> web.StreamResponse:
        if not way.outlet.is_begun:
            await way.outlet.begin(incoming)
        return await way.outlet.end()

    async def _said_as_event(self, way: Way, incoming: Incoming) -> web.StreamResponse:
        """What is no stream, for a client that has the head of one: a refusal in the upstream's words; an answer cannot be given out."""
        if incoming.is_refusal:
            return await way.outlet.refuse(incoming.response.status, await incoming.plain())
        way.record.status = NO_STREAM.status
        way.record.why = NO_STREAM.why
        return await way.outlet.say(NO_STREAM.status, NO_STREAM.why)

    async def _piped(self, way: Way, incoming: Incoming) -> None:
        last, is_ended = b"", False
        while piece := await _next(incoming):
            is_ended = is_ended or (incoming.is_over and await self._ended(way, incoming))
            if incoming.is_held:
                last, piece = piece, last
            if piece:
                await way.outlet.write(piece)
        if not is_ended:
            await self._ended(way, incoming)
        if last:
            await way.outlet.write(last)

    async def _ended(self, way: Way, incoming: Incoming) -> bool:
        """Take the answer in, which has ended; true where it was."""
        heard = incoming.heard
        if heard is None or incoming.is_refusal:
            return False
        taken = (heard, way.route.format)
        why, usage = self._taken_in(*taken) if heard.is_light else await off(self._taken_in, *taken)
        if why:
            way.record.why = why
        if usage is not None and incoming.going is not None:
            heard_of = self._desk.heard(incoming.going, usage.tokens_input or 0)
            way.record.notes = (*way.record.notes, *heard_of)
        if usage is not None:
            weigh(way.record, usage.tokens_input)
            way.record.tokens_cached = usage.tokens_cache_read or 0
            way.record.tokens_output = usage.tokens_output or 0
        return True

    def _taken_in(self, heard: Heard, format: str) -> tuple[str, Usage | None]:
        why = self._desk.end(heard) if isinstance(heard, Answer) else ""
        response = heard.response()
        told = response.get(SHAPES[format].usage) if isinstance(response, dict) else None
        usage = tried(lambda: read_usage(told, format=format) if isinstance(told, dict) else None)
        return (why_of(usage), None) if isinstance(usage, Raised) else (why, usage)


class _BrokeOff(Exception):
    """The upstream did, in the middle."""


async def _next(incoming: Incoming) -> bytes:
    try:
        return await incoming.next()
    except (aiohttp.ClientError, TimeoutError):
        raise _BrokeOff from None


async def _held(incoming: Incoming) -> None:
    try:
        await incoming.whole()
    except (aiohttp.ClientError, TimeoutError):
        raise Unreached(502, BROKE_OFF) from None


def _has_body(asked: Head) -> bool:
    return bool(asked.every("transfer-encoding")) or asked.one("content-length") not in ("", "0")
