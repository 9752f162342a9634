"""The file of the index: opened, made anew when it is damaged or of another version, and emptied without a trace.

Owns the SQLite connection and the tables. The index is never the truth: whatever is wrong with the file, it is made
again from the logs, and a machine where none can be made searches the logs themselves (`Unavailable`). Knows nothing
of what the tables mean; that is `foldline.recall.index`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Final

from foldline.core.errors import SessionBusy

if TYPE_CHECKING:
    import sqlite3

VERSION: Final = 1
"""Of the tables and of the cut of words; a file of another version is made again."""
APPLICATION: Final = 0x666F6C64
"""SQLite's `application_id`: "fold". A file of another program is not touched."""
BUSY_S_MAX: Final = 10.0
"""Longest wait for another process that writes the index."""
FLUSH_BYTES: Final = 16 << 20
"""Words gathered in memory before they are sorted into the file."""
BESIDE: Final = ("", "-wal", "-shm", "-journal")
"""What belongs to one database."""

_TABLES: Final = f"""
CREATE TABLE sessions (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state BLOB NOT NULL);
CREATE TABLE tools (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE rows (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, ordinal INTEGER NOT NULL, slot INTEGER NOT NULL,
  role INTEGER NOT NULL, kind INTEGER NOT NULL, tool INTEGER NOT NULL, time INTEGER, offset INTEGER NOT NULL,
  size INTEGER NOT NULL, digest INTEGER NOT NULL);
CREATE INDEX rows_by_ordinal ON rows (session, ordinal);
CREATE VIRTUAL TABLE words USING fts5 (text, marks, content='', tokenize='unicode61 remove_diacritics 2');
INSERT INTO words (words, rank) VALUES ('hashsize', {FLUSH_BYTES});
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""


class Unavailable(Exception):
    """There can be no index here: why, for a person."""


class Database:
    """One index file, or one in memory. Threads take turns; processes too."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        """Which file is open."""

    def close(self) -> None:
        """Let go of the file; the next use opens it again. One in memory is gone."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time. Damage found is mended for the next use, and raised as
        `Unavailable`."""
        import sqlite3

        with self._lock:
            connection = self._opened()
            try:
                yield connection
            except sqlite3.DatabaseError as error:
                self._judge(error)
                raise Unavailable(
                    f"the search index failed ({error}); it is made again at the next search"
                ) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """As `reading`, in one transaction: all of it or nothing."""
        import sqlite3

        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    with contextlib.suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")

    def empty(self) -> None:
        """Take everything out, so that no byte of it is left in the file or beside it. Raises `SessionBusy` where
        another process holds on to what was."""
        with self.writing() as connection:
            connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
            for table in ("rows", "sessions", "tools"):
                connection.execute(f"DELETE FROM {table}")
        with self.reading() as connection:
            [(is_busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if is_busy:
            raise SessionBusy("recall.sqlite", "a search in another process")

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and self._file != self._file_there():
            self.close()  # somebody took it away, as forgetting does: what is in it counts no more
        if self._connection is None:
            try:
                self._connection = self._open()
            except _Damaged:
                self._remove()
                try:
                    self._connection = self._open()
                except _Damaged as error:
                    raise Unavailable(f"no search index can be kept here: {error}") from error
            self._file = self._file_there()
        return self._connection

    def _file_there(self) -> tuple[int, int] | None:
        """The file that is at the path now."""
        try:
            found = os.stat(self.path) if self.path is not None else None
        except OSError:
            return (0, 0)
        return None if found is None else (found.st_dev, found.st_ino)

    def _open(self) -> sqlite3.Connection:
        import sqlite3

        if self.path is not None:
            self._claim(self.path)
        connection = sqlite3.connect(
            ":memory:" if self.path is None else self.path,
            timeout=BUSY_S_MAX,
            isolation_level=None,
            check_same_thread=False,
        )
        is_settled = False
        try:
            _settle(connection)
            is_settled = True
        except sqlite3.DatabaseError as error:
            if not isinstance(error, sqlite3.OperationalError) or _says_damage(error):
                raise _Damaged(str(error)) from error
            raise Unavailable(f"no search index can be kept here: {error}") from error
        finally:
            if not is_settled:
                connection.close()
        return connection

    def _claim(self, path: Path) -> None:
        """Make the file where there is none, for its owner alone; refuse what is no plain file of the owner's."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe in its place would wait for ever
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            why = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror or str(error)
            raise Unavailable(f"{path}: {why}") from error
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise Unavailable(f"{path}: it is no file")
            if hasattr(os, "fchmod") and stat.S_IMODE(found.st_mode) & 0o077:
                os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)

    def _judge(self, error: sqlite3.DatabaseError) -> None:
        """After damage, away with the file; a full disk or a lock is no damage."""
        import sqlite3

        if not isinstance(error, (sqlite3.OperationalError, sqlite3.IntegrityError)) or _says_damage(error):
            self.close()
            self._remove()

    def _remove(self) -> None:
        if self.path is None:
            return
        for suffix in BESIDE:
            with contextlib.suppress(OSError):
                os.unlink(f"{self.path}{suffix}")


class _Damaged(Exception):
    """The file is no index of this version."""


_DAMAGE: Final = ("malformed", "not a database", "no such table", "no such column", "corrupt")


def _says_damage(error: Exception) -> bool:
    return any(word in str(error) for word in _DAMAGE)


def _settle(connection: sqlite3.Connection) -> None:
    """Settings of the connection, and the tables where the file is new. Raises `_Damaged`, `Unavailable`."""
    connection.execute("PRAGMA secure_delete = ON")
    application = _number(connection, "application_id")
    if application not in (0, APPLICATION):
        raise Unavailable("recall.sqlite belongs to another program; move it away")
    if application == APPLICATION and _number(connection, "user_version") == VERSION:
        _go(connection)
        connection.execute("SELECT count(*) FROM (SELECT 1 FROM words, rows, sessions, tools LIMIT 1)")
        return
    if application == 0 and _number(connection, "schema_version") == 0:
        _make(connection)
        return
    raise _Damaged("a file of another version")


def _go(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = NORMAL")


def _make(connection: sqlite3.Connection) -> None:
    import sqlite3

    _go(connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _number(connection, "application_id") == 0:  # nobody else made it meanwhile
            for statement in _TABLES.split(";"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        connection.execute("ROLLBACK")
        if "fts5" in str(error):
            raise Unavailable("this Python's SQLite has no full-text search (FTS5)") from error
        raise


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    [(value,)] = connection.execute(f"PRAGMA {pragma}").fetchall()
    return int(value)
