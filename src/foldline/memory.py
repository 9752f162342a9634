"""Facts from one call of `foldline.compact` to the next: a loop that calls with the same history finds them once.

Facts belong to texts, so they hold for whatever history holds the text. A cache serves one call at a time: a call takes
one or makes one, and gives it back when it went well. How much a cache remembers is bounded by
`foldline.ledger.facts.CACHED_CHARS_MAX`. Knows nothing of what is done with facts; that is `foldline.survival`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from foldline.ledger.facts import FactCache
from foldline.ledger.found_in_text import Finder

CACHES_MAX = 2
"""Caches kept while no call uses them: threads that compact at the same time beyond these start anew."""

_idle: list[FactCache] = []


@contextmanager
def known_facts() -> Iterator[FactCache]:
    """The facts of earlier calls in this process. Taking and giving back are single steps, safe in threads."""
    try:
        cache = _idle.pop()
    except IndexError:
        cache = FactCache(Finder())
    yield cache
    if len(_idle) < CACHES_MAX:
        _idle.append(cache)


def forget() -> None:
    """Start anew, as a new process does."""
    _idle.clear()
