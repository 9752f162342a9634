"""Facts: what can be checked of a history without understanding it.

A fact is found once in an immutable part and cached; identity is its kind and key. Owns the vocabulary of facts and
the cache; how facts are found stands in `found_in_text`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

from foldline.core.message import Part

FactKind: TypeAlias = Literal["paths", "identifiers", "numbers", "errors", "symbols"]
"""`identifiers`: URLs, hashes, ids. `numbers`: a number with its key. `errors`: a line that reports a failure.
`symbols`: names of functions, classes and the like."""

KINDS: tuple[FactKind, ...] = ("paths", "identifiers", "numbers", "errors", "symbols")
Origin: TypeAlias = Literal["user", "assistant", "tool", "system"]
"""Who said it. Text from files and the web comes through tools."""


class Fact(Struct, frozen=True, kw_only=True, gc=False):
    """One fact, as it stood."""

    kind: FactKind
    key: str
    """What makes it the same fact elsewhere: the path or identifier itself, a number's key, an error without what
    changes from run to run."""
    text: str
    """Verbatim, on one line; what has to be in view for the fact to be in view."""
    value: str = ""
    """A number's value."""


Extract: TypeAlias = Callable[[str], tuple[Fact, ...]]
"""Facts of one text, in order of first occurrence, each once."""


class FactCache:
    """Facts of parts, found once. A part is immutable, so nothing ever has to be found again.

    Bounded by the history it serves: one entry for each part asked for.
    """

    def __init__(self, extract: Extract) -> None:
        self._extract = extract
        self._found: dict[int, tuple[Part, tuple[Fact, ...]]] = {}

    def of(self, part: Part, *texts: str) -> tuple[Fact, ...]:
        """Facts of a part whose text is `texts`: one, or pieces that are read one by one."""
        entry = self._found.get(id(part))
        if entry is not None and entry[0] is part:
            return entry[1]
        facts = tuple([fact for text in texts for fact in self._extract(text)])
        self._found[id(part)] = (part, facts)
        return facts

    def in_text(self, text: str) -> tuple[Fact, ...]:
        """Facts of a text that is no part's whole text: found anew each time."""
        return self._extract(text)

    def __len__(self) -> int:
        return len(self._found)
