"""Who answers a generator that asks: the one loop behind every caller who waits, and the one for hooks, who are awaited.

    questioner ──► Ask ──► answer ──► Reply ──► questioner … ──► result

Knows no event loop and no model. Counterpart: `foldline.asking.adriven`, which does the same beside an event loop, with what the
questioner does between two questions off it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NoReturn, TypeAlias, TypeVar

from msgspec import Struct

from foldline.core.completion import Ask

Result = TypeVar("Result")
Question = TypeVar("Question")
Answer = TypeVar("Answer")
Owed: TypeAlias = Callable[[Any], Any]
"""The answer to a question that is asked even of a caller who gave up, where he does not wait for it; `None` for any other."""


class Done(Struct, frozen=True):
    """The end of a generator that asks: `StopIteration` cannot leave a thread."""

    value: Any


def drive(
    asking: Generator[Question, Answer, Result],
    answer: Callable[[Question], Answer],
    *,
    owed: Owed = lambda asked: None,
) -> Result:
    """Answer each question until there is a result. What `answer` raises goes through, the questioner closed. Interrupted in an
    answer that is owed, it goes on to the end before `KeyboardInterrupt` goes through; an interrupt between two answers goes
    through at once."""
    interrupt: KeyboardInterrupt | None = None
    try:
        asked = step(asking, None)
        while not isinstance(asked, Done):
            try:
                reply = answer(asked)
            except KeyboardInterrupt as error:
                if (given := owed(asked)) is None:
                    raise
                interrupt, reply = error, given
            asked = step(asking, reply)
        if interrupt is not None:
            raise interrupt
        result: Result = asked.value
        return result
    finally:
        asking.close()


async def adrive(
    asking: Generator[Question, Answer, Result], answer: Callable[[Question], Awaitable[Answer]]
) -> Result:
    """As `drive`, awaiting each answer, for a questioner that takes no time itself; cancelled there, it is closed."""
    try:
        asked = step(asking, None)
        while not isinstance(asked, Done):
            asked = step(asking, await answer(asked))
        result: Result = asked.value
        return result
    finally:
        asking.close()


def step(asking: Generator[Question, Answer, Any], reply: Answer | None) -> Question | Done:
    """The next question, or the result. `reply`: to the last question, `None` before the first."""
    try:
        return next(asking) if reply is None else asking.send(reply)
    except StopIteration as done:
        return Done(done.value)


def unanswered(ask: Ask) -> NoReturn:
    """The answer where there is no model: nobody may ask."""
    raise AssertionError(f"a {ask.purpose} was asked for, and no model is at hand")
