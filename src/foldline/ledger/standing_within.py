"""What a text shows beside itself: the words and shorter paths that stand within it as words of their own.

Asked for a closed set of texts, so that the work is that of what is looked for: a path has dozens of runs of names, and
only those as long as something in the set are put together. Knows nothing of facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

PATH_NAMES_MAX = 8
"""Names at the end of a path that are looked at for shorter paths within it."""

_WORDS = re.compile(r"(?<![\w-])\w+(?![\w-]|\.\w)")
_BLANK = re.compile(r"\s")
_BESIDE = re.compile(r"[\s\"'`()\[\]{}<>,;:=]+")


class Within:
    """Looks for the texts of one set within others."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = frozenset(texts)
        self._sizes = sorted({text.rstrip("/").count("/") + 1 for text in self._texts})
        self._has_folders = any(text.endswith("/") for text in self._texts)

    def line(self, line: str) -> set[str]:
        """Those that stand in a line."""
        found = self._texts.intersection(_WORDS.findall(line))
        for piece in _BESIDE.split(line):
            if "/" in piece or "." in piece:
                piece = piece.rstrip(".")
                found |= self.path(piece)
                if piece in self._texts:
                    found |= {piece}
        return set(found)

    def text(self, text: str) -> set[str]:
        """Those that stand within a fact, but for the fact itself."""
        if _BLANK.search(text):
            return self.line(text) - {text}
        found = set(self._texts.intersection(_WORDS.findall(text)))
        if "/" in text:
            found |= self.path(text)
        found.discard(text)
        return found

    def path(self, path: str) -> set[str]:
        """Those that are runs of a path's last names."""
        return set(self._texts.intersection(runs_of(path, sizes=self._sizes, folders=self._has_folders)))


def runs_of(path: str, *, sizes: Iterable[int], folders: bool = True) -> Iterator[str]:
    """Each run of a path's last names of these sizes but the path itself; folders with a slash at their end too."""
    names = path.rstrip("/").split("/")
    count, is_folder = len(names), path.endswith("/")
    first = max(0, count - PATH_NAMES_MAX)
    for size in sizes:
        for start in range(first, count - size + 1):
            run = "/".join(names[start : start + size])
            if run and run != path:
                yield run
            if folders and run and (start + size < count or is_folder) and f"{run}/" != path:
                yield f"{run}/"
