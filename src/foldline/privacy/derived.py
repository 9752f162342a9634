"""What is made from the logs and can be made anew: the search index and the statistics, without a session that changes.

    take out what the session said ── rewrite or remove its log ── again, should somebody have read it meanwhile

The index forgets words while the log still says them (`foldline.recall.taking_out`), so that the others need not be read
anew. Owns which files those are; what stands in them is `foldline.recall`'s and `foldline.privacy.statistics`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from foldline.core.errors import UNREADABLE, UnknownSession
from foldline.core.ports import Store
from foldline.privacy.statistics import FILE as STATISTICS
from foldline.privacy.statistics import take_out
from foldline.recall.database import BESIDE, Unavailable
from foldline.recall.index import Index
from foldline.recollect import INDEX
from foldline.stores.disk import DiskStore
from foldline.stores.real_fs import RealFs

DATABASES: Final = (INDEX, STATISTICS)


class Derived:
    """What lies beside the logs of a store; nothing where that is on no disk."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._home = store.home if isinstance(store, DiskStore) else None

    @contextmanager
    def changing(self, name: str) -> Iterator[None]:
        """Around the change of a session's log, or its removal. Raises `SessionBusy` where another process holds on to an
        old file; what is there of the session goes all the same, and the log is as it was."""
        self._let_go(name)
        yield
        self._let_go(name)

    def _let_go(self, name: str) -> None:
        if self._home is None:
            return
        try:
            self._take_out(self._home, name)
        except Unavailable:
            _remove(self._home)

    def _take_out(self, home: Path, name: str) -> None:
        take_out(home, name)
        if (home / INDEX).is_file():
            with closing(Index(home / INDEX)) as index:
                with suppress(UnknownSession, *UNREADABLE), closing(self._store.read(name)) as pages:
                    index.take_out(name, pages)
                    return
                index.take_out(name, None)


def _remove(home: Path) -> None:
    """Take the files themselves away, which cannot be used as they are."""
    files = RealFs(str(home))
    there = set(files.names(""))
    named = [name + end for name in DATABASES for end in BESIDE if name + end in there]
    gone = [name for name in named if not (home / name).is_dir()]  # a folder in its place is none of ours
    for name in gone:
        files.remove(name)
    if gone:
        files.sync_folder("")
