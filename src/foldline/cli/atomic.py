"""Writes a file whole or not at all.

Owns the order of system calls that makes it so. Knows nothing of what is written; its counterpart on the reading
side is `foldline.files`.

    temporary file in the same folder → write → fsync → rename over the target → fsync of the folder

Until the rename the old file stands untouched, after it the new one stands whole; so writing over the very file
that was read is safe. Whether it may be is the command's to say (`foldline.cli.options.forbid_over_original`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile

from foldline.stores.real_fs import sync_path

MODE_NEW = 0o600
"""Mode of a file that did not exist: sessions hold what people said and tools saw."""


def write_whole(path: str, data: bytes) -> None:
    """Put `data` into `path`. A symbolic link is followed and stays; an existing file keeps its mode and owner.

    A device or pipe (`/dev/null`, `/dev/stdout`) is written to, never replaced. Raises `OSError`; then, as after an
    interrupt, the old content stands and no other file is left.
    """
    target = os.path.realpath(path)
    try:
        old: os.stat_result | None = os.stat(target)
    except FileNotFoundError:
        old = None
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(target, "wb") as device:
            device.write(data)
        return
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    _replace(target, data, old=old)


def _replace(target: str, data: bytes, *, old: os.stat_result | None) -> None:
    folder = os.path.dirname(target)
    descriptor, temporary = tempfile.mkstemp(prefix=".foldline-", suffix=".tmp", dir=folder)
    renamed = False
    try:
        with open(descriptor, "wb") as file:
            _keep_owner_and_mode(descriptor, old)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, target)
        renamed = True
    finally:
        if not renamed:  # after an interrupt, too
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
    if os.name != "nt":
        sync_path(folder)


def _keep_owner_and_mode(descriptor: int, old: os.stat_result | None) -> None:
    if os.name == "nt":
        return
    if old is not None:
        with contextlib.suppress(PermissionError):  # only root may give a file away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, MODE_NEW if old is None else stat.S_IMODE(old.st_mode))
