"""A provider that answers at once with the same bytes, so that what stands before it is what is measured.

python -m benchmarks.plain_upstream PORT
"""

from __future__ import annotations

import asyncio
import importlib.util
import re
import sys
from collections.abc import Coroutine
from typing import Any, cast

LENGTH = re.compile(rb"content-length: *(\d+)\r\n", re.IGNORECASE)
EVENTS = 20
EVENT_S = 0.001
"""Between two events: those of a model come one by one. Sent at once they reach a proxy in one piece or in twenty, as the machine has it
that moment, and a stream costs what a whole answer does or five times that."""
WHOLE = b'{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],"usage":{"prompt_tokens":200,"completion_tokens":1,"total_tokens":201}}'
DELTA = b'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"some words"}}]}\n\n'
LAST = b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
    len(WHOLE),
    WHOLE,
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Connection(asyncio.Protocol):
    """Requests one after the other. No stream reader and writer: what this takes is missing from what it is asked through."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody came."""
        self._out, self._data = cast(asyncio.Transport, transport), b""  # uvloop's is none of its class
        self._streams = set[asyncio.Task[None]]()

    def data_received(self, data: bytes) -> None:
        """Answer what is whole."""
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            length = LENGTH.search(self._data, 0, end + 2)
            whole = end + 4 + int(length[1] if length is not None else 0)
            if len(self._data) < whole:
                return
            body, self._data = self._data[end + 4 : whole], self._data[whole:]
            if b'"stream": true' not in body:
                self._out.write(ANSWER)
                continue
            stream = asyncio.ensure_future(self._stream())
            self._streams.add(stream)
            stream.add_done_callback(self._streams.discard)

    async def _stream(self) -> None:
        self._out.write(HEAD)
        for piece in (*[DELTA] * EVENTS, LAST):
            self._out.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await asyncio.sleep(EVENT_S)
        self._out.write(b"0\r\n\r\n")


def run(main: Coroutine[Any, Any, None]) -> None:
    """On uvloop's event loop, where it is installed."""
    found = importlib.util.find_spec("uvloop") is not None
    with asyncio.Runner(
        loop_factory=importlib.import_module("uvloop").new_event_loop if found else None
    ) as one:
        one.run(main)


async def main(port: int) -> None:
    """Until it is stopped."""
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    run(main(int(sys.argv[1])))
