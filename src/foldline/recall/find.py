"""Recall: search what was ever said, and open what an address names, each read from its log before it is shown.

    recall = Recall(store, path=home / "recall.sqlite", counter=counter)
    recall.search("pool size", session="fix-login").hits
    recall.open("m12.3@5f0c9a1e", session="fix-login").text

Puts together index, scan and logs; keeps no truth of its own. Search never fails for the index's sake: where there is
none, the logs are searched, and the answer says so. Counterparts: `foldline.recall.opening`, `foldline.recall.tool`, which puts
both before a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import Place, held, part_address, place_in, spelt
from foldline.core.errors import UNREADABLE, InvalidOption, SessionCorrupt, UnknownAddress, UnknownSession
from foldline.core.message import Message, Part, Role
from foldline.core.ports import Pages, Store, TokenCounter
from foldline.log.forget import forgotten_in
from foldline.log.lineage import Ancestor, read_lineage
from foldline.log.lineages import Lineages
from foldline.log.ordinals import messages_in
from foldline.log.shelf import Shelf
from foldline.recall.database import Unavailable
from foldline.recall.entries import message_of
from foldline.recall.index import Index
from foldline.recall.opening import Excerpt, Opened, Spot, left_of, open_spots
from foldline.recall.rank import Ranked, ranked, told_often
from foldline.recall.rows import Filters, Reach, Row
from foldline.recall.scan import Wanted, scan
from foldline.recall.snippets import Snippet, literal_snippet, snippet
from foldline.recall.texts import Kind, shown_text, words_in
from foldline.recall.words import Query, looser, read_query

HITS: Final = 8
"""Hits shown unless told otherwise."""
HITS_MAX: Final = 100
TOKENS: Final = 2_000
"""Tokens of an answer to a search unless told otherwise."""
FINALISTS: Final = 8
"""Parts beyond those shown that are read from their logs and weighed."""
SAME_MAX: Final = 5
"""Addresses named of other parts with the very same content."""

_SEARCH: Final = "search for the words, which gives the address they have now"

Progress = Callable[[str, int], None]
"""Told a session's name and the bytes of its log that were read into the index."""


class Hit(Struct, frozen=True, kw_only=True):
    """One part that was found."""

    session: str
    address: str
    """Opens on the session's log."""
    role: Role
    """Who said it: text out of files and from the web was said by a tool."""
    kind: Kind
    tool: str
    """Name of the tool called, or that answered; else empty."""
    time_ms: int | None
    line: int
    """Line of the part in which the words stand, from 1."""
    lines: int
    """Lines of the part."""
    snippet: str
    """The words around, on one line."""
    exact: bool
    """True when the part holds everything that was asked for; else some of it, or a longer word."""
    same: tuple[str, ...] = ()
    """Addresses of older parts with the very same content."""


class Found(Struct, frozen=True, kw_only=True):
    """The answer to a search."""

    query: str
    hits: tuple[Hit, ...]
    more: bool = False
    """True when there were more than are shown; a narrower query or a larger limit shows them."""
    notes: tuple[str, ...] = ()
    """What was not searched and why, for a person."""


