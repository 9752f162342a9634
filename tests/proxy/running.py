"""A proxy that runs in a thread of the test, and what it said of each request."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from foldline.clients.calls import Call
from foldline.clients.following import Conversations
from foldline.proxy.beginning import Keeping, beginning
from foldline.proxy.meters import Record
from foldline.proxy.server import Options, Running, serve
from tests.proxy.sessions import MODEL

PAGES_TOKEN = "token-of-these-tests"
WAIT_S = 20.0


def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, window: int) -> None:
    """Settings of this test alone, in which the model of its sessions has that window."""
    place = tmp_path / "foldline.toml"
    place.write_text(f'[models."{MODEL}"]\nwindow = {window}\nmax_output = 2000\n')
    monkeypatch.setenv("FOLDLINE_CONFIG", str(place))


def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, window: int) -> Path:
    """Sessions and settings of this test alone; the home."""
    own_settings(monkeypatch, tmp_path, window=window)
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


class Proxy:
    """For a `with` block. `options`: of `foldline.proxy.server.Options`; `begin`: who makes conversations, else by `policy` on
    disk below `home`."""

    def __init__(
        self,
        upstream: str,
        *,
        home: Path | None = None,
        policy: str = "balanced",
        keeping: Keeping | None = None,
        begin: Callable[[str, Call], Conversations] | None = None,
        **options: Any,
    ) -> None:
        self.records: list[Record] = []
        self._options = Options(
            begin=begin or beginning(keeping or Keeping(home=home, policy=policy)),
            upstream=upstream,
            pages_token=PAGES_TOKEN,
            **options,
        )
        self._ready = threading.Event()
        self._changed = threading.Condition()
        self._running: Running | None = None
        self._stop: Callable[[], object] = lambda: None
        self._failed: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, name="proxy of a test")

    @property
    def url(self) -> str:
        """Its base URL."""
        assert self._running is not None
        return self._running.url

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._running is not None
        return self._running.port

    def wait_for(self, count: int) -> list[Record]:
        """The records, once there are so many."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.records) >= count, WAIT_S), self.records
            return list(self.records)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(WAIT_S)
        if self._failed:
            raise self._failed[0]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()
        if self._failed and error is None:
            raise self._failed[0]

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as error:
            self._failed.append(error)
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        self._stop = lambda: None if loop.is_closed() else loop.call_soon_threadsafe(stop.set)
        await serve(self._options, tell=self._tell, ready=self._begun, stop=stop)

    def _begun(self, running: Running) -> None:
        self._running = running
        self._ready.set()

    def _tell(self, record: Record) -> None:
        with self._changed:
            self.records.append(record)
            self._changed.notify_all()
