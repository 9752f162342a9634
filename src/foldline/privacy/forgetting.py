"""Forgetting over all that a home keeps: which logs, in which order, and what is said of it.

    parents before their forks │ each log: look, then append `forgot`, then rewrite in place │ index and statistics anew

A log is only rewritten where something in it goes. Each rewrite leaves the old log or the new one, whatever interrupts
it; asked again, a forget goes on where it was interrupted. Owns the walk; what goes in an entry is `foldline.log.forget`'s.
What cannot be reached from here (backups, exports, other programs) is named in every answer.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from foldline.core.address import digest_of, parse_address
from foldline.core.entry import Draft
from foldline.core.errors import (
    InvalidOption,
    SessionBusy,
    SessionCorrupt,
    SessionFailed,
    UnknownAddress,
    UnknownFormat,
    UnknownSession,
)
from foldline.core.message import Message
from foldline.core.ports import Pages, Store
from foldline.core.received import received
from foldline.log.blanking import TEXT_CHARS_MIN, found_as, spelled
from foldline.log.forget import Addresses, Forgetter, Quoted, Wish, chosen, quoted_of, readable
from foldline.log.lineage import DEPTH_MAX
from foldline.privacy.derived import forget_derived

TEXT_CHARS_MAX = 10_000
"""A longer text is better named by its address."""
UNREACHABLE: Final = (
    "backups and copies of the folder",
    "files that `export` or `show -o` wrote",
    "what was sent to a provider",
    "blocks that the disk has not written over yet",
    "the same words in another spelling: other case, base64, hexadecimal",
)
"""What a forget cannot reach, said each time."""

_DAMAGED: Final = (SessionCorrupt, SessionFailed, UnknownFormat)

Tick = Callable[[int, int], None]


class _Walk(Struct, frozen=True, kw_only=True):
    """What a walk takes out, and how."""

    wishes: dict[str | None, Wish]
    """By session; under `None` for all others."""
    dry_run: bool
    tick: Tick | None
    quoted: Quoted = Quoted()

    def wish(self, name: str) -> Wish:
        """What goes in this session."""
        return self.wishes.get(name, self.wishes[None])


class Changed(Struct, frozen=True, kw_only=True):
    """What a forget does to one session."""

    name: str
    ordinals: tuple[int, ...] = ()
    """Messages it changes."""
    kinds: dict[str, int] = {}
    """Entries it changes, by kind."""
    places: int = 0
    problem: str = ""
    """Why it was not done here; empty when it was, or would be."""
    unread: bool = False
    """True for a damaged log in whose sound part nothing is to go: what the rest says is not known."""


class Forgotten(Struct, frozen=True, kw_only=True):
    """What a forget did, or would do."""

    changed: tuple[Changed, ...]
    removed: tuple[str, ...] = ()
    """Sessions taken away whole."""
    names: tuple[str, ...] = ()
    """Sessions whose own name or first line holds the words; only `forget SESSION` reaches those."""

    @property
    def is_whole(self) -> bool:
        """True when nothing was left undone."""
        return (
            not any(one.problem and (not one.unread or self.is_something) for one in self.changed)
            and not self.names
        )

    @property
    def is_something(self) -> bool:
        """True when something is to go somewhere."""
        return bool(self.removed) or any(not one.problem for one in self.changed)

    def to_dict(self) -> dict[str, Any]:
        """As `foldline forget --json` gives it."""
        return {
            "sessions": [
                {
                    "name": one.name,
                    "messages": list(one.ordinals),
                    "entries": one.kinds,
                    "places": one.places,
                    "problem": one.problem or None,
                    "unread": one.unread,
                }
                for one in self.changed
            ],
            "removed": list(self.removed),
            "named": list(self.names),
            "not_reached": list(UNREACHABLE),
        }


def forget_text(
    store: Store, text: str, *, within: str | None = None, dry_run: bool = False, tick: Tick | None = None
) -> Forgotten:
    """Forget a text wherever it stands, or in one session with its forks and what it was forked from. Raises
    `InvalidOption`, `UnknownSession`."""
    if found_as(text) == "not" or len(text) > TEXT_CHARS_MAX:
        why = (
            f"a text to forget has {TEXT_CHARS_MIN} to {TEXT_CHARS_MAX:,} characters, or is a word of 3 letters or digits, "
            "or of 2 in a script without case (王明); name a part by its address"
        )
        raise InvalidOption("text", text, why=why)
    family = _family(store, within)
    pattern = spelled(text)
    names = tuple(
        name
        for name in family
        if any(map(pattern.search, (name.encode("utf-8", "surrogatepass"), _about(store, name))))
    )
    done = _walk(store, family, walk=_Walk(wishes={None: Wish(texts=(text,))}, dry_run=dry_run, tick=tick))
    return Forgotten(changed=done, names=names)


def forget_address(
    store: Store, address: str, *, within: str, dry_run: bool = False, tick: Tick | None = None
) -> Forgotten:
    """Forget what stands at an address of a session, and what was derived from it. Raises `UnknownAddress`,
    `UnknownSession`."""
    place = parse_address(address)
    family = _family(store, within)
    start = _first_ordinal(store, store.read(within))
    owner = within
    while place.start < start:  # a fork's address of what its parent said
        owner = _parent(store.read(owner))[0]
        start = _first_ordinal(store, store.read(owner))
    messages = _messages(store.read(owner), first=start)
    found = {o: received(m) for o, m in messages if place.start <= o < place.end and m is not None}
    slots = frozenset(() if place.slot is None else (place.slot,))
    parts = [part for _, message in sorted(found.items()) for part in chosen(message, slots)]
    if len(found) != place.end - place.start or digest_of(parts) != place.digest:
        raise UnknownAddress(
            address, f"session {within!r} holds something else there; `foldline show` opens it"
        )
    wish = Wish(parts={ordinal: slots for ordinal in found})
    quoted = quoted_of(parts, bodies=_other_bodies(store, family, owner=owner, wish=wish))
    walk = _Walk(wishes={None: Wish(), owner: wish}, quoted=quoted, dry_run=dry_run, tick=tick)
    return Forgotten(changed=_walk(store, family, walk=walk))


def forget_session(store: Store, names: Sequence[str], *, dry_run: bool = False) -> Forgotten:
    """Take sessions away whole, forks before what they go on from. Raises `UnknownSession`, `SessionBusy`, and
    `NeededByForks` where a fork that stays needs one of them."""
    for name in names:
        _known(store, name)
    forks = _forks(store)
    for name in names:
        needed_by = _forks_below(forks, name) - set(names)
        if needed_by:
            raise NeededByForks(name, tuple(sorted(needed_by, key=lambda fork: (-_depth(forks, fork), fork))))
    ordered = sorted(names, key=lambda name: -_depth(forks, name))
    if not dry_run:
        for name in ordered:
            store.remove(name)
        _forget_derived(store)
    return Forgotten(changed=(), removed=tuple(ordered))


class NeededByForks(InvalidOption):
    """A session that forks go on from. `forks`: those that would have to go first, in this order."""

    def __init__(self, name: str, forks: tuple[str, ...]) -> None:
        self.forks = forks
        first = ", then ".join(f"`foldline forget {fork}`" for fork in (*forks, name))
        why = f"forks go on from its log and hold no copy of it ({', '.join(map(repr, forks))}); to forget all of them: {first}"
        super().__init__("session", name, why=why)


def older_than(store: Store, time_ms: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sessions whose last entry is older than this, and those of them that a younger fork still needs."""
    last = {}
    for name in store.names():
        try:
            entry = next(store.read(name).back(), None)
        except _DAMAGED:  # nothing is known of its age
            entry = None
        last[name] = None if entry is None else entry.time_ms
    old = {name for name, at in last.items() if at is not None and at < time_ms}
    kept: set[str] = set()
    for name in sorted(last):
        if name not in old:
            line = _ancestors(store, name)
            kept.update(old.intersection(line))
    return tuple(sorted(old - kept)), tuple(sorted(kept))


