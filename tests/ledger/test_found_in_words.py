"""Words of the same classes have their facts at the same places, as far as letters do not tell; each quotes itself."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.ledger.found_in_text import Finder, extract
from foldline.ledger.found_in_words import WordReader
from foldline.ledger.identifiers_in_text import UUID, identifiers_in, is_id
from foldline.ledger.paths_in_text import paths_in
from foldline.ledger.shapes import classes_of, shape_of
from foldline.ledger.symbols_in_text import is_name


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


def test_a_version_behind_a_v_is_an_identifier() -> None:
    """OBS-3: `==v2` pins as `==2` does, whatever letters stand around other digits."""
    assert [fact.text for fact in extract("install tool==v2 (a0, id=b7)")] == ["tool==v2"]


@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [
                    "src/",
                    "a/",
                    "./",
                    "//",
                    ".git/objects/",
                    "README",
                    "app",
                    "_row",
                    ".py",
                    ".mp4",
                    ".PY",
                    ".xyz",
                    "http://",
                    "==",
                    "v1",
                    "2.0.1",
                    "JIRA-12",
                    "0xdeadbeef",
                    "deadbeef1",
                    "getRow",
                    "ABC123",
                    "2f0c81e7-3a55-4d0b-9d2f-0a1b2c3d4e5f",
                    "失败",
                ]
            ),
            st.text("azAZ09_-./\\:@#=<>,;\"'()é", max_size=4),
        ),
        max_size=6,
    )
)
def test_what_classes_tell_of_a_word_is_what_the_word_itself_says(pieces: list[str]) -> None:
    """OBS-3: a form saves the look at a word, and changes nothing of what is found in it."""
    word = "".join(pieces)
    shape = shape_of(word)
    rest = UUID.sub(lambda match: " " * len(match[0]), shape)
    tokens = re.findall(r"[A-Za-z0-9_]{4,}", rest)
    said = [
        *(("paths", path) for path in paths_in(shape)),
        *(("identifiers", text) for text in identifiers_in(shape, classes_of(shape))),
        *(("identifiers", token) for token in tokens if "0" in token and is_id(token)),
        *(("symbols", token) for token in tokens if is_name(token)),
    ]
    found = WordReader().read([word])[0].get(word, ())
    assert {(fact.kind, shape_of(fact.text)) for _, fact in found} == set(said)
