"""The table of families: found by anchors, tried by bounded expressions, and each shown by a sample."""

from __future__ import annotations

import re
from random import Random

from foldline.log.secret_families import RUN_BYTES_MIN, TOKENS, WORDS
from foldline.log.secret_places import PLACES
from foldline.log.secrets import find
from tests.log import secret_samples as samples


def test_every_family_has_a_sample_and_every_sample_a_family() -> None:
    """S14: a family that no test makes would be a claim."""
    sampled = {name.split(",")[0] for name in samples.FAMILIES}
    assert {family.name for family in (*TOKENS, *WORDS, *PLACES)} == sampled


def test_no_expression_has_an_unbounded_repeat() -> None:
    """S13: bounded, so that no input makes a search slow. A possessive `++` gives nothing back and is bounded by what
    is left; there is none of the others."""
    for family in (*TOKENS, *WORDS, *PLACES):
        bare = re.sub(rb"\\.|\[(?:\\.|[^\]\\])+\]", b"x", family.pattern.pattern)
        assert not re.search(rb"[*+](?![+])|\{\d*,\}", re.sub(rb"\{\d+,\d+\}\+", b"", bare)), family.name


def test_anchors_of_words_are_in_lower_case_as_they_are_searched() -> None:
    """They are looked for in a lower-case copy."""
    assert all(anchor == anchor.lower() for family in (*WORDS, *PLACES) for anchor in family.anchors)


def test_every_token_is_at_least_as_long_as_the_runs_that_are_searched() -> None:
    """A shorter one would never be found; the samples are as short as the families allow or longer."""
    random = Random(0)
    for family in TOKENS:
        texts = [
            make(random)[1] for name, make in samples.FAMILIES.items() if name.split(",")[0] == family.name
        ]
        assert all(len(text) >= RUN_BYTES_MIN for text in texts), family.name


def test_the_longer_prefix_names_the_family() -> None:
    """`sk-ant-…` is Anthropic's, though `sk-…` alone is a family of its own."""
    random = Random(0)
    for name in ("anthropic", "openrouter", "openai"):
        [hit] = find(samples.FAMILIES[name](random)[0].encode())
        assert hit.family == name