# ── the walk ─────────────────────────────────────────────────────────────────────────────────────────────────


def _walk(store: Store, family: Sequence[str], *, walk: _Walk) -> tuple[Changed, ...]:
    addresses: dict[str, Addresses] = {}
    out: list[Changed] = []
    for number, name in enumerate(family):
        if walk.tick is not None:
            walk.tick(number, len(family))
        try:
            forgetter = _forgetter(store, name, walk=walk, known=addresses)
            for entry in store.read(name).entries():
                forgetter.change(entry)
            if forgetter.kinds or forgetter.places:
                out.append(_changed(name, forgetter))
                if not walk.dry_run:
                    _append_forgot(
                        store, name, forgetter=forgetter
                    )  # first: after an interruption nobody would know
                    forgetter = _forgetter(store, name, walk=walk, known=addresses)
                    store.rewrite(name, forgetter.change)
            addresses[name] = forgetter.addresses
        except (SessionBusy, UnknownSession, *_DAMAGED) as error:
            found = any(one.name == name for one in out) or _stands_before(store, name, walk=walk)
            out = [one for one in out if one.name != name]
            unread = not isinstance(error, SessionBusy) and not found
            out.append(Changed(name=name, problem=str(error), unread=unread))
    if not walk.dry_run:
        _forget_derived(store)
    return tuple(out)


