"""A fork and what it goes on from, as one log."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

import pytest

from foldline.core.entry import Draft
from foldline.core.errors import InvalidOption, SessionCorrupt
from foldline.core.ports import Pages, Store
from foldline.log.lineage import WrittenLineage, cut_of, lineage_of, read_lineage
from foldline.log.lineage import written as continued
from foldline.log.values import dumps
from foldline.session.forking import create_fork
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryPages, MemoryStore
from foldline.testing.builders import user
from foldline.wire import strict
from tests.log.drafts import draft, said


def fork(store: MemoryStore, parent: str, name: str, *, seq: int) -> WrittenLineage:
    pages = read_lineage(store, parent)
    entry = next(entry for entry in pages.entries() if entry.seq == seq)
    about = {"id": name, "parent": {"name": parent, "seq": seq, "byte": entry.offset + entry.size}}
    return continued(store, store.create(name, format="neutral", about=dumps(about)))


def parented() -> tuple[MemoryStore, WrittenLineage]:
    store = MemoryStore()
    own = store.create("p", format="neutral", about=b"{}")
    own.append([said(user(f"p{n}")) for n in range(4)] + [draft("handoff")])
    return store, fork(store, "p", "f", seq=2)


def seqs(pages: Pages) -> list[int]:
    return [entry.seq for entry in pages.entries()]


def test_numbers_and_bytes_go_on_from_the_parents_last_entry() -> None:
    """JRN-9: by reference; whoever reads it reads one log, forwards, backwards and by byte."""
    _, log = parented()
    mine = log.append([said(user("f0")), said(user("f1"))])
    assert [entry.seq for entry in mine] == [3, 4]
    entries = list(log.entries())
    assert [entry.seq for entry in entries] == [0, 1, 2, 3, 4]
    assert [entry.offset for entry in entries] == sorted({entry.offset for entry in entries})
    assert list(log.back()) == entries[::-1]
    for number, entry in enumerate(entries):
        assert log.entry(entry.offset) == entry
        assert list(log.entries(entry.offset)) == entries[number:]
    assert (log.format, log.torn, log.cut is not None) == ("neutral", "", True)
    log.sync()
    log.close()


def test_a_parent_that_goes_on_does_not_show_in_its_fork_and_a_fork_of_a_fork_works_alike() -> None:
    """JRN-9: forks are independent."""
    store, log = parented()
    log.append([said(user("f0"))])
    log.close()
    store._logs["p"].writer = None
    parent = store.write("p")
    parent.append([said(user("later"))])
    parent.close()
    assert seqs(read_lineage(store, "f")) == [0, 1, 2, 3]
    deep = fork(store, "f", "g", seq=3)
    deep.append([said(user("g0"))])
    assert seqs(deep) == [0, 1, 2, 3, 4]


def test_hand_off_records_are_not_handed_on() -> None:
    """JRN-9 and HND-3: stripped from forks; the entries keep their numbers."""
    store, _ = parented()
    later = fork(store, "p", "h", seq=4)
    assert [entry.kind for entry in later.entries()][4:] == ["hidden"]
    assert next(later.back()).kind == "hidden"
    assert later.entry(next(later.back()).offset).kind == "hidden"


def test_a_first_line_that_names_no_readable_parent_is_refused() -> None:
    """JRN-9: a parent that is gone, that is damage, or itself."""
    store = MemoryStore()
    for number, parent in enumerate([{"name": "gone", "seq": 0, "byte": 9}, {"name": "x"}, 3]):
        journal = store.create(f"s{number}", format="neutral", about=dumps({"parent": parent}))
        with pytest.raises(SessionCorrupt):
            lineage_of(store, journal)
    own = store.create("o", format="neutral", about=dumps({"parent": {"name": "o", "seq": 0, "byte": 0}}))
    with pytest.raises(SessionCorrupt, match="1000"):
        lineage_of(store, own)
    assert cut_of(store.create("t", format="neutral", about=b"{}")) is None


class Watched(MemoryStore):
    """A store that notes which logs are open to be read."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.most = 0

    def read(self, name: str) -> MemoryPages:
        store, pages = self, super().read(name)
        store.open.append(name)
        store.most = max(store.most, len(store.open))

        class Noted(MemoryPages):
            closed = False

            def close(self) -> None:
                if not self.closed:
                    store.open.remove(name)
                self.closed = True

        pages.__class__ = Noted
        return pages


