"""A disk in memory that remembers every call, fails where it is told to, and can be cut off from power.

`SimulatedDisk` is a `foldline.stores.fs.Fs`, and gives itself for any root:

    disk = SimulatedDisk()
    store = DiskStore("/", fs=disk, clock=lambda: None)

Its trace is what `foldline.testing.crashes` makes the states of a power cut from. It behaves as
`foldline.stores.real_fs` does; a test runs the same calls over both.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from foldline.stores.fs import LockHeld, Mode

Kind: TypeAlias = Literal[
    "make_folder", "names", "open", "make", "replace", "remove", "remove_folder", "sync_folder", "lock",
    "read", "write", "size", "truncate", "sync", "close", "lost", "ack",
]  # fmt: skip

CHANGING: Final = frozenset(
    {
        "make_folder",
        "make",
        "replace",
        "remove",
        "remove_folder",
        "sync_folder",
        "lock",
        "write",
        "truncate",
        "sync",
    }
)
"""Calls that change something or promise that it lasts."""


class Step(Struct, frozen=True, kw_only=True):
    """Something that was done."""

    kind: Kind
    path: str = ""
    to: str = ""
    inode: int = -1
    data: bytes = b""
    size: int = 0
    count: int = 0
    """`ack`: how much was promised up to here."""


class Call(Struct, frozen=True, kw_only=True):
    """Something that is about to be done."""

    number: int
    """Which of the calls that change something, from 1; 0 for others."""
    kind: Kind
    path: str
    size: int = 0
    """Bytes to be written."""


Fault: TypeAlias = Callable[[Call], "int | None"]
"""Raises what the call raises. For a write it may return how many bytes are taken, if not all."""


class PowerCut(BaseException):
    """The process ends here."""


def nothing_fails(call: Call) -> int | None:
    """A sound disk."""
    return None


def fails_at(number: int, code: int, *, forever: bool = False) -> Fault:
    """The call of this number fails with an error of the system; `forever`: and all changing ones after it."""

    def fault(call: Call) -> None:
        if call.number == number or (forever and call.number > number):
            raise OSError(code, os.strerror(code), call.path)

    return fault


def cut_at(number: int) -> Fault:
    """The process ends just before the call of this number."""

    def fault(call: Call) -> None:
        if call.number >= number > 0 and call.number:
            raise PowerCut

    return fault


def short_write(number: int, size: int) -> Fault:
    """The call of this number, if it is a write, takes only so many bytes."""

    def fault(call: Call) -> int | None:
        return min(size, call.size) if call.number == number and call.kind == "write" else None

    return fault


def torn_write(number: int, size: int, *, code: int) -> Fault:
    """The call of this number, if it is a write, takes only so many bytes, and the one after it fails."""
    torn: list[int] = []

    def fault(call: Call) -> int | None:
        if torn and call.number == number + 1:
            raise OSError(code, os.strerror(code), call.path)
        if call.number == number and call.kind == "write":
            torn.append(number)
            return min(size, call.size)
        return None

    return fault


class Image(Struct, kw_only=True):
    """What a disk holds."""

    folders: set[str]
    files: dict[str, int]
    """Path → inode."""
    data: dict[int, bytearray]

    @classmethod
    def empty(cls) -> Image:
        """A disk on which nothing was made but the root."""
        return cls(folders={""}, files={}, data={})


def copy(image: Image) -> Image:
    """The same, changed apart from it."""
    data = {inode: bytearray(content) for inode, content in image.data.items()}
    return Image(folders=set(image.folders), files=dict(image.files), data=data)


class SimulatedDisk:
    """`foldline.stores.fs.Fs` in memory."""

    def __init__(self, image: Image | None = None, *, fault: Fault = nothing_fails) -> None:
        self.image = Image.empty() if image is None else image
        self.trace: list[Step] = []
        self.fault = fault
        self.calls = 0
        self._locks: dict[str, bytes] = {}

    def __call__(self, root: str) -> SimulatedDisk:
        """Itself, whatever the root."""
        return self

    def ack(self, count: int) -> None:
        """Note that so much was promised by now."""
        self.trace.append(Step(kind="ack", count=count))

    def reboot(self) -> SimulatedDisk:
        """What a new process finds after this one was killed: all that was written, and no locks."""
        return SimulatedDisk(self.image)

    # ── Fs ───────────────────────────────────────────────────────────────────────────────────────────────────

    def make_folder(self, path: str) -> None:
        self._about_to("make_folder", path)
        if path in self.image.folders:
            return
        self._parent(path)
        self.image.folders.add(path)
        self.trace.append(Step(kind="make_folder", path=path))

    def names(self, path: str) -> tuple[str, ...]:
        self._about_to("names", path)
        self._folder(path)
        found = {*self.image.files, *self.image.folders} - {""}
        return tuple(sorted(name.rpartition("/")[2] for name in found if parent_of(name) == path))

    def open(self, path: str, mode: Mode) -> SimulatedFile:
        self._about_to("make" if mode == "new" else "open", path)
        self._parent(path)
        if mode == "new":
            if path in self.image.files or path in self.image.folders:
                raise _error(errno.EEXIST, path)
            self._make(path)
        if path not in self.image.files:
            raise _error(errno.ENOENT, path)
        return SimulatedFile(self, path, inode=self.image.files[path])

    def replace(self, old: str, new: str) -> None:
        self._about_to("replace", new)
        if old not in self.image.files:
            raise _error(errno.ENOENT, old)
        self._parent(new)
        inode = self.image.files.pop(old)
        self.image.files[new] = inode
        self.trace.append(Step(kind="replace", path=old, to=new, inode=inode))

    def remove(self, path: str) -> None:
        self._about_to("remove", path)
        if path not in self.image.files:
            raise _error(errno.ENOENT, path)
        del self.image.files[path]
        self.trace.append(Step(kind="remove", path=path))

    def remove_folder(self, path: str) -> None:
        self._about_to("remove_folder", path)
        self._folder(path)
        if any(parent_of(name) == path for name in (*self.image.files, *self.image.folders) if name):
            raise _error(errno.ENOTEMPTY, path)
        self.image.folders.remove(path)
        self.trace.append(Step(kind="remove_folder", path=path))

    def sync_folder(self, path: str) -> None:
        self._about_to("sync_folder", path)
        self._folder(path)
        self.trace.append(Step(kind="sync_folder", path=path))

    def lock(self, path: str, note: bytes) -> SimulatedLock:
        self._about_to("lock", path)
        self._parent(path)
        if path in self._locks:
            raise LockHeld(self._locks[path])
        if path not in self.image.files:
            self._make(path)
        self._locks[path] = note
        return SimulatedLock(self._locks, path)

    # ── within ───────────────────────────────────────────────────────────────────────────────────────────────

    def _make(self, path: str) -> None:
        inode = 1 + max(self.image.data, default=0)
        self.image.files[path] = inode
        self.image.data[inode] = bytearray()
        self.trace.append(Step(kind="make", path=path, inode=inode))

    def _about_to(self, kind: Kind, path: str, *, size: int = 0) -> int | None:
        self.calls += kind in CHANGING
        return self.fault(Call(number=self.calls if kind in CHANGING else 0, kind=kind, path=path, size=size))

    def _parent(self, path: str) -> None:
        self._folder(parent_of(path))

    def _folder(self, path: str) -> None:
        if path not in self.image.folders:
            raise _error(errno.ENOENT, path)


class SimulatedFile:
    """`foldline.stores.fs.File` in memory; goes on working when its name is taken away."""

    def __init__(self, disk: SimulatedDisk, path: str, *, inode: int) -> None:
        self._disk, self._path, self._inode = disk, path, inode
        self._data = disk.image.data[inode]

    def read(self, size: int, *, at: int) -> bytes:
        self._disk._about_to("read", self._path)
        return bytes(self._data[at : at + size])

    def write(self, data: bytes | memoryview) -> int:
        taken = self._disk._about_to("write", self._path, size=len(data))
        data = bytes(data[: len(data) if taken is None else taken])
        self._data += data
        self._note("write", data=data)
        return len(data)

    def size(self) -> int:
        self._disk._about_to("size", self._path)
        return len(self._data)

    def truncate(self, size: int) -> None:
        self._disk._about_to("truncate", self._path)
        del self._data[size:]
        self._note("truncate", size=size)

    def sync(self) -> None:
        try:
            self._disk._about_to("sync", self._path)
        except OSError:  # as Linux does: what was to be written counts as written, and is not on the disk
            self._note("lost")
            raise
        self._note("sync")

    def close(self) -> None:
        """Nothing is lost by it."""

    def _note(self, kind: Kind, *, data: bytes = b"", size: int = 0) -> None:
        self._disk.trace.append(Step(kind=kind, path=self._path, inode=self._inode, data=data, size=size))


class SimulatedLock:
    """`foldline.stores.fs.Lock` in memory."""

    def __init__(self, locks: dict[str, bytes], path: str) -> None:
        self._locks, self._path = locks, path

    def release(self) -> None:
        """Let others have it."""
        self._locks.pop(self._path, None)
        self._locks = {}


def parent_of(path: str) -> str:
    """The folder a path lies in; `""` for the root."""
    return path.rpartition("/")[0]


def _error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)
