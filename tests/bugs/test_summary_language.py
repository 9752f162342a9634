"""Fault reports of kind `summary-language`: what a fold says is said in the user's words and language."""

from __future__ import annotations

import copy

import pytest

from tests.bugs.case import all_text, load, squeezed
from tests.bugs.neutral import written
from tests.bugs.test_lost_constraints import work


@pytest.mark.parametrize(
    ("id", "words"),
    [
        ("I01", ("corrija o erro de login", "Responda sempre em português.")),
        ("I03", ("로그 확인해줘",)),
    ],
)
def test_the_users_words_stand_in_the_users_language(id: str, words: tuple[str, ...]) -> None:
    """anomalyco/opencode#20156, openclaw/openclaw#10456: an English summary, and from then on English answers. A ledger
    translates nothing: what users said stands as they said it, whatever tools answered in."""
    case = load(id)
    messages = [
        *copy.deepcopy(case.messages[:-1]),
        *written(work(8), format=case.format),
        copy.deepcopy(case.messages[-1]),
    ]
    for to in (0.5, 0.3, 0.2):
        said = all_text(squeezed(messages, format=case.format, to=to).messages)
        assert [word for word in words if word not in said] == []
