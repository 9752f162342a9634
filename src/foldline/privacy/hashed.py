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
from typing import Final

from foldline.core.entry import Draft, Entry
from foldline.core.errors import InvalidOption
from foldline.core.ports import Journal, Pages, Store, TokenCounter
from foldline.core.surrogates import whole_json
from foldline.log.audit import EVENT, Audit
from foldline.stores.memory import MemoryStore
from foldline.wire import strict

HASHED: Final = "hashed"
LOST: Final = (
    "its log holds hashes instead of content, so messages, views, checkpoints and addresses cannot be brought back; "
    "`foldline events` lists what happened, and a new session needs another name"
)
"""Why such a session is not resumed."""


def refuse_hashed(pages: Pages, name: str) -> None:
    """Raise `InvalidOption` for a log without content, which nothing can go on from."""
    if is_hashed(pages):
        raise InvalidOption("session", name, why=LOST)


def is_hashed(pages: Pages) -> bool:
    """True for a log that holds events alone."""
    about = strict.loads(pages.about)
    return isinstance(about, dict) and about.get("content") == HASHED


class HashedStore:
    """`foldline.core.ports.Store` that keeps content in memory and puts events into another store."""

    def __init__(
        self,
        events: Store,
        *,
        digest: Callable[[bytes], str],
        counter: TokenCounter,
        clock: Callable[[], int | None],
    ) -> None:
        self._events, self._digest, self._counter = events, digest, counter
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
        return HashedJournal(self._memory.create(name, format=format, about=about), kept, audit=audit)

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

    def __init__(self, memory: Journal, kept: Journal, *, audit: Audit) -> None:
        self._memory, self._kept, self._audit = memory, kept, audit

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
