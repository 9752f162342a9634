"""What a pass asks and is told: plain values with the defaults of a call that asks for nothing special."""

from __future__ import annotations

from foldline.core.completion import Ask, Reply


def test_an_ask_is_a_call_of_its_own_until_it_says_otherwise() -> None:
    """Requirement CMP-2: a fork never overrides the output cap."""
    ask = Ask(messages=(), instruction="Sum up.")
    assert (ask.is_fork, ask.system, ask.output_cap, ask.attempt) == (False, None, None, 1)


def test_a_reply_without_words_says_nothing_went_wrong() -> None:
    """An error is told in words, never by a missing field."""
    assert Reply().error == ""
