"""The twin as a server on loopback: sockets, HTTP/1.1, threads, and which dialect a path belongs to.

Built on the standard library's `http.server`, one thread a connection: a script may wait, stall and reset a connection, which
reads plainly in a thread and needs no dependency (decision 0012). Never listens elsewhere than on loopback. What is said is the
dialects' affair.
"""

from __future__ import annotations

import http.server
import json
import socket
import struct
import sys
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Final, Self, Unpack

import msgspec
from msgspec import Struct

from foldline.testing.twin import anthropic, anthropic_answer, gemini, openai_chat, openai_responses
from foldline.testing.twin.delivery import Close, Wait, Write, acts
from foldline.testing.twin.desk import (
    Arrival,
    Desk,
    Options,
    Response,
    ScriptedFault,
    Settings,
    endless,
    shown_headers,
)
from foldline.testing.twin.refused import Refused
from foldline.testing.twin.script import Fault, Received, Script, Step
from foldline.wire import strict

HOST: Final = "127.0.0.1"
"""Loopback alone: who reaches it is on this machine."""
BODY_BYTES_MAX: Final = 64 * 2**20
"""Most bytes of a request that are read at all: twice what any provider takes."""
WAIT_S_MAX: Final = 30.0
"""Longest wait for a request that is expected."""
_RESET: Final = struct.pack("ii", 1, 0)


class Dialect(Struct, frozen=True, kw_only=True):
    """One provider's way of speaking, beside its routes."""

    name: str
    error: Callable[[Refused], Any]
    messages: Mapping[int, str]
    """What it says at a status, where a script says nothing."""
    bytes_max: int
    """Longest body it takes."""
    too_large: Callable[[int], Refused]


Route = Callable[[Desk, Arrival], Response]


def _anthropic_too_large(_: int) -> Refused:
    return Refused(413, "Request exceeds the maximum size")


def _openai_too_large(size: int) -> Refused:
    return Refused(413, f"Request body of {size} bytes is too large", code="request_too_large")


def _gemini_too_large(_: int) -> Refused:
    return Refused(400, "Request payload size exceeds the limit: 20971520 bytes.")


ANTHROPIC: Final = Dialect(
    name="anthropic",
    error=anthropic.error_body,
    messages=anthropic_answer.MESSAGES,
    bytes_max=32 * 2**20,
    too_large=_anthropic_too_large,
)
OPENAI: Final = Dialect(
    name="openai-chat",
    error=openai_chat.error_body,
    messages=openai_chat.MESSAGES,
    bytes_max=BODY_BYTES_MAX,
    too_large=_openai_too_large,
)
RESPONSES: Final = msgspec.structs.replace(OPENAI, name="openai-responses")
GEMINI: Final = Dialect(
    name="gemini",
    error=gemini.error_body,
    messages=gemini.MESSAGES,
    bytes_max=20 * 2**20,
    too_large=_gemini_too_large,
)
ROUTES: Final[Mapping[str, tuple[Dialect, Route]]] = {
    "/v1/messages": (ANTHROPIC, anthropic.messages),
    "/v1/messages/count_tokens": (ANTHROPIC, anthropic.count_tokens),
    "/v1/chat/completions": (OPENAI, openai_chat.completions),
    "/v1/responses": (RESPONSES, openai_responses.responses),
    "/v1/responses/compact": (RESPONSES, openai_responses.compact),
    "/v1/responses/input_tokens": (RESPONSES, openai_responses.input_tokens),
}
METHODS: Final[Mapping[str, Route]] = {
    "generateContent": gemini.generate,
    "streamGenerateContent": gemini.generate,
    "countTokens": gemini.count_tokens,
}
"""What stands behind the model in a path of Gemini's."""


def dialect_of(path: str) -> tuple[Dialect, Route | None]:
    """Whose path it is, and what answers it; `None` where nothing does."""
    if "/models/" in path and ":" in path:
        return GEMINI, METHODS.get(path.rpartition(":")[2])
    return ROUTES.get(path, (ANTHROPIC if path.startswith("/v1/messages") else OPENAI, None))


class Twin:
    """A provider on this machine, for tests of an agent.

        with Twin(replies=["Hello."], window=8_000) as twin:
            client = anthropic.Anthropic(base_url=twin.url, api_key="any")
            ...
        assert twin.requests[0].tokens < 8_000

    `replies`: what is said, in order; each a text, an `Answer`, a `Fault`, or a callable that is given the request and returns
    one of them. Without any, every answer is `"ok"`. `endless(…)` repeats; a script that is at its end answers 500.
    `summaries`: what the server's own compactions write, `None` for one that fails.
    Further keywords are those of `Settings`. The OpenAI SDK's base URL is `twin.url + "/v1"`.
    """

    def __init__(
        self,
        replies: Iterable[Step | Script] | None = None,
        *,
        summaries: Iterable[str | None] = (),
        **settings: Unpack[Options],
    ) -> None:
        self._desk = Desk(
            endless("ok") if replies is None else replies, settings=Settings(**settings), summaries=summaries
        )
        self._server = _Server(self._desk)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="twin")

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://{HOST}:{self._server.server_address[1]}"

    @property
    def requests(self) -> tuple[Received, ...]:
        """What came, in order."""
        with self._desk.changed:
            return tuple(self._desk.received)

    def wait_for(self, count: int, *, timeout_s: float = WAIT_S_MAX) -> tuple[Received, ...]:
        """The requests, once there are so many. Raises `TimeoutError`."""
        with self._desk.changed:
            if not self._desk.changed.wait_for(lambda: len(self._desk.received) >= count, timeout_s):
                raise TimeoutError(f"{len(self._desk.received)} of {count} requests came in {timeout_s:g} s")
            return tuple(self._desk.received)

    def expire_cache(self) -> None:
        """The prompt cache forgets everything, as after its lifetime."""
        with self._desk.changed:
            self._desk.cache.expire()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop()
        self._thread.join()
        if self._server.broken and error is None:
            raise self._server.broken[0]


