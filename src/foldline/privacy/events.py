"""The events of a session, read from its log: the walk, the hash and the counter that `foldline.log.audit` is given.

Hashes are keyed with the home's key: one content has one hash in all sessions of a home, and nobody without the key can try
words against it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator
from contextlib import closing

from foldline.core.errors import SessionCorrupt
from foldline.core.ports import Pages, Store, TokenCounter
from foldline.home import disk_store
from foldline.log.audit import DELETED, Audit, Event
from foldline.log.lineage import first_of
from foldline.privacy.aging import delete_old
from foldline.privacy.hashed import is_old
from foldline.privacy.key import key_in
from foldline.settings import events_since_ms
from foldline.stores.disk import unix_ms
from foldline.tokens.choose import counter_for


def digest_with(key: bytes) -> Callable[[bytes], str]:
    """The hash of a content under a key, 64 hexadecimal digits."""
    return lambda data: hmac.new(key, b"event\0" + data, hashlib.sha256).hexdigest()


class SessionEvents:
    """A session's events as they come, in as many readings as one likes. `since_ms`: leave out what is older; an entry without a time
    is never."""

    def __init__(
        self, store: Store, session: str, *, key: bytes, counter: TokenCounter, since_ms: int | None = None
    ) -> None:
        self.session, self._store, self._since_ms = session, store, since_ms
        self._audit, self._next = Audit(digest_with(key), counter), 0
        self.deleted = 0
        """Events that are there no more, as too old."""

    def more(self) -> Iterator[Event]:
        """The events of what stands in the log behind the last reading, oldest first, each with the `entry` of the log it comes
        from: the number that `undo`, `rollback` and `fork` take. Raises `SessionCorrupt` at damage, after what stands before it,
        `UnknownSession` for one that is gone."""
        try:
            with closing(self._store.read(self.session)) as pages:
                yield from self._behind(pages, first=first_of(pages))
        except SessionCorrupt as error:
            raise SessionCorrupt(error.offset, error.why, name=self.session) from error

    def _behind(self, pages: Pages, *, first: int) -> Iterator[Event]:
        for entry in pages.entries(self._next):
            for event in self._audit.events(entry):
                if event["type"] == DELETED or is_old(entry, self._since_ms):
                    self.deleted += 1
                else:
                    yield {"seq": event["seq"], "entry": first + entry.seq, **event}
            self._next = entry.offset + entry.size


def followed(session: str, *, counter: str | None = None) -> SessionEvents:
    """The events of a session of this home, of which those that are too old are deleted first. Raises `UnknownSession`."""
    store, since_ms = disk_store(), events_since_ms(unix_ms())
    store.read(session).close()
    delete_old(store, (session,), before_ms=since_ms)
    return SessionEvents(
        store, session, key=key_in(store.home), counter=counter_for(counter=counter), since_ms=since_ms
    )
