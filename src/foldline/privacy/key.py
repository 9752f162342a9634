"""The key of fingerprints: made once for a home, kept beside the sessions for the user alone.

Whoever has the key can try words against the fingerprints in the logs; without it they say only which secrets are the
same. A lost key is made anew: fingerprints of before and after then differ, and nothing else is lost. Counterpart:
`foldline.log.secrets`, which takes the key as a value.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from foldline.core.errors import InvalidOption
from foldline.log.secrets import Redactor
from foldline.stores.fs import Fs, LockHeld, Open
from foldline.stores.real_fs import RealFs
from foldline.stores.whole import kept_in, write_whole

KEY_BYTES: Final = 32
KEY, NEW, LOCK = "key", "key.new", "key.lock"
WAITS_MAX: Final = 50
WAIT_S: Final = 0.02
"""How long another process is waited for that makes the key at this very moment: a second in all."""


def redactor_in(home: str | os.PathLike[str], *, fs: Open = RealFs) -> Redactor:
    """What takes secrets out of everything this home keeps."""
    return Redactor(key_in(home, fs=fs))


def key_in(
    home: str | os.PathLike[str], *, fs: Open = RealFs, make: Callable[[int], bytes] = os.urandom
) -> bytes:
    """The key of a home, made when there is none; durable when this returns. Raises `InvalidOption` for a home that is
    not safe to use, or that it cannot be kept in."""
    place = str(Path(home) / KEY)
    with kept_in(place):
        files = fs(os.fspath(home))
        return _read(files) or _agreed(files, place=place, make=make)


def _agreed(files: Fs, *, place: str, make: Callable[[int], bytes]) -> bytes:
    """The one key of all processes that find none at the same time."""
    files.make_folder("")
    for _ in range(WAITS_MAX):
        try:
            lock = files.lock(LOCK, b"{}")
        except LockHeld:
            time.sleep(WAIT_S)
            continue
        try:
            return _read(files) or _made(files, make(KEY_BYTES))
        finally:
            lock.release()
    why = "another process has been making the key for a second; try again"
    raise InvalidOption("home", place, why=why)


def _read(files: Fs) -> bytes | None:
    try:
        file = files.open(KEY, "read")
    except FileNotFoundError:
        return None
    try:
        data = file.read(KEY_BYTES + 1, at=0)
    finally:
        file.close()
    return data if len(data) == KEY_BYTES else None


def _made(files: Fs, key: bytes) -> bytes:
    write_whole(files, key, name=KEY, new=NEW)
    return key
