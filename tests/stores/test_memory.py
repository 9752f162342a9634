"""The store in memory keeps the port's promises."""

from __future__ import annotations

import pytest

from foldline.core.entry import Draft
from foldline.core.errors import SessionBusy, SessionCorrupt, SessionExists, SessionFailed, UnknownSession
from foldline.stores.memory import MemoryStore

ONE = Draft(kind="message", body=b'{"n":1}')
TWO = Draft(kind="usage", body=b'{"n":2}')


def test_what_was_appended_is_read_in_both_directions_and_by_offset() -> None:
    """Law LOG."""
    store = MemoryStore(clock=iter(range(100, 200)).__next__)
    journal = store.create("s", format="anthropic", about=b'{"id":"s"}')
    first, second = journal.append([ONE, TWO])
    [third] = journal.append([ONE], sync=False)
    journal.sync()
    pages = store.read("s")
    assert (pages.format, pages.about, pages.torn) == ("anthropic", b'{"id":"s"}', "")
    assert list(pages.entries()) == [first, second, third]
    assert list(pages.entries(second.offset)) == [second, third]
    assert list(pages.back()) == [third, second, first]
    assert pages.entry(second.offset) == second
    assert [entry.time_ms for entry in pages.entries()] == [100, 100, 101]
    with pytest.raises(SessionCorrupt, match="ends before"):
        pages.entry(third.offset + third.size)
    with pytest.raises(SessionCorrupt, match="no entry"):
        pages.entry(second.offset + 1)


def test_a_reader_sees_the_log_as_it_was_when_it_was_opened() -> None:
    store = MemoryStore()
    journal = store.create("s", format="anthropic", about=b"{}")
    journal.append([ONE])
    pages = store.read("s")
    journal.append([TWO])
    assert [entry.kind for entry in pages.entries()] == ["message"]
    assert [entry.kind for entry in journal.entries()] == ["message", "usage"]


def test_one_writes_at_a_time_and_a_closed_journal_takes_nothing_more() -> None:
    store = MemoryStore()
    journal = store.create("s", format="anthropic", about=b"{}")
    for refused in (
        lambda: store.write("s"),
        lambda: store.remove("s"),
        lambda: store.rewrite("s", lambda _: None),
    ):
        with pytest.raises(SessionBusy, match="another part of this program"):
            refused()
    journal.close()
    journal.close()
    with pytest.raises(SessionFailed, match="closed"):
        journal.append([ONE])
    store.write("s").append([ONE])


def test_names_are_unique_and_a_near_one_is_named() -> None:
    store = MemoryStore()
    store.create("fix-login", format="anthropic", about=b"{}").close()
    with pytest.raises(SessionExists, match="fix-login"):
        store.create("fix-login", format="anthropic", about=b"{}")
    with pytest.raises(UnknownSession, match="did you mean 'fix-login'"):
        store.read("fix-logon")
    with pytest.raises(UnknownSession, match="foldline sessions"):
        store.read("zebra")
    assert store.names() == ("fix-login",)
    store.remove("fix-login")
    assert store.names() == ()


def test_a_rewrite_changes_bodies_of_the_same_length_and_nothing_else() -> None:
    store = MemoryStore()
    journal = store.create("s", format="anthropic", about=b"{}")
    journal.append([ONE, TWO])
    journal.close()
    assert store.rewrite("s", lambda entry: b'{"n":0}' if entry.kind == "usage" else None) == 1
    assert [entry.body for entry in store.read("s").entries()] == [ONE.body, b'{"n":0}']
    with pytest.raises(ValueError, match="the length of the old one"):
        store.rewrite("s", lambda _: b"{}")
