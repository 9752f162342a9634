"""A SQLite file that is made from logs: opened, made anew when it is damaged or of another version, and emptied without a
trace.

Owns the connection. Such a file is never the truth: whatever is wrong with it, it is made again from the logs, and where
none can be kept there is none (`Unavailable`). Knows nothing of what its tables mean, which come in as a `Schema`: the search
index's are `foldline.recall.index`'s, those of numbers `foldline.privacy.statistics`'s.
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

from msgspec import Struct

from foldline.core.errors import SessionBusy

if TYPE_CHECKING:
    import sqlite3

BUSY_S_MAX: Final = 10.0
"""Longest wait for another process that writes the file."""
BESIDE: Final = ("", "-wal", "-shm", "-journal")
"""What belongs to one database."""


class Schema(Struct, frozen=True, kw_only=True):
    """What stands in a file."""

    what: str
    """The file, for a person: `the search index`."""
    application: int
    """SQLite's `application_id`. A file of another program is not touched."""
    version: int
    """A file of another version is made again."""
    tables: str
    """SQL that makes them."""
    sound: str
    """A query that every sound file answers."""


class Unavailable(Exception):
    """There can be no such file here, or not now (`is_busy`): why, for a person."""

    def __init__(self, why: str, *, is_busy: bool = False) -> None:
        self.is_busy = is_busy
        super().__init__(why)


class Database:
    """One file, or one in memory. Threads take turns; processes too."""

    def __init__(self, path: Path | None, schema: Schema) -> None:
        self.path, self.schema = path, schema
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
                why = f"{self.schema.what} failed ({error}); it is made again when it is next asked"
                raise Unavailable(why, is_busy=_is_busy(error)) from error

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

    def settle(self) -> None:
        """Leave nothing of what was taken out in the file or beside it. Raises `SessionBusy` where another process holds on
        to what was."""
        with self.reading() as connection:
            [(is_busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if is_busy:
            name = self.schema.what if self.path is None else self.path.name
            raise SessionBusy(name, "a search in another process", beside=True)

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
                    raise Unavailable(f"{self.schema.what} cannot be kept here: {error}") from error
            self._file = self._file_there()
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Settings of the connection, and the tables where the file is new. Raises `_Damaged`, `Unavailable`."""
        schema = self.schema
        connection.execute("PRAGMA secure_delete = ON")
        application = _number(connection, "application_id")
        if application not in (0, schema.application):
            raise Unavailable(f"{self.path} belongs to another program; move it away")
        if application == schema.application and _number(connection, "user_version") == schema.version:
            _go(connection)
            connection.execute(schema.sound).fetchall()
            return
        if application == 0 and _number(connection, "schema_version") == 0:
            self._make(connection)
            return
        raise _Damaged("a file of another version")

    def _make(self, connection: sqlite3.Connection) -> None:
        import sqlite3

        schema = self.schema
        _go(connection)
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _number(connection, "application_id") == 0:  # nobody else made it meanwhile
                for statement in schema.tables.split(";"):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {schema.application}")
                connection.execute(f"PRAGMA user_version = {schema.version}")
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            connection.execute("ROLLBACK")
            if "fts5" in str(error):
                raise Unavailable("this Python's SQLite has no full-text search (FTS5)") from error
            raise

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
            self._prepare(connection)
            is_settled = True
        except sqlite3.DatabaseError as error:
            if not isinstance(error, sqlite3.OperationalError) or _says_damage(error):
                raise _Damaged(str(error)) from error
            why = f"{self.schema.what} cannot be kept here: {error}"
            raise Unavailable(why, is_busy=_is_busy(error)) from error
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
    """The file is none of this version."""


_DAMAGE: Final = ("malformed", "not a database", "no such table", "no such column", "corrupt")


def _is_busy(error: sqlite3.Error) -> bool:
    import sqlite3

    return error.sqlite_errorcode == sqlite3.SQLITE_BUSY


def _says_damage(error: Exception) -> bool:
    return any(word in str(error) for word in _DAMAGE)


def _go(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = NORMAL")


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    [(value,)] = connection.execute(f"PRAGMA {pragma}").fetchall()
    return int(value)
