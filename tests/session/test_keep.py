"""The one writer of a log: durability, small checkpoints, what a secret leaves behind, memory that does not grow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from foldline.core.entry import Draft
from foldline.core.errors import CheckpointFailed, InvalidOption, SessionCorrupt
from foldline.core.message import Text
from foldline.log import checkpoint
from foldline.log.checkpoint import checkpoint_body
from foldline.log.lineage import WrittenLineage
from foldline.session import keep
from foldline.session.keep import Keeper, message_draft
from foldline.session.opening import EVERY_MAX
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryJournal, MemoryStore
from foldline.testing.builders import user
from foldline.testing.disk import Call, SimulatedDisk, nothing_fails
from foldline.verify import archive
from tests.session.making import answer, opened, reopened, worked


class Counting(MemoryJournal):
    """A journal that says which appends were synced."""

    synced: list[bool]

    def append(self, drafts: Sequence[Draft], *, sync: bool = True) -> Any:
        self.synced.append(sync)
        return super().append(drafts, sync=sync)


@pytest.mark.parametrize(
    ("durability", "synced"),
    [
        ("event", [True, True, True, True, True]),
        ("turn", [False, False, False, False, True]),
        ("checkpoint", [False, False, False, False, False]),
    ],
)
def test_what_is_said_is_on_disk_when_the_setting_says_so(durability: Any, synced: list[bool]) -> None:
    """JRN-5: after each, once a turn, or at checkpoints alone; a compaction's three appends always."""
    session = opened(durability=durability)
    journal: Any = session._keeper.log.own
    journal.__class__, journal.synced = Counting, []
    session.user("a")
    session.record(answer("I look", ("c", "read")))
    session.tool_result("c", "x" * 4_000)
    session.prepare(system="s")
    session.record(answer("done"))
    assert journal.synced == synced
    journal.synced.clear()
    session.compact(to=0.5)
    assert journal.synced == [True, True, True]


def test_a_checkpoint_stands_behind_every_hundred_entries() -> None:
    """JRN-13: the first is full, later ones name the last full one; JRN-12: it says tokens and what is pending."""
    session = opened()
    session.node("research", input="x")
    for number in range(300):
        session.user(f"m{number}")
    found = [entry for entry in session._keeper.log.entries() if entry.kind == "checkpoint"]
    assert len(found) == 3
    assert [b'"full":true' in entry.body for entry in found] == [True, False, False]
    assert b'"pending":["research"]' in found[0].body
    assert [after.seq - before.seq - 1 for before, after in pairwise(found)] == [100, 100]


def test_how_often_a_checkpoint_is_written_is_a_setting() -> None:
    """JRN-13: every N events; a fork keeps its parent's, and what is no number of entries is refused."""
    store = MemoryStore()
    session = opened(store, checkpoint_every=7)
    for number in range(40):
        session.user(f"m{number}")
    with session.fork("f") as fork:
        for number in range(40):
            fork.user(f"f{number}")
        for log in (session._keeper.log, fork._keeper.log):
            at = [entry.seq for entry in log.entries() if entry.kind == "checkpoint"]
            assert len(at) >= 5
            assert all(after - before <= 8 for before, after in pairwise(at))
    for wrong in (0, -1, 1.5, True, "10", EVERY_MAX + 1):
        with pytest.raises(InvalidOption, match="from 1 to"):
            opened(store, "other", checkpoint_every=wrong)


def test_a_secret_is_not_in_the_log_and_stays_in_the_live_view() -> None:
    """S14: addresses are made over what the log holds, so that they open on it; reopened, the mark stands."""

    def redact(body: bytes) -> bytes:
        return body.replace(b"hunter2", "⟦secret:ab12⟧".encode())

    store = MemoryStore()
    session = opened(store, redact=redact)
    session.user("the password is hunter2")
    session.record(answer("I read", ("c", "read")))
    session.tool_result("c", "hunter2 " * 600)
    assert b"hunter2" not in store._logs["s"].data
    assert "hunter2" in str(session.prepare().messages)
    report = session.compact(to=400)
    assert b"hunter2" not in store._logs["s"].data
    assert "password is hunter2" in str(session.prepare().messages), "a user's message stays as it was said"
    shown = session.show(report.covers.addresses[0]).text
    assert shown is not None
    assert "⟦secret:ab12⟧" in shown
    session.undo()
    assert "hunter2" in str(session.prepare().messages)
    session.close()
    assert "hunter2" not in str(opened(store).prepare().messages)


def test_a_view_that_no_checkpoint_holds_fails_before_anything_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """JRN-3: and the session can be gone on with."""
    session = opened()
    session.user("read")
    worked(session, 12)
    seq = session.seq
    monkeypatch.setattr(checkpoint, "BYTES_MAX", 100)
    with pytest.raises(CheckpointFailed, match="100 bytes"):
        session.compact(to=0.5)
    assert session.seq == seq
    session.user("on")
    session.rollback(to=seq)
    assert session.seq == seq + 3, "a rollback with a small checkpoint, since a full one would be too large"