def _forget_derived(store: Store) -> None:
    """Whether or not a log changed: an earlier forget may have been interrupted before it came to this."""
    home = getattr(store, "home", None)
    if isinstance(home, Path):
        forget_derived(home)


def _stands_before(store: Store, name: str, *, walk: _Walk) -> bool:
    """True when something that is to go stands before the damage of a log."""
    forgetter = Forgetter(walk.wish(name), Addresses(lambda _: None), quoted=walk.quoted)
    with contextlib.suppress(*_DAMAGED, UnknownSession):
        for entry in store.read(name).entries():
            forgetter.change(entry)
    return bool(forgetter.places)


def _forgetter(store: Store, name: str, *, walk: _Walk, known: dict[str, Addresses]) -> Forgetter:
    pages = store.read(name)
    parent, _ = _parent(pages)
    first = _first_ordinal(store, pages)
    above = known.get(parent)
    reader = _Reader(store, name, first=first)
    addresses = Addresses(reader.read, known=above, below=first)
    return Forgetter(walk.wish(name), addresses, quoted=walk.quoted, first=first)


class _Reader:
    """Messages by ordinal, a fork's parents' included, read when they are asked for."""

    def __init__(self, store: Store, name: str, *, first: int) -> None:
        self._store, self._pages, self._first = store, store.read(name), first
        self._above: _Reader | None = None
        self._offsets: list[int] | None = None

    def read(self, ordinal: int) -> Message | None:
        """The message as it was before this walk; `None` where there is none that can be read."""
        if ordinal < self._first:
            if self._above is None:
                parent = _parent(self._pages)[0]
                first = _first_ordinal(self._store, self._store.read(parent))
                self._above = _Reader(self._store, parent, first=first)
            return self._above.read(ordinal)
        if self._offsets is None:
            self._offsets = [entry.offset for entry in self._pages.entries() if entry.kind == "message"]
        if ordinal - self._first >= len(self._offsets):
            return None
        return readable(self._pages.entry(self._offsets[ordinal - self._first]).body)


def _append_forgot(store: Store, name: str, *, forgetter: Forgetter) -> None:
    told = {"ordinals": sorted(forgetter.ordinals), "what": forgetter.places}
    journal = store.write(name)
    try:
        journal.append([Draft(kind="forgot", body=json.dumps(told, separators=(",", ":")).encode())])
    finally:
        journal.close()


