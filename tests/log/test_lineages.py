"""Many sessions of one store, read one after the other."""

from __future__ import annotations

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.errors import SessionCorrupt, UnknownSession
from foldline.core.ports import Store
from foldline.log.lineage import read_lineage
from foldline.log.lineages import Lineages
from foldline.log.values import dumps
from foldline.session.forking import create_fork
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryPages, MemoryStore
from foldline.testing.builders import user
from tests.log.drafts import said


class Watched(MemoryStore):
    """A store that counts which logs are opened to be read."""

    def __init__(self) -> None:
        super().__init__()
        self.read_of: list[str] = []

    def read(self, name: str) -> MemoryPages:
        self.read_of.append(name)
        return super().read(name)


def grown(store: Store, forks: list[tuple[int, float]]) -> list[str]:
    """Sessions s0, s1, …: each but the first goes on from one before it, after a share of that one's entries."""
    own = store.create("s0", format="neutral", about=b"{}")
    own.append([said(user(f"s0 says {number}")) for number in range(6)])
    own.close()
    for number, (parent, share) in enumerate(forks, 1):
        above = f"s{parent % number}"
        with closing(read_lineage(store, above)) as pages:
            seqs = [entry.seq for entry in pages.entries()]
        at = seqs[int(share * (len(seqs) - 1))]
        fork = create_fork(store, above, name=f"s{number}", at=at)
        fork.append([said(user(f"s{number} says {n}")) for n in range(number % 3)])
        fork.close()
    return [f"s{number}" for number in range(len(forks) + 1)]


@given(st.lists(st.tuples(st.integers(0, 20), st.floats(0, 1)), max_size=8))
def test_they_are_what_each_is_when_it_is_read_alone(forks: list[tuple[int, float]]) -> None:
    """JRN-9: entries, the first ordinal, and each message by its ordinal, wherever a fork leaves what it goes on from."""
    store = MemoryStore()
    names = grown(store, forks)
    with closing(Lineages(store)) as lineages:
        for name in reversed(names):
            with closing(read_lineage(store, name)) as alone, lineages.reading(name) as log:
                entries = list(alone.entries())
                assert list(log.entries()) == entries
                assert lineages.first_ordinal(name) == alone.first_ordinal()
                bodies = [entry.body for entry in entries if entry.kind == "message"]
            found = [lineages.message(name, ordinal) for ordinal in range(len(bodies))]
            assert [entry.body for entry in found if entry is not None] == bodies
            assert lineages.message(name, len(bodies)) is None


def test_reading_all_of_a_hundred_forks_of_forks_reads_each_log_a_few_times() -> None:
    """Law LOG: the work grows with the logs, not with their square."""
    store = Watched()
    names = grown(store, [(number, 1.0) for number in range(100)])
    store.read_of.clear()
    with closing(Lineages(store)) as lineages:
        for name in names:
            with lineages.reading(name):
                lineages.first_ordinal(name)
    assert len(store.read_of) < 5 * len(names)


def test_what_is_gone_damaged_or_in_a_circle_is_refused_as_alone() -> None:
    """Each as `read_lineage` does, and the others are read all the same."""
    store = MemoryStore()
    grown(store, [(0, 0.5), (1, 1.0)])
    about = {"parent": {"name": "round", "seq": 0, "byte": 80}}
    store.create("round", format="neutral", about=dumps(about)).close()
    store.remove("s1")
    with closing(Lineages(store)) as lineages:
        with pytest.raises(SessionCorrupt, match="'s1', which is gone"), lineages.reading("s2"):
            pass
        with pytest.raises(SessionCorrupt, match="goes on from itself"), lineages.reading("round"):
            pass
        with pytest.raises(SessionCorrupt, match="goes on from itself"):
            lineages.first_ordinal("round")
        with pytest.raises(UnknownSession), lineages.reading("nobody"):
            pass
        with lineages.reading("s0") as log:
            assert len(list(log.entries())) == 6


def test_a_log_that_was_changed_is_read_as_it_is_by_then(tmp_path: object) -> None:
    """A forget puts other bytes into a parent before it comes to the forks."""
    store = DiskStore(str(tmp_path))
    grown(store, [(0, 1.0)])
    with closing(Lineages(store)) as lineages:
        before = lineages.message("s1", 2)
        store.rewrite("s0", lambda entry: entry.body.replace(b"says 2", b"says X"))
        lineages.changed("s0")
        after = lineages.message("s1", 2)
    assert before is not None
    assert after is not None
    assert (b"says 2" in before.body, b"says X" in after.body) == (True, True)


def test_damage_counts_where_a_fork_goes_on_from_what_is_behind_it(tmp_path: object) -> None:
    """What stands before it is sound."""
    store = DiskStore(str(tmp_path))
    grown(store, [(0, 0.2), (0, 1.0)])
    path = store.home / "sessions/s0/log.jsonl"
    path.write_bytes(path.read_bytes().replace(b"says 3", b"says 9"))
    with closing(Lineages(store)) as lineages:
        assert lineages.first_ordinal("s1") == 2
        with pytest.raises(SessionCorrupt):
            lineages.first_ordinal("s2")
