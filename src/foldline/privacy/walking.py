"""The walk of a forget over logs: looked at first, written down, then carried out, and finished should it be interrupted.

    look at all ──► begin ──► each log: look, take it out of what is made from it, rewrite it, `forgot` included ──► end

Parents go before their forks. A log is only rewritten where something in it goes. Each rewrite leaves the old log or the new one
with all of its archive, whatever interrupts it. What was begun stands in the home until the last log is done
(`foldline.privacy.underway`), so that the rest is done later and comes out as it would have. What goes in an entry is
`foldline.log.forget`'s, what is made from logs `foldline.privacy.derived`'s, what is asked for `foldline.privacy.forgetting`'s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.entry import Draft
from foldline.core.errors import UNREADABLE, InvalidOption, SessionBusy, UnknownSession
from foldline.core.message import Message
from foldline.core.ports import Store
from foldline.log.forget import FORGOT, Addresses, Forgetter, Quoted, Wish, quoted_in, readable
from foldline.log.lineage import Lineage, cut_of
from foldline.log.lineages import Lineages
from foldline.privacy.derived import Derived
from foldline.privacy.underway import Asked, Pending, Underway, What

Tick: TypeAlias = Callable[[int, int], None]
Known: TypeAlias = dict[str, Addresses]
"""By session the addresses of what changed in it."""


class Walk(Struct, frozen=True, kw_only=True):
    """What a walk takes out, and how."""

    what: What
    sessions: tuple[str, ...]
    """Where it looks, parents before their forks."""
    wishes: dict[str | None, Wish]
    """By session; under `None` for all others."""
    quoted: Quoted = Quoted()
    renewed: dict[str, dict[str, str]] = {}
    """By session addresses that an interrupted walk was to make anew."""

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
    later: bool = False
    """True where another process had it open: `foldline forget --finish` does it when that has closed it."""


def walked(store: Store, walk: Walk, *, dry_run: bool, tick: Tick | None = None) -> tuple[Changed, ...]:
    """Forget, or say what that would do."""
    with closing(Lineages(store)) as lineages:
        found, known = _looked_at(lineages, walk, tick=tick)
    if dry_run or not any(_is_something(one) for one in found):
        return found
    named = tuple(one.name for one in found if _is_something(one))
    pending = pending_of(walk, sessions=named, known=known)
    Underway(store).begin(pending)
    done = _carried_out(store, replace(walk, sessions=named), known=known, tick=tick)
    _leave(store, pending, done=done)
    told = {one.name: one for one in done}
    return tuple(told.get(one.name, one) for one in found if one.name in told or one.problem)


def finished(store: Store, pending: Pending, *, tick: Tick | None = None) -> tuple[Changed, ...]:
    """Do the rest of what was begun."""
    done = _carried_out(store, walk_of(pending), known={}, tick=tick)
    _leave(store, pending, done=done)
    return tuple(one for one in done if one.problem or _is_something(one))


def _leave(store: Store, pending: Pending, *, done: Sequence[Changed]) -> None:
    """Keep of what was begun what the sessions need that others have open: nothing, mostly."""
    left = tuple(one.name for one in done if one.later)
    under = Underway(store)
    if not left:
        under.end()
        return
    quoted = walk_of(pending).quoted
    there = quoted if _goes_on(store, left) else quoted_in(quoted, _bodies(store, left))
    rest = replace(
        pending,
        asked=tuple(one for one in pending.asked if one.session in (None, *left)),
        words=tuple(sorted(there.words)),
        lines=tuple(line.pattern for line in there.lines),
        sessions=left,
        renewed={name: pending.renewed[name] for name in left if name in pending.renewed},
    )
    with suppress(
        InvalidOption
    ):  # the disk is full, say: what stands there says more than is needed, and is right
        under.begin(rest)


def _goes_on(store: Store, names: Sequence[str]) -> bool:
    """True when one of these may hold more in memory than its log says, and write it down before it is closed: a fork, whose
    view begins with another log's words; and one that cannot be read is not known to be none."""
    for name in names:
        try:
            with closing(store.read(name)) as pages:
                if cut_of(pages) is not None:
                    return True
        except UnknownSession:
            continue
        except UNREADABLE:
            return True
    return False


def _bodies(store: Store, names: Sequence[str]) -> Iterator[bytes]:
    """What these sessions say, as far as it can be read."""
    for name in names:
        with suppress(UnknownSession, *UNREADABLE), closing(store.read(name)) as pages:
            yield from (entry.body for entry in pages.entries())


def _is_something(one: Changed) -> bool:
    return bool(one.kinds or one.places) and not one.problem


def _looked_at(lineages: Lineages, walk: Walk, *, tick: Tick | None) -> tuple[tuple[Changed, ...], Known]:
    """What is to go, and nothing done."""
    known: Known = {}
    out: list[Changed] = []
    for number, name in enumerate(walk.sessions):
        if tick is not None:
            tick(number, len(walk.sessions))
        try:
            forgetter = _looked(lineages, name, walk=walk, known=known)
        except (UnknownSession, *UNREADABLE) as error:
            out.append(_failed(lineages.store, name, walk=walk, error=error))
            continue
        known[name] = forgetter.addresses
        if forgetter.kinds or forgetter.places:
            out.append(_changed(name, forgetter))
    return tuple(out), known


