"""Taking a session's words out of the index, so that no byte of them is left in it.

An index that holds no text can only forget a row when it is told the words that row was made of. So it is told them while
the log still says them, before they are forgotten there; each part is compared with what is known of it first. Where the log
says something else by then, everything goes and is read anew. Counterpart: `foldline.recall.index`, which puts words in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from foldline.recall.rows import kind_named, marks_of, role_of

if TYPE_CHECKING:
    import sqlite3

Part: TypeAlias = tuple[int, int, int, str]
"""Ordinal, slot and digest of a part, and its words as they were cut."""
ROWS_A_TIME: Final = 1_000

_OF_SESSION: Final = (
    "SELECT id, ordinal, slot, digest, role, kind, tool, size FROM rows WHERE session = ? ORDER BY id"
)
_DELETE: Final = "INSERT INTO words (words, rowid, text, marks) VALUES ('delete', ?, ?, ?)"


def take_out(connection: sqlite3.Connection, session: int, *, parts: Iterator[Part]) -> bool:
    """Take out a session's rows. `parts`: what was put in, in that order, as the log says it now; false, with the work half
    done, where that is something else. To be called within a transaction."""
    rows = connection.execute(_OF_SESSION, (session,))
    while batch := rows.fetchmany(ROWS_A_TIME):
        gone = []
        for id, ordinal, slot, digest, role, kind, tool, size in batch:
            part = next(parts, None)
            if part is None or part[:3] != (ordinal, slot, digest) or len(part[3]) != size:
                return False
            if size:
                marks = marks_of(role=role_of(role), kind=kind_named(kind), tool=tool)
                gone.append((id, part[3], marks))
        connection.executemany(_DELETE, gone)
    connection.execute("DELETE FROM rows WHERE session = ?", (session,))
    connection.execute("DELETE FROM sessions WHERE id = ?", (session,))
    connection.execute("DELETE FROM tools WHERE id NOT IN (SELECT tool FROM rows)")
    connection.execute(
        "INSERT INTO words (words) VALUES ('optimize')"
    )  # merges, and leaves out what was deleted
    return True


def take_all(connection: sqlite3.Connection) -> None:
    """Take everything out. To be called within a transaction."""
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    for table in ("rows", "sessions", "tools"):
        connection.execute(f"DELETE FROM {table}")
