"""An upstream of sockets alone, and clients of sockets alone: what the proxy does when either side does what no library would.

The twin answers as a provider does; this one sends bytes it is given and breaks off where it is told, counts its connections and
knows when one was closed. `recorded` takes the bytes from the twin, so that they are a real answer in each dialect.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from msgspec import Struct

from foldline.testing.twin import Answer, Twin
from tests.proxy.sessions import HEADERS, PATHS

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
WAIT_S = 20.0
PACE_S = 0.001
HOST = "127.0.0.1"
SRC = Path(__file__).parents[2] / "src"


class Sent(Struct, frozen=True, kw_only=True):
    """What is answered to a request."""

    head: bytes = HEAD
    pieces: Iterable[bytes] = ()
    """Each is a write of its own, and a chunk of its own behind a chunked head."""
    pause_s: float = 0.0
    """Behind each of them."""
    is_cut: bool = False
    """Reset the connection behind the last of them, in place of an end."""


class Upstream:
    """For a `with` block. `answer`: a request's head and body in, what is sent out."""

    def __init__(self, answer: Callable[[bytes, bytes], Sent]) -> None:
        self._answer = answer
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.connections = 0
        self._open = 0
        self._changed = threading.Condition()
        self._ready = threading.Event()
        self._stop: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="upstream of a test")
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(WAIT_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()

    def wait_until_idle(self, seconds: float) -> bool:
        """True where every answer under way came to an end, or was given up by the other side, within so long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._open, seconds)

    async def _serve(self) -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        self._stop = lambda: loop.call_soon_threadsafe(stop.set)
        server = await asyncio.start_server(self._connected, HOST, 0)
        self.url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(_length(head))
        self.heads.append(head)
        self.bodies.append(body)
        with self._changed:
            self._open += 1
        gone = asyncio.ensure_future(reader.read(1))
        sending = asyncio.ensure_future(_send(self._answer(head, body), writer, gone=gone))
        try:
            await asyncio.wait({gone, sending}, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                return False
            return sending.result()
        finally:
            for task in (gone, sending):
                task.cancel()
            await asyncio.gather(gone, sending, return_exceptions=True)
            with self._changed:
                self._open -= 1
                self._changed.notify_all()


async def _send(sent: Sent, writer: asyncio.StreamWriter, *, gone: asyncio.Future[bytes]) -> bool:
    """Whether the connection goes on. The other side's going ends a pause."""
    is_chunked = b"chunked" in sent.head
    writer.write(sent.head)
    for piece in sent.pieces:
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
        await writer.drain()
        if sent.pause_s:
            await asyncio.wait({gone}, timeout=sent.pause_s)
    if sent.is_cut:
        await asyncio.wait({gone}, timeout=PACE_S)  # what was written goes out before the connection is reset
        writer.transport.abort()
        return False
    if is_chunked:
        writer.write(LAST)
    await writer.drain()
    return False


def _length(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    return next((int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:")), 0)


def recorded(format: str, answer: Answer, body: bytes) -> list[bytes]:
    """The events that the twin streams for a request, each with its blank line."""
    with Twin([answer]) as twin:
        parts = urlsplit(twin.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=WAIT_S)
        connection.request("POST", PATHS[format], body, HEADERS)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        assert response.status == 200, data
    separator = b"\r\n\r\n" if b"\r\n\r\n" in data else b"\n\n"
    return [event + separator for event in data.split(separator) if event]


def exchanged(port: int, *data: bytes, timeout: float = WAIT_S) -> bytes:
    """Bytes sent, and all that comes until the other side closes or says nothing for so long."""
    with socket.create_connection((HOST, port), timeout=timeout) as connection:
        for piece in data:
            connection.sendall(piece)
        got = b""
        try:
            while piece := connection.recv(65_536):
                got += piece
        except (ConnectionError, TimeoutError):
            pass
        return got


class Command:
    """`foldline proxy` as a process of its own, for a `with` block."""

    def __init__(
        self, *args: str, folder: Path, env: dict[str, str] | None = None, python: Sequence[str] = ()
    ) -> None:
        self.folder = folder
        self.out, self.err = folder / "stdout", folder / "stderr"
        self._args = [sys.executable, *python, "-m", "foldline", "proxy", "--port", "0", *args]
        self._env = {
            **os.environ,
            "PYTHONPATH": str(SRC),
            "FOLDLINE_HOME": str(folder / "home"),
            **(env or {}),
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def __enter__(self) -> Self:
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                self._args, stdout=out, stderr=err, env=self._env, cwd=self.folder
            )
        try:
            self.url = self._said("listening on ").partition(" ")[0]
            self.status_token = self._said("x-foldline-token: ").partition("'")[0]
        except AssertionError:
            self.process.kill()
            self.process.wait()
            raise
        return self

    @property
    def port(self) -> int:
        """Where it listens."""
        return urlsplit(self.url).port or 0

    @property
    def pid(self) -> int:
        """Of the process."""
        assert self.process is not None
        return self.process.pid

    def _said(self, before: str) -> str:
        """What stands behind some words in what it says at the start."""
        for _ in range(int(WAIT_S * 3 / 0.05)):
            said = self.err.read_text() + self.out.read_text()
            found = said.partition(before)[2]
            if "\n" in found:
                return found.partition("\n")[0]
            assert self.process is not None
            try:
                code = self.process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            raise AssertionError(f"it ended with {code}: {said}")
        raise AssertionError(f"it did not begin: {said}")

    def memory_kb(self) -> int:
        """What it holds now."""
        return (
            int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
        )

    def descriptors(self) -> int:
        """Open ones."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        assert error is not None or code == 0, self.err.read_text()


def request(
    port: int,
    body: bytes,
    *,
    path: str = "/v1/chat/completions",
    headers: Mapping[str, str | None] | None = None,
) -> bytes:
    """A request in the one spelling that is sound, but for what is given: `None` leaves a header out."""
    given: dict[str, str | None] = {
        "Host": f"{HOST}:{port}",
        "Content-Type": "application/json",
        "Authorization": "Bearer k",
        "Content-Length": str(len(body)),
        **(headers or {}),
    }
    lines = [f"{name}: {value}" for name, value in given.items() if value is not None]
    return "\r\n".join([f"POST {path} HTTP/1.1", *lines, "", ""]).encode("latin-1") + body
