"""The file system of the operating system, as `foldline.stores.fs.Fs`.

Owns flags, modes and what is refused: folders are opened one below the other, never through a symbolic link, and each must
belong to the user and be closed to the writing of others; files are opened in their folder, made for the user alone
whatever the umask, and must be regular files. The root itself may be reached through links, since the user chose it. Needs
POSIX (`openat`, `pread`, `flock`). Knows nothing of logs.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from typing import Final

from foldline.core.errors import InvalidOption
from foldline.stores.fs import NOTE_BYTES_MAX, LockHeld, Mode

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
LOCK_TRIES_MAX: Final = 100
"""How often a lock is taken anew whose file was removed in between."""
REMOVED: Final = "its file was removed while it was open"
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class RealFile:
    """`File` on a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._has_links = os.fstat(descriptor).st_nlink > 0
        """False on a file system that does not count names."""

    def read(self, size: int, *, at: int) -> bytes:
        pieces: list[bytes] = []
        while size > 0 and (piece := os.pread(self._descriptor, size, at)):
            pieces.append(piece)
            size, at = size - len(piece), at + len(piece)
        return b"".join(pieces)

    def write(self, data: bytes | memoryview) -> int:
        return os.write(self._descriptor, data)

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def sync(self) -> None:
        """Raises `FileNotFoundError` once the file was removed: what is written then reaches nobody."""
        sync_descriptor(self._descriptor)
        if self._has_links and not os.fstat(self._descriptor).st_nlink:
            raise FileNotFoundError(errno.ENOENT, REMOVED)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        """A reader that is no longer used gives its descriptor back; nobody else has it."""
        self.close()


def sync_descriptor(descriptor: int) -> None:
    """Content and length of a file to the disk: `fdatasync`, `fsync` where there is none, and on macOS, whose `fsync`
    stops at the drive's own memory, `F_FULLFSYNC` where the file system knows it."""
    import fcntl

    full: int | None = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        try:
            fcntl.fcntl(descriptor, full)
        except OSError as error:
            if error.errno not in (errno.ENOTSUP, errno.EINVAL, errno.ENOTTY):
                raise
        else:
            return
    data_sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
    data_sync(descriptor)


