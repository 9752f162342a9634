"""D1: every state that a power cut may leave, under two models of a file system; nothing acknowledged is lost.

The sentence we prove: an append that returned is on disk. The seeded bugs (D17) show that the harness can fail.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from itertools import islice

import pytest

from foldline.core.errors import SessionFailed
from foldline.stores.disk import DiskStore
from foldline.stores.fs import Mode
from foldline.testing.crashes import MODELS, Model, check_crashes, crash_states
from foldline.testing.disk import (
    Call,
    SimulatedDisk,
    SimulatedFile,
    copy,
    fails_at,
    nothing_fails,
    short_write,
    torn_write,
)
from tests.stores.workloads import WORKLOADS, Witness, Workload, appending, mixed, run_until_failure

STATES_MIN = 5_000
"""Fewest states to be seen in the generated workloads; a model that finds nothing to vary proves nothing."""


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.__name__)
def test_every_state_a_power_cut_may_leave_keeps_what_was_promised(workload: Workload, model: Model) -> None:
    """D1, D15, JRN-6: after a crash the state is that of the last complete append."""
    disk = SimulatedDisk()
    witness = Witness(disk)
    workload(witness)
    assert check_crashes(disk, witness.kept, model=model) > len(disk.trace) / 2


def states_of_generated_workloads(seeds: range) -> int:
    """How many states there were, all of which kept what was promised."""
    count = 0
    for seed in seeds:
        disk = SimulatedDisk()
        witness = Witness(disk)
        mixed(witness, seed)
        for model in MODELS:
            count += check_crashes(disk, witness.kept, model=model)
    return count


def test_generated_histories_keep_what_was_promised_in_every_state() -> None:
    """D1: at least 5,000 states."""
    count = states_of_generated_workloads(range(44))
    assert count >= STATES_MIN


@pytest.mark.nightly
def test_many_more_generated_histories_keep_what_was_promised() -> None:
    """D1: at least 100,000 states."""
    count = states_of_generated_workloads(range(1_000, 1_900))
    assert count >= 100_000


@pytest.mark.parametrize("model", MODELS)
def test_a_second_power_cut_while_the_first_is_mended_loses_nothing(model: Model) -> None:
    """D2: what opening a session repairs may be interrupted too."""
    count = 0
    for seed in range(9):
        disk = SimulatedDisk()
        witness = Witness(disk)
        mixed(witness, seed)
        for crash in islice(crash_states(disk.trace, model=model), 0, None, 3):
            before = copy(crash.image)
            again = SimulatedDisk(crash.image)
            for name in DiskStore("/", fs=again, clock=lambda: None).names():
                DiskStore("/", fs=again, clock=lambda: None).write(name).close()
            for second in crash_states(again.trace, model=model, before=before):
                witness.kept(SimulatedDisk(second.image), crash.acked)
                count += 1
    assert count > 200


# ── D17: the harness finds what it is there to find ──────────────────────────────────────────────────────────


class NoSync(SimulatedDisk):
    """Never asks for data to last."""

    def open(self, path: str, mode: Mode) -> SimulatedFile:
        return _Unsynced(super().open(path, mode))


class NoSyncBeforeRename(SimulatedDisk):
    """Renames what may not be on disk yet."""

    def open(self, path: str, mode: Mode) -> SimulatedFile:
        file = super().open(path, mode)
        return _Unsynced(file) if mode == "new" else file


class NoFolderSync(SimulatedDisk):
    """Never asks for names to last."""

    def sync_folder(self, path: str) -> None:
        pass


class InPlace(SimulatedDisk):
    """Writes over a file instead of renaming another over it."""

    def replace(self, old: str, new: str) -> None:
        if new not in self.image.files:
            return super().replace(old, new)
        file = super().open(new, "append")
        file.truncate(0)
        file.write(bytes(self.image.data[self.image.files[old]]))
        file.sync()
        return self.remove(old)


class AckBeforeSync(SimulatedDisk):
    """Says that data is on disk, and puts it there a little later."""

    def __init__(self) -> None:
        self.late: list[Callable[[], None]] = []
        super().__init__()

    def _about_to(self, kind, path, *, size=0):  # type: ignore[no-untyped-def]
        late, self.late = self.late, []
        for sync in late:
            sync()
        return super()._about_to(kind, path, size=size)

    def open(self, path: str, mode: Mode) -> SimulatedFile:
        return _Later(super().open(path, mode))


class _Unsynced(SimulatedFile):
    def __init__(self, file: SimulatedFile) -> None:
        super().__init__(file._disk, file._path, inode=file._inode)

    def sync(self) -> None:
        pass


class _Later(_Unsynced):
    def sync(self) -> None:
        disk = self._disk
        assert isinstance(disk, AckBeforeSync)
        disk.late.append(super(_Unsynced, self).sync)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("broken", [NoSync, NoSyncBeforeRename, NoFolderSync, InPlace, AckBeforeSync])
def test_each_seeded_bug_is_found(broken: type[SimulatedDisk], model: Model) -> None:
    """D17: a harness that cannot catch the broken log proves nothing."""
    found = 0
    for workload in WORKLOADS:
        disk = broken()
        witness = Witness(disk)
        workload(witness)
        try:
            check_crashes(disk, witness.kept, model=model)
        except AssertionError:
            found += 1
    assert found or (broken is NoFolderSync and model == "ext4")


class RetrySync(SimulatedDisk):
    """Asks once more when a sync failed, and believes the answer."""

    def open(self, path: str, mode: Mode) -> SimulatedFile:
        return _Retried(super().open(path, mode))


class _Retried(_Unsynced):
    def sync(self) -> None:
        try:
            super(_Unsynced, self).sync()
        except OSError:
            super(_Unsynced, self).sync()


def after_a_failed_sync(make: type[SimulatedDisk]) -> None:
    """Fail each call that changes something, one run each; then the power goes at every point."""
    number, failed = 0, True
    while failed:
        number += 1
        disk = make()
        disk.fault = fails_at(number, errno.EIO)
        witness = run_until_failure(appending, disk)
        failed = disk.calls >= number
        disk.fault = nothing_fails
        check_crashes(disk, witness.kept, model="ext4")


def test_nothing_acknowledged_is_lost_when_a_sync_fails_and_then_the_power() -> None:
    """D3, D5: Linux counts the pages of a failed sync as written; a second try would succeed and prove nothing."""
    after_a_failed_sync(SimulatedDisk)


def test_a_sync_tried_again_is_found() -> None:
    """D17."""
    with pytest.raises(AssertionError):
        after_a_failed_sync(RetrySync)


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("forever", [False, True])
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.__name__)
def test_an_error_at_any_call_reaches_the_caller_and_loses_nothing(
    workload: Workload, code: int, forever: bool
) -> None:
    """D3, D9: every call that changes something × five errors, once and from then on; then a new process goes on with
    what is there."""
    number, failed = 0, True
    while failed:
        number += 1
        disk = SimulatedDisk(fault=fails_at(number, code, forever=forever))
        witness = run_until_failure(workload, disk)
        failed = disk.calls >= number
        witness.kept(disk.reboot(), len(witness.promises) - 1)


@pytest.mark.parametrize("size", [0, 1, 17, 18, 19, 100, 300])
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.__name__)
def test_a_short_write_is_continued_and_a_torn_one_is_cut_off(workload: Workload, size: int) -> None:
    """D8: each write takes only so many bytes; then the next goes on, or fails."""
    number, failed = 0, True
    while failed:
        number += 1
        disk = SimulatedDisk(fault=short_write(number, max(size, 1)))
        witness = Witness(disk)
        workload(witness)
        failed = disk.calls >= number
        witness.kept(disk.reboot(), len(witness.promises) - 1)
        torn = SimulatedDisk(fault=torn_write(number, size, code=errno.ENOSPC))
        witness = run_until_failure(workload, torn)
        witness.kept(torn.reboot(), len(witness.promises) - 1)


def test_a_system_that_takes_no_bytes_is_not_asked_for_ever() -> None:
    disk = SimulatedDisk(fault=lambda call: 0 if call.kind == "write" else None)
    with pytest.raises(SessionFailed, match="no more bytes"):
        Witness(disk).create("s")


def test_after_a_failed_append_nothing_more_is_taken_until_it_is_opened_anew() -> None:
    """A failed sync stops the session instead of being retried (JRN-5)."""
    disk = SimulatedDisk()
    witness = Witness(disk)
    journal = witness.create("s")
    witness.append(journal, "s", sizes=(1,))

    def no_sync(call: Call) -> None:
        if call.kind == "sync":
            raise OSError(errno.EIO, "I/O error")

    disk.fault = no_sync
    with pytest.raises(SessionFailed, match="I/O error"):
        witness.append(journal, "s", sizes=(2,))
    disk.fault = nothing_fails
    calls = disk.calls
    for call in (lambda: witness.append(journal, "s", sizes=(3,)), journal.sync, journal.archive):
        with pytest.raises(SessionFailed, match="I/O error"):
            call()
    journal.close()
    assert disk.calls == calls, "nothing was tried again"
    assert [entry.seq for entry in witness.store.read("s").entries()] == [0]
