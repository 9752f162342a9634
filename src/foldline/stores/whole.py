"""A small file that is written whole: whoever reads it, and whatever is left after a power cut, finds the old bytes or the new ones.

    written under another name ──► synced ──► put in the place of the old one ──► folder synced

Knows nothing of what stands in it, and takes no lock: where two may write at once, the caller holds one. Counterpart:
`foldline.stores.disk_log`, for files that grow.
"""

from __future__ import annotations

import contextlib

from foldline.stores.disk_log import put
from foldline.stores.fs import Fs


def write_whole(files: Fs, data: bytes, *, name: str, new: str) -> None:
    """Write a file of the root's own folder; durable when this returns. `new`: the name it has until then; what a writer that
    was cut off left there goes first. Raises `OSError`; the file is as it was then."""
    if new in files.names(""):
        with contextlib.suppress(FileNotFoundError):
            files.remove(new)
    file = files.open(new, "new")
    try:
        put(file, data)
        file.sync()
    finally:
        file.close()
    files.replace(new, name)
    files.sync_folder("")