class _Server(http.server.ThreadingHTTPServer):
    """One socket, and a thread for each connection to it."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 512

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.closing = threading.Event()
        self.broken: list[BaseException] = []
        """Faults of the twin itself."""
        self._open: set[socket.socket] = set()
        super().__init__((HOST, 0), _Connection)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self.desk.changed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self.desk.changed:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self.broken.append(error)

    def stop(self) -> None:
        """Ends every connection and waits for their threads."""
        self.closing.set()
        self.shutdown()
        with self.desk.changed:
            left = list(self._open)
        for connection in left:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:  # its client was faster
                continue
        self.server_close()


class _Connection(http.server.BaseHTTPRequestHandler):
    """One client's connection."""

    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 0

    def do_POST(self) -> None:
        path, _, query = self.path.partition("?")
        dialect, route = dialect_of(path)
        body = self._body()
        number = self._recorded(dialect, path, body=body)
        try:
            parsed = _parsed(dialect, body, encoding=self.headers.get("content-encoding"))
            self.server.desk.note(number, parsed=parsed)
            if route is None:
                raise Refused(404, f"Not Found: {self.command} {path}", kind="not_found_error")
            arrival = Arrival(
                dialect=dialect.name,
                path=path,
                query=query,
                headers={name.lower(): value for name, value in self.headers.items()},
                body=body,
                parsed=parsed,
                number=number,
            )
            response = route(self.server.desk, arrival)
        except ScriptedFault as scripted:
            self._fault(dialect, scripted.fault, number=number)
        except Refused as refusal:
            self.server.desk.note(number, refusal=refusal.message)
            told = dialect.error(refusal) if refusal.body is None else refusal.body
            self._send(refusal.status, told, number=number, headers={})
        else:
            self._answer(response, number=number)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        dialect, _ = dialect_of(path)
        number = self._recorded(dialect, path, body=b"")
        refusal = Refused(404, f"Not Found: GET {path}", kind="not_found_error")
        self._send(404, dialect.error(refusal), number=number, headers={})

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: what came is in `Twin.requests`."""

    def _recorded(self, dialect: Dialect, path: str, *, body: bytes) -> int:
        desk = self.server.desk
        received = Received(
            dialect=dialect.name, path=path, headers=shown_headers(self.headers.items()), body=body
        )
        with desk.changed:
            desk.received.append(received)
            desk.changed.notify_all()
            return len(desk.received) - 1

    def _body(self) -> bytes:
        if "chunked" in (self.headers.get("transfer-encoding") or "").lower():
            return b"".join(iter(self._chunk, b""))
        return self.rfile.read(min(int(self.headers.get("content-length") or 0), BODY_BYTES_MAX))

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().partition(b";")[0], 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _fault(self, dialect: Dialect, fault: Fault, *, number: int) -> None:
        refusal = Refused(
            fault.status,
            fault.message or dialect.messages.get(fault.status, "Error"),
            kind=fault.kind,
            code=fault.code,
        )
        self.server.desk.note(number, refusal=refusal.message)
        headers = dict(fault.headers)
        if fault.retry_after_s is not None:
            headers["retry-after"] = f"{fault.retry_after_s:g}"
        told = dialect.error(refusal) if fault.body is None else fault.body
        self._send(fault.status, told, number=number, headers=headers)

    def _answer(self, response: Response, *, number: int) -> None:
        if self.server.closing.wait(response.delivery.wait_s):
            return self._end(reset=False)
        if response.frames is not None:
            return self._stream(response, number=number)
        if response.delivery.end in ("cut", "reset"):
            return self._end(reset=response.delivery.end == "reset")
        return self._send(200, response.body, number=number, headers={})

    def _send(self, status: int, told: Any, *, number: int, headers: Mapping[str, str]) -> None:
        data = told.encode() if isinstance(told, str) else told
        if not isinstance(data, bytes):
            data = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode(
                "utf-8", "surrogatepass"
            )
        self.server.desk.note(number, status=status)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("request-id", f"req_{number:06d}")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, response: Response, *, number: int) -> None:
        delivery = response.delivery
        if delivery.end == "reset" and delivery.end_after == 0:
            return self._end(reset=True)
        self.server.desk.note(number, status=200)
        self.send_response(200)
        self.send_header("content-type", response.kind)
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("request-id", f"req_{number:06d}")
        self.end_headers()
        for act in acts(response):
            match act:
                case Write():
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(act.data), act.data))
                case Wait():
                    if self.server.closing.wait(act.seconds):
                        return self._end(reset=False)
                case Close():
                    return self._end(reset=act.reset)
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _end(self, *, reset: bool) -> None:
        """Ends the connection in the middle."""
        self.close_connection = True
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.rfile.close()
            self.connection.close()


def _parsed(dialect: Dialect, body: bytes, *, encoding: str | None) -> dict[str, Any]:
    """The body as JSON. Raises `Refused` in the dialect's words."""
    if encoding in ("gzip", "deflate"):
        body = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, BODY_BYTES_MAX)
    if len(body) > dialect.bytes_max:
        raise dialect.too_large(len(body))
    try:
        parsed = strict.loads(body)
    except ValueError as error:
        raise Refused(400, f"The request body is not valid JSON: {error}") from None
    if not isinstance(parsed, dict):
        raise Refused(400, "The request body is not valid JSON: not an object")
    return parsed
