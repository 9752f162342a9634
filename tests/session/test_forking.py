"""Forks: by reference, independent, and what a removal would break."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from foldline.core.entry import Entry
from foldline.core.errors import InvalidOption, SessionExists, UnknownSession
from foldline.session.forking import create_fork
from foldline.stores.memory import MemoryPages, MemoryStore
from foldline.wire.strict import loads
from tests.session.making import answer, opened, worked


def test_a_fork_copies_nothing_and_goes_its_own_way() -> None:
    """JRN-9: across compactions; undo and rollback reach back into the parent's part."""
    store = MemoryStore()
    session = opened(store)
    session.user("read everything")
    worked(session, 20)
    before = session.prepare().data
    session.compact(to=0.4)
    after = session.prepare().data
    fork = session.fork("other")
    assert len(store._logs["other"].data) < len(store._logs["s"].data) / 3
    session.user("in the parent")
    assert fork.prepare().data == after
    fork.undo()
    assert fork.prepare().data == before
    fork.user("in the fork")
    assert "in the parent" not in fork.prepare().data.decode()
    fork.rollback(to=3)
    assert len(fork.prepare().messages) == 4
    assert "in the fork" not in session.prepare().data.decode()
    fork.close()
    again = opened(store, "other")
    assert len(again.prepare().messages) == len(again.messages) == 4


class Read(MemoryPages):
    """A log whose entries are counted as they are read, one way or the other."""

    entries_read = 0

    def entries(self, offset: int = 0) -> Iterator[Entry]:
        for entry in super().entries(offset):
            Read.entries_read += 1
            yield entry

    def back(self) -> Iterator[Entry]:
        for entry in super().back():
            Read.entries_read += 1
            yield entry


def test_making_a_fork_reads_no_more_of_a_longer_life(monkeypatch: pytest.MonkeyPatch) -> None:
    """JRN-1, JRN-6, JRN-9: from the last checkpoint, as an opening does, whatever was said before it."""
    read = []
    for compactions in (1, 4):
        store = MemoryStore()
        session = opened(store)
        for _ in range(compactions):
            session.user("read everything")
            worked(session, 40)
            session.user("and on")
            session.compact(to=900)
        monkeypatch.setattr(store, "read", lambda name, store=store: Read(store._logs[name]))
        Read.entries_read = 0
        create_fork(store, "s", name="f").close()
        read.append(Read.entries_read)
        assert Read.entries_read < session.seq / (2 * compactions)
    assert read[1] <= 2 * read[0]


def test_a_fork_of_an_earlier_entry_is_the_session_of_then() -> None:
    """JRN-9 and JRN-16: of a session that another holds, too, since its log is only read."""
    store = MemoryStore()
    session = opened(store)
    session.user("one")
    session.record(answer("two"))
    then = session.prepare().data
    seq = session.seq
    session.user("three")
    create_fork(store, "s", name="f", at=seq).close()
    assert opened(store, "f").prepare().data == then
    for wrong in (999, -1):
        with pytest.raises(InvalidOption):
            create_fork(store, "s", name="g", at=wrong)
    with pytest.raises(SessionExists):
        create_fork(store, "s", name="f")
    with pytest.raises(UnknownSession):
        create_fork(store, "t", name="g")
    opened(store, "empty").close()
    with pytest.raises(InvalidOption, match="says nothing yet"):
        create_fork(store, "empty", name="g")


def test_the_checkpoint_of_a_fork_says_how_large_its_view_is() -> None:
    """JRN-12: for statistics and people; by the session's counter where it forks itself, else by the model's."""
    store = MemoryStore()
    session = opened(store)
    session.user("read everything")
    worked(session, 4)
    inside = session.fork("inside")
    create_fork(store, "s", name="outside").close()
    outside = opened(store, "outside", counter=None)
    for fork in (inside, outside):
        assert _tokens_told(store, fork.name) == [fork.prepare().tokens.tokens]


def test_a_checkpoint_counts_a_view_that_nothing_was_asked_of_yet() -> None:
    """JRN-12: the periodic one of a session that only recorded, and the one behind a rollback after a restart."""
    store = MemoryStore()
    session = opened(store, checkpoint_every=10)
    for number in range(10):
        session.user(f"word{number} " * 100)
        session.record(answer("ok"))
    session.close()
    first, *_ = _tokens_told(store, "s")
    again = opened(store)
    again.rollback(to=4)
    rest = _tokens_told(store, "s")[-1]
    again.close()
    assert first > 5 * 100
    assert 0 < rest < first


def _tokens_told(store: MemoryStore, name: str) -> list[int]:
    with closing(store.read(name)) as pages:
        bodies = [loads(entry.body) for entry in pages.entries() if entry.kind == "checkpoint"]
    return [body["tokens"] for body in bodies if body["full"]]
