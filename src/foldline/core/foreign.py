"""Calls into code that is not ours: what it raises is a value.

A completer, a hook or a provider callback of the host may raise anything, and none of it may tear a session apart. Beside the
outermost door this is the one place that catches every `Exception`; an abort (`KeyboardInterrupt`, a cancelled task) passes
through, since it is no failure. Knows nothing of what is called.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct

Value = TypeVar("Value")

WHY_CHARS_MAX = 300
"""Longest reason, characters."""


def installing(extra: str) -> str:
    """The command that installs what an extra of ours needs."""
    return f"pip install '.[{extra}]' in a clone, 'foldline[{extra}]' elsewhere"


class Raised(Struct, frozen=True):
    """What was raised in place of an answer."""

    error: Exception

    @property
    def why(self) -> str:
        """The error on one line for a person: its type and the beginning of its words."""
        words = tried(lambda: " ".join(str(self.error)[: WHY_CHARS_MAX * 4].split()))
        kind = type(self.error).__name__
        if isinstance(words, Raised) or not words:
            return kind
        return f"{kind}: {words}"[:WHY_CHARS_MAX]


def tried(call: Callable[[], Value]) -> Value | Raised:
    """What the call gives, or what it raised."""
    try:
        return call()
    except Exception as error:
        return Raised(error)


async def atried(awaitable: Awaitable[Value]) -> Value | Raised:
    """What is awaited, or what it raised."""
    try:
        return await awaitable
    except Exception as error:
        return Raised(error)
