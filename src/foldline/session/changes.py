"""Changes to a session from outside, each with a dry run: undo, rollback, fork.

What would happen is found by doing it to the state alone, with the log only read. Counterpart: `foldline.session.session`,
whose methods do the same to a session that is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import takewhile

from msgspec import Struct

from foldline.core.entry import Entry
from foldline.core.ports import Store
from foldline.engine.report import Report
from foldline.home import disk_store
from foldline.log.applied import newest_first
from foldline.log.chain import naming
from foldline.log.lineage import Lineage, read_lineage
from foldline.log.replay import resume
from foldline.log.state import State
from foldline.session.forking import create_fork
from foldline.session.history import Made, happened
from foldline.session.hosting import Host
from foldline.session.library import about_alone, reading, refuse_taken, unplaced
from foldline.session.opening import open_in, redactor
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.stores.memory import MemoryStore


class Change(Struct, frozen=True, kw_only=True):
    """What was changed, or would be."""

    session: str
    entry: int
    """The compaction taken back, or the entry that is now the last one."""
    address: str | None = None
    messages_before: int
    """In the view."""
    messages_after: int


class Forked(Struct, frozen=True, kw_only=True):
    """A fork that was made, or would be."""

    session: str
    """The new one."""
    parent: str
    entry: int
    """The last entry of the parent that belongs to it."""
    messages: int
    """In its view."""


def compact(
    session: str,
    to: int | float | None = None,
    *,
    dry_run: bool = False,
    focus: str | None = None,
    asked: SessionOptions | None = None,
) -> Report:
    """Compact a session by hand, or say what that would do. Raises `TargetUnreachable`, with the report as `.result`,
    `UnknownSession`, `SessionBusy`."""
    with open_in(existing(disk_store(), session), session, asked=asked or _asked()) as opened:
        return opened.preview(to, focus=focus) if dry_run else opened.compact(to, focus=focus)


def undo(session: str, what: str | None = None, *, dry_run: bool = False) -> Change:
    """Take a compaction back: the last one, the one of an entry's number, or the one edit behind an address. Raises
    `InvalidOption`, `UnknownAddress`, `UnknownSession`, `SessionBusy`."""
    with _opened(session, dry_run=dry_run) as opened:
        before = opened.size
        if what is None or what.isdecimal():
            entry, address = opened.undo(None if what is None else int(what)), None
        else:
            entry, address = opened.unfold(what), what
        return Change(
            session=session, entry=entry, address=address, messages_before=before, messages_after=opened.size
        )


class Compactions(Struct, frozen=True, kw_only=True):
    """A page of the compactions of a session."""

    made: tuple[Made, ...]
    """Oldest first."""
    before: int | None = None
    """Where the page before this one ends, to be asked for with; `None`: this is the first."""


def compactions(session: str, *, before: int | None = None, limit: int | None = None) -> Compactions:
    """The newest compactions of a session, or those before an entry, by the numbers that `undo` and `rollback` take; `limit`:
    how many, `None` for all. The log is only read, from its end and no further than it takes. Raises `UnknownSession`,
    `SessionCorrupt`."""
    with reading(disk_store(), session) as log:
        state = resume(log).state
        found: list[Entry] = []
        for entry in log.back():
            if entry.kind == "compaction" and (before is None or entry.seq < before):
                if len(found) == limit:
                    return Compactions(made=_explained(found, state, log=log), before=found[-1].seq)
                found.append(entry)
        return Compactions(made=_explained(found, state, log=log))


def _explained(newest: Sequence[Entry], state: State, *, log: Lineage) -> tuple[Made, ...]:
    oldest = newest[-1].seq if newest else 0
    counting = {one.seq for one in takewhile(lambda one: one.seq >= oldest, newest_first(state, log))}
    return tuple(
        Made(seq=entry.seq, counts=entry.seq in counting, happened=happened(entry))
        for entry in reversed(newest)
    )


def rollback(
    session: str, *, to: int | None = None, before: int | None = None, dry_run: bool = False
) -> Change:
    """Bring a session back to an entry, or to the one before a compaction began. Raises as `undo`."""
    with _opened(session, dry_run=dry_run) as opened:
        size = opened.size
        entry = opened.rollback(to, before=before)
        return Change(session=session, entry=entry, messages_before=size, messages_after=opened.size)


def fork(session: str, name: str, *, at: int | None = None, dry_run: bool = False) -> Forked:
    """A new session that goes on from another, which may be written meanwhile. Raises `SessionExists` and as `undo`."""
    disk = disk_store()
    if dry_run:
        refuse_taken(disk, name)
    store: Store = _copy(disk, session) if dry_run else disk
    log = create_fork(store, session, name=name, at=at)
    cut = log.cut
    log.close()
    assert cut is not None, "a fork says where it left its parent"
    with open_in(store, name, asked=_asked()) as opened:
        return Forked(session=name, parent=session, entry=cut.seq, messages=opened.size)


def _opened(session: str, *, dry_run: bool) -> Session:
    disk = disk_store()
    return open_in(_copy(disk, session) if dry_run else existing(disk, session), session, asked=_asked())


def existing(store: Store, session: str) -> Store:
    """The store, where it has the session. Raises `UnknownSession`: opening would begin one."""
    store.read(session).close()
    return store


def asked_for(
    *,
    policy: str = "balanced",
    model: str | None = None,
    counter: str | None = None,
    host: Host | None = None,
) -> SessionOptions:
    """What a command opens a session with."""
    return SessionOptions(policy=policy, model=model, counter=counter, redact=redactor(), host=host or Host())


def _asked() -> SessionOptions:
    return asked_for()


def _copy(store: Store, session: str) -> MemoryStore:
    """A store in memory that holds this session alone, with the same numbers."""
    copy = MemoryStore()
    with naming(session), closing(read_lineage(store, session)) as log:
        journal = copy.create(session, format=log.format, about=about_alone(log))
        journal.append([unplaced(entry) for entry in log.entries()])
        journal.close()
    return copy
