"""Logs that are read again and again with few of them open at a time.

    shelf.pages("a") ──► a log that is opened when it is asked for something, and closed when many others were since

A fork of a fork goes on from as many logs as there are between, and a process may have only so many files open. Counterpart:
`foldline.log.lineage`, which reads them as one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from foldline.core.entry import Entry
from foldline.core.errors import CLOSED, SessionCorrupt, SessionFailed, UnknownSession
from foldline.core.ports import Pages, Store

OPEN_MAX: Final = 8
"""Logs of a shelf that stay open while none of them is read."""


class Shelf:
    """Logs of a store, the ones last read open. A log is taken off the shelf while it is read, so that nobody closes it, and
    several threads may read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._idle: OrderedDict[str, Pages] = OrderedDict()
        self._most = OPEN_MAX
        """Logs that may stay open; none once the shelf was closed."""

    def pages(self, name: str) -> Lent:
        """A log. Raises as `Store.read`."""
        return Lent(self, name)

    @contextmanager
    def reading(self, name: str) -> Iterator[Pages]:
        """The log itself, open for as long as this lasts. Raises as `Store.read`, and `SessionFailed` once the shelf was
        closed."""
        if not self._most:
            raise SessionFailed(name, CLOSED)
        pages = self._idle.pop(name, None) or self._store.read(name)
        try:
            yield pages
        finally:
            if self._idle.setdefault(name, pages) is not pages:  # it was opened twice
                pages.close()
            self._close_down_to(self._most)

    def drop(self, name: str) -> None:
        """Let go of one, which is opened anew when it is read again."""
        idle = self._idle.pop(name, None)
        if idle is not None:
            idle.close()

    def close(self) -> None:
        """Let go of all of them."""
        self._most = 0
        self._close_down_to(0)

    def _close_down_to(self, count: int) -> None:
        with suppress(KeyError):  # another thread closed the last one
            while len(self._idle) > count:
                self._idle.popitem(last=False)[1].close()


class Lent:
    """`foldline.core.ports.Pages` of a log that need not be open. One that is gone by the time it is opened again, or has
    another first line, is refused with `SessionCorrupt`."""

    def __init__(self, shelf: Shelf, name: str) -> None:
        self._shelf, self.name = shelf, name
        with shelf.reading(name) as pages:
            self.format, self.about, self.torn = pages.format, pages.about, pages.torn

    @contextmanager
    def _reading(self) -> Iterator[Pages]:
        with ExitStack() as held:
            try:
                pages = held.enter_context(self._shelf.reading(self.name))
            except UnknownSession as error:
                raise SessionCorrupt(
                    0, f"session {self.name!r} is gone by now; restore it from a copy"
                ) from error
            if (pages.format, pages.about) != (self.format, self.about):
                raise SessionCorrupt(0, f"session {self.name!r} is another one than it was; open it again")
            yield pages

    def entry(self, offset: int) -> Entry:
        with self._reading() as pages:
            return pages.entry(offset)

    def entries(self, offset: int = 0) -> Iterator[Entry]:
        with self._reading() as pages:
            yield from pages.entries(offset)

    def back(self) -> Iterator[Entry]:
        with self._reading() as pages:
            yield from pages.back()

    def close(self) -> None:
        """Nothing: the shelf closes what is open."""
