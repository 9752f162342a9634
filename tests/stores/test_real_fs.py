"""The real file system: modes whatever the umask, and nothing that leads elsewhere or belongs to others (S8, S17)."""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from pathlib import Path
from threading import Event, Thread

import pytest

from foldline.core.errors import InvalidOption
from foldline.stores.fs import Fs, LockHeld, Mode
from foldline.stores.real_fs import RealFs


@pytest.fixture
def fs(tmp_path: Path) -> Fs:
    """A home with a folder and a file."""
    os.chmod(tmp_path, 0o700)
    fs = RealFs(str(tmp_path))
    fs.make_folder("sub")
    fs.open("sub/f", "new").close()
    return fs


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_folders_and_files_are_the_users_alone_whatever_the_umask(umask: int, tmp_path: Path) -> None:
    """S17."""
    old = os.umask(umask)
    try:
        fs = RealFs(str(tmp_path / "a/b"))
        fs.make_folder("")
        fs.make_folder("sub")
        fs.make_folder("sub")
        fs.open("sub/f", "new").close()
        fs.lock("sub/lock", b"me").release()
    finally:
        os.umask(old)
    modes = {str(p.relative_to(tmp_path)): stat.S_IMODE(p.stat().st_mode) for p in tmp_path.rglob("*")}
    assert modes == {"a": 0o700, "a/b": 0o700, "a/b/sub": 0o700, "a/b/sub/f": 0o600, "a/b/sub/lock": 0o600}


def test_reading_and_writing(fs: Fs) -> None:
    file = fs.open("sub/f", "append")
    assert file.write(b"hello") == 5
    file.sync()
    fs.sync_folder("sub")
    assert (file.read(99, at=1), file.size()) == (b"ello", 5)
    file.truncate(2)
    assert file.write(b"!") == 1
    assert file.read(99, at=0) == b"he!"
    file.close()
    file.close()
    fs.replace("sub/f", "sub/g")
    assert fs.names("sub") == ("g",)
    fs.remove("sub/g")
    fs.remove_folder("sub")
    assert fs.names("") == ()


def test_a_lock_is_had_by_one(fs: Fs) -> None:
    lock = fs.lock("sub/lock", b"me")
    with pytest.raises(LockHeld) as held:
        fs.lock("sub/lock", b"you")
    assert held.value.note == b"me"
    lock.release()
    lock.release()
    fs.lock("sub/lock", b"you").release()


MODES: tuple[Mode, ...] = ("read", "append", "new")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "path",
    ["../secret", "sub/../../secret", "link", "absolute", "proc/secret", "/etc/passwd", "sub/../f", "", ".", "sub//f",
     "fifo", "loop", "sub", "sub/f/x", "f\0x", "device", "socket", "linked/f", "x" * 5000],
)  # fmt: skip
def test_no_path_leads_out_of_the_home_or_to_what_is_no_file(
    path: str, mode: Mode, fs: Fs, tmp_path: Path
) -> None:
    """S8: nineteen paths by three ways of opening; none gives a file, none waits, none is made."""
    secret = tmp_path.parent / f"{tmp_path.name}-secret"
    secret.write_text("SECRET")
    (tmp_path / "link").symlink_to(secret)
    (tmp_path / "absolute").symlink_to("/etc/passwd")
    (tmp_path / "proc").symlink_to(f"/proc/self/root{tmp_path.parent}")
    (tmp_path / "linked").symlink_to("sub")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "device").symlink_to("/dev/null")
    os.mkfifo(tmp_path / "fifo")
    os.mknod(tmp_path / "socket", stat.S_IFSOCK | 0o600)
    before = sorted(p.name for p in tmp_path.rglob("*"))
    with pytest.raises((InvalidOption, OSError)) as caught:
        fs.open(path, mode)
    if isinstance(caught.value, OSError):
        assert caught.value.errno in {errno.EEXIST, errno.ENAMETOOLONG, errno.ENOENT, errno.ENXIO}
    assert sorted(p.name for p in tmp_path.rglob("*")) == before
    assert secret.read_text() == "SECRET"


