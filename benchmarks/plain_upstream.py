"""A provider that answers at once with the same bytes, so that what stands before it is what is measured.

python -m benchmarks.plain_upstream PORT
"""

from __future__ import annotations

import asyncio
import sys

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


async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Requests of one connection."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length"))
            body = await reader.readexactly(int(length.partition(b":")[2]))
            if b'"stream": true' not in body:
                writer.write(ANSWER)
                continue
            writer.write(HEAD)
            for piece in (*[DELTA] * EVENTS, LAST):
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                await writer.drain()
                await asyncio.sleep(EVENT_S)
            writer.write(b"0\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main(port: int) -> None:
    """Until it is stopped."""
    server = await asyncio.start_server(connected, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
