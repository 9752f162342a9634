"""The contract of stores finds what it is there to find."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.core.entry import Entry
from foldline.stores.memory import MemoryJournal, MemoryStore
from foldline.testing.stores import check_store, disk_store, memory_store


def test_the_store_in_memory_keeps_the_contract() -> None:
    check_store(memory_store)


def test_the_store_on_disk_keeps_the_contract(tmp_path: Path) -> None:
    homes = iter(range(99))
    check_store(lambda: disk_store(str(tmp_path / str(next(homes)))))


class TwoWriters(MemoryStore):
    """Forgets that somebody writes."""

    def write(self, name: str) -> MemoryJournal:
        self._of(name).writer = None
        return super().write(name)


class Loose(MemoryStore):
    """Takes any session for another one."""

    def read(self, name: str):  # type: ignore[no-untyped-def]
        return super().read(name if name in self.names() else self.names()[0])


class Newest(MemoryStore):
    """Forgets the oldest entry."""

    def read(self, name: str):  # type: ignore[no-untyped-def]
        pages = super().read(name)
        oldest: list[Entry] = list(pages.entries())[1:]
        pages.entries = lambda offset=0: iter(oldest)  # type: ignore[method-assign]
        return pages


@pytest.mark.parametrize("broken", [TwoWriters, Loose, Newest])
def test_a_store_that_breaks_the_contract_is_told_so(broken: type[MemoryStore]) -> None:
    with pytest.raises(AssertionError):
        check_store(broken)
