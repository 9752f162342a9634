"""The scripted completer: it says what was written down, in order, and keeps what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from foldline.testing.completers import Delayed, Deltas, Said, ScriptedCompleter
from foldline.wire.completion import CompletionRequest

REQUEST = CompletionRequest(
    format="openai-chat", model=None, system=None, tools=None, messages=[], instruction="Sum it up"
)


def test_replies_come_in_order_and_the_last_again_and_again() -> None:
    """A script that is too short goes on as it ended; every request is kept."""
    completer = ScriptedCompleter("one", "two")
    assert [completer(REQUEST) for _ in range(3)] == ["one", "two", "two"]
    assert completer.requests == [REQUEST] * 3
    with pytest.raises(ValueError, match="at least one"):
        ScriptedCompleter()


def test_errors_functions_delays_and_deltas_are_replies_too() -> None:
    """Requirement CMP-20: a reply that comes piece by piece, one that breaks off, one that depends on what was asked."""
    completer = ScriptedCompleter(
        OSError("gone"),
        lambda request: request.instruction,
        Delayed(0.0, Said(text="late")),
        Deltas(("a", "b"), OSError("cut")),
    )
    with pytest.raises(OSError, match="gone"):
        completer(REQUEST)
    assert completer(REQUEST) == "Sum it up"
    assert completer(REQUEST).text == "late"
    flowing = completer(REQUEST)
    assert isinstance(flowing, Iterator)
    assert next(flowing) + next(flowing) == "ab"
    with pytest.raises(OSError, match="cut"):
        next(flowing)


def test_the_async_completer_gives_what_is_awaited() -> None:
    """The same script for the async twins."""

    async def play() -> list[Any]:
        completer = ScriptedCompleter(
            "one", Delayed(0.0, "two"), Deltas(("a", "b")), Deltas(("c",), OSError("cut")), is_async=True
        )
        said: list[Any] = [await completer(REQUEST), await completer(REQUEST)]
        flowing = completer(REQUEST)
        assert isinstance(flowing, AsyncIterator)
        said += [piece async for piece in flowing]
        with pytest.raises(OSError, match="cut"):
            said += [piece async for piece in completer(REQUEST)]
        return said

    assert asyncio.run(play()) == ["one", "two", "a", "b"]