def test_memory_lets_go_of_what_no_view_shows() -> None:
    """D12: places and words are kept for what is shown alone."""
    session = opened()
    session.user("read")
    worked(session, 40)
    session.compact(to=400)
    keeper = session._keeper
    shown = {item.seq for item in session._view().view}
    assert keeper.replay.places.keys() <= shown


def test_a_body_that_cannot_be_taken_in_leaves_memory_as_it_was() -> None:
    """A programmer's error does not become a half state, nor a log that nobody can read."""
    keeper = Keeper("s", WrittenLineage(MemoryStore().create("s", format="neutral", about=b"{}")))
    keeper.say(message_draft(user("a")))
    state = keeper.state
    with pytest.raises(InvalidOption, match="could not be read again"):
        keeper.say(message_draft(user("b")), Draft(kind="message", body=b'{"format":"?"}'))
    assert keeper.state is state
    assert [entry.kind for entry in keeper.log.entries()] == ["message"]
    assert [
        part.text for item in state.root.view for part in item.message.parts if isinstance(part, Text)
    ] == ["a"]


def test_every_ten_checkpoints_what_precedes_them_is_packed_away(tmp_path: Path) -> None:
    """JRN-7: nothing is lost in the move, also across restarts; the session goes on and is the same when reopened."""
    store = DiskStore(tmp_path, clock=lambda: None)
    archive = tmp_path / "sessions/s/archive"
    session = opened(store)
    session.user("read everything")
    made = 0
    while made < 22:
        worked(session, 4, start=made * 10)
        session.compact(to=0.6)
        made += 1
        assert len(list(archive.glob("*"))) == made // 10, made
        if made % 4 == 0:
            session.close()
            session = opened(store)
    before, count = session.prepare().data, len(session.messages)
    with reopened(session, store) as again:
        assert again.prepare().data == before
        assert len(list(again.messages)) == count
        assert sum(1 for _ in again.compactions) == made


def test_a_log_that_is_damaged_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JRN-7: what is packed away was proved whole; damage is told by hand and costs a running session nothing."""
    store = DiskStore(tmp_path, clock=lambda: None)
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))
    session = opened(store)
    session.user("read everything")
    for made in range(10):
        worked(session, 4, start=made * 10)
        if made == 9:
            log = tmp_path / "sessions/s/log.jsonl"
            log.write_bytes(log.read_bytes().replace(b"read everything", b"red  everything", 1))
        session.compact(to=0.6)
    session.close()
    for dry_run in (True, False):
        with pytest.raises(SessionCorrupt, match="'s' is damaged at byte"):
            archive("s", dry_run=dry_run)
    assert not (tmp_path / "sessions/s/archive").exists()


def test_a_disk_that_refuses_to_pack_away_costs_the_session_nothing() -> None:
    """D9: the log stands as it was, and the next compaction tries again."""
    disk = SimulatedDisk()
    session = opened(DiskStore("/", fs=disk, clock=lambda: None))
    session.user("read everything")

    def full(call: Call) -> None:
        if "archive" in call.path:
            raise OSError(28, "No space left on device")

    disk.fault = full
    for made in range(11):
        worked(session, 4, start=made * 10)
        session.compact(to=0.6)
    assert "sessions/s/archive" not in disk.image.folders
    disk.fault = nothing_fails
    worked(session, 4, start=1_000)
    session.compact(to=0.6)
    assert len(disk.names("sessions/s/archive")) == 1


def test_a_view_that_no_checkpoint_holds_is_not_counted_up_with_every_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """JRN-3, JRN-13: it is tried again once the view is another, and the session goes on all the while."""
    tried: list[int] = []
    write = checkpoint_body

    def counted(state: Any, places: Any, **more: Any) -> bytes:
        tried.append(state.ordinals)
        return write(state, places, **more)

    monkeypatch.setattr(keep, "checkpoint_body", counted)
    monkeypatch.setattr(checkpoint, "MESSAGES_MAX", 8)
    session = opened(checkpoint_every=10)
    for number in range(40):
        session.user(f"m{number} " + "x" * 400)
    assert tried == [10]
    session.compact(to=0.1)
    for number in range(12):
        session.user(f"n{number}")
    kinds = [entry.kind for entry in session._keeper.log.entries()]
    assert kinds.count("checkpoint") == 2, "the compaction's own, and one behind the messages that followed"


def test_a_view_that_is_taken_back_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """JRN-13: what was too large says nothing of what is left."""
    monkeypatch.setattr(checkpoint, "MESSAGES_MAX", 8)
    session = opened(checkpoint_every=10)
    for number in range(20):
        session.user(f"m{number}")
    assert session._keeper.state.full_at is None
    session.rollback(to=2)
    assert session._keeper.state.full_at is not None
