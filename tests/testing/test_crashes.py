"""The states of a power cut are those the model allows, and no others."""

from __future__ import annotations

import errno

import pytest

from foldline.testing.crashes import Model, check_crashes, crash_states
from foldline.testing.disk import SimulatedDisk, fails_at, nothing_fails


def contents(disk: SimulatedDisk, model: Model) -> list[dict[str, bytes]]:
    """Each state as path → content."""
    return [
        {path: bytes(crash.image.data[inode]) for path, inode in crash.image.files.items()}
        for crash in crash_states(disk.trace, model=model)
    ]


def test_data_lasts_from_its_sync_on_and_before_it_may_be_lost_cut_or_empty() -> None:
    disk = SimulatedDisk()
    file = disk.open("f", "new")
    disk.sync_folder("")
    file.write(b"abcd")
    states = contents(disk, "weak")
    assert {state.get("f") for state in states} == {None, b"", b"a", b"ab", b"abc", b"\0\0\0\0", b"abcd"}
    file.sync()
    disk.ack(1)
    last = [crash for crash in crash_states(disk.trace, model="weak") if crash.acked]
    assert [bytes(crash.image.data[1]) for crash in last] == [b"abcd"]


def test_names_may_arrive_in_another_order_where_the_file_system_is_weak() -> None:
    disk = SimulatedDisk()
    for name in ("a", "b"):
        disk.open(name, "new").sync()
    weak = [sorted(state) for state in contents(disk, "weak")]
    assert weak == [[], ["a"], ["a", "b"], ["b"]]
    ext4 = [sorted(state) for state in contents(disk, "ext4")]
    assert ext4 == [[], ["a"], ["a", "b"]]


def test_a_rename_takes_the_place_of_a_file_or_does_not() -> None:
    disk = SimulatedDisk()
    for name in ("old", "new"):
        file = disk.open(name, "new")
        file.write(name.encode())
        file.sync()
    disk.sync_folder("")
    before = contents(disk, "weak")
    disk.replace("new", "old")
    assert {"old": b"old", "new": b"new"} in before
    assert contents(disk, "weak") == [*before, {"old": b"new"}]


def test_what_a_failed_sync_should_have_written_never_arrives() -> None:
    """Linux marks the pages clean: the next sync succeeds, and the disk has a hole."""
    disk = SimulatedDisk()
    file = disk.open("f", "new")
    disk.sync_folder("")
    file.write(b"lost")
    disk.fault = fails_at(disk.calls + 1, errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        file.sync()
    disk.fault = nothing_fails
    file.write(b"kept")
    file.sync()
    assert contents(disk, "weak")[-1] == {"f": b"\0\0\0\0kept"}
    assert file.read(99, at=0) == b"lostkept", "the process sees nothing of it"


def test_a_check_that_fails_names_the_step() -> None:
    disk = SimulatedDisk()
    disk.open("f", "new")

    def check(after: SimulatedDisk, acked: int) -> None:
        assert after.names("") == (), "a file"

    with pytest.raises(AssertionError, match=r"state 2, after step 1 .*make.*: a file"):
        check_crashes(disk, check, model="weak")
