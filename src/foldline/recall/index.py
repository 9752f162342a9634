"""The index: which parts of which sessions hold which words. Made from the logs, brought up to date from them, and never
the truth: every hit is read from its log before it is shown.

    log of a session ── from the byte the index knows ──► parts ──► words (FTS5, without the text) and rows

One database for all sessions. A log that is another one than was read, or in which something was forgotten that nobody told
of (`take_out`), is noticed, and then everything is taken out and read anew. Owns how far each log was read; words are cut by `foldline.recall.words`, the file
is `foldline.recall.database`'s, ranking `foldline.recall.rank`'s.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from foldline.core.entry import Entry
from foldline.core.errors import SessionBusy, SessionCorrupt
from foldline.core.ports import Pages
from foldline.log.said import time_of
from foldline.recall.database import Database
from foldline.recall.entries import message_of, note_calls
from foldline.recall.rows import Filters, Row, condition, kind_named, marked, marks_of, role_of
from foldline.recall.tables import INDEX
from foldline.recall.taking_out import take_all, take_out
from foldline.recall.texts import KINDS, ROLES, said_in
from foldline.recall.words import split

if TYPE_CHECKING:
    import sqlite3

BATCH_CHARS: Final = 8_000_000
"""Characters of text put in at a time; between two batches others may write, and an interruption loses one."""
NO_SLOT: Final = -1
"""The slot of the one row of a message without words."""

Progress = Callable[[int], None]
"""Told the bytes of log read since it was last told."""

_ROLE: Final = {role: number for number, role in enumerate(ROLES)}
_KIND: Final = {kind: number for number, kind in enumerate(KINDS)}
_COLUMNS: Final = (
    "r.id, s.name, r.ordinal, r.slot, r.role, r.kind, t.name, r.time, r.offset, r.size, r.digest"
)
_JOINS: Final = "CROSS JOIN rows r ON r.id = words.rowid JOIN sessions s ON s.id = r.session LEFT JOIN tools t ON t.id = r.tool"
_JSON: Final = msgspec.json.Encoder()


class Read(Struct, kw_only=True):
    """How far one log was read."""

    identity: int
    """Checksum of the log's first line: which log it is."""
    next: int = 0
    """Byte at which the first entry that was not read begins; 0: none was read."""
    last: int = 0
    """Byte of the last entry that was read …"""
    check: int = 0
    """… and the checksum of its body."""
    ordinals: int = 0
    """Messages so far."""
    calls: dict[str, str] = {}
    """Names of tools whose results have not come yet, by call id."""


class Placed(Struct, frozen=True, kw_only=True):
    """Where one message stands."""

    ordinal: int
    offset: int
    """Byte of the log at which its entry begins."""
    tools: dict[int, str]
    """Names of tools by slot of the part that calls or answers."""


class _Batch(Struct, kw_only=True):
    """What one transaction puts in."""

    read: Read
    rows: list[tuple[int, int, int, int, str, int | None, int, int, str]]
    """ordinal, slot, role, kind, tool, time, offset, digest, words."""
    chars: int = 0
    size: int = 0
    last: bytes = b""
    """Body of the last entry."""
    forgot: bool = False
    """True when an entry says that messages were forgotten that an earlier reading may have put in."""


