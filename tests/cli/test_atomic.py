"""A file is written whole or not at all, and what surrounds it stays as it was."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline.cli.atomic import write_whole
from tests.cli.running import environment


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private(tmp_path: Path) -> None:
    """Threat 11: transcripts of mode 0644 are readable to every local user; the umask has no say."""
    path = tmp_path / "new.json"
    before = os.umask(0)
    try:
        write_whole(str(path), b"data")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"data"
    assert mode_of(path) == 0o600


def test_an_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    """Replacing a file must not change who may read it."""
    path = tmp_path / "old.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_whole(str(path), b"new")
    assert (path.read_bytes(), mode_of(path)) == (b"new", 0o640)


def test_a_symbolic_link_is_followed_and_stays(tmp_path: Path) -> None:
    """A rename over the link would leave the file it points to as it was."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target, link = folder / "real.json", tmp_path / "link.json"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_whole(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_device_is_written_to_and_never_replaced() -> None:
    """`-o /dev/null` run by root must not turn the device into a file."""
    write_whole("/dev/null", b"data")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """A slip in -o says so and leaves nothing behind."""
    with pytest.raises(IsADirectoryError):
        write_whole(str(tmp_path), b"data")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    """No folder is made up from a slip in -o."""
    with pytest.raises(FileNotFoundError):
        write_whole(str(tmp_path / "missing" / "a.json"), b"data")


def test_the_longest_name_a_folder_takes_is_writable(tmp_path: Path) -> None:
    """The temporary file's name must not grow with the target's."""
    path = tmp_path / ("a" * 255)
    write_whole(str(path), b"data")
    assert path.read_bytes() == b"data"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("call", ["fsync", "fchmod", "replace"])
def test_a_failure_at_any_step_leaves_the_old_file_alone(
    call: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fail each call once: the old content stands, the temporary file is gone, the error comes out."""

    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    path = tmp_path / "old.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match=os.strerror(code)):
        write_whole(str(path), b"new")
    monkeypatch.undo()
    assert [entry.name for entry in tmp_path.iterdir()] == ["old.json"]
    assert path.read_bytes() == b"old"


def test_a_full_disk_leaves_the_old_file_alone(tmp_path: Path) -> None:
    """A real limit, hit in the middle of the write: the process may make files of 4 KiB at most."""
    path = tmp_path / "old.json"
    path.write_bytes(b"old")
    program = (
        "import resource, signal, sys\n"
        "from foldline.cli.atomic import write_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n    write_whole(sys.argv[1], bytes(100_000))\n"
        "except OSError as error:\n    sys.exit(error.errno)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], env=environment(), check=False)
    assert done.returncode == errno.EFBIG
    assert [entry.name for entry in tmp_path.iterdir()] == ["old.json"]
    assert path.read_bytes() == b"old"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """As in a terminal; a job in the background starts with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_in_the_middle_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the data goes to disk: nothing half written, nothing beside it, and it stays an interrupt."""
    path = tmp_path / "old.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", lambda _: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        write_whole(str(path), b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["old.json"]
    assert path.read_bytes() == b"old"


def test_data_reaches_the_disk_before_the_name_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data synced, then renamed, then the folder synced: else a power cut leaves an empty file or the old name."""
    calls: list[str] = []
    real_sync, real_replace = os.fsync, os.replace

    def sync(descriptor: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real_sync(descriptor)

    def rename(source: str, target: str) -> None:
        calls.append("rename")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", rename)
    write_whole(str(tmp_path / "a.json"), b"data")
    assert calls == ["file", "rename", "folder"]


def test_a_read_only_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename needs no permission on the file itself, so the permission is asked for (root has it always)."""
    path = tmp_path / "old.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError):
        write_whole(str(path), b"new")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize(("code", "passes"), [(errno.EINVAL, True), (errno.EIO, False)])
def test_a_folder_that_cannot_be_synced_is_told_from_one_that_fails(
    code: int, passes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network file systems know no sync of a folder (EINVAL): the file stands. A failing disk is an error."""
    real = os.fsync

    def sync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    path = tmp_path / "a.json"
    if passes:
        write_whole(str(path), b"data")
    else:
        with pytest.raises(OSError, match=os.strerror(code)):
            write_whole(str(path), b"data")
    assert path.read_bytes() == b"data"
