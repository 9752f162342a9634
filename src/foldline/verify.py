"""Whether sessions and their archives are whole, and what is sound of one that is not.

`verify` goes through everything once: framing, checksums and numbers of each line, the digest of each archive file, and what
entries refer to. `salvage` gives a log of what is sound. Neither changes anything. The facade over `foldline.stores` and
`foldline.log.references`; the commands are `foldline.cli.commands.verify` and `archive`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Literal

from msgspec import Struct

from foldline.core.errors import SessionCorrupt, UnknownFormat
from foldline.home import Home, disk_store
from foldline.log.lineage import Lineage, lineage_of
from foldline.log.references import References
from foldline.privacy.underway import told_of
from foldline.stores.archive import ArchivePiece
from foldline.stores.disk_log import DiskPages
from foldline.stores.salvage import Gap

PROBLEMS_MAX = 20
"""Problems told of one session."""
STEP_BYTES = 1 << 20
"""How often progress is told."""


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


def verify(name: str, *, home: Home = None, progress: Callable[[int, int], None] | None = None) -> Verdict:
    """Go through a session and its archives. Raises `UnknownSession`."""
    try:
        pages = disk_store(home).read(name)
    except (SessionCorrupt, UnknownFormat) as damage:  # not even the first line
        offset = damage.offset if isinstance(damage, SessionCorrupt) else 0
        return Verdict(name=name, state="corrupt", problems=(Problem(offset=offset, why=damage.why),))
    try:
        with closing(lineage_of(disk_store(home), pages)) as log:
            return _verdict(name, pages, log=log, progress=progress)
    except SessionCorrupt as damage:  # a fork whose parent is gone
        return Verdict(name=name, state="corrupt", problems=(Problem(offset=damage.offset, why=damage.why),))
    finally:
        pages.close()


def _verdict(
    name: str, pages: DiskPages, *, log: Lineage, progress: Callable[[int, int], None] | None
) -> Verdict:
    """The verdict on a log; `log`: with what it goes on from, which its checkpoints refer to."""
    references, problems, entries, told = References(), _damaged_archives(pages), 0, 0
    first = 0 if log.cut is None else log.cut.byte
    messages = 0
    try:
        for entry in log.entries():
            if entry.offset >= first:
                entries += 1
                messages += entry.kind == "message"
            problems += [Problem(offset=entry.offset, why=why) for why in references.take(entry)]
            if progress is not None and entry.offset - told >= STEP_BYTES:
                told = entry.offset
                progress(told, pages.extent.end)
    except SessionCorrupt as damage:
        problems.append(Problem(offset=damage.offset, why=damage.why))
    return Verdict(
        name=name,
        state="corrupt" if problems else ("torn" if pages.torn else "clean"),
        entries=entries,
        messages=messages,
        checkpoints=references.checkpoints,
        bytes=pages.extent.end,
        archives=sum(isinstance(piece, ArchivePiece) for piece in pages.pieces),
        torn=pages.torn,
        problems=tuple(problems[:PROBLEMS_MAX]),
    )


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
    """What is sound of a session, with entries that say so in the place of the rest. Raises `UnknownSession`, and
    `SessionCorrupt` when its first line is lost."""
    pages = disk_store(home).read(name)
    try:
        first, found = pages.salvage()
        data = b"".join((first, *found.lines()))
        return Salvaged(name=name, data=data, entries=found.entries, gaps=tuple(found.gaps))
    finally:
        pages.close()


def archive(name: str, *, home: Home = None, dry_run: bool = False) -> Archived:
    """Pack away everything a session holds up to now. Raises as `Store.write`."""
    store = disk_store(home)
    if dry_run:
        pages = store.read(name)
        pages.close()
        return Archived(name=name, bytes=pages.extent.end - pages.active.start)
    journal = store.write(name)
    try:
        begin = journal.active.start
        refused = journal.archive()
        return Archived(name=name, bytes=0 if refused else journal.active.start - begin, refused=refused)
    finally:
        journal.close()
