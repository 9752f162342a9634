"""What opens the sessions of a client or a proxy: by name on disk, without a name in memory alone.

Owns what all of them have in common: redaction by the home's key, the clock of the store, the format of the request that a
session begins with, the limits that providers named. Knows nothing of conversations; its counterpart is `foldline.clients.following`, which asks for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from foldline.clients.calls import Call
from foldline.clients.sessions import Open
from foldline.core.foreign import Raised, tried
from foldline.home import disk_store, home_at
from foldline.session.limits import holds
from foldline.session.opening import open_in, redactor
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.settings import Planned
from foldline.stores.disk import unix_ms
from foldline.stores.limits import Limit, Limits, endpoint_of
from foldline.stores.memory import MemoryStore

LIMITS_MAX: Final = 64
"""Models whose limits are remembered while the file of limits is the same."""


def opening(asked: SessionOptions, *, home: str | os.PathLike[str] | None) -> Open:
    """What opens sessions below `home`. `asked`: what all of them have in common; the format is that of the request, and the model
    where none is named. With an endpoint, what its provider says of a limit is kept for it."""
    limits = Limits(home_at(home)) if asked.endpoint else None
    common = replace(asked, clock=unix_ms, limits=limits, endpoint=endpoint_of(asked.endpoint))

    def opened(name: str, call: Call) -> Session:
        one = replace(common, model=common.model or call.model, format=call.format)
        if not name:
            return open_in(MemoryStore(), "memory", asked=one)
        return open_in(disk_store(home), name, asked=replace(one, redact=redactor(home)))

    return opened


def planning(
    plan: Callable[[str | None], Planned], *, home: str | os.PathLike[str] | None, endpoint: str
) -> Callable[[str | None], Planned]:
    """The numbers of a model as its sessions will plan with them: with the limit that the provider there named, where it did. A file of
    limits that cannot be read is said so by the session that reads it."""
    limits, place = Limits(home_at(home)), endpoint_of(endpoint)

    @lru_cache(LIMITS_MAX)
    def limit_of(model: str, stamp: tuple[int, ...]) -> Limit | Raised | None:
        return tried(lambda: limits.of(model, place))

    def planned(model: str | None) -> Planned:
        known = plan(model)
        stamp = None if model is None else _stamp(limits.file)
        found = None if model is None or stamp is None else limit_of(model, stamp)
        if not isinstance(found, Limit) or not holds(found, known):
            return known
        return replace(known, window=found.tokens, is_window_known=True, source="refusal")

    return planned


def _stamp(file: str) -> tuple[int, ...] | None:
    """Of a file that is written whole, in the place of another; `None` where there is none."""
    try:
        told = os.stat(file)
    except OSError:
        return None
    return told.st_ino, told.st_mtime_ns, told.st_size
