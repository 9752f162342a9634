"""The tables of the search index: words without the text, and what is known of each part beside them."""

from __future__ import annotations

from typing import Final

from foldline.recall.database import Schema

FLUSH_BYTES: Final = 16 << 20
"""Words gathered in memory before they are sorted into the file."""

INDEX: Final = Schema(
    what="the search index",
    application=0x666F6C64,  # "fold"
    version=1,  # of the cut of words too
    sound="SELECT count(*) FROM (SELECT 1 FROM words, rows, sessions, tools LIMIT 1)",
    tables=f"""
CREATE TABLE sessions (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state BLOB NOT NULL);
CREATE TABLE tools (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE rows (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, ordinal INTEGER NOT NULL, slot INTEGER NOT NULL,
  role INTEGER NOT NULL, kind INTEGER NOT NULL, tool INTEGER NOT NULL, time INTEGER, offset INTEGER NOT NULL,
  size INTEGER NOT NULL, digest INTEGER NOT NULL);
CREATE INDEX rows_by_ordinal ON rows (session, ordinal);
CREATE VIRTUAL TABLE words USING fts5 (text, marks, content='', tokenize='unicode61 remove_diacritics 2');
INSERT INTO words (words, rank) VALUES ('hashsize', {FLUSH_BYTES});
""",
)
