"""What a text shows beside itself: the words and shorter paths that stand within it as words of their own.

Asked for a closed set of texts, so that the work is that of what is looked for: a path has dozens of runs of names, and
those longer than anything in the set are not put together. Knows nothing of facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set

PATH_NAMES_MAX = 8
"""Names at the end of a path that are looked at for shorter paths within it."""

_WORDS = re.compile(r"(?<![\w-])\w+(?![\w-]|\.\w)")
_BLANK = re.compile(r"\s")
_BESIDE = re.compile(r"[\s\"'`()\[\]{}<>,;:=]+")


class Within:
    """Looks for the texts of one set within others."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = frozenset(texts)
        self._folders = frozenset([text for text in self._texts if text.endswith("/")])
        self._longest = max([text.rstrip("/").count("/") + 1 for text in self._texts], default=0)
        """Names of the longest path among them."""

    def line(self, line: str) -> Set[str]:
        """Those that stand in a line."""
        found = self._texts.intersection(_WORDS.findall(line))
        for piece in _BESIDE.split(line):
            if "/" in piece or "." in piece:
                piece = piece.rstrip(".")
                found |= self.path(piece) | self._texts.intersection([piece])
        return found

    def text(self, text: str) -> Set[str]:
        """Those that stand within a fact, but for the fact itself."""
        if _BLANK.search(text):
            return self.line(text) - {text}
        found = self._texts.intersection(_WORDS.findall(text))
        if "/" in text:
            found |= self.path(text)
        return found - {text}

    def path(self, path: str) -> Set[str]:
        """Those that are runs of a path's last names, the path itself left out."""
        names = path.rstrip("/").split("/")[-PATH_NAMES_MAX:]
        found = self._texts.intersection(names)
        if self._folders:
            found |= self._folders.intersection(folders_of(path, names))
        if self._longest > 1:
            found |= self._texts.intersection(runs_of(names, longest=self._longest))
        return found - {path}


def runs_of(names: Sequence[str], *, longest: int) -> Iterator[str]:
    """Each run of two names and more, up to so many."""
    for size in range(2, min(longest, len(names)) + 1):
        for start in range(len(names) - size + 1):
            yield "/".join(names[start : start + size])


def folders_of(path: str, names: Sequence[str]) -> Iterator[str]:
    """The same of folders, with the slash at their end: every run but those that end with a file's name."""
    inner = names if path.endswith("/") else names[:-1]
    yield from (f"{name}/" for name in inner)
    yield from (f"{run}/" for run in runs_of(inner, longest=len(inner)))
