"""What is made from the logs says nothing more of a session that changes, and goes on saying what the others do."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from foldline.privacy.derived import DATABASES, Derived
from foldline.privacy.forgetting import forget_session, forget_text
from foldline.recollect import INDEX, recall_over
from foldline.statistics import statistics
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import user
from foldline.testing.counting import CharacterCounter
from tests.recall.logs import bytes_of, draft, written

WORD = "xylophonecanary"


def filled(home: Path) -> DiskStore:
    """Two sessions, both in the index and counted."""
    store = DiskStore(home)
    call = {"type": "tool_use", "id": "t", "name": f"run_{WORD}", "input": {"path": "a.py"}}
    written(store, "s", [user(f"keep {WORD} here"), draft({"role": "assistant", "content": [call]})])
    written(store, "other", [user("keep the rest")])
    searched(store, "keep")
    statistics(store, home)
    return store


def searched(store: DiskStore, query: str, *, told: list[str] | None = None) -> list[str]:
    with closing(recall_over(store, counter=CharacterCounter())) as recall:
        recall.update(progress=lambda name, _: told.append(name) if told is not None else None)
        return sorted(hit.session for hit in recall.search(query).hits)


def test_only_the_sessions_in_which_something_was_forgotten_are_read_anew(tmp_path: Path) -> None:
    """S18: a home of a thousand sessions is not read again for one word; and no byte of the word is left."""
    store = filled(tmp_path)
    assert WORD.encode()[3:] in b"".join(bytes_of(tmp_path / name) for name in DATABASES)
    assert forget_text(store, WORD).is_whole
    for name in DATABASES:
        assert WORD.encode()[3:] not in bytes_of(tmp_path / name)
    read: list[str] = []
    assert searched(store, "keep", told=read) == ["other", "s"]
    assert read == ["s"]
    assert searched(store, WORD) == []
    assert statistics(store, tmp_path)["events"] == {"TOOL_CALL": 1, "USER_INPUT": 2}


def test_a_session_that_is_taken_away_leaves_the_others_in_the_index(tmp_path: Path) -> None:
    """S18."""
    store = filled(tmp_path)
    forget_session(store, ["s"])
    read: list[str] = []
    assert searched(store, "keep", told=read) == ["other"]
    assert read == []
    for name in DATABASES:
        assert WORD.encode()[3:] not in bytes_of(tmp_path / name)


def test_what_another_program_read_meanwhile_goes_too(tmp_path: Path) -> None:
    """S18: a search between the look and the change puts the words back; then everything is read anew."""
    store = filled(tmp_path)
    body = draft(user(f"keep {'x' * len(WORD)} here")).body
    with Derived(store).changing("s"):
        assert searched(store, WORD) == ["s", "s"]
        store.rewrite("s", lambda one: body if one.seq == 0 else None)
    assert WORD.encode()[3:9] + b" here" not in bytes_of(tmp_path / INDEX)
    assert searched(store, "keep") == ["other", "s"]


@pytest.mark.parametrize("damage", [b"x" * 9_000, b"SQLite format 3\0" + b"\xff" * 9_000])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes) -> None:
    """It is never the truth, and what is in it of the words is in no file afterwards."""
    store = filled(tmp_path)
    for name in DATABASES:
        (tmp_path / name).write_bytes(WORD.encode() + damage)
    assert forget_text(store, WORD).is_whole
    for name in DATABASES:
        assert WORD.encode() not in bytes_of(tmp_path / name)
    assert searched(store, "keep") == ["other", "s"]


def test_a_file_of_another_program_in_its_place_goes(tmp_path: Path) -> None:
    """What cannot be looked into may hold the words."""
    store = filled(tmp_path)
    with closing(sqlite3.connect(tmp_path / INDEX)) as connection:
        connection.execute("PRAGMA application_id = 7")
    assert forget_text(store, WORD).is_whole
    assert not (tmp_path / INDEX).exists()


def test_a_store_in_memory_has_nothing_beside_it() -> None:
    """And no file is made for it."""
    store = MemoryStore()
    written(store, "s", [user(f"keep {WORD}")])
    assert forget_text(store, WORD).is_whole
