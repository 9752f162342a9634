"""A small file that is written whole: whoever reads it, and whatever is left after a power cut, finds the old bytes or the new ones.

    written under another name ──► synced ──► put in the place of the old one ──► folder synced

Knows nothing of what stands in it. `write_whole` takes no lock: where two may write at once, the caller holds one, as a
`KeptFile` does for a document that processes change in turn. Counterpart: `foldline.stores.disk_log`, for files that grow.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from foldline.core.errors import InvalidOption
from foldline.stores.disk_log import put
from foldline.stores.fs import Fs, LockHeld, Open

FILE_BYTES_MAX: Final = 1 << 20
"""Largest document that is read, bytes."""


class Document(Struct, frozen=True, kw_only=True):
    """What stands in a file that processes change in turn; its further fields are lists and dicts, each with a default."""

    format: str


Written = TypeVar("Written", bound=Document)


class KeptFile(Generic[Written]):
    """A document of a home, for the user alone (0600). `empty`: one with nothing in it, which says what format it is; `remedy`: what
    comes of removing a file that is not sound. Raises `InvalidOption` for such a file or one that is not safe, `OSError`."""

    def __init__(
        self, home: str | os.PathLike[str], *, name: str, empty: Written, remedy: str, fs: Open
    ) -> None:
        self.place = os.path.join(os.fspath(home), name)
        """Where it is, for a person."""
        self._files: Fs = fs(os.fspath(home))
        self._name, self._empty, self._remedy = name, msgspec.json.encode(empty), remedy
        self._kind, self._format = type(empty), empty.format

    def read(self) -> Written:
        """What stands in it: the caller's own, to be changed in `changing` alone."""
        try:
            file = self._files.open(self._name, "read")
        except FileNotFoundError:
            return msgspec.json.decode(self._empty, type=self._kind)
        with contextlib.closing(file):
            data = file.read(FILE_BYTES_MAX + 1, at=0)
        if len(data) > FILE_BYTES_MAX:
            raise self._unsound(f"larger than {FILE_BYTES_MAX:,} bytes")
        try:
            found = msgspec.json.decode(data, type=self._kind)
        except msgspec.DecodeError as error:
            raise self._unsound(str(error)) from None
        if found.format != self._format:
            raise self._unsound(found.format)
        return found

    def _unsound(self, why: str) -> InvalidOption:
        why = f"this is no file of {self._name} ({why[:200]}); remove it{self._remedy}"
        return InvalidOption(self._name, self.place, why=why)

    @contextlib.contextmanager
    def changing(self) -> Iterator[Written]:
        """What stands in it, alone with it until it is written again; durable behind that. Raises `InvalidOption` too where another
        process changes it, and for what the system refuses."""
        with kept_in(self.place):
            try:
                self._files.make_folder("")
                lock = self._files.lock(f"{self._name}.lock", b"{}")
            except LockHeld:
                why = f"another process is changing the {self._name} at this moment; try again"
                raise InvalidOption(self._name, self.place, why=why) from None
            try:
                found = self.read()
                yield found
                data = msgspec.json.encode(found, order="deterministic")
                write_whole(self._files, data, name=self._name, new=f"{self._name}.new")
            finally:
                lock.release()


def write_whole(files: Fs, data: bytes, *, name: str, new: str) -> None:
    """Write a file of the root's own folder; durable when this returns. `new`: the name it has until then; what a writer that
    was cut off left there goes first. Raises `OSError`; the file is as it was then, and what was begun is taken away."""
    if new in files.names(""):
        with contextlib.suppress(FileNotFoundError):
            files.remove(new)
    file = files.open(new, "new")
    try:
        try:
            put(file, data)
            file.sync()
        finally:
            file.close()
        files.replace(new, name)
    except OSError:
        with contextlib.suppress(OSError):
            files.remove(new)
        raise
    files.sync_folder("")


@contextlib.contextmanager
def kept_in(place: str) -> Iterator[None]:
    """Around the keeping of a file of the home: what the system refuses is said of that file. Raises `InvalidOption`."""
    try:
        yield
    except OSError as error:
        why = f"this file cannot be kept here ({error.strerror or error}); mend the cause and try again"
        raise InvalidOption("home", place, why=why) from error
