"""The home: the folder in which the sessions of a user are kept, and the store in it.

The one place where a folder that was given, or that the environment names, becomes a store. Knows nothing of sessions.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from foldline.core.errors import InvalidOption
from foldline.settings import sessions_home

if TYPE_CHECKING:
    from foldline.stores.disk import DiskStore

Home: TypeAlias = str | os.PathLike[str] | None
"""A folder; `None`: the one that the environment names."""


def home_at(home: Home = None) -> Path:
    """The folder. Raises `InvalidOption` for what names none."""
    return sessions_home() if home is None else folder_at("home", home)


def folder_at(option: str, given: object) -> Path:
    """The folder that an option names. Raises `InvalidOption`."""
    path = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
    if not isinstance(path, str) or not path or "\0" in path or not _is_encodable(path):
        raise InvalidOption(option, given, why="give the path of a folder, or leave it out")
    return Path(path)


def disk_store(home: Home = None) -> DiskStore:
    """The store of the sessions there. Raises as `home_at`."""
    from foldline.stores.disk import DiskStore

    return DiskStore(home_at(home))


def _is_encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True
