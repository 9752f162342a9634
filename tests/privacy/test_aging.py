"""What age takes away: events, in the only places where one stands; never what was said."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import foldline
from foldline.core.entry import Entry
from foldline.core.errors import SessionFailed
from foldline.log.audit import Audit, deleted
from foldline.privacy import hashed
from foldline.privacy.aging import delete_in, delete_old
from foldline.privacy.events import digest_with
from foldline.privacy.hashed import HashedStore
from foldline.privacy.statistics import FILE
from foldline.settings import sessions_home
from foldline.statistics import statistics
from foldline.stores.disk import DiskStore
from foldline.testing.counting import CharacterCounter
from foldline.verify import archive, verify
from tests.cli.running import documents, run
from tests.privacy.test_hashed import bytes_of
from tests.privacy.test_statistics import drafts

DAY_MS = 86_400_000
WEEK_MS = 7 * DAY_MS
NOW = 1_800_000_000_000
HASH = digest_with(b"k" * 32)(b"swordfish").encode()


class Clock:
    """A clock by hand."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


def events_alone(home: Path, clock: Clock, **more: Any) -> HashedStore:
    store = DiskStore(home, clock=clock)
    return HashedStore(store, digest=digest_with(b"k" * 32), counter=CharacterCounter(), clock=clock, **more)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which a session without content has four events on the last millisecond of its days, and four one before."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))
    monkeypatch.setattr("foldline.stores.disk.time.time_ns", lambda: NOW * 1_000_000)
    clock = Clock(NOW - WEEK_MS - 1)
    journal = events_alone(tmp_path, clock).create("s", format="anthropic", about=b"{}")
    journal.append(drafts())
    clock.now_ms += 1
    journal.append(drafts())
    journal.close()
    return tmp_path


def asks_for_events() -> None:
    run("events", "s")


def counts() -> None:
    run("stats")


def packs_away() -> None:
    archive("s")


def begins_another() -> None:
    there = len(DiskStore(sessions_home()).names())
    foldline.open(f"t{there}", format="anthropic", content="hashed").close()


@pytest.mark.parametrize("door", [asks_for_events, counts, packs_away, begins_another])
@pytest.mark.parametrize("is_packed", [False, True])
def test_events_that_stand_in_a_log_are_deleted_after_seven_days(
    door: Any, is_packed: bool, home: Path
) -> None:
    """JRN-7: whoever comes by deletes them, in log and archive, and no byte of them is left; the younger stay, with their numbers,
    and the log is whole."""
    if is_packed:
        with closing(DiskStore(home).write("s")) as journal:
            journal.archive()
    said = [entry.body for entry in DiskStore(home).read("s").entries()]
    assert sum(HASH in body for body in said) == 2
    door()
    kept = [entry.body for entry in DiskStore(home).read("s").entries()]
    assert kept[4:] == said[4:]
    assert all(body.startswith(b'{"deleted":"___') for body in kept[:4])
    assert [len(body) for body in kept] == [len(body) for body in said]
    assert verify("s").state == "clean"
    if not is_packed and door is not packs_away:
        assert bytes_of(home).count(HASH) == 1
    [document] = documents(run("events", "s", "--json").stdout)
    assert [event["seq"] for event in document["events"]] == [5, 6, 7, 8]
    assert document["deleted"] == 4
    assert "DELETED" not in run("events", "s", "--lines").stdout
    [document] = documents(run("stats", "--json").stdout)
    assert document["events"] == {"COMPRESSION": 1, "TOOL_CALL": 1, "TOOL_RESULT": 1, "USER_INPUT": 1}
    before = bytes_of(home)
    door()
    assert bytes_of(home).count(b"deleted") == before.count(b"deleted"), "and once is enough"


