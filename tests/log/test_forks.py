"""Which sessions go on from which, by their first lines alone."""

from __future__ import annotations

from foldline.log.forks import forks_in
from foldline.log.values import dumps
from foldline.stores.memory import MemoryStore


def stored(**parents: str) -> MemoryStore:
    """A store of sessions, each with what it goes on from."""
    store = MemoryStore()
    for name, parent in parents.items():
        about = {"parent": {"name": parent, "seq": 0, "byte": 9}} if parent else {}
        store.create(name, format="neutral", about=dumps(about)).close()
    return store


def test_a_fork_is_below_what_it_goes_on_from_and_all_that_is_above() -> None:
    """JRN-9: a removal would break all of them."""
    forks = forks_in(stored(c="b", b="a", a="", d="a", e=""))
    assert forks.above("c") == ("b", "a")
    assert forks.below("a") == {"b", "c", "d"}
    assert (forks.above("e"), forks.below("e")) == ((), frozenset())
    assert forks.ordered(["c", "d", "b", "a"]) == ["a", "b", "d", "c"]
    assert forks.related("c") == {"a", "b", "c", "d"}
    assert forks.related("e") == {"e"}


def test_a_parent_that_is_gone_and_one_that_is_itself_end_the_line() -> None:
    """Style rule 11: every loop has a bound."""
    forks = forks_in(stored(a="gone", b="b", c="d", d="c"))
    assert forks.above("a") == ("gone",)
    assert forks.related("a") == {"a"}
    assert forks.above("b") == ()
    assert set(forks.above("c")) <= {"c", "d"}
    assert forks.related("c") == {"c", "d"}


def test_a_first_line_that_names_no_parent_that_can_be_read_is_of_none() -> None:
    """JRN-4: one damaged session is no reason to know nothing of the others."""
    store = stored(a="", b="a")
    store.create("odd", format="neutral", about=dumps({"parent": 3})).close()
    assert forks_in(store).parents == {"a": "", "b": "a", "odd": ""}
