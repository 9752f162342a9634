"""The chain of a log's entries, and what is taken back on it.

    m0 m1 m2 rollback{to 0} m3        m0 ◄─ rollback ◄─ m3

Each entry has the one before it as its predecessor, a `rollback` the one it names; what lies between is no longer on the
chain. An `undo` or `unfold` that is on the chain takes a compaction back, or one edit of it. Counterpart:
`foldline.log.replay`, which takes in what is left.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

from foldline.core.entry import Entry
from foldline.core.errors import SessionCorrupt
from foldline.core.ports import Pages
from foldline.log.values import members
from foldline.wire import strict

TAKING_BACK: Final = frozenset(("undo", "unfold"))


class Voided(Struct, frozen=True, kw_only=True):
    """What later entries of the chain take back."""

    entries: frozenset[int] = frozenset()
    """Compactions, by `seq`."""
    spans: Mapping[int, frozenset[str]] = {}
    """Single edits: the addresses, by `seq` of their compaction."""


class Beyond(Exception):
    """An entry takes back what lies before the entries at hand: the replay has to begin earlier."""


def chain_of(entries: Sequence[Entry], *, after: int) -> tuple[list[bool], Voided]:
    """Which entries are on the chain that ends with the last one, and what is taken back on it. `after`: the last entry
    before these. Raises `Beyond`."""
    seqs = [entry.seq for entry in entries]
    on_chain = [False] * len(entries)
    undone: set[int] = set()
    unfolded: dict[int, frozenset[str]] = {}
    index = len(entries) - 1
    while index >= 0:
        entry = entries[index]
        on_chain[index] = True
        if entry.kind == "rollback":
            to = _target(entry, "to", after=after)
            index = bisect_right(seqs, to, hi=index) - 1
            continue
        if entry.kind in TAKING_BACK:
            of = _target(entry, "entry", after=after + 1)
            if entry.kind == "undo":
                undone.add(of)
            else:
                unfolded[of] = unfolded.get(of, frozenset()) | {_address_in(entry)}
        index -= 1
    return on_chain, Voided(entries=frozenset(undone), spans=unfolded)


def _target(entry: Entry, member: str, *, after: int) -> int:
    """The entry that another one names."""
    try:
        named = strict.loads(entry.body)[member]
        if not isinstance(named, int) or isinstance(named, bool) or named >= entry.seq:
            raise ValueError(f"{member} names an earlier entry, not {named!r}")
    except (ValueError, LookupError, TypeError) as error:
        raise unreadable(entry, error) from error
    if named < after:
        raise Beyond
    return named


def _address_in(entry: Entry) -> str:
    try:
        return str(strict.loads(entry.body)["address"])
    except (ValueError, LookupError, TypeError) as error:
        raise unreadable(entry, error) from error


def members_of(entry: Entry) -> dict[str, bytes]:
    """The bytes of each member of an entry's body. Raises `SessionCorrupt`."""
    try:
        return members(entry.body)
    except (ValueError, TypeError) as error:
        raise unreadable(entry, error) from error


def unreadable(entry: Entry, error: Exception) -> SessionCorrupt:
    """The error of an entry whose body is not what its kind says."""
    why = f"missing {error}" if isinstance(error, KeyError) else str(error)
    return SessionCorrupt(entry.offset, f"{entry.kind} entry {entry.seq} cannot be read: {why}")


def back(pages: Pages) -> Iterator[Entry]:
    """The entries of the chain, newest first; costs what is taken of it."""
    want: int | None = None
    for entry in pages.back():
        if want is not None and entry.seq > want:
            continue
        want = _target(entry, "to", after=-1) if entry.kind == "rollback" else None
        yield entry


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Around what reads a session's log: damage is told with the name, and what to do."""
    try:
        yield
    except SessionCorrupt as error:
        if error.name is not None:
            raise
        raise SessionCorrupt(error.offset, error.why, name=name) from error