@pytest.mark.parametrize(
    "parent",
    [
        None,
        {"name": "p", "seq": 0, "byte": 9},
        {"name": "gone", "seq": 0, "byte": 9},
        {"name": "s", "seq": 0, "byte": 9},
        {"name": 3},
    ],
    ids=["none", "moved", "gone", "itself", "odd"],
)
def test_a_log_that_is_closed_or_refused_holds_nothing_open(parent: object) -> None:
    """JRN-19: a walk over two hundred sessions has two hundred files open otherwise."""
    store = Watched()
    store.create("p", format="neutral", about=b"{}")
    store.create("s", format="neutral", about=dumps({"parent": parent} if parent else {}))
    with contextlib.suppress(SessionCorrupt):
        log = read_lineage(store, "s")
        assert store.open == ["s"]
        log.close()
    assert store.open == []


def chained(store: Store, deep: int) -> str:
    """Forks of forks, each of its parent's last entry, which says who it is; the name of the last."""
    about: dict[str, object] = {}
    byte = 0
    for number in range(deep + 1):
        own = store.create(f"s{number}", format="neutral", about=dumps(about))
        [entry] = own.append([said(user(f"of s{number}"))])
        own.close()
        start, byte = byte + entry.offset, byte + entry.offset + entry.size
        cut = {"name": f"s{number}", "seq": number, "byte": byte, "start": start, "time_ms": entry.time_ms}
        about = {"parent": cut}
    return f"s{deep}"


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_three_hundred_forks_of_forks_are_read_with_few_files_open(kind: str, tmp_path: Path) -> None:
    """JRN-9, JRN-19: a process has so many files and no more; one a level would be 300."""
    store: Store = Watched() if kind == "memory" else DiskStore(tmp_path)
    name = chained(store, 300)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 32, hard))
    try:
        log = read_lineage(store, name)
        said_there = [strict.loads(entry.body)["parts"][0]["text"] for entry in log.entries()]
        assert said_there == [f"of s{number}" for number in range(301)]
        assert [entry.seq for entry in log.back()] == list(range(300, -1, -1))
        assert [log.entry(entry.offset).seq for entry in list(log.entries())[::97]] == [0, 97, 194, 291]
        if isinstance(store, Watched):
            assert store.most <= 10
        log.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not isinstance(store, Watched) or store.open == []


def test_a_fork_is_refused_where_it_could_not_be_opened() -> None:
    """JRN-9: the bound is told by whoever forks, before there is a log of that name."""
    store = MemoryStore()
    name = chained(store, 1_000)
    assert read_lineage(store, name).depth == 1_000
    with pytest.raises(InvalidOption, match="as far as they go"):
        create_fork(store, name, name="deeper")
    assert "deeper" not in store.names()


def end_of(store: MemoryStore, name: str, messages: int) -> int:
    """The byte at which the first so many entries end."""
    entry = list(store.read(name).entries())[messages - 1]
    return entry.offset + entry.size


def logged(store: MemoryStore, name: str, *said_there: str, parent: dict[str, object] | None = None) -> None:
    journal = store.create(name, format="neutral", about=dumps({"parent": parent} if parent else {}))
    journal.append([said(user(text)) for text in said_there])
    journal.close()