def _changed(name: str, forgetter: Forgetter) -> Changed:
    return Changed(
        name=name,
        ordinals=tuple(sorted(forgetter.ordinals)),
        kinds=dict(sorted(forgetter.kinds.items())),
        places=forgetter.places,
    )


def _other_bodies(store: Store, family: Sequence[str], *, owner: str, wish: Wish) -> Iterator[bytes]:
    """The bodies of the messages that stay, and of those that change, as they will be."""
    for name in family:
        told = wish if name == owner else Wish()
        forgetter = Forgetter(told, Addresses(lambda _: None), first=_first_ordinal(store, store.read(name)))
        for entry in store.read(name).entries():
            if entry.kind in ("message", "system", "tools"):
                yield forgetter.change(entry) or entry.body


# ── forks ────────────────────────────────────────────────────────────────────────────────────────────────────


def _parent(pages: Pages) -> tuple[str, int]:
    """The session a fork goes on from, and the byte at which it leaves it; an empty name for one that is no fork."""
    try:
        told = json.loads(pages.about).get("parent")
        return ("", 0) if told is None else (str(told["name"]), int(told["byte"]))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise SessionCorrupt(0, f"the first line names no parent that can be read: {error}") from error


def _first_ordinal(store: Store, pages: Pages) -> int:
    """How many messages a fork goes on from."""
    found = 0
    parent, byte = _parent(pages)
    for _ in range(DEPTH_MAX):
        if not parent:
            return found
        above = store.read(parent)
        parent, start = _parent(above)
        for entry in above.entries():
            if entry.offset + start >= byte:
                break
            found += entry.kind == "message"
        byte = min(byte, start)
    raise SessionCorrupt(0, f"more than {DEPTH_MAX} forks of forks, or one that goes on from itself")


def _forks(store: Store) -> dict[str, str]:
    """Every session and what it goes on from; nothing for one whose first line cannot be read."""
    found = {}
    for name in store.names():
        try:
            found[name] = _parent(store.read(name))[0]
        except (UnknownSession, *_DAMAGED):
            found[name] = ""
    return found


def _forks_below(forks: dict[str, str], name: str) -> set[str]:
    """The forks of a session, and theirs."""
    found = {name}
    while more := {fork for fork, parent in forks.items() if parent in found} - found:
        found |= more
    return found - {name}


def _known(store: Store, name: str) -> None:
    """Raise `UnknownSession` where there is none of this name; a damaged one is one."""
    with contextlib.suppress(*_DAMAGED):
        store.read(name)


def _about(store: Store, name: str) -> bytes:
    try:
        return store.read(name).about
    except (UnknownSession, *_DAMAGED):
        return b""


def _ancestors(store: Store, name: str) -> list[str]:
    forks = _forks(store)
    found: list[str] = []
    while (name := forks.get(name, "")) and name not in found:
        found.append(name)
    return found


def _depth(forks: dict[str, str], name: str) -> int:
    depth = 0
    while (name := forks.get(name, "")) and depth < len(forks):
        depth += 1
    return depth


def _family(store: Store, within: str | None) -> list[str]:
    """The sessions to walk, each before its forks: all of them, or one with its forks and what it goes on from."""
    forks = _forks(store)
    names = set(forks)
    if within is not None:
        _known(store, within)
        names = {within}
        while True:
            more = {forks[name] for name in names if forks.get(forks.get(name, "")) is not None} | {
                f for f, p in forks.items() if p in names
            }
            if more <= names:
                break
            names |= more
    return sorted(names, key=lambda name: (_depth(forks, name), name))


def _messages(pages: Pages, *, first: int) -> Iterator[tuple[int, Message | None]]:
    ordinal = first
    for entry in pages.entries():
        if entry.kind == "message":
            yield ordinal, readable(entry.body)
            ordinal += 1