def _carried_out(store: Store, walk: Walk, *, known: Known, tick: Tick | None) -> list[Changed]:
    out = []
    with closing(Lineages(store)) as lineages:
        for number, name in enumerate(walk.sessions):
            if tick is not None:
                tick(number, len(walk.sessions))
            try:
                out.append(_carried_out_in(lineages, name, walk=walk, known=known))
            except UnknownSession:  # taken away meanwhile, and what it said with it
                continue
            except (SessionBusy, *UNREADABLE) as error:
                out.append(_failed(store, name, walk=walk, error=error))
    return out


def _carried_out_in(lineages: Lineages, name: str, *, walk: Walk, known: Known) -> Changed:
    store = lineages.store
    store.write(
        name
    ).close()  # whoever has it open is told of first, and a rewrite that was cut off is settled
    lineages.changed(name)
    with Derived(store).changing(name):
        forgetter = _looked(lineages, name, walk=walk, known=known)
        if forgetter.kinds or forgetter.places:
            forgetter = _rewritten(lineages, name, walk=walk, known=known, told=_told(forgetter))
    known[name] = forgetter.addresses
    return _changed(name, forgetter)


def _failed(store: Store, name: str, *, walk: Walk, error: Exception) -> Changed:
    is_busy = isinstance(error, SessionBusy)
    unread = not is_busy and not _stands_before(store, name, walk=walk)
    return Changed(name=name, problem=str(error), unread=unread, later=is_busy)


def _looked(lineages: Lineages, name: str, *, walk: Walk, known: Mapping[str, Addresses]) -> Forgetter:
    """What is to go in a log, and nothing done."""
    with lineages.reading(name, as_it_is=True) as log:
        forgetter = _forgetter(log, lineages, name=name, walk=walk, known=known)
        for entry in log.own.entries():
            forgetter.change(entry)
        return forgetter


def _rewritten(
    lineages: Lineages, name: str, *, walk: Walk, known: Mapping[str, Addresses], told: Draft
) -> Forgetter:
    """The log without what is to go, and with the entry that says so: all of it or nothing, whatever interrupts it."""
    with lineages.reading(name, as_it_is=True) as log:
        forgetter = _forgetter(log, lineages, name=name, walk=walk, known=known)
    try:
        lineages.store.rewrite(name, forgetter.change, more=[told])
    finally:
        lineages.changed(name)
    return forgetter


def _stands_before(store: Store, name: str, *, walk: Walk) -> bool:
    """True when something that is to go stands before the damage of a log."""
    forgetter = Forgetter(walk.wish(name), Addresses(lambda _: None), quoted=walk.quoted)
    with suppress(UnknownSession, *UNREADABLE), closing(store.read(name)) as pages:
        for entry in pages.entries():
            forgetter.change(entry)
    return bool(forgetter.places)


def _forgetter(
    log: Lineage, lineages: Lineages, *, name: str, walk: Walk, known: Mapping[str, Addresses]
) -> Forgetter:
    first = lineages.first_ordinal(name)
    above = None if log.cut is None else known.get(log.cut.name)

    def read(ordinal: int) -> Message | None:
        entry = lineages.message(name, ordinal)
        return None if entry is None else readable(entry.body)

    addresses = Addresses(read, known=above, below=first, renewed=walk.renewed.get(name, {}))
    return Forgetter(walk.wish(name), addresses, quoted=walk.quoted, first=first)


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


# ── what is written down ─────────────────────────────────────────────────────────────────────────────────────


def pending_of(walk: Walk, *, sessions: tuple[str, ...], known: Known) -> Pending:
    """A walk as it is kept until it is finished."""
    return Pending(
        what=walk.what,
        asked=tuple(
            Asked(
                session=name,
                texts=tuple(text.encode("utf-8", "surrogatepass") for text in wish.texts),
                parts={ordinal: tuple(sorted(slots)) for ordinal, slots in wish.parts.items()},
            )
            for name, wish in walk.wishes.items()
        ),
        words=tuple(sorted(walk.quoted.words)),
        lines=tuple(line.pattern for line in walk.quoted.lines),
        sessions=sessions,
        renewed={name: known[name].renewals for name in sessions if known[name].renewals},
    )


def walk_of(pending: Pending) -> Walk:
    """The walk that was begun."""
    wishes: dict[str | None, Wish] = {None: Wish()}
    for one in pending.asked:
        texts = tuple(text.decode("utf-8", "surrogatepass") for text in one.texts)
        parts = {ordinal: frozenset(slots) for ordinal, slots in one.parts.items()}
        wishes[one.session] = Wish(texts=texts, parts=parts)
    lines = tuple(re.compile(line) for line in pending.lines)
    quoted = Quoted(words=frozenset(pending.words), lines=lines)
    return Walk(
        what=pending.what,
        sessions=pending.sessions,
        wishes=wishes,
        quoted=quoted,
        renewed=pending.renewed,
    )
