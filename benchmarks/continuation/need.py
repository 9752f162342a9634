"""What the real continuation needs: facts that came up before a cut and are mentioned again after it.

Counts a fact once, at its first mention in own words after the cut, and only when no tool had shown it since the cut and no
system prompt shows it anyway.
Knows what was said and when; the judge knows what a fact is.
"""

from __future__ import annotations

from benchmarks.continuation.judge import Fact, facts_in, occurs, words_in, words_of
from benchmarks.continuation.session import Session

MESSAGES_AHEAD = 60


def needed(session: Session, at: int, *, ahead: int = MESSAGES_AHEAD) -> tuple[Fact, ...]:
    """The facts that the `ahead` messages after `at` mention again, in order of first mention."""
    since = Seen(session.system)
    mentioned: dict[Fact, bool] = {}
    for words in session.words[at : at + ahead]:
        for fact in facts_in(words.own):
            if fact not in mentioned:
                mentioned[fact] = session.first(fact) < at and not since.holds(fact)
        since.add(words.shown)
    return tuple(fact for fact, counts in mentioned.items() if counts)


class Seen:
    """Texts, and whether one of them holds a fact."""

    def __init__(self, *texts: str) -> None:
        self._texts: list[tuple[str, frozenset[str]]] = []
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """One more text."""
        if text:
            self._texts.append((text, words_in(text)))

    def holds(self, fact: Fact) -> bool:
        """True when a text holds the fact as whole words."""
        words = words_of(fact)
        return any(
            all(word in vocabulary for word in words) and occurs(fact, text)
            for text, vocabulary in self._texts
        )