class Recall:
    """Search and opening over all sessions of a store. `path`: where the index is kept; `None`: in memory. `counter` measures
    what is given back. Safe to use from several threads."""

    def __init__(self, store: Store, *, path: Path | None, counter: TokenCounter) -> None:
        self.store = store
        self.counter = counter
        self.index = Index(path)
        self._updating = Lock()

    def close(self) -> None:
        """Let go of the index's file."""
        self.index.close()

    # ── searching ────────────────────────────────────────────────────────────────────────────────────────────

    def search(
        self, query: str, *, session: str | None = None, filters: Filters | None = None, hits_max: int = HITS
    ) -> Found:
        """The parts that answer a query, best first. `session`: one session, with what a fork of it goes on from; `None`:
        all, `filters.reach` is set from it. Raises `UnknownSession`, `InvalidOption`."""
        if not 1 <= hits_max <= HITS_MAX:
            raise InvalidOption("limit", hits_max, why=f"1 to {HITS_MAX} hits are given")
        if not query.strip():
            raise InvalidOption("query", query, why="say what to look for, or give an address")
        wanted = read_query(query)
        filters = filters or Filters()
        notes: list[str] = []
        found = self._ranked(wanted, filters, query=query.strip(), session=session, notes=notes)
        hits, more = self._hits(found, wanted, literal=query.strip(), hits_max=hits_max)
        if wanted.cut:
            notes.append("the query was too long; its end was left out")
        return Found(query=query, hits=hits, more=more, notes=tuple(notes))

    def _ranked(
        self, wanted: Query, filters: Filters, *, query: str, session: str | None, notes: list[str]
    ) -> list[Ranked]:
        names = (session,) if session is not None else self.store.names()
        if not names:
            notes.append("there are no sessions")
            return []
        if wanted.phrases:
            try:
                reach = self.update(session, notes=notes)
                return ranked(self.index, wanted, filters=replace(filters, reach=reach))
            except Unavailable as error:
                notes.append(f"{error}; the logs themselves were searched, which takes longer")
        logs = self._each(names, notes) if session is None else self._one(session)
        scanned = scan(logs, Wanted(query=wanted, literal=query, filters=filters), is_one=session is not None)
        notes += scanned.notes
        return scanned.found

    @contextmanager
    def _logs(self, session: str) -> Iterator[tuple[Ancestor, ...]]:
        """The logs of a session, its own last, open as long as they are read. Raises `UnknownSession`, and what reading a log
        may raise (`foldline.core.errors.UNREADABLE`)."""
        with closing(read_lineage(self.store, session)) as log:
            yield log.logs(session)

    def _one(self, session: str) -> Iterator[tuple[Ancestor, ...]]:
        with self._logs(session) as logs:
            yield logs

    def _each(self, names: Iterable[str], notes: list[str]) -> Iterator[tuple[Ancestor, ...]]:
        """The logs of each session, few open at a time; one that cannot be read is added to `notes`."""
        with closing(Lineages(self.store)) as lineages:
            for name in names:
                try:
                    with lineages.reading(name) as log:
                        yield log.logs(name)
                except (UnknownSession, *UNREADABLE) as error:
                    notes.append(f"{name}: {error}")

    def update(
        self, session: str | None = None, *, notes: list[str] | None = None, progress: Progress | None = None
    ) -> tuple[Reach, ...] | None:
        """Bring the index up to date with one session, or with all; what could not be read is added to `notes`. Returns
        the session's reach. To be called at a quiet moment, so that a later search need not. Raises `Unavailable`,
        `UnknownSession`."""
        told = notes if notes is not None else []
        with self._updating:
            bases: dict[str, int] = {}
            if session is not None:
                with self._logs(session) as logs:
                    self._update(logs, told, bases=bases, progress=progress)
                    return _reach(logs, bases)
            names = self.store.names()
            self.index.keep_only(names)
            for logs in self._each(names, told):
                self._update(logs, told, bases=bases, progress=progress)
            return None

    def _update(
        self,
        logs: Sequence[Ancestor],
        notes: list[str],
        *,
        bases: dict[str, int],
        progress: Progress | None = None,
    ) -> None:
        """Bring the index up to date with the logs of a session, but for those in `bases`, which are so already and for which it
        says the ordinal of their first message; the others are put into it."""
        logs = [log for log in logs if log.byte != 0]
        known = next((at for at in reversed(range(len(logs))) if logs[at].name in bases), None)
        base = 0 if known is None else self._after(logs[known], bases)
        for log in logs[0 if known is None else known + 1 :]:
            bases[log.name] = base
            tick = None if progress is None else partial(progress, log.name)
            why = self.index.update(log.name, log.pages, base=base, progress=tick)
            notes += [why] if why else []
            base = self._after(log, bases)

    def _after(self, log: Ancestor, bases: Mapping[str, int]) -> int:
        """The ordinal that comes after a log's part of a session; 0 for the session's own log, behind which nothing comes."""
        if log.byte is None:
            return 0
        return self.index.base_of_fork(log.name, log.byte, otherwise=bases[log.name])

    def _hits(
        self, found: Sequence[Ranked], wanted: Query, *, literal: str, hits_max: int
    ) -> tuple[tuple[Hit, ...], bool]:
        """The best parts as they stand in their logs, and whether there were more."""
        with closing(Shelf(self.store)) as shelf:
            hits, more = _gathered(found, wanted, literal=literal, hits_max=hits_max, shelf=shelf)
        best = sorted(hits, key=lambda told: (not told[1].exact, -told[0]))
        return tuple([hit for _, hit in best[:hits_max]]), more or len(best) > hits_max

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────

    def open(self, address: str, *, session: str | None = None, excerpt: Excerpt | None = None) -> Opened:
        """What stands at an address, or a piece of it, within a bound. `session`: whose address it is; `None`: of whichever session
        holds it, which a short address, as a ledger has it, does not tell. Where something was forgotten
        there, what is left of it, and the title says so. Raises `UnknownAddress`, `UnknownSession`, `InvalidOption`."""
        place = place_in(address)
        wanted = excerpt or Excerpt()
        unread: list[str] = []
        bases: dict[str, int] = {}
        if not place.digest and session is None:
            why = "each session has such a place; name the session, or give the whole address"
            raise UnknownAddress(address, why)
        with closing(Lineages(self.store)) as lineages:
            for name in (session,) if session is not None else self.store.names():
                try:
                    with lineages.reading(name) as log:
                        spots = self._spots(log.logs(name), place, bases=bases)
                    opened = self._open(name, place, spots=spots, excerpt=wanted, is_one=session is not None)
                except UNREADABLE as error:
                    if session is not None:
                        raise
                    unread.append(f"{name}: {error}")
                    continue
                if opened is not None:
                    return opened
        if session is not None:
            raise self._not_there(address, session, place=place)
        raise unknown(address, unread=unread)

    def _not_there(self, address: str, session: str, *, place: Place) -> UnknownAddress:
        """The error for a place that a session does not have, or holds something else at."""
        with closing(read_lineage(self.store, session)) as log:
            messages = messages_in(log.back())
        if place.digest and place.end <= messages:
            why = f"session {session!r} holds something else there; {_SEARCH}"
        else:
            why = f"session {session!r} holds {held(messages, place)}"
        return UnknownAddress(address, why)

    def _open(
        self, name: str, place: Place, *, spots: Sequence[Spot], excerpt: Excerpt, is_one: bool
    ) -> Opened | None:
        """What stands at a place of one session, given its messages; `None` where something else does."""
        asked = place if place.digest else left_of(spots, place)
        opened = open_spots(name, spots, place=asked, excerpt=excerpt, counter=self.counter)
        if is_one and (opened is None or not place.digest) and self._forgot(name, place):
            left = left_of(spots, place)
            opened = open_spots(name, spots, place=left, excerpt=excerpt, counter=self.counter)
            title = "" if opened is None else f"{opened.title}, of which something was forgotten"
            opened = opened and replace(opened, address=spelt(place), title=title)
        return opened

    def _forgot(self, session: str, place: Place) -> bool:
        """True when something was forgotten in the messages of a place."""
        with closing(read_lineage(self.store, session)) as log:
            forgotten = forgotten_in(log)
        return not forgotten.isdisjoint(range(place.start, place.end))

    def _spots(self, logs: Sequence[Ancestor], place: Place, *, bases: dict[str, int]) -> list[Spot]:
        """The messages of a place, as far as the session of these logs has them."""
        first, last = place.start, place.end - 1
        try:
            with self._updating:
                self._update(logs, [], bases=bases)
            return self._spots_by_index(logs, bases, first=first, last=last)
        except Unavailable:
            return _spots_by_scan(logs, first=first, last=last)

    def _spots_by_index(
        self, logs: Sequence[Ancestor], bases: Mapping[str, int], *, first: int, last: int
    ) -> list[Spot]:
        found: list[list[Spot]] = []
        for log in reversed(logs):
            if log.byte == 0 or last < first:
                continue
            begin = bases[log.name]
            found.append([])
            for placed in self.index.places(log.name, first=max(first, begin), last=last):
                message = _message_at(log.pages, placed.offset)
                if message is not None:
                    found[-1].append(Spot(ordinal=placed.ordinal, message=message, tools=placed.tools))
            last = min(last, begin - 1)
        return [spot for spots in reversed(found) for spot in spots]