class Index:
    """The words of all sessions. `path`: the database; `None`: in memory, for as long as this lives.

    Every method raises `foldline.recall.database.Unavailable` where no index can be kept.
    """

    def __init__(self, path: Path | None) -> None:
        self._database = Database(path, INDEX)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def update(self, session: str, pages: Pages, *, base: int = 0, progress: Progress | None = None) -> str:
        """Read what came to a session's log since the last time. `base`: ordinal of its first message, for a fork. Returns
        why not all of it could be read, for a person; empty when it could."""
        identity = zlib.crc32(b"%d" % base, zlib.crc32(pages.about, zlib.crc32(pages.format.encode())))
        first = self._read_so_far(session)
        if first is not None and not _is_same(first, pages, identity=identity):
            self._begin_again()
            first = None
        read = first or Read(identity=identity, ordinals=base)
        own = read.ordinals  # from here on the messages are read in this reading
        try:
            for batch in _batches(pages, read, own=own):
                if batch.forgot:
                    self._begin_again()
                    return self.update(session, pages, base=base, progress=progress)
                if not self._put(session, batch, after=read.next):
                    # another process was faster
                    return self.update(session, pages, base=base, progress=progress)
                read = batch.read
                if progress is not None:
                    progress(batch.size)
        except SessionCorrupt as error:
            return f"{session}: {error}; what stands before it is searched"
        return ""

    def keep_only(self, sessions: Collection[str]) -> None:
        """Take everything out when a session is gone, so that nothing of it is left; the others are read anew."""
        with self._database.reading() as connection:
            known = [name for (name,) in connection.execute("SELECT name FROM sessions")]
        if not set(known) <= set(sessions):
            self._empty()

    def take_out(self, session: str, pages: Pages | None) -> bool:
        """Take a session's words out so that no byte of them is left in the index; what its log says is read anew at the next
        search. To be called before a log is changed or removed, while `pages` still say what was read: where they say
        something else, or there are none, everything goes. Returns whether there was anything. Raises `SessionBusy`
        where another process holds on to the old file."""
        with self._database.writing() as connection:
            sql = "SELECT id, state FROM sessions WHERE name = ?"
            known = connection.execute(sql, (session,)).fetchone()
            if known is None:
                return False
            number, read = known[0], msgspec.json.decode(known[1], type=Read)
            first = _first(connection, number)
            parts = iter(()) if pages is None else _parts_again(pages, read, base=first)
            if not take_out(connection, number, parts=parts):
                take_all(connection)
        self._database.settle()
        return True

    def _empty(self) -> None:
        with self._database.writing() as connection:
            take_all(connection)
        self._database.settle()

    def _begin_again(self) -> None:
        """Take everything out to read it anew. What another process holds on to goes with its last search."""
        with contextlib.suppress(SessionBusy):
            self._empty()

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────

    def newest(self, match: str, filters: Filters, *, rows_max: int) -> list[Row]:
        """The newest rows whose words match; `match` comes from `foldline.recall.words.match_of`. Costs what it gives and
        what has to be passed over on the way: rows with some of the words that are not wanted."""
        with self._database.reading() as connection:
            sessions, tool = _numbers(connection, filters)
            if filters.tool and tool is None:
                return []
            marks = " AND ".join(f'"{mark}"' for mark in marked(filters, tool))
            told = f"text : ({match})" + (f" AND marks : ({marks})" if marks else "")
            where, values = condition(filters, sessions)
            lowest, highest = _range(connection, sessions if filters.reach is not None else None)
            sql = f"SELECT {_COLUMNS} FROM words {_JOINS} WHERE words MATCH ? AND words.rowid BETWEEN ? AND ?"
            sql += (f" AND {where}" if where else "") + " ORDER BY words.rowid DESC LIMIT ?"
            found = connection.execute(sql, (told, lowest, highest, *values, rows_max))
            return [_row(told) for told in found]

    def size(self) -> tuple[int, float]:
        """Rows in all, and the mean of their characters over the newest ones."""
        with self._database.reading() as connection:
            [(rows,)] = connection.execute("SELECT coalesce(max(id), 0) FROM rows").fetchall()
            sql = "SELECT avg(size) FROM (SELECT size FROM rows WHERE size > 0 ORDER BY id DESC LIMIT 1000)"
            [(mean,)] = connection.execute(sql).fetchall()
            return int(rows), float(mean or 1)

    def base_of_fork(self, parent: str, byte: int, *, otherwise: int) -> int:
        """Ordinal of the first message of a fork that goes on from byte `byte` of its parent's log; `otherwise`, the
        parent's own first, where the parent has no message before it."""
        with self._database.reading() as connection:
            sql = (
                "SELECT max(r.ordinal) FROM rows r JOIN sessions s ON s.id = r.session"
                " WHERE s.name = ? AND r.offset < ?"
            )
            [(last,)] = connection.execute(sql, (parent, byte)).fetchall()
            return otherwise if last is None else int(last) + 1

    def places(self, session: str, *, first: int, last: int) -> list[Placed]:
        """Where in its log each message from `first` to `last` (both included) stands, in order."""
        sql = (
            "SELECT r.ordinal, r.offset, r.slot, t.name FROM rows r JOIN sessions s ON s.id = r.session"
            " LEFT JOIN tools t ON t.id = r.tool WHERE s.name = ? AND r.ordinal BETWEEN ? AND ? ORDER BY r.ordinal"
        )
        found: dict[int, Placed] = {}
        with self._database.reading() as connection:
            for ordinal, offset, slot, tool in connection.execute(sql, (session, first, last)):
                placed = found.setdefault(ordinal, Placed(ordinal=ordinal, offset=offset, tools={}))
                if tool is not None:
                    placed.tools[slot] = tool
        return list(found.values())

    # ── putting in ───────────────────────────────────────────────────────────────────────────────────────────

    def _read_so_far(self, session: str) -> Read | None:
        with self._database.reading() as connection:
            found = connection.execute("SELECT state FROM sessions WHERE name = ?", (session,)).fetchone()
        return None if found is None else msgspec.json.decode(found[0], type=Read)

    def _put(self, session: str, batch: _Batch, *, after: int) -> bool:
        """Put a batch in; `False` where the index does not stand at `after`, because another process put in something."""
        with self._database.writing() as connection:
            found = connection.execute("SELECT id, state FROM sessions WHERE name = ?", (session,)).fetchone()
            stands = 0 if found is None else msgspec.json.decode(found[1], type=Read).next
            if stands != after:
                return False
            batch.read.check = zlib.crc32(batch.last)
            state = _JSON.encode(batch.read)
            if found is None:
                sql = "INSERT INTO sessions (name, state) VALUES (?, ?)"
                number = connection.execute(sql, (session, state)).lastrowid
            else:
                number = found[0]
                connection.execute("UPDATE sessions SET state = ? WHERE id = ?", (state, number))
            [(free,)] = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM rows").fetchall()
            tools = {tool: _tool(connection, tool) for tool in {row[4] for row in batch.rows} if tool}
            rows, words = [], []
            for id, (ordinal, slot, role, kind, tool, time, offset, digest, text) in enumerate(
                batch.rows, free
            ):
                tool_id = tools.get(tool, 0)
                rows.append((id, number, ordinal, slot, role, kind, tool_id, time, offset, len(text), digest))
                if text:
                    words.append((id, text, marks_of(role=ROLES[role], kind=KINDS[kind], tool=tool_id)))
            connection.executemany("INSERT INTO rows VALUES (?,?,?,?,?,?,?,?,?,?,?)", rows)
            connection.executemany("INSERT INTO words (rowid, text, marks) VALUES (?,?,?)", words)
        return True


