"""Whether sessions and their archives are whole, and what is sound of one that is not.

`verify` goes through everything once: framing, checksums and numbers of each line, the digest of each archive file, and what
entries refer to. `salvage` gives a log of what is sound. Neither changes anything. The facade over `foldline.stores` and
`foldline.log.references`; the commands are `foldline.cli.commands.verify` and `archive`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from typing import Literal, TypeAlias

from msgspec import Struct

from foldline.core.errors import SessionCorrupt, UnknownFormat, UnknownSession
from foldline.home import Home, disk_store
from foldline.log.chain import naming
from foldline.log.forks import forks_in
from foldline.log.lineage import Lineage, cut_of
from foldline.log.lineages import Lineages
from foldline.log.references import References
from foldline.privacy.aging import delete_old
from foldline.privacy.underway import told_of
from foldline.session.salvaging import sound_fork
from foldline.settings import events_since_ms
from foldline.stores.archive import ArchivePiece
from foldline.stores.disk import unix_ms
from foldline.stores.disk_log import DiskPages
from foldline.stores.salvage import Gap

PROBLEMS_MAX = 20
"""Problems told of one session."""
STEP_BYTES = 1 << 20
"""How often progress is told."""

Progress: TypeAlias = Callable[[int, int], None]
"""Told the bytes that were read, and how many there are."""


class Problem(Struct, frozen=True, kw_only=True):
    """Something that is not as it should be."""

    offset: int
    """Byte of the whole log."""
    why: str


class Verdict(Struct, frozen=True, kw_only=True):
    """What was found in one session."""

    name: str
    state: Literal["clean", "torn", "corrupt"]
    """`torn`: the last append was interrupted; nothing acknowledged is missing."""
    entries: int = 0
    messages: int = 0
    checkpoints: int = 0
    bytes: int = 0
    """Of the whole log."""
    archives: int = 0
    """Files of the archive, each compared with its digest."""
    torn: str = ""
    problems: tuple[Problem, ...] = ()


class Salvaged(Struct, frozen=True, kw_only=True):
    """What is sound of a session."""

    name: str
    data: bytes
    """A log."""
    entries: int
    gaps: tuple[Gap, ...]


class Archived(Struct, frozen=True, kw_only=True):
    """What packing away came to."""

    name: str
    bytes: int
    """Of the log that were packed, or would be."""
    refused: str = ""
    """What kept it from being done."""


def names(*, home: Home = None) -> tuple[str, ...]:
    """The sessions there are."""
    return disk_store(home).names()


def unfinished_forget(*, home: Home = None) -> str:
    """That a forget was interrupted, and what to do, for a person; empty where none was. What was to go may still stand in a log
    that is whole."""
    return told_of(disk_store(home))


def verify(name: str, *, home: Home = None, progress: Progress | None = None) -> Verdict:
    """Go through a session and its archives. Raises `UnknownSession`."""
    with closing(Lineages(disk_store(home))) as lineages:
        return _verified(name, lineages, seen={}, progress=progress)


def verify_each(
    wanted: Sequence[str], *, home: Home = None, progress: Callable[[str], Progress | None] | None = None
) -> Iterator[Verdict]:
    """Go through many sessions, each before its forks, so that every log is read once. One that is gone by then is passed
    over. `progress`: given a name, what to tell of it."""
    store = disk_store(home)
    seen: dict[str, _Seen] = {}
    with closing(Lineages(store)) as lineages:
        for name in forks_in(store).ordered(wanted):
            with suppress(UnknownSession):
                yield _verified(name, lineages, seen=seen, progress=progress and progress(name))


class _Seen(Struct, kw_only=True):
    """What going through a log, and those it goes on from, has shown."""

    references: References
    problems: list[Problem]
    sound_to: int = 0
    """Byte of the whole up to which every line was read …"""
    damage: Problem | None = None
    """… and what ended the reading there."""
    entries: int = 0
    """Of the log itself …"""
    checkpoints: int = 0
    """… and how many of them are checkpoints."""

    def before(self, byte: int) -> _Seen:
        """The same, as far as a fork goes on from it."""
        return _Seen(
            references=self.references.upto(byte),
            problems=[one for one in self.problems if one.offset < byte],
            sound_to=self.sound_to,
            damage=self.damage if self.sound_to < byte else None,
        )


def _verified(name: str, lineages: Lineages, *, seen: dict[str, _Seen], progress: Progress | None) -> Verdict:
    """The verdict on a session. `seen`: by name, of those before it; it is put there too."""
    try:
        pages = lineages.store.read(name)
    except (SessionCorrupt, UnknownFormat) as damage:  # not even the first line
        offset = damage.offset if isinstance(damage, SessionCorrupt) else 0
        return Verdict(name=name, state="corrupt", problems=(Problem(offset=offset, why=damage.why),))
    with closing(pages):
        assert isinstance(pages, DiskPages)
        try:
            log = lineages.of(pages, name)
        except SessionCorrupt as damage:  # a fork whose parent is gone
            return _alone(name, pages, problem=Problem(offset=damage.offset, why=damage.why))
        above = None if log.cut is None else seen.get(log.cut.name)
        found = seen[name] = _gone_through(log, above=above, end=pages.extent.end, progress=progress)
        problems = [*_damaged_archives(pages), *found.problems, *([found.damage] if found.damage else [])]
        first = 0 if log.cut is None else log.cut.byte
        return Verdict(
            name=name,
            state="corrupt" if problems else ("torn" if pages.torn else "clean"),
            entries=found.entries,
            messages=found.references.messages_from(first),
            checkpoints=found.checkpoints,
            bytes=pages.extent.end,
            archives=sum(isinstance(piece, ArchivePiece) for piece in pages.pieces),
            torn=pages.torn,
            problems=tuple(problems[:PROBLEMS_MAX]),
        )


def _alone(name: str, pages: DiskPages, *, problem: Problem) -> Verdict:
    """The verdict on a fork that cannot be read with what it goes on from: its own lines may be sound all the same."""
    entries, problems = Counter[str](), [problem, *_damaged_archives(pages)]
    try:
        entries.update(entry.kind for entry in pages.entries())
    except SessionCorrupt as damage:
        problems.append(Problem(offset=damage.offset, why=damage.why))
    return Verdict(
        name=name,
        state="corrupt",
        entries=entries.total(),
        messages=entries["message"],
        checkpoints=entries["checkpoint"],
        bytes=pages.extent.end,
        archives=sum(isinstance(piece, ArchivePiece) for piece in pages.pieces),
        torn=pages.torn,
        problems=tuple(problems[:PROBLEMS_MAX]),
    )


def _gone_through(log: Lineage, *, above: _Seen | None, end: int, progress: Progress | None) -> _Seen:
    """Read a log, with what it goes on from where that was not read before (`above`), up to what ends the reading."""
    first = 0 if log.cut is None else log.cut.byte
    found = _Seen(references=References(), problems=[]) if above is None else above.before(first)
    if found.damage is not None:
        return found
    told = 0
    try:
        for entry in log.entries(0 if above is None else first):
            if entry.offset >= first:
                found.entries += 1
                found.checkpoints += entry.kind == "checkpoint"
            found.problems += [Problem(offset=entry.offset, why=why) for why in found.references.take(entry)]
            found.sound_to = entry.offset + entry.size
            if progress is not None and entry.offset - told >= STEP_BYTES:
                told = entry.offset
                progress(told, end)
    except SessionCorrupt as damage:
        found.damage = Problem(offset=damage.offset, why=damage.why)
    return found


def _damaged_archives(pages: DiskPages) -> list[Problem]:
    problems = []
    for piece in pages.pieces:
        if isinstance(piece, ArchivePiece):
            try:
                sound = piece.is_sound()
            except SessionCorrupt as damage:
                problems.append(Problem(offset=damage.offset, why=damage.why))
            else:
                if not sound:
                    problems.append(Problem(offset=piece.start, why="the archive's digest does not match"))
    return problems


def salvage(name: str, *, home: Home = None) -> Salvaged:
    """What is sound of a session, with entries that say so in the place of the rest; of a fork with what it goes on from. Raises
    `UnknownSession`, and `SessionCorrupt` when its first line is lost."""
    store = disk_store(home)
    with closing(store.read(name)) as pages:
        if cut_of(pages) is not None:
            fork = sound_fork(store, pages)
            return Salvaged(name=name, data=fork.data, entries=fork.entries, gaps=fork.gaps)
        first, found = pages.salvage()
        data = b"".join((first, *found.lines()))
        return Salvaged(name=name, data=data, entries=found.entries, gaps=tuple(found.gaps))


def archive(name: str, *, home: Home = None, dry_run: bool = False) -> Archived:
    """Pack away everything a session holds up to now. Raises as `Store.write`, and `SessionCorrupt` where a line of it is
    damaged."""
    store = disk_store(home)
    if dry_run:
        with naming(name), closing(store.read(name)) as pages:
            for _ in pages.entries(pages.active.first):
                pass
            return Archived(name=name, bytes=pages.extent.end - pages.active.start)
    delete_old(store, (name,), before_ms=events_since_ms(unix_ms()))
    with naming(name), closing(store.write(name)) as journal:
        begin = journal.active.start
        refused = journal.archive()
        return Archived(name=name, bytes=0 if refused else journal.active.start - begin, refused=refused)
