"""The one way to the disk: what stores ask of a file system.

Every call that may fail or be lost in a power cut goes through `Fs`, so that a test can count, refuse or forget each of
them (`foldline.testing.disk`); the real one is `foldline.stores.real_fs`. Paths are relative to a root (a foldline home), with
`/` between their parts and without `..`; below the root no symbolic link is followed and nothing that others own or may
write is used. Knows nothing of logs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Protocol, TypeAlias

NOTE_BYTES_MAX: Final = 400
"""Longest note of who holds a lock, bytes."""

Mode: TypeAlias = Literal["read", "append", "new"]
"""`read`: an existing file · `append`: an existing file, also to be written at its end · `new`: a file that must not exist."""


class LockHeld(Exception):
    """Someone else holds the lock; `note` is what it says of itself."""

    def __init__(self, note: bytes) -> None:
        super().__init__(note)
        self.note = note


class File(Protocol):
    """An open file. Every method raises `OSError`."""

    def read(self, size: int, *, at: int) -> bytes:
        """Up to `size` bytes from this byte on; fewer at the end of the file alone."""
        ...

    def write(self, data: bytes | memoryview) -> int:
        """Put data at the end; returns how many bytes were taken, which may be fewer."""
        ...

    def size(self) -> int:
        """Bytes in the file."""
        ...

    def truncate(self, size: int) -> None:
        """Cut the file off."""
        ...

    def sync(self) -> None:
        """Content and length are on disk when this returns."""
        ...

    def close(self) -> None:
        """Closing twice is closing once."""
        ...


class Lock(Protocol):
    """A lock that is held."""

    def release(self) -> None:
        """Let others have it. Releasing twice is releasing once."""
        ...


class Fs(Protocol):
    """A file system below a root. Every method raises `OSError`; `InvalidOption` where the place is not safe to use."""

    def make_folder(self, path: str) -> None:
        """A folder for the user alone; nothing to do where there is one. `""`: the root, with all above it."""
        ...

    def names(self, path: str) -> tuple[str, ...]:
        """What is in a folder, sorted."""
        ...

    def open(self, path: str, mode: Mode) -> File:
        """A regular file, for the user alone."""
        ...

    def replace(self, old: str, new: str) -> None:
        """Rename; what had the name before is gone, in one step."""
        ...

    def remove(self, path: str) -> None:
        """Take a file away."""
        ...

    def remove_folder(self, path: str) -> None:
        """Take an empty folder away."""
        ...

    def sync_folder(self, path: str) -> None:
        """Names made, changed and taken away in it are on disk when this returns."""
        ...

    def lock(self, path: str, note: bytes) -> Lock:
        """Lock a file, made if need be, and leave a note of who holds it. Raises `LockHeld` without waiting. The lock ends
        with the process, however that ends, and is not handed on to children."""
        ...


Open: TypeAlias = Callable[[str], Fs]
"""Gives the file system below a root."""
