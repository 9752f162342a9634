"""What opens the sessions of a client or a proxy: by name on disk, without a name in memory alone.

Owns what all of them have in common: redaction by the home's key, the clock of the store, the format of the request that a
session begins with. Knows nothing of conversations; its counterpart is `foldline.clients.following`, which asks for them.
"""

from __future__ import annotations

import os

from msgspec.structs import replace

from foldline.clients.calls import Call
from foldline.clients.sessions import Open
from foldline.home import disk_store, home_at
from foldline.session.opening import Asked, open_in, redactor
from foldline.session.session import Session
from foldline.stores.disk import unix_ms
from foldline.stores.limits import Limits
from foldline.stores.memory import MemoryStore


def opening(asked: Asked, *, home: str | os.PathLike[str] | None) -> Open:
    """What opens sessions below `home`. `asked`: what all of them have in common; the format is that of the request, and the model
    where none is named. With an endpoint, what its provider says of a limit is kept for it."""
    limits = Limits(home_at(home)) if asked.endpoint else None
    common = replace(asked, clock=unix_ms, limits=limits)

    def opened(name: str, call: Call) -> Session:
        one = replace(common, model=common.model or call.model, format=call.format)
        if not name:
            return open_in(MemoryStore(), "memory", asked=one)
        return open_in(disk_store(home), name, asked=replace(one, redact=redactor(home)))

    return opened
