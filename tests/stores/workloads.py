"""What the tests of crashes and faults do to a store, what was promised meanwhile, and the check that it was kept.

A `Witness` writes down every entry it appended and notes on the disk what was acknowledged; `kept` opens the store that an
interruption left and compares. Nothing of it knows how a store works.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

from msgspec import Struct

from foldline.core.entry import Draft
from foldline.core.errors import SessionFailed
from foldline.core.ports import Journal, Store
from foldline.stores.disk import DiskStore
from foldline.testing.disk import SimulatedDisk, nothing_fails

NAMES: Final = ("s", "t")


class Promise(Struct, frozen=True, kw_only=True):
    """What holds from here on: how many entries of each session there are at least; and which bodies are new."""

    counts: dict[str, int]
    """`-1`: the session is gone."""
    rewritten: frozenset[str] = frozenset()


SAID_SO: Final = Draft(kind="forgot", body=b'{"what":1}')
"""Appended with a rewrite."""

Said: TypeAlias = tuple[bytes, int]
"""Body of an entry, and how many of its append follow."""


class Witness:
    """Works on a store and writes down what it was promised."""

    def __init__(self, disk: SimulatedDisk) -> None:
        self.disk = disk
        self.made: dict[str, list[Said]] = {}
        """What was to be appended, in order, whether it was promised or not."""
        self.new: dict[str, list[Said]] = {}
        """The same, rewritten."""
        self.promises: list[Promise] = [Promise(counts={})]

    @property
    def store(self) -> DiskStore:
        """The store, as a process that starts now finds it."""
        return DiskStore("/", fs=self.disk, clock=lambda: None)

    def create(self, name: str) -> Journal:
        """A new session."""
        self.made[name] = []
        journal = self.store.create(name, format="anthropic", about=b'{"id":"%b"}' % name.encode())
        self._promise(**{name: 0})
        return journal

    def append(self, journal: Journal, name: str, *, sizes: tuple[int, ...], sync: bool = True) -> None:
        """One append; without `sync` nothing is promised."""
        made = self.made[name]
        drafts = [
            Draft(kind="message", body=b'{"n":%d,"x":"%b"}' % (len(made) + n, b"y" * size))
            for n, size in enumerate(sizes)
        ]
        made += [(draft.body, len(drafts) - 1 - n) for n, draft in enumerate(drafts)]
        journal.append(drafts, sync=sync)
        if sync:
            self._promise(**{name: len(made)})

    def sync(self, journal: Journal, name: str) -> None:
        """What was appended without, promised now."""
        journal.sync()
        self._promise(**{name: len(self.made[name])})

    def archive(self, journal: Journal) -> None:
        """Pack away; a disk that refuses leaves the log to be gone on with."""
        why = journal.archive()
        assert not why or self.disk.fault is not nothing_fails

    def rewrite(self, name: str) -> None:
        """Other bodies of the same length, and an entry that says so."""
        new = [(body.replace(b"y", b"z"), more) for body, more in self.made[name]]
        self.new[name] = [*new, (SAID_SO.body, 0)]
        self.store.rewrite(name, lambda entry: entry.body.replace(b"y", b"z"), more=[SAID_SO])
        counts = {**self.promises[-1].counts, name: len(self.new[name])}
        self.promises.append(Promise(counts=counts, rewritten=self.promises[-1].rewritten | {name}))
        self.disk.ack(len(self.promises) - 1)

    def remove(self, name: str) -> None:
        """The session away."""
        self.disk.ack(len(self.promises))
        self.promises.append(Promise(counts={**self.promises[-1].counts, name: -2}))
        self.store.remove(name)
        self._promise(**{name: -1})

    def _promise(self, **counts: int) -> None:
        self.promises.append(
            Promise(counts={**self.promises[-1].counts, **counts}, rewritten=self.promises[-1].rewritten)
        )
        self.disk.ack(len(self.promises) - 1)

    # ── what was kept ────────────────────────────────────────────────────────────────────────────────────────

    def kept(self, disk: SimulatedDisk, acked: int) -> None:
        """Raise `AssertionError` unless the promise is kept and every session there is can be gone on with."""
        promise = self.promises[acked]
        store = DiskStore("/", fs=disk, clock=lambda: None)
        names = store.names()
        for name, count in promise.counts.items():
            if count >= 0:
                assert name in names, f"session {name} is lost"
            elif count == -1:
                assert name not in names, f"session {name} is back"
        for name in names:
            count = max(promise.counts.get(name, 0), 0)
            self._reads(store, name, count=count, only_new=name in promise.rewritten)
            store.write(name).close()
            self._reads(store, name, count=count, only_new=name in promise.rewritten)
            self._is_one(store, name)
            going_on(store, name)

    def _is_one(self, store: Store, name: str) -> None:
        """Once it was opened to be written, a log with all of its archive is the old one or the new one."""
        found = [(entry.body, entry.more) for entry in store.read(name).entries()]
        assert found in (self.made.get(name, [])[: len(found)], self.new.get(name, [])), "half a rewrite"

    def _reads(self, store: Store, name: str, *, count: int, only_new: bool) -> None:
        found = list(store.read(name).entries())
        assert len(found) >= count, f"{count} entries were acknowledged, {len(found)} are there"
        old, new = self.made.get(name, []), self.new.get(name, [])
        for index, entry in enumerate(found):
            may = ([] if only_new else old[index : index + 1]) + new[index : index + 1]
            assert entry.seq == index
            assert (entry.body, entry.more) in may, f"entry {index} is another"
        assert not found or not found[-1].more, "half an append is there"


def going_on(store: Store, name: str) -> None:
    """The session can be opened, appended to, and read in every direction."""
    before = list(store.read(name).entries())
    journal = store.write(name)
    [added] = journal.append([Draft(kind="message", body=b'{"on":1}')])
    journal.close()
    again = store.write(name)
    assert again.torn == "", "a torn end is cut off once"
    again.close()
    pages = store.read(name)
    assert list(pages.entries()) == [*before, added] == [*pages.back()][::-1]


Workload: TypeAlias = Callable[[Witness], None]


def appending(witness: Witness) -> None:
    """Appends of one and of several entries, and a second session between them."""
    journal = witness.create("s")
    for size in (0, 3, 40):
        witness.append(journal, "s", sizes=(size,))
    other = witness.create("t")
    witness.append(other, "t", sizes=(7, 7))
    witness.append(journal, "s", sizes=(1, 0, 90))
    other.close()
    journal.close()


def appending_by_turns(witness: Witness) -> None:
    """Durability `turn`: some appends, then a sync."""
    journal = witness.create("s")
    for turn in range(3):
        for size in range(4):
            witness.append(journal, "s", sizes=(size,) * (1 + (turn + size) % 2), sync=False)
        witness.sync(journal, "s")
    journal.close()


def resuming(witness: Witness) -> None:
    """Closing and opening between appends."""
    witness.create("s").close()
    for size in (5, 50):
        journal = witness.store.write("s")
        witness.append(journal, "s", sizes=(size,), sync=False)
        witness.append(journal, "s", sizes=(size, size))
        journal.close()


def rotating(witness: Witness) -> None:
    """Packing away and going on."""
    journal = witness.create("s")
    for size in (5, 70):
        witness.append(journal, "s", sizes=(size, 1))
        witness.archive(journal)
        witness.append(journal, "s", sizes=(size,))
    witness.archive(journal)
    journal.close()


def rewriting(witness: Witness) -> None:
    """Other bodies in the log and in its archive."""
    journal = witness.create("s")
    witness.append(journal, "s", sizes=(9, 1))
    witness.archive(journal)
    witness.append(journal, "s", sizes=(4, 0, 3))
    journal.close()
    witness.rewrite("s")


def removing(witness: Witness) -> None:
    """A session taken away, and another one made."""
    journal = witness.create("s")
    witness.append(journal, "s", sizes=(9,))
    witness.archive(journal)
    journal.close()
    witness.remove("s")
    witness.create("t").close()


WORKLOADS: Final[tuple[Workload, ...]] = (
    appending,
    appending_by_turns,
    resuming,
    rotating,
    rewriting,
    removing,
)


def mixed(witness: Witness, seed: int) -> None:
    """Whatever a seed says: appends of every kind, syncs, packing away, closing and opening, rewriting at the end."""
    dice = Random(seed)
    journal = witness.create("s")
    for _ in range(dice.randint(6, 16)):
        match dice.choice(("append", "append", "late", "late", "sync", "archive", "resume")):
            case "append":
                witness.append(journal, "s", sizes=tuple(dice.choices(range(30), k=dice.randint(1, 3))))
            case "late":
                witness.append(journal, "s", sizes=tuple(dice.choices(range(30), k=2)), sync=False)
            case "sync":
                witness.sync(journal, "s")
            case "archive":
                witness.archive(journal)
            case _:
                journal.close()
                journal = witness.store.write("s")
    journal.close()
    if dice.random() < 0.3:
        witness.rewrite("s")


def run_until_failure(workload: Workload, disk: SimulatedDisk) -> Witness:
    """The workload until it ends or a call of the disk fails; a failure reaches the caller as an error of the session."""
    witness = Witness(disk)
    try:
        workload(witness)
    except SessionFailed:
        disk.ack(len(witness.promises) - 1)
    return witness
