"""What a text shows beside itself: the words and shorter paths that stand within it as words of their own.

Asked for a set of texts, so that the work is that of what is looked for: a path has dozens of runs of names, and only
those that end like something in the set are put together. `Within` looks into one text; `Standing` is asked the other way
round, which of the texts that it knows show a given one, and learns more of them as a history grows. Knows nothing of facts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Set

PATH_NAMES_MAX = 8
"""Names at the end of a path that are looked at for shorter paths within it."""
LINES_MAX = 4_000
"""Lines that are remembered with what stands in them: a ledger has some hundreds, and is drafted a few times."""
_LONG = PATH_NAMES_MAX + 1
"""More names than that, however many."""

_WORDS = re.compile(r"(?<![\w-])\w+(?![\w-]|\.\w)")
_BLANK = re.compile(r"\s")
_BESIDE = re.compile(r"[\s\"'`()\[\]{}<>,;:=]+")


class Within:
    """Looks for the texts of one set within others."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts: set[str] = set()
        self._sizes: dict[str, int] = {}
        """Last name of a path among them → how many names such paths have, a bit for each number."""
        self.learn(texts)

    def learn(self, texts: Iterable[str]) -> None:
        """Look for these too."""
        self.texts.update(texts)
        for text in texts:
            if "/" in text:
                bare = text.rstrip("/")
                name = bare.rpartition("/")[2]
                self._sizes[name] = self._sizes.get(name, 0) | 1 << min(bare.count("/") + 1, _LONG)

    def line(self, line: str) -> Set[str]:
        """Those that stand in a line."""
        return self.texts.intersection(self._in_line(line))

    def text(self, text: str) -> Set[str]:
        """Those that stand within a fact, but for the fact itself."""
        return self._among(self.may_stand_in(text), text)

    def path(self, path: str) -> Set[str]:
        """Those that are runs of a path's last names, folders with and without the slash at their end."""
        return self._among(self._runs(path), path)

    def may_stand_in(self, text: str) -> list[str]:
        """The words of a fact, and its names and runs of names, as far as one of the texts ends like them."""
        if text.isidentifier():  # one word: nothing stands within it
            return []
        if _BLANK.search(text):
            return self._in_line(text)
        shown = _WORDS.findall(text)
        return [*shown, *self._runs(text)] if "/" in text else shown

    def _in_line(self, line: str) -> list[str]:
        shown = _WORDS.findall(line)
        for piece in _BESIDE.split(line):
            if "/" in piece or "." in piece:
                piece = piece.rstrip(".")
                shown += [piece, *self._runs(piece)]
        return shown

    def _among(self, shown: list[str], text: str) -> Set[str]:
        found = self.texts.intersection(shown)
        return found - {text} if text in found else found

    def _runs(self, path: str) -> list[str]:
        """Runs of a path's last names that may be among the texts."""
        bare = path.rstrip("/")
        names = bare.split("/")[-PATH_NAMES_MAX:]
        shown = [*names, bare]
        for end, name in enumerate(names, 1):
            sizes = self._sizes.get(name)
            if sizes is not None:
                is_folder = end < len(names) or bare != path
                for size in range(1, end + 1):
                    if sizes >> size & 1:
                        run = "/".join(names[end - size : end])
                        shown += [run, f"{run}/"] if is_folder else [run]
        return shown


class Standing:
    """Texts, and which of them show which: asked of one that nothing else shows, as of most, it costs one look-up."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._within = Within()
        self._showing: dict[str, list[str]] = {}
        """Word or name → the texts in which it stands; path among the texts → the same."""
        self._lines: dict[str, Set[str]] = {}
        """Line → those that stand in it, as far as it was asked since texts were learned."""
        self.learn(texts)

    def __len__(self) -> int:
        return len(self._within.texts)

    def learn(self, texts: Iterable[str]) -> None:
        """Know these too. Costs some µs for each that is new."""
        known, showing = self._within.texts, self._showing
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            self._lines.clear()
        for path in new if known else ():
            if "/" in path:
                showing.setdefault(path, []).extend(self._with_path(path))
        self._within.learn(new)
        for text in new:
            for piece in dict.fromkeys(self._within.may_stand_in(text)):
                if piece != text and ("/" not in piece or piece in known):
                    showing.setdefault(piece, []).append(text)

    def _with_path(self, path: str) -> Iterable[str]:
        """The texts known before in which a new path stands: they show its last name."""
        alone = Within([path])
        name = path.rstrip("/").rpartition("/")[2]
        return [text for text in self._showing.get(name, ()) if path in alone.text(text)]

    def showing(self, text: str) -> Collection[str]:
        """The others in which a text stands."""
        return self._showing.get(text, ())

    def line(self, line: str) -> Set[str]:
        """Those that stand in a line."""
        found = self._lines.get(line)
        if found is None:
            if len(self._lines) >= LINES_MAX:
                self._lines.clear()
            found = self._lines[line] = self._within.line(line)
        return found
