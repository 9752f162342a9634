"""Changes to a session from outside, each with a dry run: undo, rollback, fork.

What would happen is found by doing it to the state alone, with the log only read. Counterpart: `foldline.session.session`,
whose methods do the same to a session that is open.
"""

from __future__ import annotations

from msgspec import Struct

from foldline.core.ports import Store
from foldline.engine.report import Report
from foldline.home import disk_store
from foldline.log.lineage import read_lineage
from foldline.log.values import dumps
from foldline.session.forking import create_fork
from foldline.session.history import happened
from foldline.session.hosting import Host
from foldline.session.library import object_of, refuse_taken, unplaced
from foldline.session.opening import Asked, open_in, redactor
from foldline.session.session import Made, Session
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
    asked: Asked | None = None,
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


def compactions(session: str) -> tuple[Made, ...]:
    """Every compaction of a session, oldest first, by the numbers that `undo` and `rollback` take; the log is only read.
    Raises `UnknownSession`, `SessionCorrupt`."""
    with _opened(session, dry_run=True) as opened:
        counting = {made.seq for made in opened.compactions if made.counts}
    log = read_lineage(disk_store(), session)
    try:
        return tuple(
            Made(seq=entry.seq, counts=entry.seq in counting, happened=happened(entry))
            for entry in log.entries()
            if entry.kind == "compaction"
        )
    finally:
        log.close()


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
) -> Asked:
    """What a command opens a session with."""
    return Asked(policy=policy, model=model, counter=counter, redact=redactor(), host=host or Host())


def _asked() -> Asked:
    return asked_for()


def _copy(store: Store, session: str) -> MemoryStore:
    """A store in memory that holds this session alone, with the same numbers."""
    copy = MemoryStore()
    log = read_lineage(store, session)
    try:
        about = {key: told for key, told in object_of(log.about).items() if key != "parent"}
        journal = copy.create(session, format=log.format, about=dumps(about))
        journal.append([unplaced(entry) for entry in log.entries()])
        journal.close()
    finally:
        log.close()
    return copy
