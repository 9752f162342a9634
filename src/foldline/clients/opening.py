"""What opens the sessions of a client or a proxy: by name on disk, without a name in memory alone.

Owns what all of them have in common: redaction by the home's key, the clock of the store, the format of the request that a
session begins with. Knows nothing of conversations; its counterpart is `foldline.clients.following`, which asks for them.
"""

from __future__ import annotations

import os

from msgspec.structs import replace

from foldline.clients.calls import Call
from foldline.clients.following import Open
from foldline.engine.policy import Policy
from foldline.home import disk_store, home_at
from foldline.session.hosting import Host
from foldline.session.opening import Asked, open_in, redactor
from foldline.session.session import Session
from foldline.stores.disk import unix_ms
from foldline.stores.limits import Limits
from foldline.stores.memory import MemoryStore


def opening(
    policy: str | Policy,
    *,
    home: str | os.PathLike[str] | None,
    model: str | None,
    host: Host,
    endpoint: str = "",
) -> Open:
    """What opens sessions below `home`. `model`: whose window is planned with; `None`: the one that a request names.
    `endpoint`: where requests go; what its provider says of a limit is kept for it."""

    def opened(name: str, call: Call) -> Session:
        asked = Asked(
            model=model or call.model,
            policy=policy,
            format=call.format,
            clock=unix_ms,
            host=host,
            endpoint=endpoint,
            limits=Limits(home_at(home)) if endpoint else None,
        )
        if not name:
            return open_in(MemoryStore(), "memory", asked=asked)
        return open_in(disk_store(home), name, asked=replace(asked, redact=redactor(home)))

    return opened
