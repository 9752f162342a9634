"""The whole history, read lazily."""

from __future__ import annotations

import pytest

from foldline.core.entry import Draft, Entry
from foldline.core.errors import SessionCorrupt
from foldline.session.history import Chronicle, Messages
from foldline.stores.memory import MemoryPages, MemoryStore
from tests.session.making import answer, opened, worked


class Counted(MemoryPages):
    """Pages that count what is read of them."""

    read = 0

    def entry(self, offset: int) -> Entry:
        Counted.read += 1
        return super().entry(offset)


def test_messages_are_those_on_the_way_to_here_in_order() -> None:
    """JRN-19: compacted or not; what was rolled back and what a node said are not among them."""
    store = MemoryStore()
    session = opened(store)
    session.user("a")
    session.record(answer("b"))
    session.rollback(to=0)
    with session.node("n", input="inside", expose="hidden") as node:
        node.record(answer("within"))
    session.user("c")
    messages = session.messages
    assert [message["content"] for message in messages] == ["a", "c"]
    assert (messages[-1]["content"], messages[0]["content"], len(messages)) == ("c", "a", 2)
    assert [message["content"] for message in messages[0:2]] == ["a", "c"]
    for wrong in (2, -3):
        with pytest.raises(IndexError):
            messages[wrong]


def test_the_newest_page_costs_what_it_shows() -> None:
    """UIX-7: never loaded whole."""
    store = MemoryStore()
    session = opened(store)
    session.user("a")
    worked(session, 150)
    session.close()
    pages = Counted(store._logs["s"])
    Counted.read = 0
    Chronicle(pages, kinds=frozenset(("message",))).page(limit=5)
    assert Counted.read < 25
    Counted.read = 0
    assert Messages(pages)[-1]["role"] == "user"
    assert Counted.read < 10


def test_a_page_before_an_entry_ends_there() -> None:
    """UIX-7: on scrolling up."""
    session = opened()
    for number in range(200):
        session.user(f"{number}")
    chronicle = Chronicle(session._keeper.log, kinds=frozenset(("message",)))
    page = chronicle.page(before=100, limit=10)
    assert [entry.seq for entry in page.entries] == list(range(90, 100))
    assert page.before == 90
    assert chronicle.page(before=3, limit=10).before is None
    assert chronicle.page(before=0, limit=10).entries == ()


def test_messages_say_how_many_they_are() -> None:
    """What is printed at a prompt is a sentence, and reads none of them."""
    session = opened()
    for number in range(3):
        session.user(f"{number}")
    assert repr(session.messages) == "<3 messages; list() reads them>"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("message", b'{"wire":"one\\"}'),
        ("message", b'{"format":"neutral"}'),
        ("compaction", b'{"edits":"\\"}'),
    ],
)
def test_an_entry_that_says_nothing_is_damage_with_its_place(kind: str, body: bytes) -> None:
    """Not a fault of the reader's."""
    store = MemoryStore()
    journal = store.create("s", format="anthropic", about=b"{}")
    [entry] = journal.append([Draft(kind=kind, body=body)])
    chronicle = Chronicle(store.read("s"), kinds=frozenset({kind}))
    with pytest.raises(SessionCorrupt) as damage:
        chronicle.page()
    assert damage.value.offset == entry.offset
    assert f"{kind} entry 0 cannot be read" in str(damage.value)
