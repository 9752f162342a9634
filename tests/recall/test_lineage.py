"""In which logs the messages of a fork stand."""

from __future__ import annotations

import pytest

from foldline.core.errors import SessionCorrupt, UnknownSession
from foldline.recall.lineage import lineage
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import user
from tests.recall.logs import written


def end_of(store: MemoryStore, name: str, messages: int) -> int:
    """The byte at which the first so many entries end."""
    entry = list(store.read(name).entries())[messages - 1]
    return entry.offset + entry.size


def test_a_fork_goes_on_from_its_parents() -> None:
    """Of each log as far as it belongs to the fork; bytes are counted through all logs before."""
    store = MemoryStore()
    written(store, "a", [user("a0"), user("a1"), user("a2")])
    cut = end_of(store, "a", 2)
    written(store, "b", [user("b0"), user("b1")], about={"parent": {"name": "a", "seq": 1, "byte": cut}})
    later = cut + end_of(store, "b", 1)
    written(store, "c", [user("c0")], about={"parent": {"name": "b", "seq": 2, "byte": later}})
    assert [(log.name, log.byte) for log in lineage(store, "c")] == [
        ("a", cut), ("b", end_of(store, "b", 1)), ("c", None),
    ]  # fmt: skip
    assert [log.name for log in lineage(store, "a")] == ["a"]


def test_a_fork_of_a_fork_may_leave_it_before_its_own_beginning() -> None:
    """Then nothing of the parent's own log belongs to it, and less of the grandparent's."""
    store = MemoryStore()
    written(store, "a", [user("a0"), user("a1"), user("a2")])
    cut, earlier = end_of(store, "a", 3), end_of(store, "a", 1)
    written(store, "b", [user("b0")], about={"parent": {"name": "a", "seq": 2, "byte": cut}})
    written(store, "c", [user("c0")], about={"parent": {"name": "b", "seq": 0, "byte": earlier}})
    assert [(log.name, log.byte) for log in lineage(store, "c")] == [("a", earlier), ("b", 0), ("c", None)]


def test_a_parent_that_is_gone_or_is_the_fork_itself_is_refused() -> None:
    """Every loop has a bound."""
    store = MemoryStore()
    written(store, "orphan", [], about={"parent": {"name": "gone", "seq": 0, "byte": 9}})
    written(store, "circle", [], about={"parent": {"name": "circle", "seq": 0, "byte": 9}})
    written(store, "odd", [user("a")], about={"parent": "gone"})
    with pytest.raises(UnknownSession):
        lineage(store, "orphan")
    with pytest.raises(SessionCorrupt, match="of itself"):
        lineage(store, "circle")
    with pytest.raises(SessionCorrupt, match="names no parent"):
        lineage(store, "odd")
