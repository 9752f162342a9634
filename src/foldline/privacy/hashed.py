"""Sessions whose log holds no content: the conversation lives in memory, and on disk stands what happened, as events.

    append ──► memory: the entries, for as long as the process lives
         └───► disk:   {"kind":"event","body":{"type":"USER_INPUT","content_hash":"…"}}

For those who may not keep what was said. Such a session cannot be resumed: none of its messages, views, checkpoints and
addresses can be brought back, and whoever tries is told so. `foldline events` lists it. Counterpart: `foldline.log.audit`,
which makes the events.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Final

from msgspec import Struct

from foldline.core.entry import Draft, Entry
from foldline.core.errors import InvalidOption, SessionBusy, SessionFailed, UnknownSession
from foldline.core.ports import Journal, Pages, Store, TokenCounter
from foldline.core.surrogates import whole_json
from foldline.log.audit import EVENT, Audit, deleted
from foldline.stores.memory import MemoryStore
from foldline.wire import strict

HASHED: Final = "hashed"
LOST: Final = (
    "its log holds hashes instead of content, so messages, views, checkpoints and addresses cannot be brought back; "
    "`foldline events` lists what happened, and a new session needs another name"
)
"""Why such a session is not resumed."""
LOOK_MS: Final = 3_600_000
"""How often a running session looks for events that have become too old."""


def refuse_hashed(pages: Pages, name: str) -> None:
    """Raise `InvalidOption` for a log without content, which nothing can go on from."""
    if is_hashed(pages):
        raise InvalidOption("session", name, why=LOST)


def is_hashed(pages: Pages) -> bool:
    """True for a log that holds events alone."""
    about = strict.loads(pages.about)
    return isinstance(about, dict) and about.get("content") == HASHED


class Aging(Struct, frozen=True, kw_only=True):
    """How old the events of a running session may get."""

    kept_ms: int
    delete: Callable[[str, int], None]
    """Deletes those of a session that nobody has open which were written before a time."""


def is_old(entry: Entry, since_ms: int | None) -> bool:
    """True for what was written before that; an entry without a time is never."""
    return since_ms is not None and entry.time_ms is not None and entry.time_ms < since_ms


def has_old(pages: Pages, before_ms: int) -> bool:
    """True where an event was written before that, and is not deleted yet. Reads no more than what is old; of a log in which
    nothing is left to delete, its end."""
    newest = next(pages.back(), None)
    if newest is None or (is_old(newest, before_ms) and without_old(newest, before_ms) is None):
        return False
    old = takewhile(lambda entry: is_old(entry, before_ms), pages.entries())
    return any(without_old(entry, before_ms) is not None for entry in old)


def without_old(entry: Entry, before_ms: int) -> bytes | None:
    """What stands in the place of an event that was written before that; `None` for what stays as it is."""
    return deleted(entry.body) if entry.kind == EVENT and is_old(entry, before_ms) else None


class HashedStore:
    """`foldline.core.ports.Store` that keeps content in memory and puts events into another store."""

    def __init__(
        self,
        events: Store,
        *,
        digest: Callable[[bytes], str],
        counter: TokenCounter,
        clock: Callable[[], int | None],
        aging: Aging | None = None,
    ) -> None:
        self._events, self._digest, self._counter = events, digest, counter
        self._clock, self._aging = clock, aging
        self._memory = MemoryStore(clock)

    def names(self) -> tuple[str, ...]:
        return self._memory.names()

    def create(self, name: str, *, format: str, about: bytes) -> Journal:
        told = strict.loads(about)
        parent = told.pop("parent", None)
        forked = {} if parent is None else {"forked_from": parent["name"]}
        body = whole_json(json.dumps({**told, **forked, "content": HASHED}, separators=(",", ":"))).encode()
        kept = self._events.create(name, format=format, about=body)
        audit = Audit(self._digest, self._counter)
        memory = self._memory.create(name, format=format, about=about)
        return HashedJournal(memory, kept, audit=audit, aged=self._aged(name))

    def _aged(self, name: str) -> Callable[[Journal], Journal]:
        """What the events of a session are written to, once an hour without those that are too old by then."""
        aging, looked_ms = self._aging, self._clock()

        def aged(kept: Journal) -> Journal:
            nonlocal looked_ms
            now_ms = self._clock()
            if aging is None or now_ms is None or looked_ms is None or now_ms - looked_ms < LOOK_MS:
                return kept
            looked_ms, before_ms = now_ms, now_ms - aging.kept_ms
            if not has_old(kept, before_ms):
                return kept
            kept.close()
            try:
                with suppress(SessionBusy, SessionFailed):
                    aging.delete(name, before_ms)
                return self._events.write(name)
            except (SessionBusy, UnknownSession) as error:
                raise SessionFailed(name, str(error)) from error

        return aged

    def write(self, name: str) -> Journal:
        refuse_hashed(self._events.read(name), name)
        raise InvalidOption(
            "content", HASHED, why=f"session {name!r} has its content on disk already; take another name"
        )

    def read(self, name: str) -> Pages:
        return self._memory.read(name)

    def rewrite(
        self, name: str, change: Callable[[Entry], bytes | None], *, more: Sequence[Draft] = ()
    ) -> int:
        return self._memory.rewrite(name, change, more=more)

    def remove(self, name: str) -> None:
        self._memory.remove(name)
        self._events.remove(name)


class HashedJournal:
    """`foldline.core.ports.Journal`: read from memory, its events on disk."""

    def __init__(
        self, memory: Journal, kept: Journal, *, audit: Audit, aged: Callable[[Journal], Journal]
    ) -> None:
        self._memory, self._kept, self._audit, self._aged = memory, kept, audit, aged

    @property
    def format(self) -> str:
        return self._memory.format

    @property
    def about(self) -> bytes:
        return self._memory.about

    @property
    def torn(self) -> str:
        return self._memory.torn

    def entry(self, offset: int) -> Entry:
        return self._memory.entry(offset)

    def entries(self, offset: int = 0) -> Iterator[Entry]:
        return self._memory.entries(offset)

    def back(self) -> Iterator[Entry]:
        return self._memory.back()

    def append(self, drafts: Sequence[Draft], *, sync: bool = True) -> tuple[Entry, ...]:
        self._kept = self._aged(self._kept)
        made = self._memory.append(drafts)
        events = [event for entry in made for event in self._audit.events(entry)]
        self._kept.append([Draft(kind=EVENT, body=_body(event)) for event in events], sync=sync)
        return made

    def sync(self) -> None:
        self._kept.sync()

    @property
    def packed(self) -> int:
        return self._memory.packed

    def archive(self) -> str:
        return self._kept.archive()

    def close(self) -> None:
        self._memory.close()
        self._kept.close()


def _body(event: dict[str, object]) -> bytes:
    """An event without its number and time, which the line has, and without the words of an error."""
    told = {key: value for key, value in event.items() if key not in ("seq", "timestamp", "error")}
    return whole_json(json.dumps(told, ensure_ascii=False, separators=(",", ":"))).encode()
