"""The events of a session, read from its log: the walk, the hash and the counter that `foldline.log.audit` is given.

Hashes are keyed with the home's key: one content has one hash in all sessions of a home, and nobody without the key can try
words against it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator

from foldline.core.entry import Entry
from foldline.core.ports import Pages, TokenCounter
from foldline.log.audit import DELETED, Audit, Event


def digest_with(key: bytes) -> Callable[[bytes], str]:
    """The hash of a content under a key, 64 hexadecimal digits."""
    return lambda data: hmac.new(key, b"event\0" + data, hashlib.sha256).hexdigest()


class Following:
    """A session's events as they come, in as many readings as one likes. `first`: the number of the log's first entry, which in a
    fork goes on from its parent's."""

    def __init__(self, *, key: bytes, counter: TokenCounter, first: int = 0) -> None:
        self._audit = Audit(digest_with(key), counter)
        self._first, self._next = first, 0
        self.deleted = 0
        """Events that are there no more, as too old."""

    def more(self, pages: Pages, *, since_ms: int | None = None) -> Iterator[Event]:
        """The events of what stands in the log behind the last reading, oldest first, each with the `entry` of the log it comes
        from: the number that `undo`, `rollback` and `fork` take. `since_ms`: leave out what is older; an entry without a time is
        never. Raises `SessionCorrupt` at damage, after what stands before it."""
        for entry in pages.entries(self._next):
            for event in self._audit.events(entry):
                if event["type"] == DELETED or is_old(entry, since_ms):
                    self.deleted += 1
                else:
                    yield {"seq": event["seq"], "entry": self._first + entry.seq, **event}
            self._next = entry.offset + entry.size


def is_old(entry: Entry, since_ms: int | None) -> bool:
    """True for what was written before that; an entry without a time is never."""
    return since_ms is not None and entry.time_ms is not None and entry.time_ms < since_ms
