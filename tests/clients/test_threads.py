"""What waits is called off the event loop, and knows which one it left."""

from __future__ import annotations

import asyncio
import threading

from foldline.clients.same_model import LOOP
from foldline.clients.threads import off


def test_a_call_runs_in_a_thread_that_knows_its_loop() -> None:
    """Arguments, result and loop."""

    async def whole() -> None:
        def call(one: int, *, other: int) -> tuple[int, bool, bool]:
            return one + other, LOOP.get() is loop, threading.current_thread() is threading.main_thread()

        loop = asyncio.get_running_loop()
        assert await off(call, 1, other=2) == (3, True, False)
        assert LOOP.get() is None

    asyncio.run(whole())
