"""Limits that providers named when they refused a request, by model and endpoint: kept in the home, for the user alone (0600).

    {"format": "foldline.limits/1", "limits": [{"model", "endpoint", "tokens", "instead_of", "time_ms"}]}

What no provider has said is not in it: a guess would be planned with for ever (NousResearch/hermes-agent#2600). Neither are its
words, which may quote a key, nor what in a base URL is no address. One model behind two endpoints has two limits. A file that is not sound is said so and teaches nothing; deleting it forgets all. Counterpart:
`foldline.session.limits`, which plans with them.
"""

from __future__ import annotations

import os
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct, field

from foldline.log.secrets import find
from foldline.stores.fs import Open
from foldline.stores.real_fs import RealFs
from foldline.stores.whole import Document, KeptFile

FORMAT: Final = "foldline.limits/1"
FILE: Final = "limits"
LIMITS_MAX: Final = 1_000
"""Limits that are kept, the newest."""
LOCAL_MAX: Final = 4
"""Limits of one model on this machine that are kept, the newest: servers there come and go, each on a port of its own."""
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
HIDDEN: Final = "[secret]"
"""In the place of a key that a base URL has in its path."""


def endpoint_of(base_url: str) -> str:
    """A base URL as it may be kept and shown: without user, password, query, and whatever looks like a key. Empty where it is none."""
    try:
        parts = urlsplit(base_url)
    except ValueError:
        return ""
    path = parts.path.encode("utf-8", "replace")
    for hit in reversed(find(path)):
        path = path[: hit.start] + HIDDEN.encode() + path[hit.end :]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], path.decode(), "", ""))


class Limit(Struct, frozen=True, kw_only=True):
    """One."""

    model: str
    endpoint: str = ""
    """`endpoint_of` the base URL of requests; empty where the host does not say it."""
    tokens: int
    instead_of: int
    """The window that was planned with when it was refused."""
    time_ms: int | None = None

    @property
    def place(self) -> tuple[str, str]:
        """What it is the limit of."""
        return self.model, self.endpoint

    @property
    def is_local(self) -> bool:
        """True for one that a server on this machine named."""
        try:
            return urlsplit(self.endpoint).hostname in LOOPBACK
        except ValueError:  # whoever wrote the file
            return False


class _File(Document, frozen=True, kw_only=True):
    """The file."""

    limits: list[Limit] = field(default_factory=list)


class Limits:
    """Those of a home. Raises as `KeptFile`."""

    def __init__(self, home: str | os.PathLike[str], *, fs: Open = RealFs) -> None:
        self._kept = KeptFile(
            home, name=FILE, empty=_File(format=FORMAT), remedy=", and they are learned again", fs=fs
        )
        self.file = self._kept.place
        """Where they are, for a person."""

    def all(self) -> tuple[Limit, ...]:
        """All of them, the oldest first."""
        return tuple(one for one in self._kept.read().limits if one.tokens > 0)

    def of(self, model: str, endpoint: str) -> Limit | None:
        """What that endpoint once named for that model."""
        return next((one for one in reversed(self.all()) if one.place == (model, endpoint)), None)

    def keep(self, limit: Limit) -> None:
        """Keep one in the place of what was known before; durable when this returns."""
        with self._kept.changing() as file:
            known = [one for one in file.limits if one.place != limit.place and one.tokens > 0]
            local = [one for one in (*known, limit) if one.is_local and one.model == limit.model]
            gone = [one.place for one in local[:-LOCAL_MAX]]
            file.limits[:] = [one for one in (*known, limit) if one.place not in gone][-LIMITS_MAX:]

    def forget(self, limit: Limit) -> None:
        """Keep it no longer."""
        with self._kept.changing() as file:
            file.limits[:] = [one for one in file.limits if one.place != limit.place]

    def forget_model(self, model: str) -> int:
        """Keep none of a model any longer; how many there were."""
        with self._kept.changing() as file:
            left = [one for one in file.limits if one.model != model]
            gone = len(file.limits) - len(left)
            file.limits[:] = left
        return gone