def _reach(logs: Sequence[Ancestor], bases: Mapping[str, int]) -> tuple[Reach, ...]:
    """What of which logs belongs to a session."""
    parts = [log for log in logs if log.byte != 0]
    ends = [*(bases[log.name] for log in parts[1:]), None]
    return tuple(Reach(session=log.name, ordinals=end) for log, end in zip(parts, ends, strict=True))


def unknown(address: str, *, unread: Sequence[str] = ()) -> UnknownAddress:
    """The error for an address that nobody holds. `unread`: sessions that could not be asked, and why."""
    asked = f" of those that can be read (not {'; not '.join(unread)})" if unread else ""
    return UnknownAddress(address, f"no session holds that{asked}; {_SEARCH}")


def _spots_by_scan(logs: Sequence[Ancestor], *, first: int, last: int) -> list[Spot]:
    spots: list[Spot] = []
    ordinal = 0
    for log in logs:
        for entry in log.pages.entries():
            if log.byte is not None and entry.offset >= log.byte:
                break
            if entry.kind == "message":
                message = message_of(entry) if first <= ordinal <= last else None
                spots += [Spot(ordinal=ordinal, message=message)] if message is not None else []
                ordinal += 1
            if ordinal > last:
                return spots
    return spots


def _message_at(pages: Pages, offset: int) -> Message | None:
    """The message whose entry begins at `offset`; `None` where the log holds none there, and the index is wrong."""
    try:
        entry = pages.entry(offset)
    except SessionCorrupt:
        return None
    return message_of(entry) if entry.kind == "message" else None