def _is_same(read: Read, pages: Pages, *, identity: int) -> bool:
    """True when the log still is the one that was read: its first line, and the last entry that was read."""
    if read.identity != identity:
        return False
    if not read.next:
        return True
    try:
        return zlib.crc32(pages.entry(read.last).body) == read.check
    except SessionCorrupt:
        return False


def _batches(pages: Pages, read: Read, *, own: int) -> Iterator[_Batch]:
    """The entries after `read`, as batches; the last may be small."""
    batch = _Batch(read=msgspec.structs.replace(read, calls=dict(read.calls)), rows=[])
    try:
        for entry in pages.entries(read.next):
            _take(batch, entry, own=own)
            if batch.forgot or batch.chars >= BATCH_CHARS:
                yield batch
                batch = _Batch(
                    read=msgspec.structs.replace(batch.read, calls=dict(batch.read.calls)), rows=[]
                )
    except SessionCorrupt:
        if batch.size:
            yield batch
        raise
    if batch.size:
        yield batch


def _parts_again(pages: Pages, read: Read, *, base: int) -> Iterator[tuple[int, int, int, str]]:
    """What was put in of a session, as its log says it now; it ends where the log cannot be read."""
    with contextlib.suppress(SessionCorrupt):
        for batch in _batches(pages, Read(identity=read.identity, ordinals=base), own=0):
            for ordinal, slot, *_, digest, words in batch.rows:
                yield ordinal, slot, digest, words


