"""The async twin of a call of a session's or a node's: the same with the prefix `a`, off the event loop.

It runs the call in a thread; the session's own lock keeps calls in order. A call that was begun is finished even when its
caller is cancelled: what is appended is appended whole. What waits for a model or a hook has a twin of its own beside it, which awaits
them, and is given up when it is cancelled there: nothing has changed then.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from foldline.threads import off

Owner = TypeVar("Owner")
Given = ParamSpec("Given")
Made = TypeVar("Made")


def twin(
    call: Callable[Concatenate[Owner, Given], Made],
) -> Callable[Concatenate[Owner, Given], Coroutine[Any, Any, Made]]:
    """The call by its name, as whoever holds it has it, in a thread."""

    @wraps(call)
    async def later(owner: Owner, /, *given: Given.args, **named: Given.kwargs) -> Made:
        return cast(Made, await off(getattr(owner, call.__name__), *given, **named))

    later.__doc__ = f"As `{call.__name__}`."
    return later
