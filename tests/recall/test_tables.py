"""The tables of the index, as they are made."""

from __future__ import annotations

from contextlib import closing

from foldline.recall.database import Database
from foldline.recall.tables import FLUSH_BYTES, INDEX


def test_they_are_empty_hold_no_text_and_answer_the_question_for_soundness() -> None:
    """TRACE: the log is the only place where a text stands."""
    with closing(Database(None, INDEX)) as database, database.reading() as connection:
        assert connection.execute(INDEX.sound).fetchall() == [(0,)]
        connection.execute("INSERT INTO words (rowid, text, marks) VALUES (1, 'alpha', '')")
        sql = "SELECT rowid, text FROM words WHERE words MATCH 'alpha'"
        assert connection.execute(sql).fetchall() == [(1, None)]
        [(size,)] = connection.execute("SELECT v FROM words_config WHERE k = 'hashsize'").fetchall()
        assert size == FLUSH_BYTES
