"""A refusal taken apart, and what is tried next."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.session.recovering import invalid, refused, target_after, what_fits
from tests.session.test_reacting import TOO_LONG, ApiError


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ApiError(TOO_LONG), None),
        (TOO_LONG, None),
        ("prompt is too long: 2600 tokens > 2000 maximum", 400),
        (ValueError("prompt is too long: 2600 tokens > 2000 maximum"), None),
    ],
    ids=["an SDK's exception", "a body", "a text", "any exception"],
)
def test_a_refusal_is_read_however_it_comes(error: Any, status: int | None) -> None:
    """REA-1: numbers where the provider gives them, and the words for a person."""
    told = refused(error, status=status)
    assert told.names_compaction
    assert (told.refusal.tokens_used, told.refusal.tokens_limit) == (2_600, 2_000)
    assert (told.error is error) is isinstance(error, BaseException)
    assert "2600 tokens > 2000" in told.words


@pytest.mark.parametrize(
    ("target", "tokens", "wanted"), [(5_000, 2_600, 1_600), (1_000, 2_600, 1_000), (5_000, 1_200, 1_199)]
)
def test_what_is_tried_next_is_smaller_than_what_was_refused(target: int, tokens: int, wanted: int) -> None:
    """REA-1: below the limit that was named, and always strictly below what was sent."""
    assert target_after(refused(TOO_LONG).refusal, tokens=tokens, target=target) == wanted


def test_without_a_limit_half_of_what_was_refused_is_tried() -> None:
    """NousResearch/hermes-agent#2600: no limit is guessed."""
    told = refused({"error": {"message": "Prompt exceeds max length", "code": "1261"}})
    assert target_after(told.refusal, tokens=9_000, target=8_000) == 4_500


def test_the_end_of_a_turn_names_both_numbers() -> None:
    """REA-3: for a person."""
    ended = invalid("it cannot be saved", refused(ApiError(TOO_LONG)))
    assert (ended.tokens_used, ended.tokens_limit) == (2_600, 2_000)
    assert "it cannot be saved" in str(ended)


@pytest.mark.parametrize(("tokens", "fits"), [(2_600, 2_000), (1_300, 1_000), (5_200, 4_000)])
def test_what_fits_is_the_limit_in_our_own_count(tokens: int, fits: int) -> None:
    """REA-1: the provider counted 2,600 for what we count as so many, and takes 2,000."""
    assert what_fits(refused(TOO_LONG).refusal, tokens=tokens) == fits


def test_without_a_limit_anything_smaller_may_fit() -> None:
    """NousResearch/hermes-agent#2600: no limit is guessed."""
    told = refused({"error": {"message": "Prompt exceeds max length", "code": "1261"}})
    assert what_fits(told.refusal, tokens=9_000) == 8_999


@pytest.mark.parametrize("body", ["", "<html></html>", {"error": {"message": "no"}}])
def test_a_413_says_without_words_that_a_smaller_conversation_is_the_remedy(body: Any) -> None:
    """REA-1: HTTP 413, of tokens or of bytes; no other status says it by itself."""
    assert refused(ApiError(body, 413)).names_compaction
    assert refused(body, status=413).names_compaction
    for status in (206, 400, 412, 414, 429, 1239):
        assert not refused(ApiError(body, status)).names_compaction
