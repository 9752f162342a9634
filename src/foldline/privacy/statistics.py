"""Statistics over all sessions: a SQLite file beside the logs, made from them, and never the truth.

    log of a session ── from the byte the file knows ──► events, compactions, passes, facts, usage ──► rows

Holds numbers, and names of sessions, tools, models, policies and passes; nothing that was said. A log that is another one
than was read is read anew; the file itself is `foldline.recall.database`'s to open and to make again. Events are `foldline.log.audit`'s, which also
says what waits for a result between two readings.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from foldline.core.entry import Entry
from foldline.core.errors import InvalidOption, SessionBusy, SessionCorrupt
from foldline.core.ports import Pages, TokenCounter
from foldline.core.surrogates import whole
from foldline.log.audit import DELETED, Audit, AuditState
from foldline.log.chain import chain_of
from foldline.log.values import members
from foldline.recall.database import Database, Schema, Unavailable
from foldline.wire import strict

if TYPE_CHECKING:
    import sqlite3

FILE: Final = "statistics.sqlite"
_TABLES: Final = """
CREATE TABLE sessions (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state BLOB NOT NULL);
CREATE TABLE events (session INTEGER NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, time TEXT, written_ms INTEGER,
  tool TEXT, tokens INTEGER, success INTEGER, duration_ms INTEGER, PRIMARY KEY (session, seq)) WITHOUT ROWID;
CREATE TABLE sums (session INTEGER NOT NULL, type TEXT NOT NULL, tool TEXT NOT NULL, count INTEGER NOT NULL, failed INTEGER NOT
  NULL, tokens INTEGER NOT NULL, duration_ms INTEGER NOT NULL, timed INTEGER NOT NULL, PRIMARY KEY (session, type, tool))
  WITHOUT ROWID;
CREATE VIEW counted AS
  SELECT session, type, ifnull(tool, '') AS tool, 1 AS count, ifnull(success = 0, 0) AS failed, ifnull(tokens, 0) AS tokens,
    ifnull(duration_ms, 0) AS duration_ms, duration_ms IS NOT NULL AS timed FROM events
  UNION ALL SELECT session, type, tool, count, failed, tokens, duration_ms, timed FROM sums;
CREATE TABLE compactions (session INTEGER NOT NULL, entry INTEGER NOT NULL, time_ms INTEGER, policy TEXT, tokens_before
  INTEGER NOT NULL, tokens_after INTEGER NOT NULL, counts INTEGER NOT NULL DEFAULT 1, unfolded INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (session, entry)) WITHOUT ROWID;
CREATE TABLE taken_back (session INTEGER NOT NULL, entry INTEGER NOT NULL, kind TEXT NOT NULL, named INTEGER NOT NULL,
  span INTEGER NOT NULL, PRIMARY KEY (session, entry)) WITHOUT ROWID;
CREATE TABLE passes (session INTEGER NOT NULL, entry INTEGER NOT NULL, name TEXT NOT NULL, edits INTEGER NOT NULL,
  tokens_freed INTEGER NOT NULL);
CREATE TABLE facts (session INTEGER NOT NULL, entry INTEGER NOT NULL, kind TEXT NOT NULL, total INTEGER NOT NULL,
  in_view INTEGER NOT NULL, recallable INTEGER NOT NULL, lost INTEGER NOT NULL, altered INTEGER NOT NULL);
