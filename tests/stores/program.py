"""A program that writes a session and says what is on disk: what the tests kill, starve and cut off from power.

    python -m tests.stores.program HOME [ENTRIES]

Prints `ACK n` when n entries are promised. Entry n holds n, so that `kept` can tell what is missing. Run again it goes on
where it was. The workload: appends of one and of several entries, packing away at every seventh, closing and opening at
every fifth.
"""

from __future__ import annotations

import os
import sys

from foldline.core.entry import Draft, Entry
from foldline.core.errors import FoldlineError, SessionFailed, UnknownSession
from foldline.core.ports import Journal
from foldline.stores.disk import DiskStore

NAME = "s"
ENTRIES = 14
FAILED = 74
"""Exit code when the disk refuses."""


def opened(store: DiskStore) -> Journal:
    """The session, new or as it was left."""
    try:
        return store.write(NAME)
    except UnknownSession:
        return store.create(NAME, format="anthropic", about=b'{"id":"s"}')


def draft(number: int, *, size: int = 300) -> Draft:
    """Entry `number`."""
    return Draft(kind="message", body=b'{"n":%d,"x":"%b"}' % (number, b"x" * (number * 37 % size)))


def write(home: str, entries: int) -> None:
    """Append up to so many entries."""
    store = DiskStore(home, clock=lambda: None)
    journal = opened(store)
    newest: Entry | None = next(journal.back(), None)
    count = 0 if newest is None else newest.seq + 1
    said(count)
    while count < entries:
        batch = 3 if count % 4 == 1 else 1
        journal.append([draft(count + n) for n in range(batch)])
        before, count = count, count + batch
        said(count)
        if before // 7 < count // 7:
            os.write(2, journal.archive().encode())
        if before // 5 < count // 5:
            journal.close()
            journal = store.write(NAME)
    journal.close()


def said(count: int) -> None:
    """The promise, at once."""
    os.write(1, b"ACK %d\n" % count)


def acked(out: bytes) -> int:
    """The newest promise in what the program printed; -1 when there was none."""
    return max((int(line.split()[1]) for line in out.splitlines() if line.startswith(b"ACK ")), default=-1)


def kept(home: str, promised: int) -> int:
    """How many entries are there; raises `AssertionError` when fewer than were promised, or others."""
    store = DiskStore(home)
    if promised < 0 and NAME not in store.names():
        return 0
    pages = store.read(NAME)
    try:
        entries = list(pages.entries())
        back = list(pages.back())
    except FoldlineError as error:
        raise AssertionError(f"cannot be read: {error}") from None
    finally:
        pages.close()
    for number, entry in enumerate(entries):
        assert (entry.seq, entry.body) == (number, draft(number).body), f"entry {number} is another"
    assert len(entries) >= promised, f"{promised} entries were acknowledged, {len(entries)} are there"
    assert back == entries[::-1]
    return len(entries)


if __name__ == "__main__":
    try:
        write(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else ENTRIES)
    except SessionFailed as error:
        os.write(2, f"{error}\n".encode())
        sys.exit(FAILED)
