"""What waits is called off the event loop, in threads of our own."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

from foldline.threads import THREADS_MAX, off

SAID: ContextVar[str] = ContextVar("said", default="")


def test_a_call_runs_in_a_thread_with_the_context_of_its_task() -> None:
    """Arguments, result and context variables."""

    async def whole() -> None:
        def call(one: int, *, other: int) -> tuple[int, str, bool]:
            return one + other, SAID.get(), threading.current_thread() is threading.main_thread()

        SAID.set("here")
        assert await off(call, 1, other=2) == (3, "here", False)

    asyncio.run(whole())


def test_calls_that_wait_leave_the_threads_of_the_event_loop_free() -> None:
    """CMP-5: the loop looks up the host of the model that they wait for in its own threads; as many calls as there are threads
    wait for one that the loop makes."""

    async def whole() -> None:
        gone_on = threading.Event()
        waiting = [asyncio.ensure_future(off(gone_on.wait, 30)) for _ in range(THREADS_MAX)]
        await asyncio.to_thread(gone_on.set)
        assert all(await asyncio.gather(*waiting))

    asyncio.run(whole())
