"""What waits is called off the event loop, in threads of our own."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import foldline
from foldline.hooks import Command, Hook, Hooks
from foldline.restore import Restorer, Sources
from foldline.session.hosting import Host
from foldline.threads import THREADS_MAX, off
from tests.session.making import opened, worked

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


class Taken(ThreadPoolExecutor):
    """The threads of an event loop, none of them free."""

    def submit(self, *given: Any, **named: Any) -> Future[Any]:
        raise AssertionError("this waits for a thread of the event loop")


def test_whatever_waits_in_a_compaction_waits_in_threads_of_our_own() -> None:
    """CMP-5: hooks that are called and commands that run, what is restored, the log, and `acompact` without a model."""
    called: list[str] = []

    def tasks() -> list[str]:
        called.append("restore")
        return ["go on"]

    hooks = Hooks(
        hooks=(
            Hook(event="PreCompact", does=lambda told: called.append("hook")),
            Hook(event="PostCompact", does=Command(argv=("echo", "ran"))),
        )
    )
    restore = Restorer(sources=Sources(tasks=tasks))
    talk: list[Any] = [{"role": "user", "content": f"word {n} " * 50} for n in range(9)]

    async def whole() -> tuple[Any, Any]:
        asyncio.get_running_loop().set_default_executor(Taken())
        session = opened(host=Host(hooks=hooks, restore=restore))
        session.user("go")
        worked(session, 8)
        return await session.acompact(to=0.5), await foldline.acompact(talk, to=0.5, format="openai-chat")

    made, alone = asyncio.run(whole())
    assert (made.outcome, alone.report.outcome) == ("compacted", "compacted")
    assert {"hook", "restore"} <= set(called)
