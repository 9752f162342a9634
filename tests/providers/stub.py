"""A server on loopback that answers every dialect with one scripted stream, and keeps what it was asked."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from foldline.wire.completion import CompletionRequest
from tests.wire.test_streamed import STREAMS

KEY = "key-that-nobody-may-see"
DIALECTS = {
    "messages": "anthropic",
    "chat": "openai-chat",
    "responses": "openai-responses",
    "models": "gemini",
}


class Stub:
    """What it answers, and what came in."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.error: Any = None
        self.streams: dict[str, list[dict[str, Any]]] = STREAMS
        """What a stream of each format holds."""
        self.requests: list[tuple[str, dict[str, Any]]] = []
        """Path and body of each."""

    def answer(self, path: str) -> tuple[str, bytes]:
        """Kind and bytes of the answer."""
        if self.error is not None:
            return "application/json", json.dumps(self.error).encode()
        events = self.streams[next(name for word, name in DIALECTS.items() if f"/{word}" in path)]
        frames = [
            (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n"
            for event in events
        ]
        return "text/event-stream", "".join(frames).encode()


@contextlib.contextmanager
def stub() -> Iterator[Stub]:
    """One that runs, for a `with` block."""
    told = Stub()

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

        def do_POST(self) -> None:
            """Every request is one."""
            data = self.rfile.read(int(self.headers["content-length"]))
            told.requests.append((self.path, json.loads(data)))
            kind, answer = told.answer(self.path)
            self.send_response(told.status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    told.url = f"http://localhost:{server.server_port}"
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()


def asking(format: str, text: str = "hi", **more: Any) -> CompletionRequest:
    """A request in a format, with a system prompt."""
    gemini = format == "gemini"
    said = {"role": "user", "parts": [{"text": text}]} if gemini else {"role": "user", "content": text}
    system = {"parts": [{"text": "be brief"}]} if gemini else "be brief"
    given = {"model": "m", "system": system, "tools": None, "messages": [said], **more}
    return CompletionRequest(format=format, instruction="sum it up", **given)
