"""What one call of `foldline.compact` found and the next may want again: a loop that calls with the same history, longer
by a message, finds the facts of a text once, reads users' words once, counts a piece of the ledger once, and tells of calls
and writes the notices of cleared results once.

All are kept with the words they belong to, so they hold for whatever history has those words. A memo serves one call at
a time: a call takes one or makes one, and gives it back when it went well. What a memo holds is bounded by
`foldline.ledger.facts.CACHED_BYTES_MAX`, `foldline.ledger.words.SAID_CHARS_MAX`, `foldline.ledger.columns.PIECES_MAX` and
`foldline.ledger.retention.OURS_CHARS_MAX`; of notices and of what a history mentions and states those of the last call are kept; what else a pass noted is dropped.
Knows nothing of what is done with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from foldline.ledger.facts import FactCache
from foldline.ledger.found_in_text import Finder

MEMOS_MAX = 2
"""Memos kept while no call uses them: threads that compact at the same time beyond these start anew."""
KEPT = frozenset({"facts", "words", "carried", "told", "mentions", "prices", "stated", "ours"})

_idle: list[dict[str, Any]] = []


@contextmanager
def remembered(heard: Callable[[int, int], None] | None = None) -> Iterator[dict[str, Any]]:
    """The memo of an earlier call in this process, or a new one. Taking and giving back are single steps, safe in
    threads. `heard`: takes how many characters of the history were looked through for facts, and of how many."""
    try:
        memo = _idle.pop()
    except IndexError:
        memo = {"facts": FactCache(Finder())}
    memo["facts"].heard = heard
    yield memo
    memo["facts"].heard = None
    if len(_idle) < MEMOS_MAX:
        _idle.append({key: found for key, found in memo.items() if key in KEPT})


def forget() -> None:
    """Start anew, as a new process does."""
    _idle.clear()