class RealLock:
    """`Lock` by `flock` on an open file: the system ends it with the process, closing another descriptor of the same file
    does not (as it would with `fcntl` locks), and programs started meanwhile do not inherit it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        _held[id(self)] = self

    def release(self) -> None:
        _held.pop(id(self), None)
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


_held: Final[dict[int, RealLock]] = {}
"""Locks of this process."""


def _let_go_in_child() -> None:
    """A child that is a copy of this process (`os.fork`) holds a copy of each lock, which would outlive its holder."""
    for lock in list(_held.values()):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)


class RealFs:
    """`Fs` of the operating system."""

    def __init__(self, root: str) -> None:
        if os.name == "nt":
            raise InvalidOption(
                "home", root, why="sessions on disk need Linux, macOS or another POSIX system"
            )
        self._root = os.path.abspath(root)

    def make_folder(self, path: str) -> None:
        if not path:
            return self._make_root(self._root)
        with self._folder_of(path) as (folder, name), contextlib.suppress(FileExistsError):
            os.mkdir(name, FOLDER_MODE, dir_fd=folder)
            os.chmod(name, FOLDER_MODE, dir_fd=folder)

    def _make_root(self, path: str) -> None:
        parent = os.path.dirname(path)
        if not os.path.isdir(path):
            self._make_root(parent)
            with contextlib.suppress(FileExistsError):
                os.mkdir(path, FOLDER_MODE)
                os.chmod(path, FOLDER_MODE)
        if path == self._root or os.access(parent, os.W_OK):
            with contextlib.suppress(PermissionError):  # a parent that is not ours to read: made long before
                sync_path(parent)

    def names(self, path: str) -> tuple[str, ...]:
        with self._folder(path) as folder:
            return tuple(sorted(os.listdir(folder)))

    def open(self, path: str, mode: Mode) -> RealFile:
        extra = {
            "read": os.O_RDONLY,
            "append": os.O_RDWR | os.O_APPEND,
            "new": os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL,
        }
        with self._folder_of(path) as (folder, name):
            return RealFile(self._open(name, extra[mode], folder=folder, path=path))

    def replace(self, old: str, new: str) -> None:
        with self._folder_of(old) as (old_in, old_name), self._folder_of(new) as (new_in, new_name):
            os.replace(old_name, new_name, src_dir_fd=old_in, dst_dir_fd=new_in)

    def remove(self, path: str) -> None:
        with self._folder_of(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def remove_folder(self, path: str) -> None:
        with self._folder_of(path) as (folder, name):
            os.rmdir(name, dir_fd=folder)

    def sync_folder(self, path: str) -> None:
        with self._folder(path) as folder:
            _sync_folder(folder)

    def lock(self, path: str, note: bytes) -> RealLock:
        for _ in range(LOCK_TRIES_MAX):
            with self._folder_of(path) as (folder, name):
                descriptor = self._open(name, os.O_RDWR | os.O_CREAT, folder=folder, path=path)
                try:
                    if self._take(descriptor) and _is_still(name, descriptor, folder=folder):
                        os.ftruncate(descriptor, 0)
                        os.pwrite(descriptor, note[:NOTE_BYTES_MAX], 0)
                        lock, descriptor = RealLock(descriptor), -1
                        return lock
                finally:
                    if descriptor >= 0:
                        os.close(descriptor)
        raise OSError(errno.EAGAIN, "the file of the lock is taken away again and again", path)

    def _take(self, descriptor: int) -> bool:
        """Take the lock; raises `LockHeld`."""
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockHeld(os.pread(descriptor, NOTE_BYTES_MAX, 0)) from None
        return True

    # ── the safe way to a file ───────────────────────────────────────────────────────────────────────────────

    @contextlib.contextmanager
    def _folder_of(self, path: str) -> Iterator[tuple[int, str]]:
        """The folder a path lies in, opened, and its last part."""
        folder, _, name = path.rpartition("/")
        with self._folder(folder) as descriptor:
            yield descriptor, _part(name)

    @contextlib.contextmanager
    def _folder(self, path: str) -> Iterator[int]:
        """A folder, opened."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        try:
            descriptor = os.open(self._root, flags)
        except (PermissionError, NotADirectoryError) as error:
            raise self._unsafe("", "no folder that you may open") from error
        try:
            self._check_folder(descriptor, "")
            for part in path.split("/") if path else ():
                try:
                    below = os.open(_part(part), flags | os.O_NOFOLLOW, dir_fd=descriptor)
                except OSError as error:
                    if error.errno in (errno.ELOOP, errno.ENOTDIR):
                        raise self._unsafe(path, "a symbolic link or no folder") from error
                    raise
                os.close(descriptor)
                descriptor = below
                self._check_folder(descriptor, path)
            yield descriptor
        finally:
            os.close(descriptor)

    def _open(self, name: str, flags: int, *, folder: int, path: str) -> int:
        calm = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
        try:
            descriptor = os.open(name, flags | calm, FILE_MODE, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENODEV):
                raise self._unsafe(path, "a symbolic link or no file") from error
            raise
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_mode & _OTHERS_WRITE:
            os.close(descriptor)
            raise self._unsafe(path, "no file that only you may write")
        if flags & os.O_CREAT and stat.S_IMODE(status.st_mode) != FILE_MODE:
            os.fchmod(descriptor, FILE_MODE)
        return descriptor

    def _check_folder(self, descriptor: int, path: str) -> None:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid():
            raise self._unsafe(path, "another user's")
        if status.st_mode & _OTHERS_WRITE:
            raise self._unsafe(path, "open for others to write (`chmod go-w` closes it)")

    def _unsafe(self, path: str, what: str) -> InvalidOption:
        place = os.path.join(self._root, path) if path else self._root
        return InvalidOption("home", place, why=f"this is {what}, so sessions are not kept there")


def _part(name: str) -> str:
    if not name or name in (".", "..") or "\0" in name or "/" in name:
        raise InvalidOption("name", name, why="this is no name of a file below the home")
    return name


def _is_still(name: str, descriptor: int, *, folder: int) -> bool:
    """True when the name still leads to the open file: it may have been taken away before the lock was had."""
    try:
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))


def sync_path(path: str) -> None:
    """The names in a folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _sync_folder(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network file systems cannot sync a folder
            raise
