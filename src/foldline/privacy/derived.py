"""What is made from the logs and can be made anew: the search index and the statistics, emptied of what was forgotten.

Both are rebuilt from the logs when they are next asked, so taking all of it away is always right. Owns which files
those are; what stands in them is `foldline.recall`'s and `foldline.stores.statistics`'s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from foldline.stores.real_fs import RealFs

DATABASES: Final = ("recall.sqlite", "statistics.sqlite")
_BESIDE: Final = ("", "-wal", "-shm", "-journal")


def forget_derived(home: Path) -> tuple[str, ...]:
    """Take away what may hold words of sessions; says which files went."""
    files = RealFs(str(home))
    there = set(files.names(""))
    gone = tuple(name + end for name in DATABASES for end in _BESIDE if name + end in there)
    for name in gone:
        files.remove(name)
    if gone:
        files.sync_folder("")
    return gone
