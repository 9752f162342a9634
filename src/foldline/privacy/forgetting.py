"""Forgetting over all that a home keeps: what is asked for, in which logs, and what is said of it.

    what was interrupted before, first │ what is asked: a text, what stands at an address, sessions whole

Owns what may be asked and where it is looked for; how logs are walked is `foldline.privacy.walking`'s.
What cannot be reached from here (backups, exports, other programs) is named in every answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, Final

from msgspec import Struct

from foldline.core.address import digest_of, place_in
from foldline.core.errors import UNREADABLE, InvalidOption, SessionBusy, UnknownAddress, UnknownSession
from foldline.core.message import Message
from foldline.core.ports import Store
from foldline.core.received import received
from foldline.log.blanking import TEXT_CHARS_MIN, found_as, spelled
from foldline.log.forget import Addresses, Forgetter, Wish, chosen, quoted_of, readable
from foldline.log.forks import forks_in
from foldline.log.lineage import read_lineage
from foldline.log.lineages import Lineages
from foldline.privacy.derived import Derived
from foldline.privacy.underway import Pending, Underway, unfinished
from foldline.privacy.walking import Changed, Tick, Walk, finished, walked

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
    walk = Walk(what="text", sessions=tuple(family), wishes={None: Wish(texts=(text,))})
    with _rest_first(store, dry_run=dry_run, tick=tick) as rest:
        done = walked(store, walk, dry_run=dry_run, tick=tick)
        return Forgotten(changed=(*rest.changed, *done), removed=rest.removed, names=names)


def forget_address(
    store: Store, address: str, *, within: str, dry_run: bool = False, tick: Tick | None = None
) -> Forgotten:
    """Forget what stands at an address of a session, whole or short, and what was derived from it. Raises `UnknownAddress`,
    `UnknownSession`."""
    place = place_in(address)
    with _rest_first(store, dry_run=dry_run, tick=tick) as rest:
        family = _family(store, within)
        owner, messages = _owner(store, within, ordinal=place.start)
        found = {o: received(m) for o, m in messages if place.start <= o < place.end}
        slots = frozenset(() if place.slot is None else (place.slot,))
        parts = [part for _, message in sorted(found.items()) for part in chosen(message, slots)]
        is_there = len(found) == place.end - place.start and bool(parts)
        if not is_there or place.digest not in ("", digest_of(parts)):
            what = "something else" if is_there else "nothing, or something else,"
            raise UnknownAddress(
                address, f"session {within!r} holds {what} there; `foldline show` opens what it holds"
            )
        wish = Wish(parts={ordinal: slots for ordinal in found})
        quoted = quoted_of(parts, bodies=_other_bodies(store, family, owner=owner, wish=wish))
        wishes = {None: Wish(), owner: wish}
        walk = Walk(what="address", sessions=tuple(family), wishes=wishes, quoted=quoted)
        done = walked(store, walk, dry_run=dry_run, tick=tick)
        return Forgotten(changed=(*rest.changed, *done), removed=rest.removed)


def forget_session(store: Store, names: Sequence[str], *, dry_run: bool = False) -> Forgotten:
    """Take sessions away whole, forks before what they go on from. Raises `UnknownSession`, `SessionBusy`, and
    `NeededByForks` where a fork that stays needs one of them."""
    with _rest_first(store, dry_run=dry_run) as rest:
        there = [name for name in names if name not in rest.removed]
        for name in there:
            _known(store, name)
        ordered = _free_of_forks(store, there)
        if not dry_run and ordered:
            under = Underway(store)
            under.begin(Pending(what="session", sessions=ordered))
            try:
                _remove(store, ordered)
            except SessionBusy:
                if set(ordered) <= set(
                    store.names()
                ):  # refused whole: nothing of it is left to a later forget
                    under.end()
                raise
            under.end()
        return Forgotten(changed=rest.changed, removed=(*rest.removed, *ordered))


def finish(store: Store, *, tick: Tick | None = None) -> Forgotten | None:
    """Do the rest of a forget that was interrupted, or found a session open; `None` where there is none. Raises
    `SessionBusy`."""
    with Underway(store).alone():
        pending = unfinished(store)
        return None if pending is None else _finished(store, pending, tick=tick)


@contextmanager
def _rest_first(store: Store, *, dry_run: bool, tick: Tick | None = None) -> Iterator[Forgotten]:
    """Around a forget: no other one runs, and what an earlier one left undone is done before."""
    nothing = Forgotten(changed=())
    if dry_run:
        yield nothing
        return
    with Underway(store).alone():
        pending = unfinished(store)
        yield nothing if pending is None else _finished(store, pending, tick=tick)


def _finished(store: Store, pending: Pending, *, tick: Tick | None) -> Forgotten:
    if pending.what != "session":
        return Forgotten(changed=finished(store, pending, tick=tick))
    names = [name for name in pending.sessions if not _is_younger(store, name, than_ms=pending.since_ms)]
    kept: list[Changed] = []
    while True:
        try:
            _free_of_forks(store, names)
            break
        except NeededByForks as error:  # made since
            kept.append(Changed(name=error.name, problem=str(error)))
            names.remove(error.name)
    _remove(store, names)
    Underway(store).end()
    return Forgotten(changed=tuple(kept), removed=tuple(names))


def _free_of_forks(store: Store, names: Sequence[str]) -> tuple[str, ...]:
    """These sessions, forks before what they go on from. Raises `NeededByForks`."""
    forks = forks_in(store)
    for name in names:
        needed_by = forks.below(name) - set(names)
        if needed_by:
            raise NeededByForks(name, tuple(reversed(forks.ordered(needed_by))))
    return tuple(forks.ordered(names)[::-1])


def _remove(store: Store, names: Sequence[str]) -> None:
    """Take sessions away, in this order; what is left of one that an interruption took half away goes too."""
    derived = Derived(store)
    for name in names:
        with derived.changing(name), suppress(UnknownSession):
            store.remove(name)


def _is_younger(store: Store, name: str, *, than_ms: int | None) -> bool:
    """True for a session that was begun after its namesake was to be taken away."""
    try:
        with closing(store.read(name)) as pages:
            first = next(pages.entries(), None)
    except (UnknownSession, *UNREADABLE):
        return False
    began_ms = None if first is None else first.time_ms
    return than_ms is not None and began_ms is not None and began_ms > than_ms


class NeededByForks(InvalidOption):
    """Session `name`, that forks go on from. `forks`: those that would have to go first, in this order."""

    def __init__(self, name: str, forks: tuple[str, ...]) -> None:
        self.name, self.forks = name, forks
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


# ── what there is ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _other_bodies(store: Store, family: Sequence[str], *, owner: str, wish: Wish) -> Iterator[bytes]:
    """The bodies of the messages that stay, and of those that change, as they will be."""
    with closing(Lineages(store)) as lineages:
        for name in family:
            told = wish if name == owner else Wish()
            with lineages.reading(name, as_it_is=True) as log:
                forgetter = Forgetter(told, Addresses(lambda _: None), first=lineages.first_ordinal(name))
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
