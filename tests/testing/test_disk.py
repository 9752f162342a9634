"""The simulated disk behaves as the real one, and fails as it is told."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from foldline.stores.fs import Fs, LockHeld
from foldline.stores.real_fs import RealFs
from foldline.testing.disk import PowerCut, SimulatedDisk, copy, cut_at, fails_at, short_write, torn_write


def script(fs: Fs) -> list[Any]:
    """Calls of every kind, with what came of each."""
    out: list[Any] = []

    def note(call: Callable[[], Any]) -> Any:
        try:
            result = call()
        except OSError as error:
            out.append(errno.errorcode[error.errno or 0])
        except LockHeld as held:
            out.append(held.note)
        else:
            out.append(
                result if isinstance(result, (int, bytes, tuple, type(None))) else type(result).__name__[4:]
            )
            return result

    for folder in ("", "a", "a", "b/c"):
        note(partial(fs.make_folder, folder))
    for path in ("a/f", "a/f", "missing/f"):
        note(partial(fs.open, path, "new"))
    file = fs.open("a/f", "append")
    for data in (b"hello", b"", b" world"):
        note(partial(file.write, data))
    for call in (
        lambda: file.read(5, at=3),
        lambda: file.read(5, at=30),
        file.size,
        lambda: file.truncate(4),
        file.sync,
        lambda: file.write(b"!"),
        lambda: file.read(99, at=0),
        lambda: fs.open("a/g", "read"),
        lambda: fs.open("a/g", "append"),
        lambda: fs.replace("a/g", "a/h"),
        lambda: fs.replace("a/f", "a/h"),
        lambda: file.write(b"?"),
        lambda: fs.names("a"),
        lambda: fs.names("missing"),
        lambda: fs.remove("a/f"),
        lambda: fs.remove_folder("a"),
        lambda: fs.sync_folder("a"),
        lambda: fs.sync_folder("missing"),
        lambda: fs.remove("a/h"),
        lambda: file.read(99, at=0),
        lambda: fs.remove_folder("a"),
        lambda: fs.names(""),
    ):
        note(call)
    lock = fs.lock("l", b"me")
    note(lambda: fs.lock("l", b"you"))
    lock.release()
    note(lambda: fs.lock("l", b"you").release())
    file.close()
    return out


def test_the_simulated_disk_and_the_real_one_do_the_same(tmp_path: Path) -> None:
    """A model that differs from what it stands for proves nothing."""
    real = script(RealFs(str(tmp_path / "home")))
    simulated = [
        value[5:] if isinstance(value, str) and value.startswith("lated") else value
        for value in script(SimulatedDisk())
    ]
    assert simulated == real


def test_calls_fail_as_told() -> None:
    disk = SimulatedDisk(fault=fails_at(2, errno.ENOSPC))
    disk.make_folder("a")
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        disk.make_folder("b")
    disk.make_folder("b")
    disk.fault = fails_at(4, errno.EIO, forever=True)
    for _ in range(2):
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            disk.make_folder("c")
    disk.fault = cut_at(6)
    with pytest.raises(PowerCut):
        disk.sync_folder("")
    disk.fault = short_write(8, 2)
    file = disk.open("f", "new")
    assert (file.write(b"hello"), file.write(b"hello")) == (2, 5)


def test_a_torn_write_takes_some_bytes_and_the_next_call_fails() -> None:
    disk = SimulatedDisk(fault=torn_write(2, 3, code=errno.ENOSPC))
    file = disk.open("f", "new")
    assert file.write(b"hello") == 3
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        file.write(b"lo")
    assert file.read(9, at=0) == b"hel"


def test_a_copy_of_an_image_changes_apart_from_it() -> None:
    disk = SimulatedDisk()
    disk.open("f", "new").write(b"x")
    before = copy(disk.image)
    disk.open("f", "append").write(b"y")
    assert [bytes(image.data[1]) for image in (before, disk.image)] == [b"x", b"xy"]
