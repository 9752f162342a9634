"""Recall over the sessions on this machine: where their logs and the index lie, and what counts tokens.

The facade of `foldline.recall` for whoever has no session open, such as the command line; an open session brings its own
store. Knows the names of folders and files, nothing of searching.
"""

from __future__ import annotations

from typing import Final

from foldline.core.ports import Store, TokenCounter
from foldline.home import Home, disk_store
from foldline.recall.find import Recall
from foldline.stores.disk import DiskStore
from foldline.tokens.choose import counter_for

INDEX: Final = "recall.sqlite"
"""The index, beside the sessions; it may be deleted at any time."""


def open_recall(home: Home = None, *, model: str | None = None) -> Recall:
    """Search and opening over all sessions below `home`; left out: where sessions are kept. `model`: whose tokens
    are counted."""
    return recall_over(disk_store(home), counter=counter_for(model))


def recall_over(store: Store, *, counter: TokenCounter) -> Recall:
    """The same over the sessions of a store; of one that is on no disk the index is in memory."""
    path = store.home / INDEX if isinstance(store, DiskStore) else None
    return Recall(store, path=path, counter=counter)
