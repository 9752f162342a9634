"""The one way to a file that a transcript names: beneath a folder, and nowhere else.

A model, a web page or a repository may have chosen the path, and may change the folder while it is read. So the way goes
down one name at a time from a folder that is held open, no symbolic link is followed, nothing but a regular file is opened,
and what is read is read from what was opened:

    root ──openat──► src ──openat──► app.py ──fstat──► regular, one name, not too large ──read──► bytes

The root itself may be reached through links, since the host chose it. Counterpart: `foldline.stores.real_fs`, which goes the
same way to what foldline keeps itself, and asks for more there.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from types import TracebackType
from typing import Final, Self

from msgspec import Struct

PATH_BYTES_MAX: Final = 4_096
"""Longest path, bytes (PATH_MAX)."""
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_CALM: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY"))
"""Flags that some systems lack are 0 there; without those that make it safe nothing is opened."""
_WHY: Final = {
    errno.ELOOP: "a symbolic link is in the way",
    errno.ENOTDIR: "a part of the path is no folder, or a symbolic link",
    errno.ENOENT: "there is no such file any more",
    errno.EACCES: "it may not be read",
    errno.EPERM: "it may not be read",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ENXIO: "it is no regular file",
    errno.ENODEV: "it is no regular file",
}


class Held(Struct, frozen=True, kw_only=True):
    """What a file held when it was read."""

    path: str
    """Relative to the root."""
    data: bytes
    """Its beginning, or all of it."""
    size: int
    """Bytes of the whole file."""
    digest: str
    """SHA-256 of `data`."""

    @property
    def is_whole(self) -> bool:
        """Whether `data` is all of it."""
        return len(self.data) >= self.size


class Unread(Struct, frozen=True, kw_only=True):
    """Why a file was not read."""

    path: str
    why: str
    is_outside: bool = False
    """True when the path leads out of the root, or could: then it is no question of whether the file is there."""


class Beneath:
    """Files below a folder; holds it open. A context manager. Raises `OSError` where the folder cannot be opened."""

    def __init__(self, root: str | os.PathLike[str], *, hard_links: bool = False) -> None:
        self.root = os.path.abspath(root)
        self._names = (self.root, os.path.realpath(root))
        self._hard_links = hard_links
        """Whether a file may have a second name, which may lie anywhere."""
        if os.open not in os.supports_dir_fd or not _NO_LINK:
            raise OSError(errno.ENOTSUP, "reading below a folder safely needs a POSIX system", self.root)
        self._descriptor = os.open(root, _CALM | os.O_DIRECTORY)

    def relative(self, path: str) -> str | None:
        """The path from the root, by its words alone; `None` for one that leads elsewhere or could."""
        if not path or "\0" in path:
            return None
        if os.path.isabs(path):
            found = next((name for name in self._names if path.startswith(name.rstrip("/") + "/")), None)
            if found is None:
                return None
            path = path[len(found.rstrip("/")) + 1 :]
        parts = [part for part in path.split("/") if part not in ("", ".")]
        return None if ".." in parts or not parts else "/".join(parts)

    def read(self, path: str, *, bytes_max: int, size_max: int | None = None) -> Held | Unread:
        """The first `bytes_max` bytes of a file of at most `size_max`."""
        inside = self.relative(path)
        if inside is None:
            return Unread(path=path, why="it lies outside the folder", is_outside=True)
        try:
            if len(os.fsencode(inside)) > PATH_BYTES_MAX:
                return Unread(path=inside, why="its path is too long")
            descriptor = self._open(inside)
        except UnicodeEncodeError:
            return Unread(path=inside, why="its name is no name of a file")
        except OSError as error:
            return _refused(inside, error)
        try:
            return self._read(inside, descriptor, bytes_max=bytes_max, size_max=size_max)
        except OSError as error:
            return _refused(inside, error)
        finally:
            os.close(descriptor)

    def _open(self, inside: str) -> int:
        """The file, opened; the folders on the way are let go."""
        *folders, name = inside.split("/")
        with contextlib.ExitStack() as held:
            at = self._descriptor
            for folder in folders:
                at = os.open(folder, _CALM | _NO_LINK | os.O_DIRECTORY, dir_fd=at)
                held.callback(os.close, at)
            return os.open(name, _CALM | _NO_LINK, dir_fd=at)

    def _read(self, inside: str, descriptor: int, *, bytes_max: int, size_max: int | None) -> Held | Unread:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return Unread(path=inside, why="it is no regular file")
        if status.st_nlink > 1 and not self._hard_links:
            return Unread(path=inside, why="it has a second name (a hard link), which may lie anywhere")
        if size_max is not None and status.st_size > size_max:
            return Unread(path=inside, why=f"it has {status.st_size:,} bytes, more than {size_max:,}")
        pieces, left = list[bytes](), bytes_max
        while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
            pieces.append(piece)
            left -= len(piece)
        data = b"".join(pieces)
        size = max(status.st_size, len(data))
        return Held(path=inside, data=data, size=size, digest=hashlib.sha256(data).hexdigest())

    def close(self) -> None:
        """Let the folder go. Closing twice is closing once."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _refused(inside: str, error: OSError) -> Unread:
    why = _WHY.get(error.errno or 0, error.strerror or type(error).__name__)
    return Unread(path=inside, why=why, is_outside=error.errno in (errno.ELOOP, errno.ENOTDIR))
