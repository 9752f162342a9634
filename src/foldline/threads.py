"""Threads of our own for what waits: a disk, or a function that does not await.

asyncio's default executor is where an event loop looks up host names; a call of ours that waits there for a model would keep that
very model from being asked. So what is called off a loop has its own threads, a bounded number of them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import lru_cache, partial
from typing import Final, ParamSpec, TypeVar

THREADS_MAX: Final = 64
"""Threads of a process; what comes beyond waits for its turn."""

Given = ParamSpec("Given")
Made = TypeVar("Made")


async def off(call: Callable[Given, Made], *given: Given.args, **named: Given.kwargs) -> Made:
    """Call it in a thread, with the context variables of this task."""
    run = partial(copy_context().run, call, *given, **named)
    return await asyncio.get_running_loop().run_in_executor(_pool(os.getpid()), run)


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """Of this process: a fork has none of its parent's threads."""
    return ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="foldline")
