"""The file of statistics is made from the logs, brought up to date from where it stood, and made anew when it is no good."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldline.core.entry import Draft, Entry
from foldline.core.errors import InvalidOption
from foldline.core.ports import Pages
from foldline.privacy.statistics import FILE, Statistics
from foldline.stores.memory import MemoryStore
from foldline.testing.counting import CharacterCounter

REPORT = {
    "policy": "balanced",
    "passes": [{"name": "microcompact", "edits": 2, "tokens_freed": 300}],
    "retention": {"paths": {"total": 4, "in_view": 3, "recallable": 1, "lost": 0, "altered": 0}},
}
CALL = {"type": "tool_use", "id": "t1", "name": "run", "input": {"cmd": "swordfish"}}
USAGE = {"tokens_input": 100, "tokens_output": 10, "tokens_cache_read": 60}


def entry(kind: str, **body: Any) -> Draft:
    return Draft(kind=kind, body=json.dumps(body).encode())


def message(role: str, content: Any, **more: Any) -> Draft:
    return entry("message", format="anthropic", wire={"role": role, "content": content}, **more)


def drafts() -> list[Draft]:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "swordfish"}
    return [
        message("user", "swordfish"),
        message("assistant", [CALL], usage=USAGE),
        message("user", [result]),
        entry("compaction", edits=[], report=REPORT, tokens_before=1000, tokens_after=700),
    ]


def filled(*names: str) -> MemoryStore:
    store = MemoryStore(clock=lambda: 1_000)
    for name in names:
        journal = store.create(name, format="anthropic", about=b'{"model":"m"}')
        journal.append(drafts())
        journal.close()
    return store


def kept(home: Path) -> Statistics:
    return Statistics(home, CharacterCounter())


class Counted:
    """Pages that count what is read of them."""

    def __init__(self, pages: Pages) -> None:
        self._pages, self.read = pages, 0
        self.format, self.about, self.torn = pages.format, pages.about, pages.torn

    def close(self) -> None:
        self._pages.close()

    def entry(self, offset: int) -> Entry:
        return self._pages.entry(offset)

    def entries(self, offset: int = 0) -> Iterator[Entry]:
        for one in self._pages.entries(offset):
            self.read += 1
            yield one

    def back(self) -> Iterator[Entry]:
        return self._pages.back()


def test_every_event_and_compaction_of_every_session_is_a_row(tmp_path: Path) -> None:
    """JRN-11: to the log, the authority, and to SQLite for questions; nothing that was said is in it."""
    store, statistics = filled("a", "b"), kept(tmp_path)
    for name in store.names():
        assert statistics.update(name, store.read(name)) == ""
    assert statistics.query("SELECT type, count(*) AS n FROM events GROUP BY type ORDER BY type") == [
        {"type": "COMPRESSION", "n": 2},
        {"type": "TOOL_CALL", "n": 2},
        {"type": "TOOL_RESULT", "n": 2},
        {"type": "USER_INPUT", "n": 2},
    ]
    [row] = statistics.query("SELECT * FROM usage WHERE session = 1")
    assert (row["model"], row["tokens_input"], row["cache_read"]) == ("m", 100, 60)
    assert (
        statistics.query("SELECT name, tokens_freed FROM passes")
        == [{"name": "microcompact", "tokens_freed": 300}] * 2
    )
    assert b"swordfish" not in (tmp_path / FILE).read_bytes()


def test_a_later_reading_goes_on_where_the_first_one_ended(tmp_path: Path) -> None:
    """Only what came since is read, and a call and its result may lie on both sides."""
    store = MemoryStore(clock=lambda: 1_000)
    journal = store.create("s", format="anthropic", about=b"{}")
    journal.append(drafts()[:2] + [message("assistant", "x")] * 100)
    kept(tmp_path).update("s", store.read("s"))
    journal.append(drafts()[2:])
    pages = Counted(store.read("s"))
    kept(tmp_path).update("s", pages)
    assert pages.read == 3, "the last entry known, and two new ones"
    [row] = kept(tmp_path).query("SELECT tool, seq FROM events WHERE type = 'TOOL_RESULT'")
    assert row == {"tool": "run", "seq": 3}
    kept(tmp_path).update("s", store.read("s"))
    assert kept(tmp_path).query("SELECT count(*) AS n FROM events") == [{"n": 4}]


def test_a_log_that_is_another_one_is_read_anew(tmp_path: Path) -> None:
    """Removed and made again under the same name, or its last entry forgotten."""
    kept(tmp_path).update("s", filled("s").read("s"))
    other = MemoryStore()
    other.create("s", format="anthropic", about=b"{}").append([message("user", "one")])
    kept(tmp_path).update("s", other.read("s"))
    assert kept(tmp_path).query("SELECT type FROM events") == [{"type": "USER_INPUT"}]
    kept(tmp_path).keep_only(())
    assert kept(tmp_path).query("SELECT count(*) AS n FROM sessions") == [{"n": 0}]
    assert kept(tmp_path).query("SELECT count(*) AS n FROM events") == [{"n": 0}]


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    """It is never the truth."""
    (tmp_path / FILE).write_bytes(damage)
    (tmp_path / FILE).chmod(0o600)
    kept(tmp_path).update("s", filled("s").read("s"))
    assert kept(tmp_path).query("SELECT count(*) AS n FROM compactions") == [{"n": 1}]


def test_a_file_of_another_version_is_made_anew(tmp_path: Path) -> None:
    """Whatever an older or a later foldline put there."""
    kept(tmp_path).update("s", filled("s").read("s"))
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    kept(tmp_path).update("s", filled("s").read("s"))
    assert kept(tmp_path).query("SELECT count(*) AS n FROM compactions") == [{"n": 1}]


def test_the_file_is_the_users_alone_and_no_link_is_followed(tmp_path: Path) -> None:
    """S17, S8."""
    before = os.umask(0)
    try:
        kept(tmp_path / "home").update("s", filled("s").read("s"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "home" / FILE).stat().st_mode) == 0o600
    (tmp_path / "home" / FILE).rename(tmp_path / "elsewhere")
    (tmp_path / "home" / FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidOption, match="symbolic link"):
        kept(tmp_path / "home").update("s", filled("s").read("s"))


def test_damage_in_a_log_is_said_and_what_stands_before_it_counts(tmp_path: Path) -> None:
    """A number from half a log says so."""
    store = filled("s")
    store._logs["s"].data[-10] ^= 1
    assert "damaged at byte" in kept(tmp_path).update("s", store.read("s"))
    assert kept(tmp_path).query("SELECT count(*) AS n FROM events") == [{"n": 3}]


def test_entries_of_a_later_version_are_passed_over(tmp_path: Path) -> None:
    """Unknown shapes are no reason to stop counting."""
    store = filled("s")
    journal = store.write("s")
    journal.append(
        [
            entry("compaction", report={"passes": [{}], "retention": {"paths": 1}}),
            entry("usage", message="x"),
            entry("usage", message=1, usage={"tokens_input": 7}),
            entry("model", model="n"),
            entry("message", format="later", usage=USAGE, meta={"model": "given"}),
        ]
    )
    kept(tmp_path).update("s", store.read("s"))
    rows = kept(tmp_path).query("SELECT message, model, tokens_input FROM usage ORDER BY message")
    assert rows == [
        {"message": 1, "model": "m", "tokens_input": 7},
        {"message": 3, "model": "given", "tokens_input": 100},
    ]