def test_a_lock_or_a_new_folder_follows_no_link(fs: Fs, tmp_path: Path) -> None:
    """S17: a link planted where a state file goes."""
    (tmp_path / "sub/lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidOption, match="a symbolic link or no file"):
        fs.lock("sub/lock", b"")
    (tmp_path / "away").symlink_to("/tmp")
    with pytest.raises(InvalidOption, match="a symbolic link or no folder"):
        fs.make_folder("away/x")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
@pytest.mark.parametrize("place", ["", "sub"])
def test_a_folder_that_others_may_write_is_refused(mode: int, place: str, fs: Fs, tmp_path: Path) -> None:
    """S17: they could put their file in the place of ours."""
    os.chmod(tmp_path / place, mode)
    with pytest.raises(InvalidOption, match="chmod go-w"):
        fs.open("sub/f", "append")
    os.chmod(tmp_path / place, 0o700)


def test_a_file_that_others_may_write_is_refused(fs: Fs, tmp_path: Path) -> None:
    os.chmod(tmp_path / "sub/f", 0o666)
    with pytest.raises(InvalidOption, match="only you may write"):
        fs.open("sub/f", "append")


def test_a_folder_of_another_user_is_refused(fs: Fs, tmp_path: Path) -> None:
    """S17."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(tmp_path / "sub", 65534, -1)
    with pytest.raises(InvalidOption, match="another user's"):
        fs.open("sub/f", "read")


def test_a_home_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidOption, match="no folder that you may open"):
        RealFs(str(tmp_path / "file")).names("")


def test_another_user_reads_nothing(fs: Fs, tmp_path: Path) -> None:
    """S17: with another uid no name and no byte is had."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setuid(65534)
            RealFs(str(tmp_path)).names("sub")
        except InvalidOption:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_file_that_was_removed_while_it_was_open_is_not_synced(fs: Fs, tmp_path: Path) -> None:
    """JRN: nothing is called durable that nobody can open again; one that was moved can be."""
    file = fs.open("sub/f", "append")
    file.write(b"here")
    (tmp_path / "sub/f").rename(tmp_path / "sub/g")
    file.sync()
    (tmp_path / "sub/g").unlink()
    file.write(b"gone")
    with pytest.raises(FileNotFoundError, match="removed while it was open"):
        file.sync()
    file.close()


def test_a_hard_link_is_a_file_like_any_other(fs: Fs, tmp_path: Path) -> None:
    """The policy: the folder is the user's alone, so only the user can have made it (a backup, say)."""
    os.link(tmp_path / "sub/f", tmp_path / "sub/g")
    fs.open("sub/g", "read").close()


def test_a_home_may_be_reached_through_a_link(fs: Fs, tmp_path: Path) -> None:
    """The user chose it; only below it nothing is followed."""
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(tmp_path)
    assert RealFs(str(link)).names("sub") == ("f",)


def test_a_folder_swapped_for_a_link_between_two_looks_leads_nowhere(fs: Fs, tmp_path: Path) -> None:
    """S8: a folder and a link that trade places all the time. What is opened is what was looked at."""
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir(mode=0o700)
    (outside / "f").write_bytes(b"SECRET")
    (outside / "f").chmod(0o600)
    fs.open("sub/f", "append").write(b"ours")
    (tmp_path / "evil").symlink_to(outside)
    swapping, done = Counter[str](), Event()

    def swap() -> None:
        while not done.is_set():
            os.rename(tmp_path / "sub", tmp_path / "away")
            os.rename(tmp_path / "evil", tmp_path / "sub")
            os.rename(tmp_path / "sub", tmp_path / "evil")
            os.rename(tmp_path / "away", tmp_path / "sub")
            swapping["times"] += 1

    thread = Thread(target=swap)
    thread.start()
    found: Counter[bytes] = Counter()
    for _ in range(4_000):
        try:
            file = fs.open("sub/f", "read")
        except (InvalidOption, FileNotFoundError):
            found[b"refused"] += 1
            continue
        found[file.read(9, at=0)] += 1
        file.close()
    done.set()
    thread.join()
    assert swapping["times"] > 20
    assert set(found) <= {b"ours", b"refused"}
    assert found[b"ours"]
