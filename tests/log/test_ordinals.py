"""How many messages a log holds, counted from its end."""

from __future__ import annotations

from foldline.core.entry import Entry
from foldline.log.ordinals import messages_in, ordinals_in
from foldline.stores.memory import MemoryStore
from foldline.testing.builders import user
from tests.recall.logs import draft, entry, written


def test_messages_are_counted_from_the_last_checkpoint_on() -> None:
    """What stands before it is not read; one that says nothing is none."""
    store = MemoryStore()
    said = draft(user("hi"))
    written(store, "s", [said, entry("checkpoint", {"ordinals": 40}), said, entry("usage", {}), said])
    newest_first = list(store.read("s").back())
    assert messages_in(iter(newest_first)) == 42
    assert messages_in(iter(newest_first[-1:])) == 1
    assert messages_in(iter(())) == 0
    told: list[Entry] = [one for one in newest_first if one.kind == "checkpoint"]
    assert [ordinals_in(one) for one in told] == [40]
    assert ordinals_in(newest_first[0]) is None


def test_a_checkpoint_that_says_no_number_is_passed_over() -> None:
    store = MemoryStore()
    written(store, "s", [draft(user("hi")), entry("checkpoint", {"ordinals": "40"}), draft(user("so"))])
    assert messages_in(store.read("s").back()) == 2
