"""What every store must keep: the contract of `foldline.core.ports.Store`, for a stranger's store too.

def test_my_store() -> None:
    check_store(MyStore)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from foldline.core.entry import Draft
from foldline.core.errors import InvalidOption, SessionBusy, SessionExists, SessionFailed, UnknownSession
from foldline.core.ports import Store
from foldline.stores.disk import DiskStore
from foldline.stores.memory import MemoryStore

ONE = Draft(kind="message", body=b'{"n":1}')
TWO = Draft(kind="usage", body=b'{"n":2}')


def memory_store() -> Store:
    """A store that needs no disk."""
    return MemoryStore()


def disk_store(home: str) -> Store:
    """A store on disk whose entries have no times."""
    return DiskStore(home, clock=lambda: None)


def check_store(make: Callable[[], Store]) -> None:
    """Raise `AssertionError` where a store breaks the contract. `make` gives a new, empty one each time."""
    for check in (_reads_what_was_written, _has_one_writer, _knows_names, _rewrites_in_place):
        check(make())


def _reads_what_was_written(store: Store) -> None:
    journal = store.create("s", format="anthropic", about=b'{"id":"s"}')
    first, second = journal.append([ONE, TWO])
    before = store.read("s")
    [third] = journal.append([ONE], sync=False)
    journal.sync()
    pages = store.read("s")
    assert (pages.format, pages.about, pages.torn) == ("anthropic", b'{"id":"s"}', "")
    assert list(before.entries()) == [first, second], "a reader sees the log as it was when it was opened"
    before.close()
    before.close()
    assert list(pages.entries()) == list(journal.entries()) == [first, second, third]
    assert list(pages.entries(second.offset)) == [second, third]
    assert list(pages.back()) == [third, second, first]
    assert pages.entry(second.offset) == second
    assert [entry.seq for entry in pages.entries()] == [0, 1, 2]
    assert journal.packed == 0
    assert journal.archive() == ""
    assert 0 <= journal.packed <= third.offset + third.size
    assert list(journal.back()) == list(pages.back()), "an archive changes no offset and nothing that is read"
    assert store.read("s").entry(second.offset) == second
    journal.close()
    again = store.write("s")
    [fourth] = again.append([TWO])
    assert list(again.entries()) == [first, second, third, fourth]
    again.close()


def _has_one_writer(store: Store) -> None:
    journal = store.create("s", format="anthropic", about=b"{}")
    _raises(SessionBusy, lambda: store.write("s"))
    _raises(SessionBusy, lambda: store.remove("s"))
    _raises(SessionBusy, lambda: store.rewrite("s", lambda _: None))
    journal.close()
    journal.close()
    _raises(SessionFailed, lambda: journal.append([ONE]))


def _knows_names(store: Store) -> None:
    assert store.names() == ()
    for name in ("fix-login", "b"):
        store.create(name, format="anthropic", about=b"{}").close()
    _raises(SessionExists, lambda: store.create("b", format="anthropic", about=b"{}"))
    _raises(UnknownSession, lambda: store.read("fix-logon"))
    _raises(UnknownSession, lambda: store.write("fix-logon"))
    for name in ("", "..", ".b", "a/b", "a b", "é", "x" * 129):
        _raises(InvalidOption, partial(store.create, name, format="anthropic", about=b"{}"))
        for call in (store.read, store.write, store.remove):
            _raises(InvalidOption, partial(call, name))
    assert store.names() == ("b", "fix-login")
    store.remove("b")
    assert store.names() == ("fix-login",)


def _rewrites_in_place(store: Store) -> None:
    journal = store.create("s", format="anthropic", about=b"{}")
    before = [*journal.append([TWO])]
    assert journal.archive() == ""
    before += [*journal.append([ONE, TWO])]
    journal.close()
    assert store.rewrite("s", lambda entry: b'{"n":0}' if entry.kind == "usage" else None) == 2
    after = list(store.read("s").entries())
    assert [entry.body for entry in after] == [b'{"n":0}', ONE.body, b'{"n":0}']
    assert [entry.offset for entry in after] == [entry.offset for entry in before]
    _raises(ValueError, lambda: store.rewrite("s", lambda _: b"{}"))
    assert list(store.read("s").entries()) == after
    assert store.rewrite("s", lambda _: None, more=[ONE]) == 0
    assert [entry.seq for entry in store.read("s").entries()] == [0, 1, 2, 3]
    assert next(store.read("s").back()).body == ONE.body


def _raises(error: type[Exception], call: Callable[[], Any]) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError(f"{error.__name__} was expected")
