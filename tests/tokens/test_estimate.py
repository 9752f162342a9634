"""The built-in estimate: what it must not get wrong, and its measured error on real text."""

from __future__ import annotations

from math import ceil
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.tokens.bpe import Exact
from foldline.tokens.estimate import PAIRS, PUNCT_PAIR, SINGLES, estimate, quarter
from tests.tokens.sample import NASTY, SURROGATES, real_texts


@pytest.mark.parametrize(
    ("text", "tokens_min"),
    [
        ("上下文长度超过限制时应当先压缩再继续", 10),
        ('{"a":[0,1,2,3,4],"b":{"c":null}}', 14),
        ("9f86d081884c7d659a2feaa0c55ad015", 14),
    ],
)
def test_dense_text_is_not_taken_for_prose(text: str, tokens_min: int) -> None:
    """TOK-2; open-webui/computer#277: at length / 4 the largest chat is the one that never compacts."""
    assert estimate(text) >= tokens_min > quarter(text)


def test_the_error_on_real_text_is_what_the_documentation_says() -> None:
    """TOK-2: the estimate's error is documented and measured (docs/concepts/tokens.md, benchmarks/estimator_error.py)."""
    texts = [text for text in real_texts() if len(text) >= 40]
    exact = Exact("o200k_base").many(texts)
    estimates = [estimate(text) for text in texts]
    errors = [abs(guess / tokens - 1) for guess, tokens in zip(estimates, exact, strict=True)]
    assert abs(sum(estimates) / sum(exact) - 1) <= 0.10
    assert median(errors) <= 0.15


@given(st.text(max_size=200))
def test_the_estimate_of_a_text_is_bounded_by_its_bytes(text: str) -> None:
    """A count is a count: 0 for nothing, and never far above one token a byte."""
    assert estimate("") == 0
    assert 0 <= estimate(text) <= 2 * len(text.encode()) + 1


@pytest.mark.parametrize(
    ("text", "pairs"), [("!", 0), ("!!", 1), ("!!!", 2), ("!!!!", 3), ("!! !!", 2), ("a!!", 1)]
)
def test_pairs_of_punctuation_are_counted_where_they_overlap(text: str, pairs: int) -> None:
    """`!!!` holds two pairs: the fit counted neighbours, so the formula must."""
    spaces = text.count(" ")
    expected = (
        PUNCT_PAIR * pairs + SINGLES[b"s"] * spaces + PAIRS[b"sp"] * spaces + SINGLES[b"l"] * text.count("a")
    )
    assert estimate(text) == ceil(expected)


def test_nothing_makes_the_estimate_raise() -> None:
    """It answers where nothing else can."""
    for text in (*NASTY, *SURROGATES, "".join(map(chr, range(0x500)))):
        assert estimate(text) >= 0


def test_a_quarter_of_the_length_is_rounded_up() -> None:
    """TOK-1: `length / 4` exists for `ladder-minimal` alone."""
    for length in (0, 1, 3, 4, 5, 10_001):
        assert quarter("x" * length) == -(-length // 4)
