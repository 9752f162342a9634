"""What other people's code raises is a value; an abort is none."""

from __future__ import annotations

import asyncio

import pytest

from foldline.core.foreign import WHY_CHARS_MAX, Raised, atried, tried


class Unspeakable(Exception):
    """An error whose own words fail."""

    def __str__(self) -> str:
        raise ValueError("no words")


def fail(error: BaseException) -> None:
    raise error


async def fail_later(error: BaseException) -> None:
    raise error


def test_an_answer_is_given_and_an_error_is_a_value() -> None:
    """A host's callback cannot tear a session apart."""
    assert tried(lambda: 3) == 3
    raised = tried(lambda: fail(KeyError("x")))
    assert isinstance(raised, Raised)
    assert raised.why == "KeyError: 'x'"


def test_the_same_of_what_is_awaited() -> None:
    """The async twin."""

    async def three() -> int:
        return 3

    async def both() -> None:
        assert await atried(three()) == 3
        raised = await atried(fail_later(OSError(2, "gone")))
        assert isinstance(raised, Raised)
        assert raised.why == "FileNotFoundError: [Errno 2] gone"

    asyncio.run(both())


@pytest.mark.parametrize("abort", [KeyboardInterrupt(), SystemExit(1), asyncio.CancelledError()])
def test_an_abort_is_no_failure_and_passes_through(abort: BaseException) -> None:
    """What the user broke off is not counted against anybody."""
    with pytest.raises(type(abort)):
        tried(lambda: fail(abort))


def test_a_reason_is_one_short_line_whatever_the_error_says() -> None:
    """An error may be huge, of many lines, or fail when it is asked for its words."""
    assert Raised(ValueError("a\nb" * 100_000)).why.count("\n") == 0
    assert len(Raised(ValueError("x" * 10_000_000)).why) == WHY_CHARS_MAX
    assert Raised(Unspeakable()).why == "Unspeakable"
    assert Raised(ValueError()).why == "ValueError"