def test_what_is_deleted_once_is_not_read_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log in which nothing is left to delete costs its end."""
    store = DiskStore(home)
    delete_in(store, "s", before_ms=NOW)
    assert not any(b'"type"' in entry.body for entry in store.read("s").entries())
    monkeypatch.setattr(store, "rewrite", None)
    delete_in(store, "s", before_ms=NOW)
    with closing(store.read("s")) as pages:
        monkeypatch.setattr(pages, "entries", None)
        assert not hashed.has_old(pages, NOW)


def test_a_session_that_goes_on_for_weeks_deletes_its_own(tmp_path: Path) -> None:
    """JRN-7: looked at once an hour, with the log let go of for that moment; what comes after stands behind it."""
    clock, deletions = Clock(NOW), []
    disk = DiskStore(tmp_path, clock=clock)

    def delete(name: str, before_ms: int) -> None:
        deletions.append(before_ms)
        delete_in(disk, name, before_ms=before_ms)

    aging = hashed.Aging(kept_ms=WEEK_MS, delete=delete)
    journal = events_alone(tmp_path, clock, aging=aging).create("s", format="anthropic", about=b"{}")
    for _ in range(10 * 24):
        journal.append(drafts())
        clock.now_ms += 3_600_000
    live = sum(b'"type"' in entry.body for entry in disk.read("s").entries())
    assert 4 * 7 * 24 - 4 <= live <= 4 * (7 * 24 + 1)
    assert len(deletions) == len(set(deletions)) <= 3 * 24
    journal.close()
    assert len(list(disk.read("s").entries())) == 4 * 240


def test_one_that_another_took_meanwhile_takes_nothing_more(tmp_path: Path) -> None:
    """One writer: the session that let go of its log for a moment does not write beside another."""
    clock = Clock(NOW)
    disk, held = DiskStore(tmp_path, clock=clock), []
    aging = hashed.Aging(kept_ms=1, delete=lambda name, _: held.append(disk.write(name)))
    journal = events_alone(tmp_path, clock, aging=aging).create("s", format="anthropic", about=b"{}")
    journal.append(drafts())
    clock.now_ms += DAY_MS
    for _ in range(2):
        with pytest.raises(SessionFailed):
            journal.append(drafts())
    held[0].close()
    assert len(list(disk.read("s").entries())) == 4


def test_one_that_is_open_elsewhere_waits_and_the_others_do_not(home: Path) -> None:
    """Nobody's work is stopped for it."""
    store = DiskStore(home)
    clock = Clock(0)
    other = events_alone(home, clock).create("other", format="anthropic", about=b"{}")
    other.append(drafts())
    delete_old(store, ("gone", "other", "s"), before_ms=NOW)
    assert b'"deleted"' not in b"".join(entry.body for entry in store.read("other").entries())
    assert all(b'"deleted"' in entry.body for entry in store.read("s").entries())
    other.close()
    delete_old(store, ("other",), before_ms=NOW)
    assert all(b'"deleted"' in entry.body for entry in store.read("other").entries())


def rows(home: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(home / FILE)) as file:
        return file.execute("SELECT type, written_ms FROM events ORDER BY seq").fetchall()


def test_rows_of_old_events_become_sums_and_the_numbers_stay(tmp_path: Path) -> None:
    """JRN-7 and JRN-11: on the last millisecond of its days an event has a row, one later it has none; made anew it is the same."""
    clock = Clock(NOW)
    store = DiskStore(tmp_path, clock=clock)
    journal = store.create("s", format="anthropic", about=b'{"model":"m"}')
    journal.append(drafts())
    clock.now_ms += DAY_MS
    journal.append(drafts())
    journal.close()
    told = statistics(store, tmp_path, before_ms=NOW)
    assert len(rows(tmp_path)) == 8
    delete_old(store, store.names(), before_ms=NOW + 1)
    assert rows(tmp_path) == [
        (kind, NOW + DAY_MS) for kind in ("USER_INPUT", "TOOL_CALL", "TOOL_RESULT", "COMPRESSION")
    ]
    assert statistics(store, tmp_path, before_ms=NOW + 1) == told
    assert statistics(store, tmp_path, before_ms=NOW + DAY_MS + 1) == told
    assert rows(tmp_path) == []
    (tmp_path / FILE).unlink()
    assert statistics(store, tmp_path, before_ms=NOW + 1) == told
    assert len(rows(tmp_path)) == 4


def test_a_log_with_its_content_holds_no_event_and_gives_none_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JRN-7: what stands there is what was said, and its export says the same; nothing in it was written for an audit."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))
    with foldline.open("s", format="anthropic") as session:
        session.user("go")
        call = {"type": "tool_use", "id": "c", "name": "run", "input": {}}
        session.record({"role": "assistant", "content": [call], "model": "m", "stop_reason": "tool_use"})
        session.tool_result("c", "done")
        session.prepare()
    exported = run("export", "s").stdout
    [document] = documents(run("events", "s", "--json").stdout)
    hashes = ("content_hash", "params_hash")
    digests = [event[name] for event in document["events"] for name in hashes if name in event]
    assert len(digests) == 2
    for told in (exported, bytes_of(tmp_path).decode("latin-1")):
        assert not any(digest in told for digest in digests)
        assert '"USER_INPUT"' not in told


def test_what_stands_for_a_deleted_event_is_as_long_and_says_nothing() -> None:
    """Offsets are for ever; deleting twice is deleting once."""
    body = b'{"type":"USER_INPUT","content_hash":"' + b"a" * 64 + b'"}'
    gone = deleted(body)
    assert gone is not None
    assert (len(gone), deleted(gone), b"a" * 8 in gone) == (len(body), None, False)
    assert deleted(b"{}") is None
    [event] = Audit(lambda _: "", CharacterCounter()).events(Entry(seq=0, kind="event", body=gone, offset=0))
    assert (event["seq"], event["type"]) == (1, "DELETED")
