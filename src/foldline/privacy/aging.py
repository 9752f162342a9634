"""What age takes away: events, in the only places where one stands (requirement JRN-7).

    log with its content       has none: each is made of a message when it is asked for, and none that is old is given
    log of events alone        the bodies of old ones give way to others of the same length; numbers, bytes and times stay
    statistics                 the rows of old ones become sums

Nothing here is asked for by hand: who looks at events, counts them, packs a log away or begins one without content does this
first. Counterpart: `foldline.privacy.forgetting`, which takes away what was said.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, suppress

from foldline.core.errors import UNREADABLE, SessionBusy, UnknownSession
from foldline.core.ports import Store
from foldline.privacy.derived import Derived
from foldline.privacy.hashed import has_old, is_hashed, without_old
from foldline.privacy.statistics import age
from foldline.recall.database import Unavailable
from foldline.stores.disk import DiskStore


def delete_old(store: DiskStore, names: Iterable[str], *, before_ms: int) -> None:
    """Delete the events of these sessions that were written before that, and the rows of all such in the statistics. What is open
    elsewhere, or cannot be read or written, stays as it is, and is looked at the next time."""
    for name in names:
        with suppress(UnknownSession, SessionBusy, Unavailable, *UNREADABLE):
            delete_in(store, name, before_ms=before_ms)
    with suppress(SessionBusy, Unavailable):
        age(store.home, before_ms=before_ms)


def delete_in(store: Store, name: str, *, before_ms: int) -> None:
    """Delete the old events of one session, where its log holds events. Raises as `Store.rewrite`."""
    with closing(store.read(name)) as pages:
        if not is_hashed(pages) or not has_old(pages, before_ms):
            return
    with Derived(store).changing(name):
        store.rewrite(name, lambda entry: without_old(entry, before_ms))