def _gathered(
    found: Sequence[Ranked], wanted: Query, *, literal: str, hits_max: int, shelf: Shelf
) -> tuple[list[tuple[float, Hit]], bool]:
    """The first parts as they stand in their logs, each content once, with their weights; and whether there are more."""
    hits: dict[tuple[str, int], tuple[float, Hit]] = {}
    for one in found:
        row = one.row
        key = (row.session, row.digest)
        if key in hits:
            weight, hit = hits[key]
            if len(hit.same) < SAME_MAX:
                hits[key] = weight, replace(hit, same=(*hit.same, row.address))
            continue
        if len(hits) >= hits_max + FINALISTS:
            return list(hits.values()), True
        part = _part_at(shelf, row)
        if part is not None:
            hits[key] = _hit(one, part, wanted=wanted if one.exact else looser(wanted), literal=literal)
    return list(hits.values()), False


def _part_at(shelf: Shelf, row: Row) -> Part | None:
    """The part of a row; `None` where the log holds something else there, and the index is wrong, or where there is none to be
    read, since it was removed or damaged a moment ago."""
    with ExitStack() as held:
        try:
            pages = held.enter_context(shelf.reading(row.session))
        except (UnknownSession, *UNREADABLE):
            return None
        message = _message_at(pages, row.offset)
    part = None if message is None else next((p for p in message.parts if p.slot == row.slot), None)
    return part if part is not None and part_address(row.ordinal, part) == row.address else None


def _hit(one: Ranked, part: Part, *, wanted: Query, literal: str) -> tuple[float, Hit]:
    """What is shown of a part, and what it weighs now that it was read."""
    row = one.row
    text, place = _place(part, wanted, literal=literal)
    hit = Hit(
        session=row.session,
        address=row.address,
        role=row.role,
        kind=row.kind,
        tool=row.tool,
        time_ms=row.time_ms,
        line=place.line,
        lines=text.count("\n") + 1,
        snippet=place.text,
        exact=one.exact,
    )
    return told_often(one, place.counts), hit


def _place(part: Part, wanted: Query, *, literal: str) -> tuple[str, Snippet]:
    """The text of a part, and where in it the words stand: as it is shown, else as it was read."""
    text = shown_text(part)
    if not wanted.phrases:
        return text, literal_snippet(text, literal)
    place = snippet(text, wanted.phrases)
    if place.found or (words := words_in(part)) == text:
        return text, place
    return text, replace(snippet(words, wanted.phrases), line=1)
