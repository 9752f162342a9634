"""A small file that is written whole: whoever reads it, and whatever is left after a power cut, finds the old bytes or the new ones.

    written under another name ──► synced ──► put in the place of the old one ──► folder synced

Knows nothing of what stands in it, and takes no lock: where two may write at once, the caller holds one. Counterpart:
`foldline.stores.disk_log`, for files that grow.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from foldline.core.errors import InvalidOption
from foldline.stores.disk_log import put
from foldline.stores.fs import Fs


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
