"""Whoever waits and whoever awaits drive the same questioner, and close it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

import pytest

from foldline.core.completion import Ask
from foldline.engine.driving import adrive, drive, unanswered

Asks = Generator[str, str, str]


def asks() -> Asks:
    """Two questions, and both answers."""
    return f"{yield 'first'} {yield 'second'}"


def test_each_question_is_answered_until_there_is_a_result_whether_waiting_or_awaiting() -> None:
    """Rule 6 of style: no algorithm is written twice."""

    async def answer(question: str) -> str:
        return question.upper()

    assert drive(asks(), str.upper) == "FIRST SECOND"
    assert asyncio.run(adrive(asks(), answer)) == "FIRST SECOND"


def test_what_an_answer_raises_goes_through_and_closes_the_questioner() -> None:
    """Requirement CMP-21: an abort is no failure, and nothing is half done."""

    def answer(question: str) -> str:
        raise KeyboardInterrupt

    async def later(question: str) -> str:
        raise ValueError("gone")

    waiting, awaiting = asks(), asks()
    with pytest.raises(KeyboardInterrupt):
        drive(waiting, answer)
    with pytest.raises(ValueError, match="gone"):
        asyncio.run(adrive(awaiting, later))
    for asking in (waiting, awaiting):
        with pytest.raises(StopIteration):
            next(asking)


def test_interrupted_in_an_answer_that_is_owed_it_goes_on_to_the_end_and_is_interrupted_then() -> None:
    """Requirement HOK-4: what has landed stands, and its hooks are told before the caller is let go."""
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        if question == "first":
            raise KeyboardInterrupt
        return question

    with pytest.raises(KeyboardInterrupt):
        drive(asks(), answer, owed=lambda question: "owed")
    assert asked == ["first", "second"]
    asked.clear()
    with pytest.raises(KeyboardInterrupt):
        drive(asks(), answer, owed=lambda question: None)
    assert asked == ["first"]


def test_where_there_is_no_model_nobody_may_ask_one() -> None:
    """The tiers of a policy without a model ask nothing; one that did would be a fault of ours."""
    with pytest.raises(AssertionError, match="no model"):
        unanswered(Ask(messages=(), instruction="Sum it up"))
