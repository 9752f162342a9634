"""Words of one shape say the same, at the same places; each quotes itself."""

from __future__ import annotations

import pytest

from foldline.ledger.found_in_text import Finder, extract
from foldline.ledger.found_in_words import WordReader


@pytest.mark.parametrize(
    ("seen", "word"),
    [
        ("src/pool2/drain_17.py:88:", "src/pool9/drain_40.py:11:"),
        ("PROJ-412,PROJ-413", "PROJ-998,PROJ-111"),
        ("https://a.b/v1/c?x=10.", "https://a.b/v7/c?x=99."),
        ("numpy==1.26.4", "numpy==2.10.9"),
        ("id=4bc03f2a9d1e", "id=9bc77f0a1d6e"),
        ("2f0c81e7-3a55-4d0b-9d2f-0a1b2c3d4e5f", "7f9c00e1-8a22-1d9b-1d8f-9a9b8c7d6e5f"),
        ("songs/a.mp3", "songs/b.mp4"),
        ("mia_li_3668(retry2Times)", "mia_li_0001(retry9Times)"),
    ],
)
def test_a_word_has_its_own_facts_whatever_words_of_its_shape_were_read_before(seen: str, word: str) -> None:
    """OBS-3, law SAME: a fact is quoted as it stands, and no memory changes what is found."""
    finder = Finder()
    finder(seen)
    assert finder(word) == extract(word) != ()
    assert all(fact.text in word for fact in finder(word))


def test_the_same_text_twice_in_a_word_is_two_places() -> None:
    """OBS-3: two tickets of one shape are two facts."""
    word = "PROJ-412,PROJ-413"
    facts, _ = WordReader().read([word])
    assert [fact.text for _, fact in facts[word]] == ["PROJ-412", "PROJ-413"]


def test_words_say_the_same_together_as_alone_and_their_kinds_keep_their_order() -> None:
    """OBS-3, law SAME: what stands in the words before and behind is no part of a word."""
    words = [
        "plain",
        "src/load_rows.py:88",
        "C:\\work\\new.txt",
        "2f0c81e7-3a55-4d0b-9d2f-0a1b2c3d4e5f",
        "load_rows@v1.2.3",
        "a@b.example,JIRA-12",
        "failed:",
    ]
    facts, signs = WordReader().read(words)
    alone = [WordReader().read([word]) for word in words]
    assert facts == {word: found for one, _ in alone for word, found in one.items()}
    assert signs == {word: found for _, one in alone for word, found in one.items()} == {"failed:": ("fail",)}
    assert "plain" not in facts
    assert [fact.kind for _, fact in facts["src/load_rows.py:88"]] == ["paths", "symbols"]
    assert [fact.kind for _, fact in facts["load_rows@v1.2.3"]] == ["identifiers", "symbols"]
