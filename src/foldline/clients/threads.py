"""Off the event loop, with word of which one was left: for a session that asks on that very loop from a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from foldline import threads
from foldline.clients.same_model import LOOP

Given = ParamSpec("Given")
Made = TypeVar("Made")


async def off(call: Callable[Given, Made], *given: Given.args, **named: Given.kwargs) -> Made:
    """Call it in a thread that knows which loop it left."""
    token: Any = LOOP.set(asyncio.get_running_loop())
    try:
        return await threads.off(call, *given, **named)
    finally:
        LOOP.reset(token)
