"""Forgetting over all that a home keeps: which logs, in which order, and what is said of it.

    parents before their forks │ each log: look, then rewrite in place, then append `forgot` │ index and statistics anew

A log is only rewritten where something in it goes. Each rewrite leaves the old log or the new one, whatever interrupts
it; asked again, a forget goes on where it was interrupted. Owns the walk; what goes in an entry is `foldline.log.forget`'s.
What cannot be reached from here (backups, exports, other programs) is named in every answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from foldline.core.address import digest_of, parse_address
from foldline.core.entry import Draft
from foldline.core.errors import InvalidOption, SessionBusy, SessionCorrupt, UnknownAddress
from foldline.core.message import Message
from foldline.core.ports import Pages, Store
from foldline.core.received import received
from foldline.log.forget import Addresses, Forgetter, Quoted, Wish, chosen, quoted_of, readable

TEXT_CHARS_MIN, TEXT_CHARS_MAX = 4, 10_000
"""A shorter text stands everywhere; a longer one is better named by its address."""
UNREACHABLE: Final = (
    "backups and copies of the folder",
    "files that `export` or `show -o` wrote",
    "what was sent to a provider",
    "blocks that the disk has not written over yet",
    "the same words in another spelling: other case, base64, hexadecimal",
)
"""What a forget cannot reach, said each time."""

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
        return not any(one.problem for one in self.changed) and not self.names

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
    if not TEXT_CHARS_MIN <= len(text) <= TEXT_CHARS_MAX:
        why = f"a text to forget has {TEXT_CHARS_MIN} to {TEXT_CHARS_MAX:,} characters; name a part by its address"
        raise InvalidOption("text", text, why=why)
    family = _family(store, within)
    pattern = json.dumps(text)[1:-1].encode(), text.encode("utf-8", "surrogatepass")
    names = tuple(
        name for name in family if text in name or any(p in store.read(name).about for p in pattern)
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
    `InvalidOption` where a fork that stays needs one of them."""
    for name in names:
        store.read(name)
    forks = {name: _parent(store.read(name))[0] for name in store.names()}
    needed = {parent: fork for fork, parent in forks.items() if parent in names and fork not in names}
    for parent, fork in sorted(needed.items()):
        why = f"session {fork!r} is a fork of it and goes on from its log; forget that one first, or both"
        raise InvalidOption("session", parent, why=why)
    ordered = sorted(names, key=lambda name: -_depth(forks, name))
    if not dry_run:
        for name in ordered:
            store.remove(name)
    return Forgotten(changed=(), removed=tuple(ordered))


def older_than(store: Store, time_ms: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sessions whose last entry is older than this, and those of them that a younger fork still needs."""
    last = {}
    for name in store.names():
        entry = next(store.read(name).back(), None)
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
                    forgetter = _forgetter(store, name, walk=walk, known=addresses)
                    store.rewrite(name, forgetter.change)
                    _append_forgot(store, name, forgetter=forgetter)
            addresses[name] = forgetter.addresses
        except (SessionBusy, SessionCorrupt) as error:
            out = [one for one in out if one.name != name]
            out.append(Changed(name=name, problem=str(error)))
    return tuple(out)


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
    parent, byte = _parent(pages)
    if not parent:
        return 0
    above = store.read(parent)
    base = _first_ordinal(store, above)
    own = byte - _first_byte(store, above)
    return base + sum(entry.kind == "message" for entry in above.entries() if entry.offset < own)


def _first_byte(store: Store, pages: Pages) -> int:
    """What is added to a fork's own bytes to have its lineage's."""
    return _parent(pages)[1]


def _ancestors(store: Store, name: str) -> list[str]:
    found: list[str] = []
    parent = _parent(store.read(name))[0]
    while parent and parent not in found:
        found.append(parent)
        parent = _parent(store.read(parent))[0]
    return found


def _depth(forks: dict[str, str], name: str) -> int:
    depth = 0
    while (name := forks.get(name, "")) and depth < len(forks):
        depth += 1
    return depth


def _family(store: Store, within: str | None) -> list[str]:
    """The sessions to walk, each before its forks: all of them, or one with its forks and what it goes on from."""
    forks = {name: _parent(store.read(name))[0] for name in store.names()}
    names = set(forks)
    if within is not None:
        store.read(within)
        names = {within}
        while True:
            more = {forks[name] for name in names if forks[name]} | {
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
