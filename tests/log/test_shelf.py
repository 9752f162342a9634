"""Logs that are read again and again with few of them open at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from foldline.core.errors import SessionCorrupt, SessionFailed, UnknownSession
from foldline.log.shelf import Shelf
from foldline.log.values import dumps
from foldline.testing.builders import user
from tests.log.drafts import said
from tests.log.test_lineage import Watched


def kept(count: int) -> Watched:
    """Logs of one message each, named by number."""
    store = Watched()
    for number in range(count):
        own = store.create(f"s{number}", format="neutral", about=dumps({"id": number}))
        own.append([said(user(f"said in {number}"))])
        own.close()
    return store


def test_what_was_not_read_for_long_is_closed_and_opened_again_when_it_is() -> None:
    """JRN-19: nothing of that shows to whoever reads."""
    store = kept(24)
    shelf = Shelf(store)
    logs = [shelf.pages(name) for name in store.names()]
    for log in (*logs, *reversed(logs)):
        [entry] = log.entries()
        assert log.entry(entry.offset) == entry
        assert [*log.back()] == [entry]
        assert len(store.open) == 8
    shelf.close()
    assert store.open == []
    with pytest.raises(SessionFailed):
        [*logs[0].entries()]


def test_a_log_stays_open_while_it_is_being_read() -> None:
    """JRN-19: however many others are read meanwhile."""
    store = kept(24)
    shelf = Shelf(store)
    first = shelf.pages("s0")
    reading = first.entries()
    entry = next(reading)
    for name in store.names()[1:]:
        shelf.pages(name)
    assert "s0" in store.open
    assert [*reading] == []
    assert len(store.open) == 8
    assert first.entry(entry.offset) == entry


def test_a_log_that_is_another_one_by_now_is_refused() -> None:
    """JRN-9: and so is one that is gone."""
    store = kept(16)
    shelf = Shelf(store)
    lent = {name: shelf.pages(name) for name in ("s0", "s1")}
    for number in range(2, 16):
        shelf.pages(f"s{number}")
    assert not {"s0", "s1"} & set(store.open)
    for name in lent:
        store.remove(name)
    store.create("s0", format="neutral", about=dumps({"id": "another"})).close()
    with pytest.raises(SessionCorrupt, match="another one than it was"):
        lent["s0"].entry(0)
    with pytest.raises(SessionCorrupt, match="gone by now"):
        [*lent["s1"].back()]
    with pytest.raises(UnknownSession):
        shelf.pages("s1")


def test_several_threads_may_read() -> None:
    """A session's recall runs beside its next turn."""
    store = kept(24)
    shelf = Shelf(store)
    logs = [shelf.pages(name) for name in store.names()]

    def read(number: int) -> int:
        return sum(len([*logs[(number + step) % len(logs)].entries()]) for step in range(200))

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(read, range(16))) == {200}
    shelf.close()
    assert store.open == []
