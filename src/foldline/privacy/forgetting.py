"""Forgetting over all that a home keeps: which logs, in which order, and what is said of it.

    parents before their forks │ each log: look, take it out of what is made from it, then rewrite it, `forgot` included

A log is only rewritten where something in it goes. Each rewrite leaves the old log or the new one with all of its archive,
whatever interrupts it; asked again, a forget goes on where it was interrupted. Owns the walk; what goes in an entry is
`foldline.log.forget`'s, what is made from logs `foldline.privacy.derived`'s.
What cannot be reached from here (backups, exports, other programs) is named in every answer.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, Final

from msgspec import Struct

from foldline.core.address import digest_of, parse_address
from foldline.core.entry import Draft
from foldline.core.errors import UNREADABLE, InvalidOption, SessionBusy, UnknownAddress, UnknownSession
from foldline.core.message import Message
from foldline.core.ports import Store
from foldline.core.received import received
from foldline.log.blanking import TEXT_CHARS_MIN, found_as, spelled
from foldline.log.forget import FORGOT, Addresses, Forgetter, Quoted, Wish, chosen, quoted_of, readable
from foldline.log.forks import forks_in
from foldline.log.lineage import Lineage, read_lineage
from foldline.privacy.derived import Derived

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
    owner, messages = _owner(store, within, ordinal=place.start)
    found = {o: received(m) for o, m in messages if place.start <= o < place.end}
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
    forks = forks_in(store)
    for name in names:
        needed_by = forks.below(name) - set(names)
        if needed_by:
            raise NeededByForks(name, tuple(reversed(forks.ordered(needed_by))))
    ordered = forks.ordered(names)[::-1]
    if not dry_run:
        derived = Derived(store)
        for name in ordered:
            with derived.changing(name):
                store.remove(name)
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
    last = {name: _last_ms(store, name) for name in store.names()}
    old = {name for name, at in last.items() if at is not None and at < time_ms}
    forks = forks_in(store)
    kept = {above for name in last if name not in old for above in forks.above(name) if above in old}
    return tuple(sorted(old - kept)), tuple(sorted(kept))


def _last_ms(store: Store, name: str) -> int | None:
    """When a session was last written to; `None` where it is not known."""
    try:
        with closing(store.read(name)) as pages:
            last = next(pages.back(), None)
    except UNREADABLE:
        return None
    return None if last is None else last.time_ms


# ── the walk ─────────────────────────────────────────────────────────────────────────────────────────────────


def _walk(store: Store, family: Sequence[str], *, walk: _Walk) -> tuple[Changed, ...]:
    addresses: dict[str, Addresses] = {}
    out: list[Changed] = []
    derived = Derived(store)
    for number, name in enumerate(family):
        if walk.tick is not None:
            walk.tick(number, len(family))
        try:
            forgetter = _looked(store, name, walk=walk, known=addresses)
            if forgetter.kinds or forgetter.places:
                out.append(_changed(name, forgetter))
                if not walk.dry_run:
                    with derived.changing(name):
                        forgetter = _rewritten(store, name, walk=walk, known=addresses, told=_told(forgetter))
            addresses[name] = forgetter.addresses
        except (SessionBusy, UnknownSession, *UNREADABLE) as error:
            found = any(one.name == name for one in out) or _stands_before(store, name, walk=walk)
            out = [one for one in out if one.name != name]
            unread = not isinstance(error, SessionBusy) and not found
            out.append(Changed(name=name, problem=str(error), unread=unread))
    return tuple(out)


def _looked(store: Store, name: str, *, walk: _Walk, known: Mapping[str, Addresses]) -> Forgetter:
    """What is to go in a log, and nothing done."""
    with closing(read_lineage(store, name, as_it_is=True)) as log:
        forgetter = _forgetter(log, name, walk=walk, known=known)
        for entry in log.own.entries():
            forgetter.change(entry)
        return forgetter


def _rewritten(
    store: Store, name: str, *, walk: _Walk, known: Mapping[str, Addresses], told: Draft
) -> Forgetter:
    """The log without what is to go, and with the entry that says so: all of it or nothing, whatever interrupts it."""
    with closing(read_lineage(store, name, as_it_is=True)) as log:
        forgetter = _forgetter(log, name, walk=walk, known=known)
        store.rewrite(name, forgetter.change, more=[told])
        return forgetter


def _stands_before(store: Store, name: str, *, walk: _Walk) -> bool:
    """True when something that is to go stands before the damage of a log."""
    forgetter = Forgetter(walk.wish(name), Addresses(lambda _: None), quoted=walk.quoted)
    with suppress(UnknownSession, *UNREADABLE), closing(store.read(name)) as pages:
        for entry in pages.entries():
            forgetter.change(entry)
    return bool(forgetter.places)


def _forgetter(log: Lineage, name: str, *, walk: _Walk, known: Mapping[str, Addresses]) -> Forgetter:
    first = log.first_ordinal()
    above = None if log.cut is None else known.get(log.cut.name)
    addresses = Addresses(_Reader(log).read, known=above, below=first)
    return Forgetter(walk.wish(name), addresses, quoted=walk.quoted, first=first)


class _Reader:
    """Messages of a log by ordinal, those it goes on from included, read when they are asked for."""

    def __init__(self, log: Lineage) -> None:
        self._log = log
        self._offsets: array[int] | None = None

    def read(self, ordinal: int) -> Message | None:
        """The message as it was before this walk; `None` where there is none that can be read."""
        if self._offsets is None:
            self._offsets = array("Q", (e.offset for e in self._log.entries() if e.kind == "message"))
        if ordinal >= len(self._offsets):
            return None
        return readable(self._log.entry(self._offsets[ordinal]).body)


def _told(forgetter: Forgetter) -> Draft:
    told = {"ordinals": sorted(forgetter.ordinals), "what": forgetter.places}
    return Draft(kind=FORGOT, body=json.dumps(told, separators=(",", ":")).encode())


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
        with closing(read_lineage(store, name, as_it_is=True)) as log:
            told = wish if name == owner else Wish()
            forgetter = Forgetter(told, Addresses(lambda _: None), first=log.first_ordinal())
            for entry in log.own.entries():
                if entry.kind in ("message", "system", "tools"):
                    yield forgetter.change(entry) or entry.body


def _owner(store: Store, name: str, *, ordinal: int) -> tuple[str, list[tuple[int, Message]]]:
    """The session of a lineage whose own log has this message, and the messages of that log by ordinal."""
    with closing(read_lineage(store, name, as_it_is=True)) as log:
        first, cut = log.first_ordinal(), log.cut
        if cut is not None and ordinal < first:
            return _owner(store, cut.name, ordinal=ordinal)
        bodies = (entry.body for entry in log.own.entries() if entry.kind == "message")
        found = [(place, readable(body)) for place, body in enumerate(bodies, first)]
    return name, [(place, message) for place, message in found if message is not None]


def _known(store: Store, name: str) -> None:
    """Raise `UnknownSession` where there is none of this name; a damaged one is one."""
    with suppress(*UNREADABLE):
        store.read(name).close()


def _about(store: Store, name: str) -> bytes:
    try:
        with closing(store.read(name)) as pages:
            return pages.about
    except (UnknownSession, *UNREADABLE):
        return b""


def _family(store: Store, within: str | None) -> list[str]:
    """The sessions to walk, each before its forks: all of them, or one with its forks and what it goes on from."""
    forks = forks_in(store)
    if within is None:
        return forks.ordered(forks.parents)
    _known(store, within)
    return forks.ordered(forks.related(within))