CREATE TABLE failures (session INTEGER NOT NULL, entry INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE usage (session INTEGER NOT NULL, message INTEGER NOT NULL, model TEXT NOT NULL, tokens_input INTEGER NOT NULL,
  tokens_output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  PRIMARY KEY (session, message)) WITHOUT ROWID;
"""
_INTO_SUMS: Final = """
INSERT INTO sums SELECT session, type, ifnull(tool, ''), count(*), sum(ifnull(success = 0, 0)), sum(ifnull(tokens, 0)),
  sum(ifnull(duration_ms, 0)), count(duration_ms) FROM events WHERE written_ms < ? GROUP BY 1, 2, 3
ON CONFLICT DO UPDATE SET count = count + excluded.count, failed = failed + excluded.failed, tokens = tokens + excluded.tokens,
  duration_ms = duration_ms + excluded.duration_ms, timed = timed + excluded.timed
"""
_NAMED: Final = {"undo": "entry", "unfold": "entry", "rollback": "to"}
"""The member in which an entry that takes back names another."""
STATISTICS: Final = Schema(
    what="the file of statistics",
    application=0x666F6C73,  # "fols"
    version=5,
    tables=_TABLES,
    sound="SELECT count(*) FROM (SELECT 1 FROM sessions, events, sums, compactions, taken_back, passes, facts, failures, usage LIMIT 1)",
)
_OF_SESSION: Final = ("events", "sums", "compactions", "taken_back", "passes", "facts", "failures", "usage")


class Read(Struct, kw_only=True):
    """How far one log was read."""

    identity: int
    """Checksum of the log's first line."""
    last: int = -1
    """Byte of the last entry that was read …"""
    check: int = 0
    """… and the checksum of its body."""
    ordinals: int = 0
    model: str = ""
    audit: AuditState


class Statistics:
    """The file in a home; without one, in memory. `counter` counts the results of tools. Every method raises `InvalidOption` for a
    home where there can be none."""

    def __init__(self, home: Path | None, counter: TokenCounter) -> None:
        self._counter, self._database = counter, Database(home and home / FILE, STATISTICS)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def update(
        self, name: str, pages: Pages, *, first: int = 0, tick: Callable[[int, int], None] | None = None
    ) -> str:
        """Read what came to a log since the last time. `first`: the number of its first entry, which in a fork goes on from
        its parent's. Returns why not all of it could be read; empty when it could."""
        with self._opened() as connection:
            read = self._begin(connection, name, pages=pages)
            rows = _Rows(connection, name=name, read=read, counter=self._counter, first=first)
            try:
                for entry in pages.entries(max(read.last, 0)):
                    if entry.offset > read.last:
                        rows.take(entry)
                        if tick is not None:
                            tick(entry.offset + entry.size, 0)
            except SessionCorrupt as error:
                return f"{name}: {error}; what stands before it is counted"
            finally:
                rows.save()
        return ""

    def keep_only(self, names: tuple[str, ...]) -> None:
        """Take out the sessions that are gone."""
        with self._opened() as connection:
            for id, name in connection.execute("SELECT id, name FROM sessions").fetchall():
                if name not in names:
                    _remove(connection, id)

    def age(self, before_ms: int) -> None:
        """Let the rows of events that were written before that become sums, and leave no byte of them."""
        with self._told():
            _age(self._database, before_ms)

    def query(self, sql: str, *values: object) -> list[dict[str, Any]]:
        """Rows of a question in SQL, by column."""
        with self._opened() as connection:
            found = connection.execute(sql, values)
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found]

    def _begin(self, connection: sqlite3.Connection, name: str, *, pages: Pages) -> Read:
        identity = zlib.crc32(pages.about, zlib.crc32(pages.format.encode()))
        found = connection.execute("SELECT id, state FROM sessions WHERE name = ?", (name,)).fetchone()
        if found is not None:
            read = msgspec.json.decode(found[1], type=Read)
            if read.identity == identity and _is_same(pages, read):
                return read
            _remove(connection, found[0])
        read = Read(identity=identity, model=_model_of(pages.about), audit=AuditState())
        connection.execute(
            "INSERT INTO sessions (name, state) VALUES (?, ?)", (name, msgspec.json.encode(read))
        )
        return read

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The database in one transaction."""
        with self._told(), self._database.writing() as connection:
            yield connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except Unavailable as error:
            if error.is_busy:
                raise SessionBusy(FILE, "another `foldline stats`", beside=True) from error
            raise InvalidOption("home", str(self._database.path), why=str(error)) from error


def take_out(home: Path, name: str) -> None:
    """Take a session out of the file in a home, where there is one, so that no byte of it is left. Raises
    `foldline.recall.database.Unavailable`, `SessionBusy`."""
    if not (home / FILE).is_file():
        return
    with closing(Database(home / FILE, STATISTICS)) as database:
        with database.writing() as connection:
            found = connection.execute("SELECT id FROM sessions WHERE name = ?", (name,)).fetchone()
            if found is not None:
                _remove(connection, found[0])
        database.settle()


def age(home: Path, *, before_ms: int) -> None:
    """`Statistics.age`, where there is a file. Raises as `take_out`."""
    if (home / FILE).is_file():
        with closing(Database(home / FILE, STATISTICS)) as database:
            _age(database, before_ms)


def _age(database: Database, before_ms: int) -> None:
    with database.reading() as connection:
        if (
            connection.execute("SELECT 1 FROM events WHERE written_ms < ? LIMIT 1", (before_ms,)).fetchone()
            is None
        ):
            return
    with database.writing() as connection:
        connection.execute(_INTO_SUMS, (before_ms,))
        connection.execute("DELETE FROM events WHERE written_ms < ?", (before_ms,))
    database.settle()


class _Rows:
    """What entries come to, put into the tables."""

    def __init__(
        self, connection: sqlite3.Connection, *, name: str, read: Read, counter: TokenCounter, first: int
    ) -> None:
        self._connection, self._read, self._first = connection, read, first
        self._audit = Audit(lambda _: "", counter, state=read.audit)
        [(self._id,)] = connection.execute("SELECT id FROM sessions WHERE name = ?", (name,)).fetchall()

    def take(self, entry: Entry) -> None:
        """Take in one entry."""
        for event in self._audit.events(entry):
            if event["type"] != DELETED:
                when = (event["timestamp"], entry.time_ms)
                self._put("events", event["seq"], event["type"], *when, *_numbers_of(event))
        try:
            self._more(entry)
        except (ValueError, LookupError, TypeError, msgspec.ValidationError):
            pass  # of a later version: nothing to count
        self._read.last, self._read.check = entry.offset, zlib.crc32(entry.body)

    def save(self) -> None:
        """Note how far the log was read, and which compactions still count."""
        self._judge()
        self._read.audit = self._audit.state()
        state = msgspec.json.encode(self._read)
        self._connection.execute("UPDATE sessions SET state = ? WHERE id = ?", (state, self._id))

    def _judge(self) -> None:
        """Compactions that an undo or a rollback took back count no more, and an unfold takes one span of one back; a later
        rollback may bring either back."""
        told = "SELECT entry, {} FROM {} WHERE session = ?"
        made = self._connection.execute(told.format("counts", "compactions"), (self._id,)).fetchall()
        back = self._connection.execute(
            told.format("kind, named, span", "taken_back"), (self._id,)
        ).fetchall()
        entries = [Entry(seq=seq, kind="compaction", body=b"{}", offset=0) for seq, _ in made]
        entries += [_taking_back(seq, kind, named=named, span=span) for seq, kind, named, span in back]
        entries.sort(key=lambda entry: entry.seq)
        on_chain, voided = chain_of(entries, after=-1)
        for entry, is_on in zip(entries, on_chain, strict=True):
            if entry.kind == "compaction":
                self._connection.execute(
                    "UPDATE compactions SET counts = ?, unfolded = ? WHERE session = ? AND entry = ?",
                    (
                        is_on and entry.seq not in voided.entries,
                        len(voided.spans.get(entry.seq, ())),
                        self._id,
                        entry.seq,
                    ),
                )

    def _more(self, entry: Entry) -> None:
        match entry.kind:
            case "message":
                ordinal, self._read.ordinals = self._read.ordinals, self._read.ordinals + 1
                told = members(entry.body)
                if "usage" in told:
                    meta = strict.loads(told["meta"]) if "meta" in told else {}
                    self._usage(ordinal, strict.loads(told["usage"]), model=str(meta.get("model", "")))
            case "usage":
                body = strict.loads(entry.body)
                self._usage(int(body["message"]), body["usage"], model="")
            case "model":
                self._read.model = whole(str(strict.loads(entry.body).get("model") or ""))
            case "compaction":
                self._compaction(entry, strict.loads(entry.body))
            case "settle":
                self._failures(self._first + entry.seq, strict.loads(entry.body).get("failures"))
            case "undo" | "unfold" | "rollback":
                body = strict.loads(entry.body)
                named = int(body[_NAMED[entry.kind]])
                span = zlib.crc32(str(body["address"]).encode()) if entry.kind == "unfold" else 0
                if -1 <= named < self._first + entry.seq:
                    self._put("taken_back", self._first + entry.seq, entry.kind, named, span)
            case _:
                pass

    def _usage(self, ordinal: int, told: dict[str, Any], *, model: str) -> None:
        names = ("tokens_input", "tokens_output", "tokens_cache_read", "tokens_cache_write")
        numbers = [int(told.get(name) or 0) for name in names]
        self._put("usage", ordinal, model or self._read.model, *numbers)

    def _compaction(self, entry: Entry, told: dict[str, Any]) -> None:
        report = told.get("report") or {}
        numbers = [int(told.get(name) or 0) for name in ("tokens_before", "tokens_after")]
        seq = self._first + entry.seq
        self._put("compactions", seq, entry.time_ms, str(report.get("policy") or ""), *numbers, 1, 0)
        for one in report.get("passes") or ():
            self._put("passes", seq, str(one["name"]), int(one["edits"]), int(one["tokens_freed"]))
        failed = (report.get("summary") or {}).get("failures")
        self._failures(seq, [one["name"] for one in failed or ()])
        for kind, found in (report.get("retention") or {}).items():
            counts = [
                int(found.get(name) or 0) for name in ("total", "in_view", "recallable", "lost", "altered")
            ]
            self._put("facts", seq, str(kind), *counts)

    def _failures(self, seq: int, names: list[Any] | None) -> None:
        """Attempts of a model that came to nothing, by name."""
        for name in names or ():
            self._put("failures", seq, str(name))

    def _put(self, table: str, *values: object) -> None:
        marks = ", ".join("?" * (len(values) + 1))
        told = [whole(value) if isinstance(value, str) else value for value in values]
        self._connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", (self._id, *told))


def _taking_back(seq: int, kind: str, *, named: int, span: int) -> Entry:
    body = {_NAMED[kind]: named, "address": span}
    return Entry(seq=seq, kind=kind, body=msgspec.json.encode(body), offset=0)


def _numbers_of(event: dict[str, Any]) -> tuple[object, ...]:
    tokens = event.get("result_tokens", event.get("output_tokens", event.get("messages_tokens")))
    return event.get("tool"), tokens, event.get("success"), event.get("duration_ms")


def _is_same(pages: Pages, read: Read) -> bool:
    """True when the last entry that was read stands where it stood, as it was."""
    if read.last < 0:
        return True
    try:
        return zlib.crc32(pages.entry(read.last).body) == read.check
    except SessionCorrupt:
        return False


def _model_of(about: bytes) -> str:
    try:
        told = strict.loads(about)
    except ValueError:
        return ""
    return whole(str(told.get("model") or "")) if isinstance(told, dict) else ""


def _remove(connection: sqlite3.Connection, id: int) -> None:
    for table in _OF_SESSION:
        connection.execute(f"DELETE FROM {table} WHERE session = ?", (id,))
    connection.execute("DELETE FROM sessions WHERE id = ?", (id,))
