"""A fork and what it goes on from, as one log."""

from __future__ import annotations

import pytest

from foldline.core.entry import Draft
from foldline.core.errors import SessionCorrupt
from foldline.core.ports import Pages
from foldline.log.lineage import DEPTH_MAX, Lineage, cut_of, forks_of, lineage_of, read_lineage
from foldline.log.values import dumps
from foldline.session.forking import create_fork
from foldline.stores.memory import MemoryPages, MemoryStore
from foldline.testing.builders import user
from tests.log.drafts import draft, said


def fork(store: MemoryStore, parent: str, name: str, *, seq: int) -> Lineage:
    pages = read_lineage(store, parent)
    entry = next(entry for entry in pages.entries() if entry.seq == seq)
    about = {"id": name, "parent": {"name": parent, "seq": seq, "byte": entry.offset + entry.size}}
    return lineage_of(store, store.create(name, format="neutral", about=dumps(about)))


def parented() -> tuple[MemoryStore, Lineage]:
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
    assert forks_of(store, "p") == ("f",)
    assert forks_of(store, "f") == ("g",)


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
    with pytest.raises(SessionCorrupt, match=str(DEPTH_MAX)):
        lineage_of(store, own)
    assert cut_of(store.create("t", format="neutral", about=b"{}")) is None


def test_a_log_that_is_only_read_is_not_written() -> None:
    """A programmer's error says what it is."""

    class Read(MemoryPages):
        """Pages alone."""

    store, _ = parented()
    with pytest.raises(TypeError, match="opened to be read"):
        Lineage(Read(store._logs["p"])).append([Draft(kind="x", body=b"{}")])


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
