"""What a text shows beside itself: the words and shorter paths that stand within it as words of their own.

Asked for a closed set of texts, so that the work is that of what is looked for: a path has dozens of runs of names, and
only those that end like something in the set are put together. Knows nothing of facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

PATH_NAMES_MAX = 8
"""Names at the end of a path that are looked at for shorter paths within it."""

_WORDS = re.compile(r"(?<![\w-])\w+(?![\w-]|\.\w)")
_NOTHING: Set[str] = frozenset()
_BLANK = re.compile(r"\s")
_BESIDE = re.compile(r"[\s\"'`()\[\]{}<>,;:=]+")


class Within:
    """Looks for the texts of one set within others."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = frozenset(texts)
        self._sizes: dict[str, set[int]] = {}
        """Last name of a path among them → how many names such paths have."""
        for text in self._texts:
            if "/" in text:
                names = text.rstrip("/").split("/")
                self._sizes.setdefault(names[-1], set()).add(len(names))

    def line(self, line: str) -> Set[str]:
        """Those that stand in a line."""
        shown = _WORDS.findall(line)
        found: set[str] = set()
        for piece in _BESIDE.split(line):
            if "/" in piece or "." in piece:
                piece = piece.rstrip(".")
                shown.append(piece)
                found |= self.path(piece)
        return found | self._texts.intersection(shown)

    def text(self, text: str) -> Set[str]:
        """Those that stand within a fact, but for the fact itself."""
        if text.isidentifier():  # one word: nothing stands within it
            return _NOTHING
        if _BLANK.search(text):
            return self.line(text) - {text}
        shown = _WORDS.findall(text)
        return self._among([*shown, *self._runs(text)] if "/" in text else shown, text)

    def path(self, path: str) -> Set[str]:
        """Those that are runs of a path's last names, folders with and without the slash at their end."""
        return self._among(self._runs(path), path)

    def _among(self, shown: list[str], text: str) -> Set[str]:
        found = self._texts.intersection(shown)
        return found - {text} if text in found else found

    def _runs(self, path: str) -> list[str]:
        """Runs of a path's last names that may be among the texts."""
        bare = path.rstrip("/")
        names = bare.split("/")[-PATH_NAMES_MAX:]
        shown = [*names, bare]
        for end, name in enumerate(names, 1):
            if name in self._sizes:
                is_folder = end < len(names) or bare != path
                for size in self._sizes[name]:
                    if size <= end:
                        run = "/".join(names[end - size : end])
                        shown += [run, f"{run}/"] if is_folder else [run]
        return shown
