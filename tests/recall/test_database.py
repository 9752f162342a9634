"""The file of the index: deleted, damaged, of another version or not to be had, a search never fails for it."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from foldline.recall import index as module
from foldline.recall.database import Database, Unavailable
from foldline.recall.index import Index
from foldline.recall.rows import Filters
from foldline.recall.tables import INDEX
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import user
from tests.recall.logs import recall_over, written


def filled(path: Path) -> MemoryStore:
    """A store, and its index at `path`."""
    store = MemoryStore()
    written(store, "s", [user(f"alpha {number}") for number in range(200)])
    recall = recall_over(store, path=path)
    assert recall.search("alpha", session="s").hits
    recall.close()
    return store


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    """S17: whatever the umask; folders too."""
    old = os.umask(0)
    try:
        filled(tmp_path / "home" / "recall.sqlite")
    finally:
        os.umask(old)
    for one in (tmp_path / "home").iterdir():
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_a_file_that_others_may_read_is_closed_to_them(tmp_path: Path) -> None:
    filled(tmp_path / "i")
    (tmp_path / "i").chmod(0o644)
    filled(tmp_path / "i")
    assert stat.S_IMODE((tmp_path / "i").stat().st_mode) == 0o600


def test_a_link_a_pipe_and_a_folder_in_its_place_are_not_followed(tmp_path: Path) -> None:
    """S8: the logs are searched instead, and nothing is written there."""
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    (tmp_path / "link").symlink_to(target)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("link", "pipe", "folder"):
        store = MemoryStore()
        written(store, "s", [user("alpha")])
        found = recall_over(store, path=tmp_path / name).search("alpha")
        assert [hit.session for hit in found.hits] == ["s"]
        assert "the logs themselves were searched" in found.notes[0]
    assert target.read_bytes() == b"precious"


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "i"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA application_id = 7")
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    with pytest.raises(Unavailable, match="another program"):
        Index(path).size()
    assert b"theirs" in path.read_bytes()


DAMAGES = {
    "deleted": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "no database": lambda path: path.write_bytes(b"x" * 9000),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "overwritten": lambda path: path.write_bytes(
        path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096)
    ),
    "words overwritten": lambda path: path.write_bytes(
        b"".join(b"\x55" * 4096 if b"alpha" in page else page for page in pages_of(path))
    ),
}


def pages_of(path: Path) -> list[bytes]:
    """The pages of a database after the first."""
    data = path.read_bytes()
    return [data[at : at + 4096] for at in range(0, len(data), 4096)]


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_made_again_from_the_logs(tmp_path: Path, damage: object) -> None:
    """The index is never the truth. The first search may fall back on the logs, the second has an index again."""
    path = tmp_path / "recall.sqlite"
    store = filled(path)
    damage(path)  # type: ignore[operator]
    recall = recall_over(store, path=path)
    assert recall.search("alpha 77", session="s").hits[0].snippet == "alpha 77"
    again = recall.search("alpha 78", session="s")
    assert again.hits[0].snippet == "alpha 78"
    assert again.notes == ()
    recall.close()


def test_a_file_of_another_version_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Older or newer: another cut of words."""
    path = tmp_path / "recall.sqlite"
    store = filled(path)
    for version in (INDEX.version + 1, INDEX.version):
        monkeypatch.setattr(module, "INDEX", replace(INDEX, version=version))
        recall = recall_over(store, path=path)
        found = recall.search("alpha 9", session="s")
        assert (found.hits[0].snippet, found.notes) == ("alpha 9", ())
        recall.close()
        monkeypatch.undo()


def test_without_full_text_search_the_logs_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some builds of SQLite have no FTS5."""
    other = "CREATE VIRTUAL TABLE words USING fts5_of_another_build (text)"
    monkeypatch.setattr(module, "INDEX", replace(INDEX, tables=other))
    store = MemoryStore()
    written(store, "s", [user("看数据库"), user("other")])
    found = recall_over(store).search("数据库")
    assert [hit.snippet for hit in found.hits] == ["看数据库"]
    assert "no full-text search" in found.notes[0]


def test_a_full_disk_is_no_damage(tmp_path: Path) -> None:
    """What was read before is still found, and the file stays."""
    path = tmp_path / "i"
    store = filled(path)
    database = Database(path, INDEX)

    def fill() -> None:
        with database.writing() as connection:
            connection.execute("PRAGMA max_page_count = 1")
            connection.execute("CREATE TABLE large AS SELECT zeroblob(9000000)")

    with pytest.raises(Unavailable, match="full"):
        fill()
    database.close()
    recall = recall_over(store, path=path)
    assert recall.search("alpha 3", session="s").notes == ()
    assert recall.index.newest('"alpha"', Filters(), rows_max=300)
    recall.close()


def test_what_fails_inside_a_transaction_leaves_nothing_of_it(tmp_path: Path) -> None:
    """All of a batch or nothing."""
    database = Database(tmp_path / "i", INDEX)

    def fail() -> None:
        with database.writing() as connection:
            connection.execute("INSERT INTO tools (name) VALUES ('bash')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM tools").fetchall() == [(0,)]
    database.close()
    database.close()


def test_a_file_that_was_taken_away_while_it_was_open_is_let_go_of(tmp_path: Path) -> None:
    """As forgetting does in another process: the words are in no file that has a name, and the next search makes one."""
    path = tmp_path / "recall.sqlite"
    store = filled(path)
    recall = recall_over(store, path=path)
    assert recall.search("alpha 5", session="s").hits
    for one in tmp_path.iterdir():
        one.unlink()
    found = recall.search("alpha 5", session="s")
    assert (found.hits[0].snippet, found.notes) == ("alpha 5", ())
    assert path.is_file()
    recall.close()
