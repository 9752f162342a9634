"""A small file is written whole or not at all, whatever fails, and a writer that was cut off is in nobody's way."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from foldline.core.errors import InvalidOption
from foldline.stores.real_fs import RealFs
from foldline.stores.whole import FILE_BYTES_MAX, Document, KeptFile, write_whole
from foldline.testing.crashes import MODELS, Model, check_crashes
from foldline.testing.disk import SimulatedDisk, copy, fails_at

OLD, YOUNG = b"what stood there", b"what is to stand there"


def read(disk: SimulatedDisk) -> bytes:
    """The file's bytes."""
    file = disk.open("one", "read")
    try:
        return file.read(100, at=0)
    finally:
        file.close()


def begun() -> SimulatedDisk:
    """A disk with the old file."""
    disk = SimulatedDisk()
    write_whole(disk, OLD, name="one", new="one.new")
    return disk


def test_the_file_takes_the_place_of_the_old_one_and_nothing_else_is_left() -> None:
    disk = begun()
    assert read(disk) == OLD
    write_whole(disk, YOUNG, name="one", new="one.new")
    assert read(disk) == YOUNG
    assert disk.names("") == ("one",)


def test_a_failure_at_any_call_leaves_the_old_file_or_the_new_one() -> None:
    """Style, faults: fail the N-th call, then N+1, until untouched; the next writer is not hindered."""
    old, failures = begun(), 0
    for number in range(1, 100):
        disk = SimulatedDisk(copy(old.image), fault=fails_at(number, errno.EIO))
        try:
            write_whole(disk, YOUNG, name="one", new="one.new")
        except OSError:
            failures += 1
            after = disk.reboot()
            assert read(after) in (OLD, YOUNG)
            write_whole(after, OLD, name="one", new="one.new")
            assert after.names("") == ("one",)
            continue
        break
    assert failures > 4
    assert read(disk) == YOUNG


@pytest.mark.parametrize("model", MODELS)
def test_a_power_cut_leaves_the_old_file_until_the_new_one_is_promised(model: Model) -> None:
    """Durable when it returns, in every state that a power cut may leave."""
    old = begun()
    disk = SimulatedDisk(copy(old.image))
    write_whole(disk, YOUNG, name="one", new="one.new")
    disk.ack(1)

    def check(after: SimulatedDisk, promised: int) -> None:
        assert read(after) in ((YOUNG,) if promised else (OLD, YOUNG))

    assert check_crashes(disk, check, model=model, before=old.image) > 3


def test_a_document_that_is_too_large_is_no_document_and_says_so(tmp_path: Path) -> None:
    """Style, 11: it is not read into memory, and not taken for one that is empty."""
    tmp_path.chmod(0o700)
    (tmp_path / "rows").write_bytes(b'{"format": "rows/1"}' + b" " * FILE_BYTES_MAX)
    (tmp_path / "rows").chmod(0o600)
    kept = KeptFile(
        tmp_path, name="rows", empty=Document(format="rows/1"), remedy=" and begin anew", fs=RealFs
    )
    with pytest.raises(InvalidOption, match=r"larger than 1,048,576 bytes.*remove it and begin anew"):
        kept.read()