def test_its_logs_are_named_each_as_far_as_it_belongs_to_the_fork() -> None:
    """JRN-9: bytes are counted through all logs before, and messages too."""
    store = MemoryStore()
    logged(store, "a", "a0", "a1", "a2")
    cut = end_of(store, "a", 2)
    logged(store, "b", "b0", "b1", parent={"name": "a", "seq": 1, "byte": cut})
    later = cut + end_of(store, "b", 1)
    logged(store, "c", "c0", parent={"name": "b", "seq": 2, "byte": later})
    log = read_lineage(store, "c")
    assert [(one.name, one.byte) for one in log.logs("c")] == [
        ("a", cut), ("b", end_of(store, "b", 1)), ("c", None),
    ]  # fmt: skip
    assert log.first_ordinal() == 3
    assert [one.name for one in read_lineage(store, "a").logs("a")] == ["a"]
    assert read_lineage(store, "a").first_ordinal() == 0


def test_a_fork_of_a_fork_may_leave_it_before_its_own_beginning() -> None:
    """JRN-9: then nothing of the parent's own log belongs to it, and less of the grandparent's."""
    store = MemoryStore()
    logged(store, "a", "a0", "a1", "a2")
    cut, earlier = end_of(store, "a", 3), end_of(store, "a", 1)
    logged(store, "b", "b0", parent={"name": "a", "seq": 2, "byte": cut})
    logged(store, "c", "c0", parent={"name": "b", "seq": 0, "byte": earlier})
    log = read_lineage(store, "c")
    assert [(one.name, one.byte) for one in log.logs("c")] == [("a", earlier), ("b", 0), ("c", None)]
    assert log.first_ordinal() == 1


def test_a_parent_may_be_taken_as_it_is() -> None:
    """JRN-9: what is to be forgotten is forgotten in a fork too that can no longer be opened."""
    store = MemoryStore()
    logged(store, "a", "a0")
    logged(store, "b", "b0", parent={"name": "a", "seq": 3, "byte": 9_000, "start": 8_000})
    with pytest.raises(SessionCorrupt, match="no longer holds"):
        read_lineage(store, "b")
    assert [entry.kind for entry in read_lineage(store, "b", as_it_is=True).own.entries()] == ["message"]


def shortened(store: MemoryStore, *, entries: int, then: list[Draft]) -> None:
    """The parent as an older copy of it, gone on with."""
    old = list(store.read("p").entries())[:entries]
    store._logs["p"].writer = None
    store.remove("p")
    own = store.create("p", format="neutral", about=b"{}")
    own.append([Draft(kind=entry.kind, body=entry.body) for entry in old] + then)
    own.close()


@pytest.mark.parametrize("lost", [3, 2, 1])
@pytest.mark.parametrize("words", ["", "other", "a longer one than before"])
def test_a_fork_refuses_a_parent_that_lost_the_end_it_goes_on_from(lost: int, words: str) -> None:
    """JRN-9, JRN-4: what a parent says after an older copy was put back is no fork's, wherever its bytes end."""
    store, log = parented()
    log.close()
    later = [said(user(words))] * 5 if words else []
    shortened(store, entries=3 - lost, then=later)
    with pytest.raises(SessionCorrupt, match="'p' after its entry 2, which that session no longer holds"):
        read_lineage(store, "f")


def test_an_entry_of_the_same_number_and_size_is_told_by_its_time() -> None:
    """JRN-9: number and byte alone would take the new entry for the old one."""
    times = iter(range(1_000, 2_000))
    store = MemoryStore(lambda: next(times))
    own = store.create("p", format="neutral", about=b"{}")
    for number in range(3):
        own.append([said(user(f"p{number}"))])
    create_fork(store, "p", name="f").close()
    create_fork(store, "f", name="g").close()
    own.append([said(user("later"))])
    assert seqs(read_lineage(store, "g"))[:3] == [0, 1, 2]
    shortened(store, entries=2, then=[said(user("x2"))])
    for name in ("f", "g"):
        with pytest.raises(SessionCorrupt, match="older copy"):
            read_lineage(store, name)
