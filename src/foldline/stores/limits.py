"""Limits that providers named when they refused a request, by model and endpoint: kept in the home, for the user alone (0600).

    {"format": "foldline.limits/1", "limits": [{"model", "endpoint", "tokens", "instead_of", "said", "time_ms"}]}

What no provider has said is not in it: a guess would be planned with for ever (NousResearch/hermes-agent#2600). One model behind
two endpoints has two limits. A file that is not sound is said so and teaches nothing; deleting it forgets all. Counterpart:
`foldline.session.limits`, which plans with them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from foldline.core.errors import InvalidOption
from foldline.stores.fs import Fs, LockHeld, Open
from foldline.stores.real_fs import RealFs
from foldline.stores.whole import write_whole

FORMAT: Final = "foldline.limits/1"
FILE, NEW, LOCK = "limits", "limits.new", "limits.lock"
FILE_BYTES_MAX: Final = 1 << 20
"""Largest file of limits read, bytes."""
LIMITS_MAX: Final = 1_000
"""Limits that are kept, the newest."""
SAID_CHARS_MAX: Final = 200
"""Of the refusal's own words."""


class Limit(Struct, frozen=True, kw_only=True):
    """One."""

    model: str
    endpoint: str = ""
    """The base URL of requests; empty where the host does not say it."""
    tokens: int
    instead_of: int
    """The window that was planned with when it was refused."""
    said: str = ""
    """The refusal, as the provider worded it."""
    time_ms: int | None = None

    @property
    def place(self) -> tuple[str, str]:
        """What it is the limit of."""
        return self.model, self.endpoint


class Limits:
    """Those of a home. Raises `InvalidOption` for a file that is not sound or not safe, `OSError`."""

    def __init__(self, home: str | os.PathLike[str], *, fs: Open = RealFs) -> None:
        self.file = os.path.join(os.fspath(home), FILE)
        """Where they are, for a person."""
        self._files: Fs = fs(os.fspath(home))

    def all(self) -> tuple[Limit, ...]:
        """All of them, the oldest first."""
        try:
            file = self._files.open(FILE, "read")
        except FileNotFoundError:
            return ()
        try:
            data = file.read(FILE_BYTES_MAX + 1, at=0)
        finally:
            file.close()
        try:
            told = msgspec.json.decode(data, type=_File)
        except msgspec.DecodeError as error:
            told = _File(format=f"{error}")
        if told.format != FORMAT or len(data) > FILE_BYTES_MAX:
            why = f"this is no file of limits ({told.format[:200]}); remove it, and they are learned again"
            raise InvalidOption("limits", self.file, why=why)
        return tuple(one for one in told.limits if one.tokens > 0)

    def of(self, model: str, endpoint: str) -> Limit | None:
        """What that endpoint once named for that model."""
        return next((one for one in reversed(self.all()) if one.place == (model, endpoint)), None)

    def keep(self, limit: Limit) -> None:
        """Keep one in the place of what was known before; durable when this returns."""
        short = msgspec.structs.replace(limit, said=limit.said[:SAID_CHARS_MAX])
        with self._changing() as known:
            known[:] = [*(one for one in known if one.place != limit.place), short][-LIMITS_MAX:]

    def forget(self, limit: Limit) -> None:
        """Keep it no longer."""
        with self._changing() as known:
            known[:] = [one for one in known if one.place != limit.place]

    @contextlib.contextmanager
    def _changing(self) -> Iterator[list[Limit]]:
        self._files.make_folder("")
        try:
            lock = self._files.lock(LOCK, b"{}")
        except LockHeld:
            why = "another process is changing the limits at this moment"
            raise InvalidOption("limits", self.file, why=why) from None
        try:
            known = list(self.all())
            yield known
            self._write(known)
        finally:
            lock.release()

    def _write(self, known: list[Limit]) -> None:
        data = msgspec.json.encode(_File(format=FORMAT, limits=known))
        write_whole(self._files, data, name=FILE, new=NEW)


class _File(Struct, frozen=True, kw_only=True):
    """The file."""

    format: str
    limits: list[Limit] = []
