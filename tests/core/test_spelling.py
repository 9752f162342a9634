"""Ids and names of calls in the spelling that every provider takes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.spelling import ID_CHARS_MAX, fit_id, fit_name, free_id, is_fit_id, is_fit_name
from foldline.wire.formats import CODECS, PLAIN, codec

ALL = [rules.needs for rules in (*(codec(name).rules for name in CODECS), PLAIN)]
ANY = st.text(st.characters(), max_size=200)
"""Half surrogate pairs too."""


@given(text=ANY)
def test_what_is_respelt_is_taken_by_every_provider(text: str) -> None:
    """Law ROLE, by the rows on ids and names of each provider's rules."""
    for needs in ALL:
        assert is_fit_id(fit_id(text), pattern=needs.ids_pattern, longest=needs.ids_max)
        assert is_fit_name(fit_name(text), pattern=needs.names_pattern)


@given(one=ANY, other=ANY)
def test_two_never_become_one(one: str, other: str) -> None:
    """Law PAIR: a pair is known by its id alone."""
    assert (fit_id(one) == fit_id(other)) is (one == other)
    assert (fit_name(one) == fit_name(other)) is (one == other)
    assert fit_id(one, 2) != fit_id(one)


def test_what_can_be_read_of_it_stays() -> None:
    """Ids as Kimi writes them, and names as MCP servers do."""
    assert re.fullmatch(r"functions_Read_0_[0-9a-f]{8}", fit_id("functions.Read:0"))
    assert re.fullmatch(r"fs_read_[0-9a-f]{8}", fit_name("fs.read"))
    assert re.fullmatch(r"call_[0-9a-f]{8}", fit_id(""))
    assert re.fullmatch(r"tool_[0-9a-f]{8}", fit_name(""))
    assert len(fit_id("x" * 90)) == ID_CHARS_MAX


def test_a_numbered_id_is_no_longer_than_the_provider_takes() -> None:
    """The second call of an id at OpenAI's limit."""
    assert free_id("a", 2, longest=None) == "a_2"
    assert free_id("a" * 40, 11, longest=40) == "a" * 37 + "_11"


@pytest.mark.parametrize("id", ["", "a\0b", "a\ud83d"])
def test_no_provider_takes_an_id_that_is_empty_or_no_text(id: str) -> None:
    """The rows without a pattern too."""
    assert not is_fit_id(id, pattern=None, longest=None)