def _first(connection: sqlite3.Connection, session: int) -> int:
    """The ordinal of a session's own first message."""
    sql = "SELECT coalesce(min(ordinal), 0) FROM rows WHERE session = ?"
    [(first,)] = connection.execute(sql, (session,)).fetchall()
    return int(first)


def _take(batch: _Batch, entry: Entry, *, own: int) -> None:
    read = batch.read
    if entry.kind == "message":
        _take_message(batch, entry)
        read.ordinals += 1
    elif entry.kind == "forgot" and any(ordinal < own for ordinal in _forgotten(entry.body)):
        batch.forgot = True
    read.next, read.last, batch.last = entry.offset + entry.size, entry.offset, entry.body
    batch.size += entry.size


def _forgotten(body: bytes) -> list[int]:
    try:
        told = msgspec.json.decode(body).get("ordinals", ())
    except (msgspec.DecodeError, AttributeError):
        return [0]  # not as it should be: nothing read before is trusted
    return [ordinal for ordinal in told if isinstance(ordinal, int)] if isinstance(told, list) else [0]


def _take_message(batch: _Batch, entry: Entry) -> None:
    read = batch.read
    message = message_of(entry)
    time = time_of(entry, message)
    found = False
    for said in said_in(message, read.calls) if message is not None else ():
        words = split(said.text)
        row = (
            read.ordinals,
            said.slot,
            _ROLE[said.role],
            _KIND[said.kind],
            said.tool,
            time,
            entry.offset,
            said.digest,
            words,
        )
        batch.rows.append(row)
        batch.chars += len(words)
        found = True
    if not found:
        batch.rows.append((read.ordinals, NO_SLOT, 0, 0, "", time, entry.offset, 0, ""))
    if message is not None:
        note_calls(read.calls, message)


def _tool(connection: sqlite3.Connection, name: str) -> int:
    name = name.encode("utf-8", "replace").decode()
    connection.execute("INSERT OR IGNORE INTO tools (name) VALUES (?)", (name,))
    [(number,)] = connection.execute("SELECT id FROM tools WHERE name = ?", (name,)).fetchall()
    return int(number)


def _numbers(connection: sqlite3.Connection, filters: Filters) -> tuple[dict[str, int], int | None]:
    """The numbers of the sessions in reach, and of the tool."""
    sessions: dict[str, int] = {}
    for reach in filters.reach or ():
        found = connection.execute("SELECT id FROM sessions WHERE name = ?", (reach.session,)).fetchone()
        if found is not None:
            sessions[reach.session] = found[0]
    tool = None
    if filters.tool:
        name = filters.tool.encode("utf-8", "replace").decode()
        found = connection.execute("SELECT id FROM tools WHERE name = ?", (name,)).fetchone()
        tool = None if found is None else int(found[0])
    return sessions, tool


def _range(connection: sqlite3.Connection, sessions: dict[str, int] | None) -> tuple[int, int]:
    """The rows among which those of the sessions in reach stand."""
    if sessions is None:
        return 0, 2**62
    lowest, highest = 2**62, 0
    for number in sessions.values():
        for end in ("ASC", "DESC"):
            sql = f"SELECT id FROM rows WHERE session = ? ORDER BY ordinal {end}, id {end} LIMIT 1"
            for (id,) in connection.execute(sql, (number,)).fetchall():
                lowest, highest = min(lowest, id), max(highest, id)
    return lowest, highest


def _row(told: Sequence[Any]) -> Row:
    return Row(
        id=told[0],
        session=told[1],
        ordinal=told[2],
        slot=told[3],
        role=role_of(told[4]),
        kind=kind_named(told[5]),
        tool=told[6] or "",
        time_ms=told[7],
        offset=told[8],
        size=told[9],
        digest=told[10],
    )
